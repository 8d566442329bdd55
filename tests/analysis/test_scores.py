"""The scorer against the paper's words, against the released scorer, and against what must hold of it."""

import json
import math
import random

import polars as pl
import pytest
from plain_pillars import EXCERPT, denominators, pick, pillars, read_rows
from polars.testing import assert_frame_equal

from evenhand.analysis import scores as scoring
from evenhand.analysis.denominators import POOLS, Denominators
from evenhand.analysis.floors import FLOORS
from evenhand.analysis.pillars import demographic_bias
from evenhand.analysis.scores import published_leaderboard, score, write_scores
from evenhand.errors import EvenhandError, InputError, OutcomesError
from evenhand.outcomes.doors import read_outcomes

PILLARS = ["p1", "p2", "p3", "p4"]
LAST = max(row["unit_id"] for row in read_rows())


@pytest.fixture(scope="module")
def outcomes() -> pl.DataFrame:
    return read_outcomes(EXCERPT)


@pytest.fixture(scope="module")
def scored(outcomes):
    return score(outcomes, boot=200)


def points(scores) -> dict[str, list[float]]:
    return {row["model"]: [row[pillar] for pillar in PILLARS] for row in scores.rows.to_dicts()}


def errors(scores) -> dict[str, list[float]]:
    return {row["model"]: [row[f"{pillar}_se"] for pillar in PILLARS] for row in scores.rows.to_dicts()}


# Against the paper's words


def test_points_and_denominators_are_those_of_a_plain_computation(outcomes):
    rows = read_rows()
    by_pool, by_task = denominators(rows)
    scores = score(outcomes, recompute=True, boot=0)
    assert dict(scores.denominators.pools) == pytest.approx(by_pool, abs=1e-9)
    assert dict(scores.denominators.tasks) == pytest.approx(by_task, abs=1e-9)
    for model, found in points(scores).items():
        assert found == pytest.approx(pillars(pick(rows, model=model), by_pool, by_task), abs=1e-9)


def test_points_with_the_released_denominators_are_those_of_a_plain_computation(outcomes):
    rows = read_rows()
    frozen = Denominators.released()
    for model, found in points(score(outcomes, boot=0)).items():
        expected = pillars(pick(rows, model=model), dict(frozen.pools), dict(frozen.tasks))
        assert found == pytest.approx(expected, abs=1e-9)


def test_the_excerpt_has_cells_without_data_as_full_data_has_not():
    rows = pick(read_rows(), model="gpt-4o", bundle_type="race_transparent", task="rank")
    assert len({(row["race"], row["gender"], row["framing"]) for row in rows}) < 40


def test_standard_errors_are_those_of_a_plain_bootstrap(outcomes):
    rows = pick(read_rows(), model="gpt-4o")
    frozen = Denominators.released()
    units: dict[tuple, dict[str, list]] = {}
    for row in rows:
        stratum = units.setdefault((row["bundle_type"], row["task"]), {})
        stratum.setdefault(row["unit_id"], []).append(row)
    rng = random.Random(5)
    replicates = []
    for _ in range(150):
        drawn = [
            row
            for stratum in units.values()
            for unit in rng.choices(list(stratum.values()), k=len(stratum))
            for row in unit
        ]
        replicates.append(pillars(drawn, dict(frozen.pools), dict(frozen.tasks)))
    columns = list(zip(*replicates, strict=True))
    spreads = [math.sqrt(sum((x - sum(xs) / len(xs)) ** 2 for x in xs) / len(xs)) for xs in columns]
    found = errors(score(outcomes, boot=2000))["gpt-4o"]
    # 150 replicates know a spread to 6%; four times that is allowed.
    assert found == pytest.approx(spreads, rel=0.23)


# Against the released scorer


