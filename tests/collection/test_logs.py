"""The audit as an Inspect task: the same units, the same outcomes, and its logs as a ledger."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from evenhand import study
from evenhand.collection.models import Respondent
from evenhand.errors import InputError
from evenhand.runs import open_run
from evenhand.study import Part

UNITS = 40
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture(scope="module")
def run(folder):
    plan = folder / "study.toml"
    plan.write_text('extends = "fairfund"\nname = "small"\nepochs = 2\n', encoding="utf-8")
    return study.build(plan, folder / "run")


@pytest.fixture(scope="module")
def logs(folder, run):
    """As a user of Inspect would: a process of its own, through the entry point."""
    command = [str(Path(sys.executable).with_name("inspect")), "eval", "evenhand/audit"]
    command += ["-T", f"instrument={run.folder}", "-T", f"limit={UNITS}", "--model", "sim/unruly"]
    command += ["--display", "none", "--log-dir", str(folder / "logs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "logs"


def test_both_ways_give_the_same_outcomes(folder, run, logs):
    study.collect(run, [Respondent("sim/unruly")], part=Part(limit=UNITS))
    counts = study.import_logs([logs], folder / "imported")
    imported = open_run(folder / "imported")
    assert counts["samples"] == UNITS * 2
    assert_frame_equal(study.tabulate(run), study.tabulate(imported))
    mine, theirs = study.status(run).models[0], study.status(imported).models[0]
    assert mine == theirs
    assert mine["answered"] + mine["refused"] + mine["malformed"] + mine["no_answer"] == UNITS * 2
    assert 0 < mine["answered"] < UNITS * 2
    assert counts["attempts"] > counts["samples"], "no malformed answer was asked for again"


def test_logs_imported_twice_change_nothing(folder, run, logs):
    target = folder / "twice"
    first = study.import_logs([logs], target)
    again = study.import_logs([logs], target)
    assert first["attempts"] > 0
    assert again["attempts"] == 0


def test_the_scorer_says_why_a_sample_has_no_score(logs):
    from inspect_ai.log import list_eval_logs, read_eval_log

    log = read_eval_log(list_eval_logs(str(logs))[0])
    scores = [next(iter(sample.scores.values())) for sample in log.samples]
    by_status = {}
    for score in scores:
        by_status.setdefault(score.metadata["status"], set()).add(score.reason)
    reasons = {"answered": {None}, "refused": {"refusal"}, "malformed": {"invalid_response_format"}}
    assert by_status.items() <= {**reasons, "no_answer": {"no_response"}}.items()
    assert {"answered", "refused"} <= set(by_status)
    assert log.eval.metadata["evenhand_study"] == "small"


def test_samples_of_several_logs_are_joined_by_unit_and_epoch(folder, run, tmp_path):
    """Situation run-06: what an interrupted evaluation finished, and what its retries did, are all there once."""
    from inspect_ai import eval as evaluate
    from inspect_ai.log import read_eval_log, write_eval_log

    from evenhand.collection.registry import audit

    [whole] = evaluate(
        audit(str(run.folder), limit=10), model="sim/null", log_dir=str(tmp_path / "all"), display="none"
    )
    full = read_eval_log(whole.location)
    (tmp_path / "parts").mkdir()
    for number, kept in enumerate((slice(0, 9), slice(0, 4), slice(4, 20))):
        part = full.model_copy(update={"samples": full.samples[kept]})
        write_eval_log(part, str(tmp_path / "parts" / f"{number}.eval"))
    counts = study.import_logs([tmp_path / "parts"], tmp_path / "joined")
    assert counts["logs"] == 3
    [row] = study.status(open_run(tmp_path / "joined")).models
    assert row["answered"] == 20
    assert row["retried"] == 0


def test_two_different_answers_to_one_unit_are_refused(folder, run, logs, tmp_path):
    from inspect_ai import eval as evaluate

    from evenhand.collection.registry import audit

    for part in ("one", "two"):
        evaluate(audit(str(run.folder), limit=2), model="sim/null", log_dir=str(tmp_path / part), display="none")
    with pytest.raises(InputError, match="two different answers"):
        study.import_logs([tmp_path / "one", tmp_path / "two"], tmp_path / "joined")


def test_a_log_of_another_instrument_or_task_is_refused(folder, run, logs, tmp_path):
    other = study.build("fairfund-wording", tmp_path / "other")
    with pytest.raises(InputError, match="belongs to the instrument"):
        study.import_logs([logs], other.folder)


@pytest.mark.parametrize("content", [b"", b"not a log", b"PK\x03\x04broken"])
def test_a_file_that_is_no_log_says_so(content, run, tmp_path):
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a log of Inspect"):
        study.import_logs([path], run.folder)


def test_no_log_at_all_says_so(tmp_path, run):
    with pytest.raises(InputError, match=r"no \.eval log was found"):
        study.import_logs([tmp_path], run.folder)
    with pytest.raises(InputError, match="no such file"):
        study.import_logs([tmp_path / "gone"], run.folder)


def test_a_task_without_a_run_says_how_to_make_one(tmp_path):
    from evenhand.collection.task import make_task

    with pytest.raises(InputError, match="evenhand build"):
        make_task(str(tmp_path))


def test_an_edited_instrument_is_no_task(run, tmp_path):
    from evenhand.collection.task import make_task

    shutil.copytree(run.folder, tmp_path / "edited", ignore=shutil.ignore_patterns("ledger*", "writer*"))
    slots = tmp_path / "edited" / "instrument" / "slots.csv"
    slots.write_text(slots.read_text(encoding="utf-8").replace("Black", "White", 1), encoding="utf-8")
    with pytest.raises(InputError, match="digest"):
        make_task(str(tmp_path / "edited"))
