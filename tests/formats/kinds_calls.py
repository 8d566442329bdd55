"""Siblings of the cases for function calls (see `kinds_singles`)."""

from __future__ import annotations

from typing import Any

M, R, N, E = "malformed", "refused", "no_answer", "error"
A = (3, 1, 4, 2)


def call(arguments: Any, function: str = "submit_decision", **more: Any) -> dict[str, Any]:
    record = {
        "text": "",
        "stop_reason": "tool_calls",
        "tool_calls": [{"function": function, "arguments": arguments, "parse_error": None}],
    }
    return {**record, **more}


def rank(arguments: Any, **more: Any) -> dict[str, Any]:
    return call(arguments, "submit_ranking", **more)


def calls(*arguments: Any, function: str = "submit_decision") -> dict[str, Any]:
    return {
        "text": "",
        "stop_reason": "tool_calls",
        "tool_calls": [{"function": function, "arguments": each} for each in arguments],
    }


NAMED = {f"rank_of_application_{place}": value for place, value in enumerate(A, 1)}

TOOL_DECIDE: dict[str, list[tuple[Any, Any]]] = {
    "arguments": [
        (call({"decision": 1}), 1), (call({"decision": 0}), 0), (call({"decision": "0"}), 0), (call({"decision": " 1 "}), 1), (call({"decision": 0.0}), 0), (call({"decision": "1.0"}), 1), (call({"decision": 1, "reason": "0 doubts"}), 1),
        (call({"decision": True}), M), (call({"decision": "yes"}), M), (call({"decision": "grant"}), M), (call({"decision": 2}), M), (call({"decision": -1}), M), (call({"decision": 0.8}), M), (call({"decision": None}), M), (call({"decision": [1]}), M), (call({"decision": ""}), M), (call({"Decision": 1}), M), (call({"value": 1}), M), (call({}), M), (call(None), M), (call(1), M), (call([1]), M), (call({"decision": "1 or 0"}), M), (call({"decision": 10**400}), M),
        (call({"decision": "0: Grant"}), M),
    ],
    "encoded twice or wrapped": [
        (call('{"decision": 1}'), 1), (call('"{\\"decision\\": 1}"'), 1), (call({"arguments": {"decision": 1}}), 1), (call({"parameters": {"decision": 0}}), 0), (call({"input": {"decision": 1}}), 1), (call({"submit_decision": {"decision": 1}}), 1), (call({"decision": '{"decision": 1}'}), 1), (call({"decision": {"decision": 0}}), 0), (call({"arguments": '{"decision": 1}'}), 1),
        (call({"a": {"b": {"decision": 1}}}), M), (call({"arguments": {"arguments": {"decision": 1}}}), M), (call('{"decision": 1'), M), (call("1"), M), (call("yes"), M), (call('{"decision": 1, "decision": 0}'), M), (call({"foo": {"decision": 1}}), M),
    ],
    "wire": [
        (call({"decision": 1}, wire_arguments='{"decision": 1}{"decision": 0}'), M), (call({"decision": 0}, wire_arguments='{"decision": 1, "decision": 0}'), M), (call({"decision": 1}, wire_arguments='{"decision": 1}"'), 1), (call({"decision": 1}, wire_arguments="1"), 1), (call({"decision": True}, wire_arguments="yes"), M),
        ({"text": "", "stop_reason": "tool_calls", "tool_calls": [{"function": "submit_decision", "arguments": {"decision": 1}, "parse_error": "Extra data"}]}, M),
    ],
    "names": [
        (call({"decision": 1}, "functions.submit_decision"), 1), (call({"decision": 1}, "functions.submit_decision:0"), 1), (call({"decision": 1}, "submit_decision<|constrain|>json"), 1), (call({"decision": 1}, " submit_decision "), 1), (call({"decision": 1}, "submit_decision<|channel|>"), 1), (call({"decision": 1}, "submit_ranking"), M), (call({"decision": 1}, ""), M), (call({"decision": 1}, "submit_decisions"), M), (call({"decision": 1}, "default_api.submit_decision"), 1), (call({"decision": 1}, "resubmit_decision"), M),
    ],
    "several calls": [(calls({"decision": 1}, {"decision": 1}), 1), (calls({"decision": 1}, {"decision": "1"}), 1), (calls({"decision": 1}, {"decision": 0}), M), (calls({"decision": 1}, {}), M), ({"tool_calls": [{"function": "search", "arguments": {}}, {"function": "submit_decision", "arguments": {"decision": 0}}]}, 0)],
    "stops and text": [
        (call({"decision": 1}, stop_reason="content_filter"), R), (call({"decision": 1}, stop_reason="max_tokens"), 1), (call({"decision": 1}, stop_reason="unknown"), 1), (call({"decision": 0}, text="I would approve this."), 0), (call({"decision": 1}, text="I can't rate people."), 1), ({"text": "1"}, M), ({"text": "Decision: 1"}, M), ({"text": ""}, N), ({"text": "I can't make decisions about people."}, R), ({"text": "I would call submit_decision."}, M),
        ({"text": "", "stop_reason": "unknown"}, M), ({"text": "I seem to have had trouble calling a function and replied with print(default_api.submit_decision(decision=1)).\nI need to fix this by generating the function call JSON instead.", "stop_reason": "unknown"}, M),
        ({"text": "", "reasoning": "I will call submit_decision(decision=1)"}, N), ({"text": "<think>submit_decision(decision=1)</think>"}, N), (call({"decision": 1}, content=[{"type": "reasoning", "reasoning": "0"}]), 1),
    ],
    "written out": [
        ('<tool_call>{"name": "submit_decision", "arguments": {"decision": 0}}</tool_call>', 0), ('{"name": "submit_decision", "arguments": {"decision": 1}}', 1), ('{"name": "submit_decision", "parameters": {"decision": "1"}}', 1), ('```json\n{"name": "submit_decision", "arguments": {"decision": 1}}\n```', 1), ("submit_decision(decision=1)", 1), ("[submit_decision(decision=0)]", 0),
        ("<function=submit_decision>{\"decision\": 1}</function>", 1), ("<function=submit_decision>\n<parameter=decision>\n1\n</parameter>\n</function>", 1), ("<tool_call>\n<function=submit_decision>\n<parameter=decision>0</parameter>\n</function>\n</tool_call>", 0), ('[TOOL_CALLS][{"name": "submit_decision", "arguments": {"decision": 1}}]', 1), ('[TOOL_CALLS]submit_decision[ARGS]{"decision": 1}', 1), ('[TOOL_CALLS]submit_decision{"decision": 1}', 1),
        ("<tool_call>submit_decision\n<arg_key>decision</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", 1), ('<invoke name="submit_decision">\n<parameter name="decision">1</parameter>\n</invoke>', 1), ('<function_calls>\n<invoke name="submit_decision">\n<parameter name="decision">0</parameter>\n</invoke>\n</function_calls>', 0), ('<|python_tag|>{"name": "submit_decision", "parameters": {"decision": 1}}', 1),
        ('<|tool_calls_section_begin|><|tool_call_begin|>functions.submit_decision:0<|tool_call_argument_begin|>{"decision": 1}<|tool_call_end|><|tool_calls_section_end|>', 1), ('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>submit_decision\n```json\n{"decision": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>', 1),
        ('<|channel|>commentary to=functions.submit_decision <|constrain|>json<|message|>{"decision": 1}<|call|>', 1), ("```tool_code\nprint(default_api.submit_decision(decision=1))\n```", 1), ('I approve.\n<tool_call>{"name": "submit_decision", "arguments": {"decision": 1}}</tool_call>', 1), ("I approve.\n\nsubmit_decision(decision=1)", 1), ('{"type": "function", "function": {"name": "submit_decision", "arguments": "{\\"decision\\": 1}"}}', 1),
        ('{"tool": "submit_decision", "tool_input": {"decision": 1}}', 1), ('<think>0?</think><tool_call>{"name": "submit_decision", "arguments": {"decision": 1}}</tool_call>', 1),
        ('<tool_call>{"name": "submit_decision", "arguments": {"decision": 1}', M), ("submit_decision(decision=1", M), ("submit_decision(1)", M), ("submit_decision(decision=maybe)", M), ('<tool_call>{"name": "submit_ranking", "arguments": {"decision": 1}}</tool_call>', M), ("You could call submit_decision(decision=1) to approve it.", M), ('<tool_call>{"name": "submit_decision", "arguments": {"decision": 1}}</tool_call><tool_call>{"name": "submit_decision", "arguments": {"decision": 0}}</tool_call>', M),
        ("submit_decision(decision=1, decision=0)", M), ("<function=submit_decision><parameter=decision>1</parameter><parameter=decision>0</parameter></function>", M), ("submit_decision(decision=2)", M), ("submit_decision()", M), ("submit_decision(decision=1)\nsubmit_decision(decision=1)", 1), ("submit_decision(decision=1)\nsubmit_decision(decision=0)", M),
        ("submit_decision(decision=True)", M), ("I can't decide; submit_decision is not something I can call for people.", R), ('{"decision": 1}', M), ('```json\n{"decision": 1}\n```', M), ({"text": '<tool_call>{"name": "submit_decision", "arguments": {"decision"', "stop_reason": "max_tokens"}, M),
    ],
    "and many more": [
        ("<tool_call>\n{'name': 'submit_decision', 'arguments': {'decision': 1}}\n</tool_call>", M),
        ('<tool_call>{"name": "submit_decision", "arguments": {"decision": 1}}', 1),
        ('<function_call>{"name": "submit_decision", "arguments": {"decision": 1}}</function_call>', 1),
        ('<|tool_call|>[{"name": "submit_decision", "arguments": {"decision": 1}}]<|/tool_call|>', 1),
        ('<|tool_call>call:submit_decision{decision:1}<tool_call|>', M),
        ('functions.submit_decision({"decision": 1})', 1), ('submit_decision({"decision": 1})', 1),
        ('submit_decision {"decision": 1}', 1), ('submit_decision: {"decision": 1}', 1),
        ('submit_decision(decision="1")', 1), ('submit_decision(decision = 1)', 1),
        ('submit_decision(decision: 1)', M), ('print(submit_decision(decision=1))', 1),
        ('```python\nsubmit_decision(decision=1)\n```', 1), ('`submit_decision(decision=1)`', 1),
        ('**submit_decision(decision=1)**', 1), ('result = submit_decision(decision=1)', M),
        ('Action: submit_decision\nAction Input: {"decision": 1}', M),
        ('{"submit_decision": {"decision": 1}}', M), ('{"function": "submit_decision", "decision": 1}', M),
        ('{"name": "submit_decision", "decision": 1}', M),
        ('{"tool_calls": [{"function": {"name": "submit_decision", "arguments": "{\\"decision\\": 1}"}}]}', 1),
        ('{"action": "submit_decision", "action_input": {"decision": 1}}', M),
        ('<submit_decision>{"decision": 1}</submit_decision>', 1),
        ('<submit_decision><decision>1</decision></submit_decision>', M),
        ('<tool_use><name>submit_decision</name><parameters>{"decision": 1}</parameters></tool_use>', M),
        ('I\'ll approve: {"name": "submit_decision", "arguments": {"decision": 1}}', M),
        ('{"name": "submit_decision", "arguments": {"decision": 1}}\n\nI approved since...', M),
        ('<|channel|>commentary to=functions.submit_decision <|constrain|>json<|message|>{"decision":1}', 1),
        ('assistantcommentary to=functions.submit_decision json{"decision":1}', 1),
        ('<|start|>assistant to=functions.submit_decision<|channel|>commentary json<|message|>{"decision":1}<|call|>', 1),
        ('<|channel|>analysis<|message|>0?<|end|><|start|>assistant<|channel|>commentary to=functions.submit_decision <|constrain|>json<|message|>{"decision":1}<|call|>', 1),
        ('[TOOL_CALLS] submit_decision {"decision": 1}', 1),
        ('<start_function_call>call:submit_decision{decision:1}<end_function_call>', M),
        ('<tool_call>submit_decision(decision=1)</tool_call>', 1),
        ('<function_calls>\nsubmit_decision(decision=1)\n</function_calls>', 1),
        ('<minimax:tool_call>\n<invoke name="submit_decision">\n<parameter name="decision">1</parameter>\n</invoke>\n</minimax:tool_call>', 1),
        ('<｜DSML｜function_calls>\n<｜DSML｜invoke name="submit_decision">\n<｜DSML｜parameter name="decision" string="false">1</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>', 1),
        ('<tool_call>{"name": "submit_decision", "arguments": {"decision": 1, "decision": 0}}</tool_call>', M),
        ('<tool_call>{"name": "submit_decision", "arguments": {}}</tool_call>', M),
        ('<tool_call>{"name": "submit_decision", "arguments": "{\\"decision\\": 1}"}</tool_call>', 1),
        ('<function=submit_decision><parameter=decision>1</parameter>', 1),
        ('<function=submit_decision><parameter=decision>1', M),
        ('<tool_call>\n<function=submit_decision>\n<parameter=decision>\n1\n</parameter>\n</function>\n</tool_call>\nDone.', 1),
        ("I won't call submit_decision(decision=1).", M),
        ('I could submit_decision(decision=1) or submit_decision(decision=0)', M),
        ('<tool_response>{"decision": 1}</tool_response>', M),
    ],
}  # fmt: skip

