"""Reading replies from the command line, and listing the raw ones of a run."""

import json
import subprocess
import sys

import pytest

from evenhand.cli import main


def parse(lines, *arguments):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "parse", *arguments], input=text, capture_output=True, text=True, check=False
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_one_line_in_one_line_out():
    code, read, _ = parse(
        [
            {"id": "a", "text": "3,1,4,2", "stop_reason": "stop"},
            {"text": "1,1,2,3"},
            "",
            {"id": 7, "text": "I can't help with that."},
        ],
        *("rank", "-n", "4"),
    )
    assert code == 0
    assert [set(line) for line in read] == [{"id", "status", "value", "reason", "flags"}] * 3
    assert read[0] == {"id": "a", "status": "answered", "value": [3, 1, 4, 2], "reason": "", "flags": []}
    assert (read[1]["id"], read[1]["status"], read[1]["value"], read[1]["flags"]) == (None, "malformed", None, ["tied"])
    assert (read[2]["id"], read[2]["status"]) == (7, "refused")


@pytest.mark.parametrize(
    ("arguments", "record", "value"),
    [
        (["rate"], {"text": "4 out of 5"}, 4),
        (["decide"], {"text": "1"}, 1),
        (["allocate", "-n", "2", "--total", "100"], {"text": "60,40"}, [60, 40]),
        (["rank_ties", "-n", "3"], {"text": "1,1,3"}, [1, 1, 3]),
        (["tool_decide"], {"tool_calls": [{"function": "submit_decision", "arguments": {"decision": 1}}]}, 1),
        (["purpose_choice", "--options", "5"], {"text": "C"}, "C"),
        (["purpose_open"], {"text": "It was a fairness test."}, "It was a fairness test."),
    ],
)
def test_every_format_has_its_kind_of_value(arguments, record, value):
    code, read, _ = parse([record], *arguments)
    assert code == 0
    assert read[0]["value"] == value


def test_lone_surrogates_survive():
    code, read, _ = parse(['{"id": "\\ud800", "text": "3 \\ud800"}'], "rate")
    assert code == 0
    assert read[0]["id"] == "\ud800"


@pytest.mark.parametrize(
    ("lines", "arguments", "message"),
    [
        (["{broken"], ["rate"], "line 1"),
        (['{"text": "3"}', "[1]"], ["rate"], "line 2: not a JSON object"),
        ([{"text": "3"}], ["nonsense"], "unknown format 'nonsense'"),
        ([{"text": "3"}], ["rank"], "1 slots are impossible"),
        ([{"text": "3"}], ["rate", "-n", "2"], "2 slots are impossible"),
    ],
)
def test_wrong_input_is_one_message(lines, arguments, message):
    code, _, err = parse(lines, *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replies") / "run"
    for arguments in (
        ["build", "fairfund", "-o", folder],
        ["run", folder, "--model", "sim/unruly", "-M", "malformed=0.5", "--arm", "aid-rate", "--limit", "200"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        assert stopped.value.code == 0
    return folder


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    assert stopped.value.code == 0
    return capsys.readouterr().out


def test_the_replies_behind_a_count_are_listed(run, capsys):
    counts = json.loads(call(capsys, "status", run, "--json"))
    [model] = counts["models"]
    for status in ("malformed", "refused", "answered"):
        listed = json.loads(call(capsys, "replies", run, "--status", status, "--json"))["replies"]
        assert len(listed) == model[status] > 0
        assert {reply["status"] for reply in listed} == {status}
    assert "sim/unruly" in call(capsys, "replies", run, "--status", "malformed", "--limit", "1")


def test_status_shows_arms_and_groups(run, capsys):
    found = json.loads(call(capsys, "status", run, "--json"))
    [arm] = [row for row in found["arms"] if row["arm"] == "aid-rate"]
    assert arm["missing"] == 400
    assert arm["malformed"] > 0
    rows = [row for row in found["groups"] if row["arm"] == "aid-rate" and row["estimand"] == "share_malformed"]
    assert {row["group"] for row in rows if row["term"] == "race"} == {"White", "Black", "Hispanic", "Asian"}
    assert all(row["p_value"] is not None for row in rows)
    text = call(capsys, "status", run)
    assert "p, groups alike" in text


def test_control_characters_of_a_model_are_shown_not_obeyed():
    from evenhand.cli.console import _visible

    assert _visible("a\x1b[2Jb\u202ec\nd") == "a\\x1b[2Jb\\x202ec\nd"