@pytest.mark.parametrize(
    ("file", "leaderboard", "denominators", "boot", "tolerance"),
    [
        ("outcomes_3", "leaderboard_3", "denominators_3", 2000, 0.25),
        ("outcomes_3", "leaderboard_3_frozen", None, 2000, 0.25),
        ("outcomes_14", "leaderboard_14", "denominators_14", 2000, 0.10),
    ],
)
def test_the_released_scorer_is_reproduced(shared, file, leaderboard, denominators, boot, tolerance):
    folder = shared / "fairfund" / "reference"
    scores = score(read_outcomes(folder / f"{file}.csv.gz"), recompute=denominators is not None, boot=boot)
    if denominators:
        expected = Denominators.read(folder / f"{denominators}.csv")
        assert dict(scores.denominators.pools) == pytest.approx(dict(expected.pools), abs=1e-9)
        assert dict(scores.denominators.tasks) == pytest.approx(dict(expected.tasks), abs=1e-9)
    table = pl.read_csv(folder / f"{leaderboard}.csv")
    assert set(table["model"]) == set(scores.rows["model"])
    for row in table.to_dicts():
        model = row["model"]
        assert points(scores)[model] == pytest.approx([row[f"{p}_score"] for p in PILLARS], abs=1e-9)
        assert errors(scores)[model] == pytest.approx([row[f"{p}_score_se"] for p in PILLARS], rel=tolerance)


def test_the_frozen_denominators_and_leaderboard_are_the_published_ones(shared, tmp_path):
    published = shared / "fairfund" / "denominators.csv"
    Denominators.released().write(tmp_path / "denominators.csv")
    assert (tmp_path / "denominators.csv").read_text().rstrip() == published.read_text().rstrip()
    table = pl.read_csv(shared / "fairfund" / "leaderboard.csv")
    assert published_leaderboard().rows() == table.rows()


def test_the_published_leaderboard_has_fourteen_models_in_the_columns_of_scores(scored):
    table = published_leaderboard()
    assert table.height == 14
    assert set(scored.rows.columns) - {"n_rows", "n_valid", "pools", *FLOORS} <= set(table.columns)
    opus = table.row(by_predicate=pl.col("model") == "claude-opus-4-6", named=True)
    assert [round(opus[pillar], 3) for pillar in PILLARS] == [0.025, 1.304, 0.809, 0.946]


def test_a_pillar_more_of_ours_leaves_the_published_leaderboard_as_it_is(outcomes, monkeypatch):
    published = published_leaderboard()
    monkeypatch.setattr("evenhand.analysis.pillars.PILLARS", dict(scoring.PILLARS) | {"p5": demographic_bias})
    monkeypatch.setattr(scoring, "PILLARS", dict(scoring.PILLARS) | {"p5": demographic_bias})
    assert_frame_equal(published_leaderboard(), published)
    rows = score(outcomes, boot=20).rows
    assert rows["p5"].to_list() == rows["p1"].to_list()
    assert rows["p5_se"].to_list() == rows["p1_se"].to_list()


# What must hold


def test_a_model_is_scored_the_same_whoever_else_is(outcomes, scored):
    alone = score(outcomes.filter(pl.col("model") == "gpt-4o"), boot=200)
    assert_frame_equal(alone.rows, scored.rows.filter(pl.col("model") == "gpt-4o"), check_exact=True)


def test_the_order_of_rows_does_not_matter(outcomes, scored):
    shuffled = outcomes.sample(fraction=1, shuffle=True, seed=5)
    assert_frame_equal(score(shuffled, boot=200).rows, scored.rows, check_exact=True)


def test_the_seed_moves_the_intervals_and_nothing_else(outcomes, scored):
    other = score(outcomes, boot=200, seed=1)
    assert points(other) == points(scored)
    assert errors(other) != errors(scored)
    assert errors(score(outcomes, boot=200, seed=0)) == errors(scored)


def test_two_models_with_the_same_answers_have_streams_of_their_own(outcomes):
    twin = outcomes.filter(pl.col("model") == "gpt-4o")
    both = score(pl.concat([twin, twin.with_columns(model=pl.lit("twin"))]), boot=200)
    assert points(both)["gpt-4o"] == points(both)["twin"]
    assert errors(both)["gpt-4o"] != errors(both)["twin"]


def test_an_epoch_more_of_the_same_answers_adds_no_certainty(outcomes, scored):
    twice = pl.concat([outcomes, outcomes.with_columns(epoch=pl.lit(2, pl.Int64))])
    assert points(score(twice, boot=200)) == points(scored)
    for model, found in errors(score(twice, boot=200)).items():
        assert found == pytest.approx(errors(scored)[model], rel=1e-5)


