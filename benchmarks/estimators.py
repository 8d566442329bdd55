"""How far the estimators agree with named peers, and how fast they are, as Markdown tables.

    python -m benchmarks.estimators [--slow]

Peers are lme4, lmerTest and survival where `Rscript` has them, else their stored results (agreement alone), and
statsmodels. `--slow` adds statsmodels' MixedLM on 15,000 rows, which takes minutes. One BLAS thread for all.
"""

from __future__ import annotations

import os

# Read when numpy is imported.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import functools
import json
import sys
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from benchmarks import _peers
from benchmarks._estimator_data import (
    CROSSED,
    DATA,
    RANK,
    RATE,
    WITH_MODEL,
    WITH_POSITION,
    mixed_cases,
    read,
    simulated,
)
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
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.statistics import MixedFit, MixedModel, WildTest
    from evenhand.statistics.rank_likelihood import Ties

RUNS = 5
SIMULATED, SIMULATED_BY_PEER = 20, 3
WILD_BY_PEER = 20
_Found = TypeVar("_Found")


def main(*, slow: bool) -> None:
    """Print every table."""
    in_r = _peers.installed_in_r()
    versions = ", ".join(f"{name} {version}".removeprefix("R ") for name, version in in_r.items())
    print(f"One BLAS thread for all. Seconds are of the processor (user and system, all threads together), so that a "
          f"busy machine\nspoils them less: ours the best of {RUNS} from a polars frame, R's of {_peers.R_RUNS} from a "
          "data frame (of fewer where they take 10 s).")  # fmt: skip
    print(f"R here: {versions or 'Rscript is not found: agreement is with its stored results, without times'}.\n")
    mixed_models(in_r, slow=slow)
    refits(in_r)
    clustered()
    rankings(in_r)
    small_statistics()


def mixed_models(in_r: Mapping[str, str], *, slow: bool) -> None:
    """Fits of every case by us, by lme4, and by statsmodels where it ends in reasonable time."""
    stored = json.loads((DATA / "mixed" / "lme4.json").read_text(encoding="utf-8"))
    rows: list[list[str]] = []
    for case in mixed_cases():
        fit, seconds = _timed(functools.partial(fit_mixed, case.data, case.formula, reference=case.reference))
        ours = Estimates(fit.coef_names, fit.beta, fit.std_errors, fit.df_satterthwaite, fit.criterion, seconds)
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
        ("2,400 rows", read("rate_balanced"), f"{RATE} + {CROSSED}", WITH_MODEL, (None, None)),
        ("15,000 rows", read("rank_like"), f"{RANK} + {CROSSED}", WITH_POSITION, (1.0, 0.020)),
    ):
        model = lay_out_mixed(data, formula, reference=reference)
        fit = model.fit()
        outcomes = [simulated(model, fit, np.random.default_rng(seed)) for seed in range(SIMULATED)]
        told: dict[str, list[str]] = {}
        if {"lme4", "lmerTest"} <= in_r.keys():
            sent = [pl.Series(f"simulated{k}", y) for k, y in enumerate(outcomes[:SIMULATED_BY_PEER])]
            told = _peers.mixed_in_r(data.with_columns(sent), formula, reference, without="name")
        without, seconds = _timed(functools.partial(leave_one_out, model, fit, "name"))
        row = [f"{len(without)} fits without one name, {label}", _seconds(seconds), _target(targets[0])]
        one = next(iter(without.values()))
        rows.append(row + _beside_refits(seconds, told, "without", [one], len(without)))
        again, seconds = _timed(functools.partial(_refitted, model, fit, outcomes))
        seconds /= SIMULATED
        row = [f"one simulated refit, {label}", _seconds(seconds), _target(targets[1])]
        rows.append(row + _beside_refits(seconds, told, "refit", again[:SIMULATED_BY_PEER], 1))
    print("### Mixed models: refits of a model laid out once\n")
    _table("what | ours, s | target, s | lme4, s | ratio | coefficients, SE", rows)
    print(f"Ours: `leave_one_out`; `with_outcome(y).fit(warm_start)`, the mean of {SIMULATED} outcomes. lme4: one fit "
          f"of the rows\nwithout the first name, times 40; `refit`, the mean of {SIMULATED_BY_PEER}.\n")  # fmt: skip


def clustered() -> None:
    """Least squares with clustered errors, and the wild bootstrap."""
    stored = json.loads((DATA / "ols_cluster.json").read_text(encoding="utf-8"))["fits"]
    rows: list[list[str]] = []
    for label, golden, data, formula, reference in (
        ("2,400 rows, 120 clusters", stored["rate"], read("rate_balanced"), RATE, WITH_MODEL),
        ("15,000 rows, 750 clusters", stored["rank"], read("rank_like"), RANK, WITH_POSITION),
    ):
        arguments: dict[str, Any] = {"cluster": "bundle", "reference": reference}
        for errors, where in (("cr1", "sandwich, stored"), ("cr2", "clubSandwich, stored")):
            fit, seconds = _timed(functools.partial(fit_clustered, data, formula, errors=errors, **arguments))
            ours = Estimates(fit.coef_names, fit.beta, fit.std_errors, fit.df, seconds=seconds)
            start = [f"{errors}, {label}", _seconds(seconds)]
            peer = _peers.from_stored(golden, std_error=f"se_{errors}", df=f"df_{errors}")
            rows.append([*start, where, *_without_criterion(_beside(ours, peer))])
            if errors == "cr1":
                peer = _peers.clustered_in_statsmodels(data, formula, "bundle", reference, RUNS)
                rows.append([*start, "statsmodels", *_without_criterion(_beside(ours, peer))])
        rows.append(_wild_row(label, data, formula, arguments))
    print("### Clustered least squares\n")
    _table("what | ours, s | peer | peer, s | ratio | coefficients, SE | SE, relative | df, relative", rows)
    print(f"statsmodels is timed from a pandas frame of strings by its formula; its wild bootstrap, refits with "
          f"clustered errors, is\nscaled from {WILD_BY_PEER} replicates.\n")  # fmt: skip


