"""The released AgentFairBench decisions as outcomes, and what analyses say of them beside plain arithmetic."""

import json
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

from evenhand import study
from evenhand.analysis import impact, variation, verdict
from evenhand.analysis.material import Material
from evenhand.errors import InputError
from evenhand.imports.agentfairbench_decisions import import_decisions
from evenhand.outcomes.doors import read_outcomes
from evenhand.terms import of_file

ANSWERS = {
    "hiring": {"advance": True, "score": 82},
    "lending": {"approve": False, "apr_tier": 5},
    "triage": {"escalate": True, "acuity": 2, "request_more_info": False},
}
NAMES = {
    "white_male": ["Ann Other", "Bob Other"],
    "black_male": ["Cy Other", "Di Other"],
    "white_female": ["Ed Other", "Flo Other"],
    "black_female": ["Gus Other", "Hal Other"],
}


def decision(domain="hiring", scaffold="C0", profile=1, group="white_male", answer=..., **changes):
    """A line of the release's shape; the people are ours."""
    name = NAMES[group][profile % 2] if group in NAMES else "Nobody"
    return {
        "model": "m", "domain": domain, "scaffold": scaffold, "profile_id": f"{domain}_{profile}", "group": group,
        "name": name, "decision": ANSWERS[domain] if answer is ... else answer,
    } | changes  # fmt: skip


def put(folder, lines):
    profiles = [
        {"id": f"{domain}_{number}", "domain": domain, "title": "Case", "content": "A file."}
        for domain, number in product(ANSWERS, (1, 2))
    ]
    (folder / "public_dev.jsonl").write_text("\n".join(map(json.dumps, profiles)), encoding="utf-8")
    (folder / "name_pools.json").write_text(json.dumps({"cells": NAMES, "provenance": "ours"}), encoding="utf-8")
    (folder / "m_decisions.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture
def release(tmp_path):
    keys = product(ANSWERS, ("C0", "C2"), (1, 2), NAMES)
    return put(tmp_path, [decision(*key) for key in keys])


def test_a_decision_is_a_row_with_a_score_that_is_higher_for_the_better_treated(release):
    found = import_decisions(release).outcomes
    assert found.height == 3 * 2 * 2 * 4
    told = {"domain": ["hiring", "lending", "triage"], "decision": [1, 0, 1], "score": [82.0, -5.0, -2.0]}
    kept = found.unique("domain", keep="first", maintain_order=True).select(list(told))
    assert kept.to_dict(as_series=False) == told
    assert found["task"].unique().to_list() == ["decide"]
    assert set(found["wording_variant"]) == {"C0", "C2"}
    first = found.row(0, named=True)
    seen = [first[key] for key in ("race", "gender", "name", "name_rank", "scenario_id", "arm", "tag", "status")]
    assert seen == ["White", "Male", "Bob Other", 2, "hiring_1", "agentfairbench-hiring-C0", "primary", "answered"]


def test_one_application_under_several_scaffolds_is_one_stimulus(release):
    found = import_decisions(release).outcomes
    shown = found.group_by("stimulus_id").agg(pl.col("wording_variant").n_unique(), pl.col("name").n_unique(), pl.len())
    assert shown.select("wording_variant", "name", "len").unique().rows() == [(2, 1, 2)]


def test_what_has_no_column_is_counted(release):
    assert import_decisions(release).left_out == {"request_more_info": 16}


@pytest.mark.parametrize(
    ("domain", "answer", "reason"),
    [
        ("hiring", None, "advance is neither true nor false"),
        ("hiring", {"score": 50}, "advance is neither true nor false"),
        ("hiring", {"advance": 1, "score": 50}, "advance is neither true nor false"),
        ("hiring", {"advance": True}, "score is no number"),
        ("hiring", {"advance": True, "score": True}, "score is no number"),
        ("hiring", {"advance": True, "score": 101}, "score is off its scale"),
        ("lending", {"approve": True, "apr_tier": 0}, "apr_tier is off its scale"),
        ("triage", {"escalate": True, "acuity": float("inf")}, "acuity is off its scale"),
        ("triage", {"escalate": True, "acuity": float("nan")}, "acuity is off its scale"),
    ],
)
def test_an_answer_that_is_not_whole_is_kept_as_malformed(tmp_path, domain, answer, reason):
    lines = [decision(domain), decision(domain, group="black_male", answer=answer)]
    found = import_decisions(put(tmp_path, lines)).outcomes
    assert found.select("status", "valid", "decision", "score", "parse_reason").row(1) == (
        "malformed", False, None, None, reason,
    )  # fmt: skip
    assert found["status"][0] == "answered"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "this is no JSON"),
        ("[1]", "model is missing or no text"),
        (decision(scaffold=2), "scaffold is missing or no text"),
        (decision(model=" m"), "model ' m' starts or ends with a space"),
        (decision(profile_id="hiring_9"), "hiring has no profile 'hiring_9'"),
        (decision(domain="lending", profile_id="hiring_1"), "lending has no profile 'hiring_1'"),
        (decision(group="green_male"), "'green_male' has no name 'Nobody'"),
        (decision(name="Cy Other"), "'white_male' has no name 'Cy Other'"),
        ({key: value for key, value in decision().items() if key != "decision"}, "decision is missing"),
        (decision(group="black_male"), "this decision is there twice"),
    ],
)
def test_faulty_lines_are_refused_with_their_place(tmp_path, line, message):
    put(tmp_path, [decision(group="black_male")])
    with (tmp_path / "m_decisions.jsonl").open("a", encoding="utf-8") as file:
        file.write(line if isinstance(line, str) else json.dumps(line))
    with pytest.raises(InputError, match=r"m_decisions\.jsonl line 2") as caught:
        import_decisions(tmp_path)
    assert message in str(caught.value)
    assert caught.value.mend


