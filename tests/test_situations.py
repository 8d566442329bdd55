"""Situations that people reported of tools like this one: where each is tested, and tests of those with no other home.

The list is `cases/situations.jsonl` of the developers' shared folder (areas provider, run and data).
"""

import ast
import json
from pathlib import Path

import polars as pl
import pytest

from evenhand import formats, study
from evenhand.collection.models import Respondent
from evenhand.errors import InputError
from evenhand.formats.types import Reply, ToolCall
from evenhand.study import Part

TESTS = Path(__file__).parent
HERE = "test_situations.py"

TESTED = {
    "prov-05": "collection/test_parity.py::test_arguments_that_are_no_string_are_a_server_incompatibility",
    "prov-06": "collection/test_parity.py::test_thinking_in_blocks_is_no_rating_and_names_the_native_provider",
    "prov-08": f"{HERE}::test_a_malformed_function_call_is_malformed",
    "prov-12": f"{HERE}::test_a_refusal_without_text_is_a_refusal",
    "prov-14": "collection/test_parity.py::test_a_claude_that_thinks_is_noted_where_functions_are_forced",
    "prov-15": "collection/test_parity.py::test_reasoning_that_was_asked_for_and_not_used_is_flagged",
    "prov-16": "collection/test_parity.py::test_a_refused_tool_choice_becomes_automatic_and_is_no_refusal",
    "prov-17": "collection/test_parity.py::test_a_tiny_cap_is_refused_for_a_model_that_reasons",
    "prov-18": "collection/test_parity.py::test_a_router_that_is_not_pinned_is_noted",
    "run-01": "collection/test_faults.py::test_thirty_repetitions_are_thirty_calls_with_thirty_replies",
    "run-02": "collection/test_faults.py::test_thirty_repetitions_are_thirty_calls_with_thirty_replies",
    "run-03": "collection/test_faults.py::test_one_temperature_does_not_answer_for_another",
    "run-04": "collection/test_faults.py::test_a_passing_fault_is_asked_again_and_each_request_is_a_row",
    "run-06": "collection/test_logs.py::test_samples_of_several_logs_are_joined_by_unit_and_epoch",
    "run-07": f"{HERE}::test_one_unit_twice_is_refused_before_anything_is_sent",
    "run-08": f"{HERE}::test_shares_are_of_what_was_answered_with_the_missing_beside_them",
    "run-09": "cli/test_collecting.py::test_the_status_lists_who_served_and_what_strayed",
    "run-10": f"{HERE}::test_errors_are_a_status_of_their_own_by_model",
    "run-11": f"{HERE}::test_no_value_stands_for_a_missing_one",
    "run-12": "collection/test_batches.py::test_results_in_any_order_are_joined_by_their_id",
    "run-13": "collection/test_batches.py::test_results_under_each_others_id_are_found_before_any_unit_is_sent",
    "run-14": "collection/test_batches.py::test_no_custom_id_is_used_twice",
    "run-15": "collection/test_batches.py::test_a_batch_without_any_file_fails_and_is_not_waited_for",
    "run-17": "collection/test_batches.py::test_a_batch_that_is_not_known_yet_is_looked_at_again_and_never_sent_twice",
    "run-18": "collection/test_faults.py::test_an_exhausted_quota_stops_and_only_the_errors_are_asked_again",
    "run-19": "test_instrument.py::test_the_same_bytes_whatever_the_hash_seed",
    "run-20": f"{HERE}::test_ranks_come_back_to_the_applicants_they_were_given_to",
    "run-22": f"{HERE}::test_the_order_of_options_is_the_instruments",
    "run-23": f"{HERE}::test_a_simulated_model_always_counts_tokens",
    "data-01": "packs/test_bad_packs.py::test_people_with_awkward_names_stay_people",
    "data-04": "packs/test_bad_packs.py::test_people_with_awkward_names_stay_people",
    "data-05": f"{HERE}::test_ids_keep_their_zeros",
    "data-06": "packs/test_bad_packs.py::test_a_byte_order_mark_does_no_harm",
    "data-07": f"{HERE}::test_rows_without_a_group_stay_rows",
    "data-10": "outcomes/test_doors.py::test_save_then_load_is_identity",
    "data-12": "outcomes/test_doors.py::test_no_cell_is_run_by_a_spreadsheet",
}

APART = {
    "data-03": "no spreadsheet file is read",
    "data-08": "names are never joined with a list: a slot carries its own groups from the instrument on",
}


def test_every_reported_situation_has_its_test(shared):
    lines = (shared / "cases" / "situations.jsonl").read_text(encoding="utf-8").splitlines()
    reported = {case["id"] for case in map(json.loads, lines) if case["area"] in {"provider", "run", "data"}}
    assert reported == set(TESTED) | set(APART)