def test_intervals_are_the_point_and_1_96_standard_errors(scored):
    for row in scored.rows.to_dicts():
        for p in PILLARS:
            assert row[f"{p}_lo"] == pytest.approx(row[p] - 1.96 * row[f"{p}_se"])
            assert row[f"{p}_hi"] == pytest.approx(row[p] + 1.96 * row[f"{p}_se"])


@pytest.mark.parametrize(
    "more",
    [
        {"wording_variant": pl.lit("merit")},
        {"tag": pl.lit("extension:wording"), "arm": pl.lit("other")},
        {"tag": pl.lit("extension:pairs"), "arm": pl.lit("other"), "bundle_type": pl.lit("pairs")},
        {"tag": pl.lit("extension:who"), "arm": pl.lit("other"), "race": pl.lit("Martian"), "domain": pl.lit("loan")},
        {"task": pl.lit("rank_ties")},
        {"valid": pl.lit(value=False), "tied": pl.lit(value=True)},
    ],
    ids=["wording", "extension", "other bundles", "other people", "task", "tied"],
)
def test_other_rows_are_not_read(outcomes, scored, more):
    strange = outcomes.filter(pl.col("task") == "rank").with_columns(rank=1, **more)
    scored = scored.rows.drop("n_rows") if "tied" in more else scored.rows
    found = score(pl.concat([outcomes, strange.select(outcomes.columns)], how="vertical_relaxed"), boot=200)
    assert_frame_equal(found.rows.select(scored.columns), scored, check_exact=True)


def test_a_model_says_what_its_scores_rest_on(outcomes):
    gpt = outcomes.filter(pl.col("model") == "gpt-4o")
    lost = pl.when(pl.col("task") == "rate").then(pl.lit(value=False)).otherwise(pl.col("valid"))
    part = gpt.filter(pl.col("bundle_type") != "intersectional").with_columns(model=pl.lit("part"), valid=lost)
    silent = gpt.with_columns(model=pl.lit("silent"), valid=pl.lit(value=False))
    other = gpt.with_columns(wording_variant=pl.lit("merit"), valid=pl.lit(value=True))
    scores = score(pl.concat([gpt, part, silent, other]), boot=0)
    found = {row["model"]: (row["n_rows"], row["n_valid"], row["pools"]) for row in scores.to_json_dict()["rows"]}
    plain = pick(read_rows(), model="gpt-4o")
    kept = [row for row in plain if row["task"] != "rate" and row["bundle_type"] != "intersectional"]
    assert found == {
        "gpt-4o": (gpt.height, len(plain), 15),
        "part": (part.height, len(kept), 12),
        "silent": (gpt.height, 0, 0),
    }


def test_scores_name_their_domain(outcomes, scored):
    assert scored.domain is None
    of_aid = outcomes.with_columns(domain=pl.when(pl.col("model") == "gpt-4o").then(pl.lit("aid")))
    assert score(of_aid, boot=0).domain == "aid"
    other = outcomes.with_columns(domain=pl.lit("loan"), unit_id=pl.col("unit_id") + "-loan")
    with pytest.raises(OutcomesError, match=r"the rows to score are of the domains aid, loan\. Score one domain alone"):
        score(pl.concat([of_aid, other]), boot=0)