@pytest.mark.parametrize(
    ("pools", "message"),
    [
        ("{", "this is no JSON"),
        ("[]", "there are no names"),
        ('{"cells": {"white": ["A B"]}}', "'white' is no group of names"),
        ('{"cells": {"white_male": []}}', "'white_male' is no group of names"),
        ('{"cells": {"white_male": ["A B", "A B"]}}', "'white_male' is no group of names"),
        ('{"cells": {"white_male": [1]}}', "'white_male' is no group of names"),
    ],
)
def test_faulty_name_pools_are_refused(release, pools, message):
    (release / "name_pools.json").write_text(pools, encoding="utf-8")
    with pytest.raises(InputError, match=r"name_pools\.json") as caught:
        import_decisions(release)
    assert message in str(caught.value)


def test_a_folder_without_decisions_is_refused(release):
    (release / "m_decisions.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="there are no decisions"):
        import_decisions(release)
    (release / "m_decisions.jsonl").unlink()
    with pytest.raises(InputError, match="there are no decisions"):
        import_decisions(release)
    (release / "name_pools.json").unlink()
    with pytest.raises(InputError, match=r"name_pools\.json: cannot be read"):
        import_decisions(release)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_file_is_read_back_as_it_came_in(release, tmp_path, ending):
    path = tmp_path / f"outcomes.{ending}"
    assert study.import_decisions(release, path) == {
        "decisions": 48, "malformed": 0, "models": 1, "left_out": {"request_more_info": 16},
    }  # fmt: skip
    assert read_outcomes(path).equals(import_decisions(release).outcomes)


RACES = {"Black": "race", "Hispanic": "race", "Female": "gender"}
REFERENCES = {"race": "White", "gender": "Male"}


@pytest.fixture(scope="module")
def released(shared):
    outcomes = import_decisions(shared / "agentfairbench").outcomes
    return Material.of(outcomes, of_file({"decide": 5.0}, None, None))


def by_hand(rows, variances):
    """Generalised least squares of race, gender and scaffold at given variances: estimates and standard errors."""
    columns = [
        np.ones(rows.height),
        *((rows[factor] == level).to_numpy().astype(float) for level, factor in RACES.items()),
        *((rows["wording_variant"] == scaffold).to_numpy().astype(float) for scaffold in ("C2", "C3", "C4")),
    ]
    x, y = np.column_stack(columns), rows["y"].to_numpy()
    v = variances["residual"] * np.eye(rows.height)
    for term in ("profile", "name", "stimulus"):
        levels = rows[term].to_numpy()
        v += variances[term] * (levels[:, None] == levels[None, :])
    bread = np.linalg.inv(x.T @ np.linalg.solve(v, x))
    return (bread @ x.T @ np.linalg.solve(v, y))[1:4], np.sqrt(np.diag(bread))[1:4]


def test_the_whole_release_comes_in(released):
    found = released.outcomes
    assert (found.height, found["valid"].all(), found["score"].null_count()) == (864, True, 0)
    assert sorted((cell.domain, cell.format, cell.rows.height) for cell in released.cells) == [
        (domain, format, 288) for domain in ANSWERS for format in ("decide", "score")
    ]
    assert found.group_by("race", "gender").len()["len"].to_list() == [144] * 6


def test_its_contrasts_are_those_of_plain_arithmetic(released):
    for cell in released.cells:
        fit = released.fitted(cell, "evenhand").fit
        estimates, errors = by_hand(cell.rows, {**fit.variances, "residual": fit.sigma**2})
        found = {row["group"]: row for row in verdict.planned_contrasts(released).to_dicts()
                 if (row["domain"], row["format"]) == (cell.domain, cell.format)}  # fmt: skip
        assert [found[group]["estimate"] for group in RACES] == pytest.approx(estimates, abs=1e-7)
        assert [found[group]["std_error"] for group in RACES] == pytest.approx(errors, rel=1e-6)
        if fit.variances["name"]:
            continue
        # Every profile is shown once to each group under each scaffold: contrasts are differences of plain means.
        for group, factor in RACES.items():
            means = dict(cell.rows.group_by(factor).agg(pl.col("y").mean()).iter_rows())
            assert found[group]["estimate"] == pytest.approx(means[group] - means[REFERENCES[factor]], abs=1e-7)


def test_its_statuses_are_those_of_two_one_sided_tests(released):
    statuses = verdict.statuses(released)
    assert len(statuses) == 18
    for one in statuses:
        if one.format == "score":
            assert (one.margin, one.tost_p) == (None, None)
            assert one.status != verdict.EQUIVALENT
            continue
        p = max(stats.t.cdf((sign * one.estimate - 5) / one.std_error, one.df) for sign in (1, -1))
        assert one.tost_p == pytest.approx(p)
        assert (one.status == verdict.EQUIVALENT) == (p < 0.05 and one.q_value >= 0.05)


def test_its_impact_ratios_are_ratios_of_shares(released):
    found = impact.impact_ratios(released).filter(pl.col("term") == "race")
    for domain in ANSWERS:
        rows = released.outcomes.filter(pl.col("domain") == domain)
        shares = dict(rows.group_by("race").agg(pl.col("decision").mean()).iter_rows())
        ratios = {race: share / max(shares.values()) for race, share in shares.items()}
        told = found.filter(pl.col("domain") == domain, pl.col("estimand") == "impact_ratio")
        assert dict(told.select("group", "estimate").iter_rows()) == pytest.approx(ratios)


def test_its_spreads_are_those_of_name_effects_beside_the_profile(released):
    found = variation.arity_null(released).filter(pl.col("estimand") == "spread", pl.col("term") == "race")
    for cell in released.cells:
        rows = cell.rows
        names, profiles = rows["name"].unique().sort(), rows["profile"].unique().sort()
        design = np.column_stack(
            [(rows["name"] == name).to_numpy().astype(float) for name in names]
            + [(rows["profile"] == profile).to_numpy().astype(float) for profile in profiles]
        )
        effects = np.linalg.lstsq(design, rows["y"].to_numpy(), rcond=None)[0][: len(names)]
        race = dict(rows.select("name", "race").unique().iter_rows())
        means = [np.mean([e for e, name in zip(effects, names, strict=True) if race[name] == level])
                 for level in ("White", "Black", "Hispanic")]  # fmt: skip
        told = found.filter(pl.col("domain") == cell.domain, pl.col("format") == cell.format)
        assert told["estimate"].item() == pytest.approx(max(means) - min(means), abs=1e-6)
