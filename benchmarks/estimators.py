"""How far the estimators agree with named peers, and how fast they are, as Markdown tables.

    python -m benchmarks.estimators [--slow]

Peers are lme4, lmerTest and survival where `Rscript` has them, else their stored results (agreement alone), and
statsmodels. `--slow` adds statsmodels' MixedLM on 15,000 rows, which takes minutes. One BLAS thread for all.
"""

from __future__ import annotations

import os

# Read when numpy is imported.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import json
import sys
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from benchmarks import _peers
from benchmarks._peers import Estimates, best_of
from evenhand.statistics import (
    correct,
    detectable_multiplier,
    equivalence,
    fit_clustered,
    fit_mixed,
    fit_rank_logit,
    lay_out_mixed,
    leave_one_out,
    summarise_effects,
    wild_cluster_test,
    wilson_interval,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.statistics import MixedFit, MixedModel
    from evenhand.statistics.rank_likelihood import Ties

DATA = Path(__file__).parents[1] / "tests" / "data"
RUNS = 5
SIMULATED, SIMULATED_BY_PEER = 20, 3
WILD_BY_PEER = 20
REFERENCE = {"race": "white", "gender": "F", "stratum": "low", "category": "c1", "framing": "neutral"}
WITH_MODEL = {**REFERENCE, "model": "m00"}
WITH_POSITION = {**WITH_MODEL, "position": "1"}
FIXED = "race + gender + stratum + category + framing"
CROSSED = "(1|profile) + (1|name) + (1|bundle)"
RATE = f"y ~ {FIXED} + model"
RANK = f"score ~ {FIXED} + position + model"


def main(*, slow: bool) -> None:
    """Print every table."""
    in_r = _peers.installed_in_r()
    versions = ", ".join(f"{name} {version}".removeprefix("R ") for name, version in in_r.items())
    print(f"One BLAS thread for all; seconds on the clock, ours the best of {RUNS} from a polars frame, R's of "
          f"{_peers.R_RUNS} from a data frame.")  # fmt: skip
    print(f"R: {versions or 'Rscript is not found: agreement is with its stored results, without times'}.\n")
    mixed_models(in_r, slow=slow)
    refits(in_r)
    clustered()
    rankings(in_r)
    small_statistics()


@dataclass(frozen=True, slots=True)
class Case:
    """A mixed model to fit.

    Attributes:
        label: What the tables call it.
        data: The rows.
        formula: The model.
        reference: Reference levels.
        stored: Where `lme4.json` has the fit; empty where it has none.
        target: Seconds it may take; None where there is no target.
        crossed: The intercepts that statsmodels is to fit; empty for none.
        slow: Whether statsmodels takes minutes.
    """

    label: str
    data: pl.DataFrame
    formula: str
    reference: Mapping[str, str]
    stored: tuple[str, ...] = ()
    target: float | None = None
    crossed: tuple[str, ...] = ()
    slow: bool = False


def mixed_models(in_r: Mapping[str, str], *, slow: bool) -> None:
    """Fits of every case by us, by lme4, and by statsmodels where it ends in reasonable time."""
    stored = json.loads((DATA / "mixed" / "lme4.json").read_text(encoding="utf-8"))
    rows: list[list[str]] = []
    for case in _cases():
        ours = _as_estimates(fit_mixed(case.data, case.formula, reference=case.reference))
        seconds = best_of(RUNS, lambda case=case: fit_mixed(case.data, case.formula, reference=case.reference))
        ours = replace(ours, seconds=seconds)
        start = [case.label, _seconds(seconds), _target(case.target)]
        if {"lme4", "lmerTest"} <= in_r.keys():
            told = _peers.mixed_in_r(case.data, case.formula, case.reference)
            took = float(told["df_seconds"][0])
            peer = _peers.from_r(told)
            rows.append([*start, "lme4", *_beside(ours, peer), f"{took:.1f}"])
        elif case.stored:
            golden = stored[case.stored[0]][case.stored[1]]
            peer = _peers.from_stored(golden, std_error="se", criterion="reml_crit", df="df_satterthwaite")
            rows.append([*start, "lme4, stored", *_beside(ours, peer), "-"])
        else:
            rows.append([*start, "none here", *["-"] * 7])
        if case.crossed and (slow or not case.slow):
            fixed = case.formula.split(" + (")[0]
            peer = _peers.mixed_in_statsmodels(case.data, fixed, case.crossed, case.reference)
            rows.append([*start, "statsmodels MixedLM (1 run)", *_beside(ours, peer), "-"])
    print("### Mixed models: one fit, degrees of freedom included in ours\n")
    _table(
        "model and data | ours, s | target, s | peer | peer, s | ratio | criterion | coefficients, SE | SE, relative "
        "| df, relative | lmerTest's df, s",
        rows,
    )
    print("Differences are the largest. lme4 is timed as it comes, and compared after a tighter search (bobyqa, rhoend "
          "1e-9).\nlmerTest's df take the seconds of the last column besides.\n")  # fmt: skip


def refits(in_r: Mapping[str, str]) -> None:
    """Leaving out each name in turn, and new outcomes simulated from the fit."""
    rows: list[list[str]] = []
    for label, data, formula, reference, targets in (
        ("2,400 rows", _read("rate_balanced"), f"{RATE} + {CROSSED}", WITH_MODEL, (None, None)),
        ("15,000 rows", _read("rank_like"), f"{RANK} + {CROSSED}", WITH_POSITION, (1.0, 0.020)),
    ):
        model = lay_out_mixed(data, formula, reference=reference)
        fit = model.fit()
        without = leave_one_out(model, fit, "name")
        outcomes = [simulated(model, fit, np.random.default_rng(seed)) for seed in range(SIMULATED)]
        again = [model.with_outcome(y).fit(fit.warm_start) for y in outcomes]
        each = best_of(RUNS, lambda model=model, fit=fit: leave_one_out(model, fit, "name"))
        refit = best_of(
            RUNS,
            lambda model=model, fit=fit, outcomes=outcomes: [
                model.with_outcome(y).fit(fit.warm_start) for y in outcomes
            ],
        )
        told: dict[str, list[str]] = {}
        if {"lme4", "lmerTest"} <= in_r.keys():
            sent = data.with_columns(
                **{f"simulated{k}": pl.Series(y) for k, y in enumerate(outcomes[:SIMULATED_BY_PEER])}
            )
            told = _peers.mixed_in_r(sent, formula, reference, without="name")
        first = next(iter(without.values()))
        rows.append(
            _refit_row(
                f"{len(without)} fits without one name, {label}",
                each,
                targets[0],
                told,
                "without",
                [first],
                len(without),
            )
        )
        rows.append(
            _refit_row(
                f"one simulated refit, {label}",
                refit / SIMULATED,
                targets[1],
                told,
                "refit",
                again[:SIMULATED_BY_PEER],
                1,
            )
        )
    print("### Mixed models: refits of a model laid out once\n")
    _table("what | ours, s | target, s | lme4, s | ratio | coefficients, SE", rows)
    print(f"Ours: `leave_one_out`; `with_outcome(y).fit(warm_start)`, the mean of {SIMULATED} outcomes. lme4: one fit "
          f"of the rows\nwithout a name, times 40; `refit`, the mean of {SIMULATED_BY_PEER}.\n")  # fmt: skip


def clustered() -> None:
    """Least squares with clustered errors, and the wild bootstrap."""
    stored = json.loads((DATA / "ols_cluster.json").read_text(encoding="utf-8"))["fits"]
    rows: list[list[str]] = []
    for label, name, data, formula, reference in (
        ("2,400 rows, 120 clusters", "rate", _read("rate_balanced"), RATE, WITH_MODEL),
        ("15,000 rows, 750 clusters", "rank", _read("rank_like"), RANK, WITH_POSITION),
    ):
        for errors in ("cr1", "cr2"):

            def fitted(
                data: pl.DataFrame = data, formula: str = formula, reference: Any = reference, errors: Any = errors
            ) -> Any:
                return fit_clustered(data, formula, cluster="bundle", errors=errors, reference=reference)

            fit, seconds = fitted(), best_of(RUNS, fitted)
            ours = Estimates(fit.coef_names, fit.beta, fit.std_errors, fit.df, seconds=seconds)
            start = [f"{errors}, {label}", _seconds(seconds)]
            df = f"df_{errors}"
            peer = _peers.from_stored(stored[name], std_error=f"se_{errors}", df=df)
            where = "sandwich, stored" if errors == "cr1" else "clubSandwich, stored"
            rows.append([*start, where, *_without_criterion(_beside(ours, peer))])
            if errors == "cr1":
                peer = _peers.clustered_in_statsmodels(data, formula, "bundle", reference, RUNS)
                rows.append([*start, "statsmodels", *_without_criterion(_beside(ours, peer))])
        rows.append(_wild_row(label, data, formula, reference))
    print("### Clustered least squares\n")
    _table("what | ours, s | peer | peer, s | ratio | coefficients, SE | SE, relative | df, relative", rows)
    print(f"statsmodels is timed from a pandas frame by its formula; its wild bootstrap, refits with clustered errors, "
          f"is\nscaled from {WILD_BY_PEER} replicates.\n")  # fmt: skip


def rankings(in_r: Mapping[str, str]) -> None:
    """Rank-ordered logits by treatment of ties."""
    stored = json.loads((DATA / "rank_like.coxph.json").read_text(encoding="utf-8"))["fits"]
    data = _read("rank_like").with_columns(call=pl.concat_str("bundle", "model", separator=" "))
    reference = {"race": "white", "position": "1"}
    rows: list[list[str]] = []
    cases: tuple[tuple[str, str, Ties, str], ...] = (
        ("no ties", "rank_strict", "efron", "strict_pooled"),
        ("ties, exact", "rank", "exact", "ties_exact_marginal"),
        ("ties, efron", "rank", "efron", "ties_efron"),
        ("ties, breslow", "rank", "breslow", "ties_breslow"),
    )
    for label, outcome, ties, name in cases:

        def fitted(breaks: int = 0, outcome: str = outcome, ties: Ties = ties) -> Any:
            formula = f"{outcome} ~ race + position"
            return fit_rank_logit(
                data, formula, ranking="call", cluster="bundle", ties=ties, reference=reference, breaks=breaks
            )

        fit, seconds = fitted(), best_of(RUNS, fitted)
        ours = Estimates(fit.coef_names, fit.beta, fit.std_errors, criterion=fit.log_likelihood, seconds=seconds)
        broken = _seconds(best_of(RUNS, lambda fitted=fitted: fitted(10))) if outcome == "rank" else "-"
        start = [label, _seconds(seconds), "0.1", broken]
        if ties == "exact" or "survival" not in in_r:
            peer = _peers.from_stored(stored[name], std_error="se_robust", criterion="loglik")
            where = "written out in R, stored" if ties == "exact" else "coxph, stored"
        else:
            formula = f"Surv({outcome}, event) ~ race + position + strata(call)"
            peer, where = _peers.rankings_in_r(data, formula, reference, ties), "coxph"
        rows.append([*start, where, *_beside(ours, peer)[:-1]])
        if ties == "efron":
            peer = _peers.rankings_in_statsmodels(data, outcome, "race + position", reference)
            rows.append([*start, "statsmodels PHReg (1 run)", *_beside(ours, peer)[:-1]])
    print("### Rank-ordered logit: 15,000 rows in 3,750 rankings, errors clustered on 750 bundles\n")
    _table(
        "ties | ours, s | target, s | with 10 random breaks, s | peer | peer, s | ratio | log likelihood "
        "| coefficients, SE | SE, relative",
        rows,
    )


def small_statistics() -> None:
    """Largest relative differences from stored results of R."""
    stored = json.loads((DATA / "small_stats.json").read_text(encoding="utf-8"))
    meta, adjusted = stored["meta"], stored["p_adjust"]
    found: list[tuple[str, str, list[Any], list[Any]]] = []
    for method in ("DL", "PM"):
        ours = summarise_effects(meta["yi"], meta["sei"], method=method.lower())  # pyright: ignore[reportArgumentType]
        fit = meta["fits"][method]
        values = [ours.estimate, ours.std_error, ours.conf_low, ours.conf_high, ours.tau**2, ours.q, ours.q_p_value]
        expected = [fit["mu"], fit["se"], *fit["ci"], fit["tau2"], fit["Q"], fit["Qp"]]
        found.append((f"mean effect and tau^2, {method}", "metafor", values, expected))
    profile = [float(end or 0) ** 2 for end in (ours.tau_low, ours.tau_high)]
    found.append(("Q-profile interval of tau^2", "metafor", profile, meta["tau2_ci_qprofile"]))
    found.append(("Benjamini-Hochberg", "p.adjust", list(correct(adjusted["p"]).values), adjusted["BH"]))
    found.append(("Holm", "p.adjust", list(correct(adjusted["p"], method="holm").values), adjusted["holm"]))
    wilson = [wilson_interval(case["x"], case["n"]) or (inf, inf) for case in stored["wilson"]]
    ends = [end for case in stored["wilson"] for end in (case["lower"], case["upper"])]
    found.append(("Wilson interval", "prop.test", [end for pair in wilson for end in pair], ends))
    tests = [_two_one_sided(case) for case in stored["tost"]]
    told = [[case["p_lower"], case["p_upper"], case["p_tost"], *case["ci90"]] for case in stored["tost"]]
    found.append(("equivalence (TOST)", "pt", [v for test in tests for v in test], [v for case in told for v in case]))
    multiples = [detectable_multiplier(df=_df(case)) for case in stored["mde"]]
    found.append(("detectable multiple", "noncentral t", multiples, [case["multiplier"] for case in stored["mde"]]))
    rows = [[what, peer, str(len(ours)), f"{_relative(ours, theirs):.0e}"] for what, peer, ours, theirs in found]
    print("### Small statistics against stored results of R 4.2.2\n")
    _table("what | R | values | largest relative difference", rows)


def simulated(model: MixedModel, fit: MixedFit, rng: np.random.Generator) -> NDArray[np.float64]:
    """An outcome drawn from a fit with random intercepts, shape (n,)."""
    drawn = model.design @ fit.beta + fit.sigma * rng.standard_normal(len(model.y))
    for block in model.blocks:
        drawn += np.sqrt(fit.variances[block.group]) * rng.standard_normal(block.size)[block.codes]
    return drawn


def large_table(*, bundles: int = 750, models: int = 14, seed: int = 84_000) -> pl.DataFrame:
    """Scores of 4 applications, one of each race, in every bundle, model and framing: 84,000 rows.

    A bundle has one profile (12, in 3 strata of 4 categories), one gender, and 4 names of 5 for each race and gender.
    """
    rng = np.random.default_rng(seed)
    races, race_effects = np.array(["white", "black", "hispanic", "asian"]), np.array([0.0, -0.3, -0.15, 0.1])
    profile, gender = rng.integers(12, size=bundles), rng.integers(2, size=bundles)
    # Names are numbered by race, then gender, then place.
    name = np.arange(4) * 10 + gender[:, None] * 5 + rng.integers(5, size=(bundles, 4))
    bundle, model, framing, race = (part.ravel() for part in np.indices((bundles, models, 2, 4)))
    call = (bundle * models + model) * 2 + framing
    position = rng.permuted(np.tile(np.arange(4), (bundles * models * 2, 1)), axis=1).ravel()
    stratum, category = profile[bundle] // 4, profile[bundle] % 4
    score = 5 + race_effects[race] - 0.12 * gender[bundle] - 0.25 * framing - 0.1 * position + 0.35 * model
    score += np.array([0.0, 0.8, 1.7])[stratum] + np.array([0.0, 0.25, -0.2, 0.1])[category]
    for sd, codes in ((0.4, profile[bundle]), (0.15, name[bundle, race]), (0.5, bundle), (0.3, call)):
        score += sd * rng.standard_normal(codes.max() + 1)[codes]
    score += 0.8 * rng.standard_normal(len(score))
    numbered = {"model": ("m", model), "bundle": ("b", bundle), "profile": ("p", profile[bundle])}
    numbered |= {"category": ("c", category + 1), "name": ("n", name[bundle, race]), "call": ("k", call)}
    return pl.DataFrame(
        {column: [f"{letter}{code:02d}" for code in codes.tolist()] for column, (letter, codes) in numbered.items()}
        | {
            "race": races[race],
            "gender": np.array(["F", "M"])[gender[bundle]],
            "stratum": np.array(["low", "mid", "high"])[stratum],
            "framing": np.array(["neutral", "charged"])[framing],
            "position": position + 1,
            "score": score.round(3),
        }
    )


def _cases() -> tuple[Case, ...]:
    rank, groups = _read("rank_like"), ("profile", "name", "bundle")
    called = rank.with_columns(call=pl.concat_str("bundle", "model", separator=" "))
    large = large_table()
    ranked, sloped = f"{RANK} + {CROSSED}", f"y ~ {FIXED} + {CROSSED} + (1 + race|model)"
    return (
        Case("rate_balanced, 2,400 rows", _read("rate_balanced"), f"{RATE} + {CROSSED}", WITH_MODEL,
             ("rate_balanced", "full"), crossed=groups),
        Case("rank_like, 15,000 rows", rank, ranked, WITH_POSITION, ("rank_like", "full"), 0.1, groups, slow=True),
        Case("rank_like with (1\\|call)", called, f"{ranked} + (1|call)", WITH_POSITION, ("rank_like", "call"), 0.1),
        Case("slopes, (1 + race\\|model), 6,720 rows", _read("mixed/slopes"), sloped, REFERENCE, ("slopes", "full")),
        Case("generated, 84,000 rows", large, ranked, WITH_POSITION, target=0.3),
        Case("generated with (1\\|call)", large, f"{ranked} + (1|call)", WITH_POSITION, target=0.3),
    )  # fmt: skip


def _as_estimates(fit: MixedFit) -> Estimates:
    return Estimates(fit.coef_names, fit.beta, fit.std_errors, fit.df_satterthwaite, fit.criterion)


def _beside(ours: Estimates, peer: Estimates) -> list[str]:
    """Seconds, ratio, and largest differences: criterion, coefficients, standard errors, degrees of freedom."""
    order = [ours.names.index(name) for name in peer.names]
    beta, errors = ours.beta[order], ours.std_errors[order]
    criterion = df = "-"
    if ours.criterion is not None and peer.criterion is not None:
        criterion = f"{abs(ours.criterion - peer.criterion):.0e}"
    if ours.df is not None and peer.df is not None:
        df = f"{np.abs(ours.df[order] / peer.df - 1).max():.0e}"
    return [
        *_times(ours.seconds, peer.seconds),
        criterion,
        f"{np.abs((beta - peer.beta) / peer.std_errors).max():.0e}",
        f"{np.abs(errors / peer.std_errors - 1).max():.0e}",
        df,
    ]


def _without_criterion(cells: list[str]) -> list[str]:
    return cells[:2] + cells[3:]


def _times(ours: float | None, peer: float | None) -> list[str]:
    return ["-", "-"] if ours is None or peer is None else [_seconds(peer), f"{peer / ours:.0f}"]


def _refit_row(
    label: str,
    seconds: float,
    target: float | None,
    told: Mapping[str, Sequence[str]],
    key: str,
    fits: Sequence[MixedFit],
    times: int,
) -> list[str]:
    start = [label, _seconds(seconds), _target(target)]
    if not told:
        return [*start, "-", "-", "-"]
    names = told["names"]
    theirs = _peers.numbers(told[f"{key}_beta"]).reshape(len(fits), len(names))
    apart = max(
        np.abs((fit.beta[[fit.coef_names.index(name) for name in names]] - beta) / fit.std_errors.min()).max()
        for fit, beta in zip(fits, theirs, strict=True)
    )
    return [*start, *_times(seconds, float(told[f"{key}_seconds"][0]) * times), f"{apart:.0e}"]


def _wild_row(label: str, data: pl.DataFrame, formula: str, reference: Mapping[str, str]) -> list[str]:
    def test() -> Any:
        rng = np.random.default_rng(1)
        return wild_cluster_test(data, formula, cluster="bundle", term="raceblack", rng=rng, reference=reference)

    seconds, replicates = best_of(RUNS, test), test().replicates
    peer = _peers.wild_in_statsmodels(data, formula, "bundle", WILD_BY_PEER) * replicates
    return [f"wild test, {replicates:,} replicates, {label}", _seconds(seconds), "statsmodels, scaled",
            *_times(seconds, peer), "-", "-", "-"]  # fmt: skip


def _two_one_sided(case: Mapping[str, Any]) -> list[float]:
    found = equivalence(case["est"], case["se"], case["margin"], df=_df(case))
    return [found.p_lower, found.p_upper, found.p_value, found.conf_low, found.conf_high]


def _df(case: Mapping[str, Any]) -> float:
    return inf if case["df"] == "Inf" else float(case["df"])


def _relative(ours: Sequence[float], theirs: Sequence[float]) -> float:
    a, b = np.array(ours, dtype=np.float64), np.array(theirs, dtype=np.float64)
    return float(np.abs((a - b) / np.where(b == 0, 1.0, b)).max())


def _read(name: str) -> pl.DataFrame:
    return pl.read_csv(DATA / f"{name}.csv.gz")


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def _target(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:g}"


def _table(head: str, rows: Sequence[Sequence[str]]) -> None:
    names = head.split(" | ")
    print(f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *(f"| {' | '.join(row)} |" for row in rows), sep="\n")
    print(flush=True)


if __name__ == "__main__":
    main(slow="--slow" in sys.argv[1:])
