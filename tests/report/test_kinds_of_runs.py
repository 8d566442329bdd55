"""The page of runs that lack something: each says what."""

import html
import json
import re
import shutil

import pytest

from evenhand import showing, study
from evenhand.cli.asking import make_respondents
from evenhand.errors import InputError

ONE = """
name = "one"
[[arms]]
name = "hiring-rate"
pack = "hiring"
format = "rate"
design = "quota"
count = 120
"""
PROBES = """
[[arms]]
name = "hiring-purpose"
pack = "hiring"
format = "purpose_choice"
design = "probe"
probes = "hiring-rate"
count = 40
"""

ALLOCATIONS = """
name = "templates"
[[arms]]
name = "aid-rate"
pack = "aid"
format = "rate"
design = "templates"
[[arms]]
name = "aid-allocate"
pack = "aid"
format = "allocate"
design = "race_disguised"
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two runs, of one arm and with probes of it, before anything is asked."""
    folder = tmp_path_factory.mktemp("built")
    for name, text in (("one", ONE), ("probes", ONE + PROBES)):
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        study.build(folder / f"{name}.toml", folder / name)
    return folder


@pytest.fixture
def reported(built, tmp_path):
    """A copy of a run, put to a respondent and reported on: its page and the warnings on it."""
    from evenhand.runs import open_run

    def report(name, model=None, part=None, **arguments):
        shutil.copytree(built / name, tmp_path / name)
        run = open_run(tmp_path / name)
        if model:
            study.collect(run, make_respondents([model], arguments), part=part)
        _, files = showing.report(run)
        page = files[0].read_text(encoding="utf-8")
        told = re.findall(r'class="warning" role="note">(.*?)</p>', page)
        return html.unescape(page), " ".join(map(html.unescape, told))

    return report


def test_before_anything_is_asked(reported):
    page, told = reported("one")
    assert told == "Nothing was collected yet: there are no replies to read."
    assert 'id="table-accounting"' in page
    assert 'id="table-checks"' in page
    assert "No planned contrast can be read" in page


def test_one_arm_without_bundles(reported):
    page, told = reported("one", "sim/null")
    assert "One arm was asked, hiring-rate" in told
    assert "No bundles were asked" in told
    assert "No disparity was planted and recovered" in told
    assert "One respondent was asked, sim/null" in told
    assert "Incomplete" not in told
    assert "Interim" not in told
    assert 'data-figure="contrasts"' in page


def test_a_run_in_the_middle(reported):
    _, told = reported("one", "sim/null", study.Part(limit=50))
    assert "Interim: 70 of 120 slots" in told
    assert "Incomplete: 70 requests of the study have no final answer yet." in told


def test_the_command_says_that_a_run_is_in_the_middle(built, tmp_path, evenhand):
    shutil.copytree(built / "one", tmp_path / "one")
    assert evenhand("run", tmp_path / "one", "--model", "sim/null", "--limit", "50")[0] == 0
    _, out, _ = evenhand("report", tmp_path / "one")
    assert "Interim: 70 of 120 slots" in " ".join(out.split())
    _, out, _ = evenhand("report", tmp_path / "one", "--json")
    assert json.loads(out)["warnings"][0].startswith("Interim: ")


def test_probes_alone(reported):
    page, told = reported("probes", "sim/null", study.Part(arms=("hiring-purpose",)))
    assert "among them 1 arm not begun: hiring-rate" in told
    assert "Interim: 120 of 120 slots" in told
    assert 'data-figure="recognition"' in page
    assert 'data-figure="contrasts"' not in page


def test_no_valid_reply(reported):
    page, told = reported("one", "sim/unruly", refusal=1)
    assert "No reply could be read as an answer" in told
    assert "There is nothing to draw" in page
    assert 'id="table-unanswered"' in page


def test_one_unit_short_is_no_end(reported):
    _, told = reported("one", "sim/null", study.Part(limit=119))
    assert "Interim: 1 of 120 slots" in told
    assert "Incomplete: 1 request of the study has no final answer yet." in told


def test_models_that_the_study_names_are_missed(reported, built):
    (built / "named.toml").write_text('models = ["sim/null", "sim/biased"]\n' + ONE, encoding="utf-8")
    study.build(built / "named.toml", built / "named")
    _, told = reported("named", "sim/null")
    assert "The study names 1 model that was not asked: sim/biased." in told


def test_allocations_that_have_no_pillars_have_a_page(reported, built):
    (built / "templates.toml").write_text(ALLOCATIONS, encoding="utf-8")
    study.build(built / "templates.toml", built / "templates")
    page, told = reported("templates", "sim/biased")
    assert "No pillars of FairFund-Bench are scored: " in told
    assert 'data-figure="contrasts"' in page
    assert 'data-figure="leaderboard"' not in page


def test_a_run_that_lost_its_ledger_keeps_its_page(reported, tmp_path):
    from evenhand.runs import open_run

    reported("one", "sim/null")
    for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
        (tmp_path / "one" / name).unlink(missing_ok=True)
    with pytest.raises(InputError, match="its ledger is gone"):
        showing.report(open_run(tmp_path / "one"))
    assert "No bundles were asked" in (tmp_path / "one" / "report" / "index.html").read_text(encoding="utf-8")


def test_no_respondent_is_called_as_all_together():
    with pytest.raises(InputError, match="cannot be called 'pooled'"):
        make_respondents(["sim/null"], label="pooled")


def test_a_comparison_with_an_unfinished_run_says_so(built, tmp_path):
    from evenhand.runs import open_run

    for name, part in (("first", None), ("second", study.Part(limit=50))):
        shutil.copytree(built / "one", tmp_path / name)
        study.collect(open_run(tmp_path / name), make_respondents(["sim/null"]), part=part)
    found = study.compare(tmp_path / "first", tmp_path / "second")
    [note] = [note for note in found.notes if note.startswith("interim")]
    assert note.startswith(f"interim: 70 slots of {tmp_path / 'second'} have no final answer yet")


def test_epochs_beyond_the_studys_are_accounted_for(built, tmp_path):
    import csv

    from evenhand.runs import open_run

    shutil.copytree(built / "one", tmp_path / "one")
    run = open_run(tmp_path / "one")
    study.collect(run, make_respondents(["sim/null"]), epochs=2)
    showing.report(run)
    with (run.folder / "report" / "tables" / "accounting.csv").open(encoding="utf-8") as file:
        assert [row["requests"] for row in csv.DictReader(file)] == ["240"]


def test_only_replies_that_came_in_meanwhile_are_told(built, tmp_path, monkeypatch):
    from evenhand.runs import open_run

    shutil.copytree(built / "one", tmp_path / "one")
    run = open_run(tmp_path / "one")
    respondents = make_respondents(["sim/null"], {})
    study.collect(run, respondents, part=study.Part(limit=50))
    # A command that fails leaves its traces in the ledger's files, and no reply.
    with pytest.raises(InputError):
        study.collect(run, make_respondents(["sim/fair"], {}))
    told = "Replies came in while this page was made"
    assert told not in showing.report(run)[1][0].read_text(encoding="utf-8")
    replies = study.replies

    def meanwhile(asked):
        study.collect(run, respondents, part=study.Part(limit=60))
        return replies(asked)

    monkeypatch.setattr(study, "replies", meanwhile)
    assert told in showing.report(run)[1][0].read_text(encoding="utf-8")
