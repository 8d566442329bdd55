"""The leaderboard's site: what its rows say, of any number of runs, of models of any name."""

import csv
import json
import re
from html import unescape

import pytest
from audits import HOSTILE

from evenhand import showing, study
from evenhand.cli.asking import make_respondents
from evenhand.errors import EvenhandError, InputError
from evenhand.report.board import Source, write_board

PUBLISHED = study.published_leaderboard().to_dicts()


def scored(model, **cells):
    """A row as `Scores.rows` has it."""
    row = {"model": model, "n_rows": 100, "n_valid": 90, "pools": 15}
    for k, pillar in enumerate(("p1", "p2", "p3", "p4"), start=1):
        row |= {pillar: 0.1 * k, f"{pillar}_se": 0.01, f"{pillar}_lo": 0.1 * k - 0.02, f"{pillar}_hi": 0.1 * k + 0.02}
        row |= {} if pillar == "p2" else {f"{pillar}_floor": 0.05 * k}
    return row | cells


def source(name="first", *scores, **cells):
    counts = {"answered": 90, "refused": 10, "malformed": 0, "no_answer": 0, "error": 0, "missing": 0}
    told = {
        "name": name, "study": "fairfund", "folder": f"runs/{name}", "digest": "d" * 64, "method": "released",
        "command": f"evenhand score runs/{name}",
        "scores": scores or (scored("m1"),), "models": [{"model": "m1", "versions": ["m1-2026-11"]}],
        "arms": [{"model": "m1", "arm": "rate", "units": 100} | counts], "waiting": {},
    }  # fmt: skip
    return Source(**(told | cells))