def rankings(in_r: Mapping[str, str]) -> None:
    """Rank-ordered logits by treatment of ties."""
    stored = json.loads((DATA / "rank_like.coxph.json").read_text(encoding="utf-8"))["fits"]
    data = read("rank_like").with_columns(call=pl.concat_str("bundle", "model", separator=" "))
    reference = {"race": "white", "position": "1"}
    rows: list[list[str]] = []
    cases: tuple[tuple[str, str, Ties, str], ...] = (
        ("none", "rank_strict", "efron", "strict_pooled"),
        ("exact", "rank", "exact", "ties_exact_marginal"),
        ("efron", "rank", "efron", "ties_efron"),
        ("breslow", "rank", "breslow", "ties_breslow"),
    )
    for label, outcome, ties, name in cases:
        arguments: dict[str, Any] = {"ranking": "call", "cluster": "bundle", "ties": ties, "reference": reference}
        fitted = functools.partial(fit_rank_logit, data, f"{outcome} ~ race + position", **arguments)
        fit, seconds = _timed(functools.partial(fitted, breaks=0))
        broken = _seconds(_timed(fitted)[1]) if outcome == "rank" else "-"
        ours = Estimates(fit.coef_names, fit.beta, fit.std_errors, criterion=fit.log_likelihood, seconds=seconds)
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


def _timed(call: Callable[[], _Found]) -> tuple[_Found, float]:
    """What a call returns, and the processor seconds of its cheapest run."""
    return call(), best_of(RUNS, call)


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
    return ["-", "-"] if ours is None or peer is None else [_seconds(peer), _seconds(peer / ours)]


def _refitted(model: MixedModel, fit: MixedFit, outcomes: Sequence[NDArray[np.float64]]) -> list[MixedFit]:
    return [model.with_outcome(y).fit(fit.warm_start) for y in outcomes]


def _beside_refits(
    seconds: float, told: Mapping[str, Sequence[str]], key: str, fits: Sequence[MixedFit], times: int
) -> list[str]:
    """Seconds of lme4 for so many refits, ratio, and the largest difference of coefficients."""
    if not told:
        return ["-", "-", "-"]
    names = told["names"]
    theirs = _peers.numbers(told[f"{key}_beta"]).reshape(len(fits), len(names))
    apart = 0.0
    for fit, beta in zip(fits, theirs, strict=True):
        order = [fit.coef_names.index(name) for name in names]
        apart = max(apart, float(np.abs((fit.beta[order] - beta) / fit.std_errors[order]).max()))
    return [*_times(seconds, float(told[f"{key}_seconds"][0]) * times), f"{apart:.0e}"]


def _wild_row(label: str, data: pl.DataFrame, formula: str, arguments: Mapping[str, Any]) -> list[str]:
    def test() -> WildTest:
        return wild_cluster_test(data, formula, term="raceblack", rng=np.random.default_rng(1), **arguments)

    found, seconds = _timed(test)
    peer = _peers.wild_in_statsmodels(data, formula, arguments["cluster"], WILD_BY_PEER) * found.replicates
    start = [f"wild test, {found.replicates:,} replicates, {label}", _seconds(seconds), "statsmodels, scaled"]
    return [*start, *_times(seconds, peer), "-", "-", "-"]


def _two_one_sided(case: Mapping[str, Any]) -> list[float]:
    found = equivalence(case["est"], case["se"], case["margin"], df=_df(case))
    return [found.p_lower, found.p_upper, found.p_value, found.conf_low, found.conf_high]


def _df(case: Mapping[str, Any]) -> float:
    return inf if case["df"] == "Inf" else float(case["df"])


def _relative(ours: Sequence[float], theirs: Sequence[float]) -> float:
    a, b = np.array(ours, dtype=np.float64), np.array(theirs, dtype=np.float64)
    return float(np.abs((a - b) / np.where(b == 0, 1.0, b)).max())


def _seconds(seconds: float) -> str:
    return f"{seconds:#.2g}" if seconds < 10 else f"{seconds:.0f}"


def _target(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:g}"


def _table(head: str, rows: Sequence[Sequence[str]]) -> None:
    names = head.split(" | ")
    print(f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *(f"| {' | '.join(row)} |" for row in rows), sep="\n")
    print(flush=True)


if __name__ == "__main__":
    main(slow="--slow" in sys.argv[1:])