def even_handed(outcomes: pl.DataFrame) -> pl.DataFrame:
    return outcomes.filter(pl.col("task") != "rank").with_columns(
        rating=pl.when(pl.col("task") == "rate").then(3),
        dollars=pl.when(pl.col("task") == "allocate").then(10_000 // pl.col("bundle_size")),
    )


def test_an_even_handed_model_shows_no_difference(outcomes):
    for row in score(even_handed(outcomes), boot=50).rows.to_dicts():
        assert row["p1"] == row["p1_se"] == row["p2"] == row["p2_se"] == 0
        assert row["p4"] == 1


def test_an_even_handed_model_is_kept_from_1_on_p3_as_released(shared):
    # P3 combines pools whose bundles differ in size and in the groups they hold.
    outcomes = read_outcomes(shared / "fairfund" / "reference" / "outcomes_14.csv.gz")
    whole = even_handed(outcomes.filter(pl.col("model") == "gpt-5-4")).with_columns(valid=True)
    assert score(whole, boot=0).rows["p3"].to_list() == pytest.approx([0.9965], abs=5e-5)


def test_a_pool_without_spread_drops_out_of_p1(outcomes):
    flat = outcomes.with_columns(dollars=pl.when(pl.col("task") == "allocate").then(2500))
    scores = score(flat, recompute=True, boot=0)
    assert {pool for pool, denom in scores.denominators.pools.items() if denom == 0} == {
        pool for pool in POOLS if pool[1] == "allocate"
    }
    without = score(flat.filter(pl.col("task") != "allocate"), recompute=True, boot=0)
    assert scores.rows["p1"].to_list() == without.rows["p1"].to_list()


def test_what_cannot_be_computed_is_null(outcomes):
    rate = score(outcomes.filter(pl.col("task") == "rate"), boot=20)
    for row in rate.rows.to_dicts():
        assert row["p1"] is not None
        assert [row[p] for p in ("p2", "p3", "p4", "p2_se", "p3_lo", "p4_hi")] == [None] * 6
    silent = outcomes.filter(pl.col("model") == "gpt-4o").with_columns(
        model=pl.lit("silent"), valid=pl.lit(value=False)
    )
    found = score(pl.concat([outcomes, silent]), boot=0, recompute=True)
    assert points(found)["silent"] == [None] * 4
    assert found.denominators == score(outcomes, boot=0, recompute=True).denominators
    assert errors(found)["gpt-4o"] == [None] * 4


def test_denominators_recomputed_for_one_task_are_null_for_the_others(outcomes, tmp_path):
    scores = score(outcomes.filter(pl.col("task") == "rate"), recompute=True, boot=0)
    denoms = {(row["axis_a"], row["axis_b"]): row["denom"] for row in scores.to_json_dict()["denominators"]}
    assert denoms["rate", "rate"] == denoms["rate", "base"] > 0
    assert denoms["race_disguised", "rank"] is None
    scores.denominators.write(tmp_path / "denominators.csv")
    assert Denominators.read(tmp_path / "denominators.csv").rows() == scores.denominators.rows()


def test_the_json_has_the_shape_of_the_contract(scored):
    shape = json.loads(json.dumps(scored.to_json_dict(), allow_nan=False))
    assert list(shape) == ["method", "boot", "rows", "denominators"]
    assert (shape["method"], shape["boot"]) == ("released", 200)
    assert list(shape["rows"][0])[-3:] == ["n_rows", "n_valid", "pools"]
    assert list(shape["rows"][0])[:9] == ["model", *PILLARS, "p1_se", "p2_se", "p3_se", "p4_se"]
    assert shape["denominators"][3] == {
        "kind": "pool", "axis_a": "race_disguised", "axis_b": "allocate", "denom": 1138.3558167908232,
    }  # fmt: skip
    assert len(shape["denominators"]) == 18


def test_scores_are_kept_as_json_and_csv(scored, tmp_path):
    files = write_scores(scored, tmp_path / "results")
    assert [path.name for path in files] == ["scores.json", "scores.csv"]
    assert json.loads(files[0].read_text()) == scored.to_json_dict()
    assert_frame_equal(pl.read_csv(files[1], null_values="NA"), scored.rows)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_scores(scored, tmp_path / "file" / "results")


def test_progress_counts_the_models(outcomes):
    seen: list[int] = []
    score(outcomes, boot=0, progress=seen.append)
    assert seen == [1, 2]


# Bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"race": pl.lit("Martian")}, "race has labels that FairFund-Bench does not know: Martian"),
        (
            {"gender": pl.lit(None, pl.String)},
            "gender has labels that FairFund-Bench does not know: NA (first in model ",
        ),
        ({"race": pl.lit("")}, "race has labels that FairFund-Bench does not know: (empty) (first in model "),
        ({"race": pl.when(pl.col("unit_id") == LAST).then(pl.lit("")).otherwise("race")}, f"unit_id {LAST})"),
        ({"framing": pl.lit("control")}, "framing has labels"),
        ({"bundle_type": pl.lit("pairs")}, "bundle_type has labels"),
        ({"bundle_type": pl.lit("rate")}, "bundle_type rate does not go with task"),
        ({"valid": pl.lit(value=False)}, "no valid row to score"),
        ({"wording_variant": pl.lit("need")}, "no valid row to score"),
        ({"rating": pl.lit(None, pl.Int64)}, "a valid row has no value (model "),
        ({"dollars": pl.lit(2**62, pl.Int64)}, "a valid row has an impossible value (model "),
        ({"rank": pl.lit(-(2**63), pl.Int64)}, "a valid row has an impossible value (model "),
        ({"rating": pl.lit(3.5)}, "the column rating holds Float64, not whole numbers"),
    ],
)
def test_outcomes_that_cannot_be_scored_are_one_clear_error(outcomes, change, message):
    with pytest.raises(OutcomesError) as caught:
        score(outcomes.with_columns(**change), where="table.csv")
    assert str(caught.value).startswith("table.csv: ")
    assert message in str(caught.value)
    assert caught.value.mend