def rows_of(folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    return re.findall(r'<tr data-source="([^"]*)".*?<bdi>(.*?)</bdi></a>(.*?)</tr>', page, re.DOTALL)


def test_every_model_has_a_row_a_page_and_data(tmp_path):
    files = write_board([source()], PUBLISHED, tmp_path, version="1")
    assert files[0] == tmp_path / "index.html"
    rows = rows_of(tmp_path)
    assert len(rows) == 15
    [(_, _, mine)] = [row for row in rows if row[1] == "m1"]
    for told in ("<b>0.100</b>", "[0.080, 0.120]", "floor 0.050", "90 of 100"):
        assert told in mine
    assert all("floor" not in cells for origin, _, cells in rows if origin == "published")
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for named in re.findall(r'href="((?:models|data|figures)/[^"]+)"', page):
        assert (tmp_path / unescape(named)).exists(), named
    own = (tmp_path / "models" / "m1.html").read_text(encoding="utf-8")
    for told in ("m1-2026-11", "d" * 64, "evenhand score runs/first", "10.0%"):
        assert told in own
    with (tmp_path / "data" / "leaderboard.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    data = json.loads((tmp_path / "data" / "leaderboard.json").read_text(encoding="utf-8"))
    assert [row["label"] for row in data] == [row["label"] for row in table] == [label for _, label, _ in rows]
    assert [row["p1"] for row in data] == sorted(row["p1"] for row in data)


def test_one_model_of_two_runs_stands_twice(tmp_path):
    write_board([source("first"), source("second")], [], tmp_path, version="1")
    assert {(origin, label) for origin, label, _ in rows_of(tmp_path)} == {
        ("first", "m1 (first)"),
        ("second", "m1 (second)"),
    }
    assert len(list((tmp_path / "models").iterdir())) == 2


def test_what_is_missing_is_said(tmp_path):
    gone = scored("m2", n_valid=0, **{f"p{k}{end}": None for k in (1, 2, 3, 4) for end in ("", "_lo", "_hi", "_floor")})
    part = scored("m3", p4=None, pools=12)
    write_board([source("first", scored("m1"), gone, part, waiting={"m1": 7}, method="identified")], PUBLISHED, tmp_path, version="1")  # fmt: skip
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for told in (
        "Interim: 7 units of m1",
        "No answer of m2",
        "m3 in first has no P4",
        "m3 in first was scored on 12 of 15 pools",
        "only their P2 and P4",
    ):
        assert told in page
    assert rows_of(tmp_path)[-1][1] == "m2"
    cells = re.findall(r'<th scope="row">P\d</th><td class="number">(.*?)</td>', (tmp_path / "models" / "m2.html").read_text(encoding="utf-8"))  # fmt: skip
    assert [cell.strip() for cell in cells] == ["none"] * 4


def test_names_are_text_and_no_paths(tmp_path):
    names = [HOSTILE, "../../m", "M", "m", "é", "a\0b", "x" * 400, "=1+1"]
    write_board([source("first", *(scored(name) for name in names))], PUBLISHED, tmp_path, version="1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "figures", "index.html", "models"]
    pages = list((tmp_path / "models").iterdir())
    assert len({path.name.lower() for path in pages}) == len(names) + len(PUBLISHED)
    for path in [*pages, tmp_path / "index.html"]:
        page = path.read_text(encoding="utf-8")
        assert "<script>document" not in page
        assert "<img src=x" not in page
        assert page.count("</script>") == 2
    assert "\n'=1+1" in (tmp_path / "data" / "leaderboard.csv").read_text(encoding="utf-8")


def test_places_are_those_of_what_can_be_compared(tmp_path):
    def places(model):
        page = (tmp_path / "models" / f"{model}.html").read_text(encoding="utf-8")
        return re.findall(r'<td class="number">([^<]*)</td><td class="long">', page)

    write_board([source("first", scored("m1"), scored("m2"), waiting={"m2": 3})], PUBLISHED, tmp_path, version="1")
    below = sum(row["p1"] < 0.1 for row in PUBLISHED)
    above = [sum(row[pillar] > score for row in PUBLISHED) for pillar, score in (("p3", 0.3), ("p4", 0.4))]
    assert places("m1") == [f"{below + 1} of 16", "", *(f"{ahead + 1} of 16" for ahead in above)]
    assert places("m2") == ["none: unfinished", "", "none: unfinished", "none: unfinished"]
    write_board([source("first", method="identified")], PUBLISHED, tmp_path, version="1")
    assert places("m1") == ["1 of 1", "", "1 of 1", f"{above[1] + 1} of 15"]
    assert "only their P2 and P4" in (tmp_path / "models" / "m1.html").read_text(encoding="utf-8")


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.html").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="something other"):
        write_board([source()], [], tmp_path, version="1")
    assert [path.name for path in tmp_path.rglob("*")] == ["models", "mine.html"]


def test_pages_of_models_that_are_gone_are_taken_away(tmp_path):
    write_board([source("first", scored("m1"), scored("m2"))], [], tmp_path, version="1")
    write_board([source("first", scored("m1"))], [], tmp_path, version="1")
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["m1.html"]


def test_runs_that_cannot_stand_together_are_refused(tmp_path):
    run = study.build("demo", tmp_path / "run")
    with pytest.raises(InputError, match="named twice"):
        showing.leaderboard([run.folder, tmp_path / "." / "run"], tmp_path / "site")
    with pytest.raises(EvenhandError, match="nothing was collected"):
        showing.leaderboard([run.folder], tmp_path / "site")
    assert not (tmp_path / "site").exists()
    with pytest.raises(InputError, match="over a run"):
        showing.leaderboard([run.folder], run.folder)


def test_runs_become_a_site(tmp_path, evenhand):
    runs = []
    for name in ("one", "two"):
        run = study.build("demo", tmp_path / name)
        study.collect(run, make_respondents(["sim/biased"]))
        runs.append(run.folder)
    code, out, _ = evenhand("leaderboard", *runs, "-o", tmp_path / "site", "--boot", "20")
    assert code == 0
    assert "index.html" in out
    rows = rows_of(tmp_path / "site")
    assert {label for origin, label, _ in rows if origin != "published"} == {"sim/biased (one)", "sim/biased (two)"}
    assert len(rows) == 16
    data = json.loads((tmp_path / "site" / "data" / "leaderboard.json").read_text(encoding="utf-8"))
    scores = study.score(study.tabulate(run), boot=20).rows.to_dicts()[0]
    [mine] = [row for row in data if row["source"] == "two"]
    assert {name: mine[name] for name in scores} == scores
    page = (tmp_path / "site" / "models" / mine["page"]).read_text(encoding="utf-8")
    assert f"evenhand score {runs[1]} --method released --boot 20 --seed 0" in page
    code, _, err = evenhand("leaderboard", runs[0], "-o", tmp_path / "two" / "instrument")
    assert code == 2
    assert "something other than a leaderboard" in err
