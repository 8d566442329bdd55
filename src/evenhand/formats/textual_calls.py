"""Function calls written out as text, where a server had no parser for them: one grammar for every model.

A call is NAME ARGUMENTS in one of four forms:

1. a JSON object with the name under `name` (or `function`, `tool`, `tool_name`) and the arguments under
   `arguments` (or `parameters`, `args`, `input`, `tool_input`);
2. the name followed by a JSON object, with nothing between but control tokens, `json` and code fences;
3. the name with keyword arguments, or a JSON object, in parentheses, alone on its lines;
4. the name in a tag, each argument in a tag of its own.

Forms 1 and 2 must stand in control tokens, a fence, or alone. A call that is cut off is none.
"""

from __future__ import annotations

import re
from typing import Any, cast

from evenhand.formats.embedded import decode, extract
from evenhand.formats.numerals import normalise

_LONGEST = 12_000
_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "params")
_TOKEN = re.compile(
    r"</?(?:tool_calls?|function_calls?|functioncall|function|functions|tools?|tool_code|tool_use|invoke|call|action|python_tag|antml:\w+|"
    r"minimax:tool_call|seed:tool_call)(?:[\s=][^<>]{0,80})?>"
    r"|<[|｜][^<>]{1,60}[|｜]>|\[/?(?:TOOL_CALLS|TOOL_CALL|ARGS|CALL_ID|FUNCTION_CALL|AVAILABLE_TOOLS)\]|```[\w-]{0,20}",
    re.IGNORECASE,
)
_PARAMETER = re.compile(
    r"<(?:antml:)?parameter(?:\s+name)?=[\"']?(?P<key>[\w-]{1,80})[\"']?(?:\s[^<>]{0,60})?>\s*(?P<value>[^<>]{0,400}?)\s*</(?:antml:)?parameter>"
    r"|<arg_key>\s*(?P<key2>[\w-]{1,80})\s*</arg_key>\s*<arg_value>\s*(?P<value2>[^<>]{0,400}?)\s*</arg_value>"
)
_BETWEEN = re.compile(r"\b(?:json|commentary)\b")
_KEYWORD = re.compile(
    r"\s*(?P<key>[A-Za-z_]\w{0,80})\s*=\s*(?P<value>\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\[[^\[\]\n]{0,200}\]|[\w.+-]{1,40})\s*"
)


def textual_calls(text: str, function: str) -> list[dict[str, Any]] | None:
    """The arguments of every call of a function that a text writes out.

    Args:
        text: The visible text.
        function: The function's name.

    Returns:
        One mapping a call, empty where the text writes out none; None where it holds a call that cannot be read.
    """
    if function not in text or len(text) > _LONGEST:
        return []
    said = normalise(text).replace("|DSML|", "")
    found: list[dict[str, Any]] = []
    for form in (_tagged, _object, _named, _keywords):
        calls = form(said, function)
        if calls is None:
            return None
        found += calls
    return None if not found and _TOKEN.search(said) else found


def _tagged(text: str, function: str) -> list[dict[str, Any]] | None:
    """Form 4: `<function=f><parameter=decision>1</parameter>`, `<invoke name="f">`, `f<arg_key>...`."""
    if "<parameter" not in text and "<arg_key>" not in text and ":parameter" not in text:
        return []
    found: list[dict[str, Any]] = []
    for part in re.split(
        rf"(?:\bname\s?=\s?[\"']?|<function\s?=\s?[\"']?|<tool_call>\s*)(?={re.escape(function)}\b)", text
    )[1:]:
        pairs = [
            (match["key"] or match["key2"], match["value"] if match["key"] else match["value2"])
            for match in _PARAMETER.finditer(part)
        ]
        if not pairs or len(dict(pairs)) < len(pairs):
            return None
        found.append(dict(pairs))
    return found


def _object(text: str, function: str) -> list[dict[str, Any]] | None:
    """Form 1: `{"name": f, "arguments": {...}}`, alone or in tokens, one or a list of them."""
    values, rest, broken = extract(text, lists=True)
    calls = [call for value in values for call in _calls_in(value, function)]
    if not calls:
        return []
    wrapped = _TOKEN.search(text) is not None
    if broken or (not wrapped and rest.strip(" \n[],;")):
        return None
    return None if any(call is None for call in calls) else [call for call in calls if call is not None]


def _calls_in(value: Any, function: str) -> list[dict[str, Any] | None]:
    if isinstance(value, list):
        return [call for item in cast("list[Any]", value)[:20] for call in _calls_in(item, function)]
    if not isinstance(value, dict):
        return []
    members = cast("dict[str, Any]", value)
    for key in ("function", "function_call", "tool_call", "tool_calls"):
        if isinstance(members.get(key), dict | list):
            return _calls_in(members[key], function)
    if not any(members.get(key) == function for key in _NAME_KEYS):
        return []
    arguments = [members[key] for key in _ARGUMENT_KEYS if key in members]
    return [_mapping(arguments[0]) if len(arguments) == 1 else None]


def _mapping(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        try:
            value = decode(value)
        except ValueError:
            return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _named(text: str, function: str) -> list[dict[str, Any]] | None:
    """Form 2: `[TOOL_CALLS]f[ARGS]{...}`, `<function=f>{...}</function>`, `functions.f:0<|...|>{...}`."""
    found: list[dict[str, Any]] = []
    for match in re.finditer(rf"(?<![\w\"']){re.escape(function)}\b(?:\"?>)?(?::\d{{1,3}})?", text):
        gap_end = text.find("{", match.end(), match.end() + 200)
        if gap_end < 0:
            continue
        gap = _TOKEN.sub("", text[match.end() : gap_end])
        if _BETWEEN.sub("", gap).strip(" \n:>"):
            continue
        values, rest, broken = extract(text[gap_end:])
        if not values or broken or not isinstance(values[0], dict) or text[gap_end:].startswith(rest or " "):
            return None
        found.append(cast("dict[str, Any]", values[0]))
    return found


def _keywords(text: str, function: str) -> list[dict[str, Any]] | None:
    """Form 3: `f(decision=1)`, alone on its lines but for a fence, tokens, brackets or `print(...)`."""
    found: list[dict[str, Any]] = []
    plain = _TOKEN.sub("\n", text)
    start = rf"^[ \[`*]*(?:print\()?(?:default_api\.|functions\.)?{re.escape(function)}\("
    for match in re.finditer(start, plain, re.MULTILINE):
        end = plain.find(")", match.end())
        line_end = plain.find("\n", end) if end >= 0 else -1
        if end < 0 or plain[end + 1 : line_end if line_end >= 0 else len(plain)].strip(" ])`*,;."):
            return None
        arguments = _keyword_arguments(plain[match.end() : end].strip().rstrip(","))
        if arguments is None:
            return None
        found.append(arguments)
    return found


def _keyword_arguments(text: str) -> dict[str, Any] | None:
    if text.startswith("{"):
        return _mapping(text)
    arguments: dict[str, Any] = {}
    position = 0
    while position < len(text):
        match = _KEYWORD.match(text, position)
        if not match or match["key"] in arguments:
            return None
        arguments[match["key"]] = match["value"].strip("\"'")
        position = match.end()
        if position < len(text) and text[position] != ",":
            return None
        position += 1
    return arguments or None