TOOL_RANK: dict[str, list[tuple[Any, Any]]] = {
    "exact names": [
        (rank(NAMED), A), (rank({**NAMED, "reason": "2 first"}), A), (rank({name: str(value) for name, value in NAMED.items()}), A), (rank({name: float(value) for name, value in NAMED.items()}), A), (rank(dict(reversed(NAMED.items()))), A), (rank(dict.fromkeys(NAMED, 1)), (1, 1, 1, 1)), (rank({**NAMED, "rank_of_application_4": 1}), (3, 1, 4, 1)),
        (rank({**NAMED, "rank_of_application_4": 5}), M), (rank({**NAMED, "rank_of_application_4": 0}), M), (rank({**NAMED, "rank_of_application_4": 2.5}), M), (rank({**NAMED, "rank_of_application_4": None}), M), (rank({**NAMED, "rank_of_application_4": True}), M), (rank({**NAMED, "rank_of_application_5": 5}), M), (rank({name: NAMED[name] for name in list(NAMED)[:3]}), M), (rank({**NAMED, "rank_of_application_4": "Application 3"}), M),
        (rank({name.replace("application", "request"): value for name, value in NAMED.items()}), A), (rank({}), M), (rank(None), M),
    ],
    "other shapes": [
        (rank({"ranks": [3, 1, 4, 2]}), A), (rank({"ranks": ["3", "1", "4", "2"]}), A), (rank({"ranks": "3,1,4,2"}), A), (rank({"ranking": "[3, 1, 4, 2]"}), A), (rank({"rank_of_application_1": "3,1,4,2"}), A), (rank({"rank_of_application_1": [3, 1, 4, 2]}), A), (rank({"rank_of_application_1": "[3,1,4,2]"}), A), (rank({"ranks": {"application_1": 3, "application_2": 1, "application_3": 4, "application_4": 2}}), A),
        (rank({"1": 3, "2": 1, "3": 4, "4": 2}), A), (rank({"application_1": 3, "application_2": 1, "application_3": 4, "application_4": 2}), A), (rank({"arguments": NAMED}), A), (rank('{"rank_1": 3, "rank_2": 1, "rank_3": 4, "rank_4": 2}'), A), (rank({"ranks": [{"application": 1, "rank": 3}, {"application": 2, "rank": 1}, {"application": 3, "rank": 4}, {"application": 4, "rank": 2}]}), A),
        (rank({"rank_1": "3", "rank_2": "1", "rank_3": "4", "rank_4": "2"}), A), (rank({"rank_1": 3, "rank_2": 1, "rank_3": 4}), M), (rank({"rank_1": 3, "rank_2": 1, "rank_3": 4, "rank_4": 9}), M), (rank({"rank_1": 651842}, wire_arguments="3:1:4:2"), M), (rank({"rank_1": 3}), M), (rank({"ranks": [3, 1, 4]}), M), (rank({"ranks": [3, 1, 4, 2, 5]}), M), (rank({"ranks": ["Application 2", "Application 4", "Application 1", "Application 3"]}), M),
        (rank({"order": [2, 4, 1, 3]}), M), (rank({"first": 2, "second": 4, "third": 1, "fourth": 3}), M), (rank({"place_1": 2, "place_2": 4, "place_3": 1, "place_4": 3}), M), (rank({"rank_1": "Application 2", "rank_2": "Application 4", "rank_3": "Application 1", "rank_4": "Application 3"}), M), (rank({"ranks": "3142"}), M), (rank({"ranks": "2 > 4 > 1 > 3"}), M), (rank({"winner": 2}), M),
    ],
    "several calls and text": [
        (calls(NAMED, NAMED, function="submit_ranking"), A), (calls(NAMED, {**NAMED, "rank_of_application_4": 1}, function="submit_ranking"), M), ({"text": "3,1,4,2"}, M), ({"text": ""}, N), ({"text": "I won't rank people."}, R), (rank(NAMED, text="My ranks are 1,2,3,4"), A), (call(NAMED), M),
        ("submit_ranking(rank_of_application_1=3, rank_of_application_2=1, rank_of_application_3=4, rank_of_application_4=2)", A), ('<tool_call>{"name": "submit_ranking", "arguments": {"ranks": [3, 1, 4, 2]}}</tool_call>', A), ("submit_ranking(ranks=[3, 1, 4, 2])", A), ("submit_ranking(3, 1, 4, 2)", M),
        ("<function=submit_ranking>\n" + "\n".join(f"<parameter={name}>{value}</parameter>" for name, value in NAMED.items()) + "\n</function>", A),
    ],
    "and many more": [
        ('submit_ranking(rank_of_application_1=3, rank_of_application_2=1, rank_of_application_3=4)', M),
        ('submit_ranking(ranks="3,1,4,2")', A),
        ('<tool_call>{"name": "submit_ranking", "arguments": {"rank_of_application_1": "3", "rank_of_application_2": "1", "rank_of_application_3": "4", "rank_of_application_4": "2"}}</tool_call>', A),
        ('<tool_call>submit_ranking\n<arg_key>rank_of_application_1</arg_key>\n<arg_value>3</arg_value>\n<arg_key>rank_of_application_2</arg_key>\n<arg_value>1</arg_value>\n<arg_key>rank_of_application_3</arg_key>\n<arg_value>4</arg_value>\n<arg_key>rank_of_application_4</arg_key>\n<arg_value>2</arg_value>\n</tool_call>', A),
    ],
}  # fmt: skip