def test_a_table_without_a_column_is_one_clear_error(outcomes):
    with pytest.raises(OutcomesError, match="the column framing is missing"):
        score(outcomes.drop("framing"))


@pytest.mark.parametrize(
    "arguments",
    [
        {"method": "better"},
        {"boot": -1},
        {"boot": 1},
        {"recompute": True, "denominators": Denominators.released()},
    ],
)
def test_wrong_arguments_are_one_clear_error(outcomes, arguments):
    with pytest.raises(InputError) as caught:
        score(outcomes, **arguments)
    assert caught.value.mend


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the denominator of pool, race_transparent, rank is missing"),
        ("kind,axis_a,axis_b,denom\npool,rate,rate,wide\n", "row 2: this is no row of denominators"),
        ("kind,axis_a,axis_b,denom\npool,rate,rate,-1\n", "-1 is no denominator"),
        ("kind,axis_a,axis_b,denom\npool,rate,rate,inf\n", "inf is no denominator"),
        ("kind,axis_a,axis_b,denom\npool,rate,rate,nan\n", "row 2: nan is no denominator"),
        ("kind,axis_a,axis_b,denom\npool,rate,rate,1e-320\n", "row 2: 1e-320 is no denominator"),
        ("kind,axis_a,axis_b,denom\n\npool,rate,rate,1\npool,rate,rate,NA\n", "row 4: the denominator of pool, rate"),
        (f"kind,axis_a,axis_b,denom\npool,rate,rate,{'1' * 200_000}\n", "row 2: this is no row of denominators"),
        ("a,b\n1,2\n", "this is no row of denominators"),
        (None, "cannot be read"),
    ],
)
def test_a_file_of_denominators_that_cannot_be_used_is_one_clear_error(tmp_path, text, message):
    path = tmp_path / "denominators.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(EvenhandError) as caught:
        Denominators.read(path)
    assert message in str(caught.value)
    assert "denominators.csv" in str(caught.value)
    assert caught.value.mend


@pytest.mark.parametrize("name", ["n" * 300 + ".csv", "a\0b.csv", "."])
def test_a_path_of_denominators_that_cannot_be_is_one_clear_error(tmp_path, name):
    with pytest.raises(OutcomesError, match="cannot be read"):
        Denominators.read(tmp_path / name)


@pytest.mark.parametrize("cell", ["NA", "0"])
def test_a_pool_without_a_denominator_drops_out_as_in_the_released_scorer(outcomes, tmp_path, cell):
    path = tmp_path / "denominators.csv"
    frozen = Denominators.released()
    frozen.write(path)
    lines = path.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("pool,rate,rate,"))
    lines[place] = f"pool,rate,rate,{cell}"
    path.write_text("\n".join(lines))
    rows = read_rows()
    without = dict(frozen.pools) | {("rate", "rate"): 0}
    for model, found in points(score(outcomes, denominators=Denominators.read(path), boot=0)).items():
        expected = pillars(pick(rows, model=model), without, dict(frozen.tasks))
        assert found == pytest.approx(expected, abs=1e-9)