@pytest.mark.parametrize("place", sorted(set(TESTED.values())))
def test_the_tests_named_here_are_there(place):
    file, _, name = place.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_a_malformed_function_call_is_malformed():
    answer = formats.read("tool_decide", Reply(text="", stop_reason="unknown"))
    assert (answer.status, answer.value) in {("malformed", None), ("no_answer", None)}
    said = "Malformed function call: submit_decision(decision=1"
    answer = formats.read("tool_decide", Reply(text=said, stop_reason="unknown"))
    assert (answer.status, answer.coded) == ("malformed", None)


def test_a_refusal_without_text_is_a_refusal():
    assert formats.read("rate", Reply(text="", stop_reason="content_filter")).status == "refused"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    made = study.build("fairfund", tmp_path_factory.mktemp("situations") / "run")
    study.collect(made, [Respondent("sim/unruly"), Respondent("sim/null")], part=Part(("aid-rate",), limit=90))
    return made


def test_one_unit_twice_is_refused_before_anything_is_sent(run, tmp_path):
    from evenhand.collection import runner
    from evenhand.collection.ledger_file import open_ledger

    units = [*run.instrument.units[:3], run.instrument.units[0]]
    with (
        open_ledger(tmp_path / "ledger.db", digest="d", write=True) as ledger,
        pytest.raises(InputError, match="is there twice"),
    ):
        runner.collect(runner.Errand(units, run.plan.settings), [Respondent("sim/null")], ledger)


def test_shares_are_of_what_was_answered_with_the_missing_beside_them(run):
    """80 of 90 answered with 10 missing, never a bare share."""
    [row] = [
        row for row in study.status(run, part=Part(("aid-rate",), limit=90)).models if row["model"] == "sim/unruly"
    ]
    assert (
        row["units"] == 90 == sum(row[s] for s in ("answered", "refused", "malformed", "no_answer", "error", "missing"))
    )
    assert 0 < row["answered"] < 90
    groups = study.compare_groups(run)
    assert {"refused", "missing"} <= {text.removeprefix("share_") for text in groups["estimand"]}
    assert groups["n"].min() > 0
    assert "conf_low" in groups.columns


def test_errors_are_a_status_of_their_own_by_model(run):
    rows = {row["model"]: row for row in study.status(run, part=Part(("aid-rate",), limit=90)).models}
    assert rows["sim/null"]["error"] == rows["sim/unruly"]["error"] == 0
    table = study.tabulate(run)
    assert set(table["status"].unique()) <= {"answered", "refused", "malformed", "no_answer", "missing"}


def test_no_value_stands_for_a_missing_one(run):
    table = study.tabulate(run).filter(pl.col("task") == "rate")
    unanswered = table.filter(pl.col("status") != "answered")
    assert unanswered.height > 0
    assert unanswered["rating"].null_count() == unanswered.height
    answered = table.filter(pl.col("status") == "answered")
    assert answered["rating"].is_between(1, 5).all()


def test_ranks_come_back_to_the_applicants_they_were_given_to(tmp_path):
    """Whatever the order in which units are sent and slots are shown."""
    made = study.build("fairfund", tmp_path / "run")
    part = Part(("aid-rank-race_transparent",))
    study.collect(made, [Respondent("sim/biased", {"race.Black": -50.0, "noise": 0.0})], part=part)
    table = study.tabulate(made).filter(pl.col("arm") == "aid-rank-race_transparent")
    last = table.filter(pl.col("race") == "Black")
    assert last.height == 60
    assert last["position"].n_unique() > 1
    assert (last["rank"] == 4).all()


def test_the_order_of_options_is_the_instruments():
    """A choice is read by the letters it was shown under; nothing shuffles them afterwards."""
    for letter in "ABCDE":
        assert formats.read("purpose_choice", Reply(text=letter), options=5).value == letter


def test_a_simulated_model_always_counts_tokens(run):
    """Where usage is not set, Inspect looks for a tokenizer on the network."""
    rows = study.status(run).models
    assert all(row["input_tokens"] > 0 and row["output_tokens"] > 0 for row in rows)


def test_ids_keep_their_zeros(tmp_path, run):
    from evenhand.outcomes.doors import read_outcomes, write_outcomes

    table = study.tabulate(run).head(4).with_columns(pl.Series("unit_id", ["007", "012", "1e3", "0x1"]))
    write_outcomes(table, tmp_path / "x.csv")
    assert read_outcomes(tmp_path / "x.csv")["unit_id"].to_list() == ["007", "012", "1e3", "0x1"]


def test_rows_without_a_group_stay_rows(tmp_path, run):
    from evenhand.outcomes.doors import read_outcomes, write_outcomes

    table = study.tabulate(run).head(50).with_columns(race=pl.lit(None, pl.String))
    write_outcomes(table, tmp_path / "x.csv")
    back = read_outcomes(tmp_path / "x.csv")
    assert (back.height, back["race"].null_count()) == (50, 50)


def test_a_call_whose_arguments_were_read_as_another_type_is_no_decision():
    """Inspect reads bare arguments as YAML: `yes` becomes True, `3:1:4:2` a number."""
    for arguments in ({"decision": True}, {"decision": 651842}):
        answer = formats.read("tool_decide", Reply(tool_calls=(ToolCall("submit_decision", arguments),)))
        assert answer.coded is None
