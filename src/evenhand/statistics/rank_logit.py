"""The rank-ordered logit (Plackett 1975; Beggs, Cardell and Hausman 1981): what moves an item up or down a ranking.

Rankings of items that differ in nothing else tell an effect on the order alone; whatever is the same for all items of a
ranking drops out. No treatment of ties is free of bias where ties come from rounding (with 31% ties the exact
likelihood is off by 3%, Efron's by -6%, Breslow's by -8%), so the share of ties, and what the estimates are when ties
are broken at random, stand beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingTypeStubs]

from evenhand.errors import InputError
from evenhand.statistics.clustered import FOR_THESE_ONLY, few_clusters
from evenhand.statistics.draws import require_count
from evenhand.statistics.formulas import parse_formula
from evenhand.statistics.matrices import INTERCEPT, build_matrices, independent
from evenhand.statistics.rank_likelihood import (
    Maximum,
    Ties,
    evaluate,
    groups_of,
    lay_out_orders,
    maximise,
    take,
)
from evenhand.statistics.tails import normal_quantile, normal_two_sided
from evenhand.statistics.tidying import rows_of, table_of
from evenhand.tables import counted, require_name, shown, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.statistics.matrices import Matrices

Best = Literal["lowest", "highest"]
BREAKS = 10
MOST_TIED = 6
"""The exact likelihood sums over the orders of so many items at most."""

_WHERE = "rank logit"
_FOR_THESE_ONLY = "for these names only: names are taken as fixed"


@dataclass(frozen=True, slots=True)
class RankLogitFit:
    """A rank-ordered logit; a positive coefficient ranks better.

    Attributes:
        coef_names: Names of the coefficients, p of them; those that the data do not identify are left out.
        beta: Estimates, log odds of standing before another item, shape (p,); NaN where there is no maximum.
        std_errors: Standard errors: cluster-robust where there are clusters, else those of the model, shape (p,).
        model_errors: Standard errors from the inverse information, shape (p,).
        vcov: Covariance matrix of the estimates, as `std_errors`, shape (p, p).
        log_likelihood: At the estimates; NaN where there is no maximum.
        log_likelihood_null: With all coefficients zero.
        n: Items in rankings of two or more.
        rankings: How many such rankings.
        clusters: How many clusters; None where errors are those of the model.
        converged: Whether the likelihood has a maximum, and it was found.
        not_identified: Coefficients that are constant within rankings, or sums of others.
        reference: The reference level of each factor.
        notes: What a reader must know.
        tie_rate: Share of rankings with a tie among the places read.
        tied_items: Share of the items on the places read that share their place.
        random_break: Mean of the estimates when ties are broken at random, shape (p,).
        random_break_sd: Their standard deviation, shape (p,).
    """

    coef_names: tuple[str, ...]
    beta: NDArray[np.float64]
    std_errors: NDArray[np.float64]
    model_errors: NDArray[np.float64]
    vcov: NDArray[np.float64]
    log_likelihood: float
    log_likelihood_null: float
    n: int
    rankings: int
    clusters: int | None
    converged: bool
    not_identified: tuple[str, ...]
    reference: Mapping[str, str]
    notes: tuple[str, ...]
    tie_rate: float
    tied_items: float
    random_break: NDArray[np.float64]
    random_break_sd: NDArray[np.float64]

    def tidy(self) -> pl.DataFrame:
        """One row a coefficient.

        Columns: term, estimate, std_error, conf_low, conf_high, p_value (Wald's z), random_break, random_break_sd,
        tie_rate, n, note.
        """
        return table_of(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The rows of `tidy`, missing numbers None."""
        reach = normal_quantile(0.975) * self.std_errors
        numbers = {
            "estimate": self.beta,
            "std_error": self.std_errors,
            "conf_low": self.beta - reach,
            "conf_high": self.beta + reach,
            "p_value": normal_two_sided(self.beta / self.std_errors),
            "random_break": self.random_break,
            "random_break_sd": self.random_break_sd,
        }
        told = {"tie_rate": self.tie_rate, "n": self.n, "note": "; ".join(self.notes)}
        return rows_of(self.coef_names, numbers, **told)


def fit_rank_logit(
    data: Any,
    formula: str,
    *,
    ranking: str,
    cluster: str | None = None,
    ties: Ties = "exact",
    best: Best = "lowest",
    top: int | None = None,
    reference: Mapping[str, str] | None = None,
    breaks: int = BREAKS,
    seed: int = 1,
) -> RankLogitFit:
    """Fit a rank-ordered logit by maximum likelihood.

    Args:
        data: A polars or pandas frame, one row an item.
        formula: `rank ~ terms`, no random terms. Only the order of the outcome within a ranking counts; equal values
            share a place.
        ranking: The column that names the ranking, one answer that orders items.
        cluster: The column of clusters, which hold whole rankings: errors are then the sandwich without a
            small-sample factor, as `survival::coxph(robust = TRUE)` has it; None for the inverse information.
        ties: `exact` sums over all orders of those who share a place (Stata's `exactm`; not coxph's `exact`, which is
            another model); `efron` and `breslow` as in coxph.
        best: Whether the lowest (a rank) or the highest outcome (a score) stands first.
        top: Read the first places alone, counted among complete rows; below them there is no order.
        reference: The reference level of factors.
        breaks: How many refits with ties broken at random; 0 for none.
        seed: Seeds these.

    Raises:
        InputError: Arguments or data that cannot be used, more than six items that share a place with exact ties,
            a ranking in two clusters, a single cluster, or no coefficient that is identified.
    """
    _require(ties=ties, best=best, top=top, breaks=breaks)
    require_count(seed, "seed", least=0, where=_WHERE)
    require_name(ranking, "ranking")
    if cluster is not None:
        require_name(cluster, "cluster")
    parsed = parse_formula(formula)
    if parsed.random:
        raise InputError("random terms have no place here", where="formula", mend="Leave them out, or give a cluster")
    also = (ranking,) if cluster is None else (ranking, cluster)
    laid = build_matrices(data, parsed, reference=reference, also=also)
    if not laid.coef_names:
        raise InputError(
            "the formula names nothing that could move an item", where="formula", mend="Add a column on the right"
        )
    with threadpool_limits(1, user_api="blas"):
        ranked = _rank(laid, ranking, cluster, best=best, ties=ties, top=top)
        return _fit(ranked, ties, top, breaks, seed)


def _require(*, ties: str, best: str, top: int | None, breaks: int) -> None:
    for name, value, known in (("ties", ties, ("exact", "efron", "breslow")), ("best", best, ("lowest", "highest"))):
        if value not in known:
            raise InputError(f"unknown {name} {value!r}", where=_WHERE, mend=f"Use {' or '.join(known)}")
    if top is not None:
        require_count(top, "top", where=_WHERE)
    require_count(breaks, "breaks", least=0, where=_WHERE)
    if breaks == 1:
        raise InputError(f"breaks is {breaks}", where=_WHERE, mend="Give two refits or more, or 0 for none")


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Items by ranking and place.

    Attributes:
        x: Identified covariates, centred within rankings and over `scale`, shape (p, n).
        scale: Their root mean squares, shape (p,).
        names: Their names.
        lost: Names of those not identified.
        starts: Where each ranking starts, shape (rankings,).
        heads: Whether an item has another place than the one before it, shape (n,).
        clusters: The cluster of each ranking, counted from 0; None without clusters.
        shared: Whether an item shares its place, shape (n,).
        places: The place of each item, shape (n,).
        informed: Rankings that order anything.
        reference: The reference level of each factor.
        notes: What was left out.
    """

    x: NDArray[np.float64]
    scale: NDArray[np.float64]
    names: tuple[str, ...]
    lost: tuple[str, ...]
    starts: NDArray[np.int64]
    heads: NDArray[np.bool_]
    clusters: NDArray[np.int64] | None
    shared: NDArray[np.bool_]
    places: NDArray[np.int64]
    informed: int
    reference: Mapping[str, str]
    notes: tuple[str, ...]


def _rank(laid: Matrices, ranking: str, cluster: str | None, *, best: Best, ties: Ties, top: int | None) -> _Ranked:
    codes = _codes(laid.table[ranking])
    outcome = laid.y if best == "lowest" else -laid.y
    order = np.lexsort((outcome, codes))
    order = order[np.bincount(codes)[codes[order]] > 1]
    if not len(order):
        raise InputError(
            "no ranking has two items", where=_WHERE, mend=f"Check that {ranking!r} is the same for all items of one"
        )
    codes, outcome = codes[order], outcome[order]
    new = np.concatenate([[True], codes[1:] != codes[:-1]])
    starts = np.flatnonzero(new)
    heads = new | np.concatenate([[True], outcome[1:] != outcome[:-1]])
    clusters = None
    if cluster is not None:
        clusters = _clusters(_codes(laid.table[cluster])[order], starts, laid.table[ranking], order, cluster)
    first, size, place, below = groups_of(starts, heads)
    if ties == "exact":
        _require_few_tied(size * (below > 0) * (place <= (top or place)), first, laid.table[ranking], order)
    ordered = np.add.reduceat(heads, starts, dtype=np.int64) > 1
    # Rankings that are tied throughout say nothing under the exact likelihood, and cannot identify anything.
    speaking = ordered if ties == "exact" and ordered.any() else np.ones_like(ordered)
    x, scale, kept = _identified(laid.x.T[:, order], starts, speaking)
    alone = len(laid.y) - len(order)
    notes = list(laid.remarks)
    verbs = "orders nothing and is" if alone == 1 else "order nothing and are"
    notes += [f"{counted(alone, 'ranking')} of one item {verbs} left out"] * (alone > 0)
    lost = tuple(name for k, name in enumerate(laid.coef_names) if k not in set(kept))
    _require_kept(kept, lost)
    return _Ranked(
        x, scale, tuple(laid.coef_names[k] for k in kept), lost, starts, heads, clusters, np.repeat(size > 1, size),
        np.repeat(place, size), int(ordered.sum()), laid.reference, tuple(notes),
    )  # fmt: skip


def _codes(column: pl.Series) -> NDArray[np.int64]:
    """Numbers from 0 for the values of a column, in their order."""
    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        column = column.cast(pl.String)
    return column.rank("dense").to_numpy().astype(np.int64) - 1


def _clusters(
    items: NDArray[np.int64], starts: NDArray[np.int64], ranking: pl.Series, order: NDArray[np.int64], cluster: str
) -> NDArray[np.int64]:
    """The cluster of each ranking."""
    clusters = items[starts]
    stray = np.flatnonzero(items != np.repeat(clusters, np.diff(starts, append=len(items))))
    if len(stray):
        raise InputError(
            f"ranking {ranking[int(order[stray[0]])]!r} lies in more than one cluster of {cluster!r}",
            where=_WHERE,
            mend="Give a column that holds whole rankings, or the ranking itself",
        )
    clusters = np.unique(clusters, return_inverse=True)[1]
    if not clusters.any():
        what = f"all {len(starts)} rankings are" if len(starts) > 1 else "the only ranking is"
        raise InputError(f"{what} in 1 cluster", where=_WHERE, mend="Give two clusters or more")
    return clusters


def _require_kept(kept: Sequence[int], lost: Sequence[str]) -> None:
    if not kept:
        raise InputError(
            f"no coefficient is identified: {some(lost)} {'are' if len(lost) > 1 else 'is'} constant in rankings",
            where=_WHERE,
            mend="Name a column that differs between items of a ranking",
        )


def _require_few_tied(
    tied: NDArray[np.int64], first: NDArray[np.int64], ranking: pl.Series, order: NDArray[np.int64]
) -> None:
    worst = int(np.argmax(tied))
    if tied[worst] > MOST_TIED:
        raise InputError(
            f"{tied[worst]} items share a place in ranking {ranking[int(order[first[worst]])]!r}, and exact ties are "
            f"for {MOST_TIED} at most",
            where=_WHERE,
            mend="Use ties='efron'",
        )


def _identified(
    x: NDArray[np.float64], starts: NDArray[np.int64], speaking: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
    """Covariates centred within rankings and scaled, their scales, and which of all columns they are."""
    sizes = np.diff(starts, append=x.shape[1])
    # Powers of two, by which division is exact.
    largest = np.exp2(np.frexp(np.abs(x).max(axis=1))[1])
    x = x / largest[:, None]
    # Less the first item, so that what is constant is exactly zero.
    centred = x - np.repeat(x[:, starts], sizes, axis=1)
    centred -= np.repeat(np.add.reduceat(centred, starts, axis=1) / sizes, sizes, axis=1)
    heard = centred if speaking.all() else centred[:, np.repeat(speaking, sizes)]
    varying = np.flatnonzero((heard != 0).any(axis=1))
    kept: list[int] = varying[independent(heard[varying].T)].tolist() if len(varying) else []
    centred = centred[kept]
    scale = np.sqrt((centred**2).mean(axis=1))
    return centred / scale[:, None], scale * largest[kept], kept


def _fit(ranked: _Ranked, ties: Ties, top: int | None, breaks: int, seed: int) -> RankLogitFit:
    p, n = (int(size) for size in ranked.x.shape)
    reach = np.abs(ranked.x).max(axis=1)
    sample = take(lay_out_orders(ranked.starts, ranked.heads, ties=ties, top=top), ranked.x)
    found = maximise(sample, np.zeros(p), reach=reach)
    groups = None if ranked.clusters is None else int(ranked.clusters.max()) + 1
    fault = _fault(ranked, found, reach)
    notes = [_FOR_THESE_ONLY if groups is None else FOR_THESE_ONLY, *ranked.notes]
    lost = [shown(name) for name in ranked.lost if name != INTERCEPT]
    notes += [f"not identified: {', '.join(lost)}"] if lost else []
    notes += [fault] if fault else []
    beta, errors, model = (np.full(p, np.nan) for _ in range(3))
    vcov, likelihood = np.full((p, p), np.nan), np.nan
    broken = (beta.copy(), beta.copy())
    read = np.ones(n, np.bool_) if top is None else ranked.places <= top
    shared = ranked.shared & read
    if not fault:
        beta = found.beta / ranked.scale
        value = evaluate(found.beta, sample, by_ranking=True)
        likelihood = value.log_likelihood
        inverse = np.linalg.inv(value.information) / np.outer(ranked.scale, ranked.scale)
        model = np.sqrt(np.diag(inverse))
        if ranked.clusters is None:
            vcov = inverse
        else:
            vcov = _sandwich(inverse, value.scores * ranked.scale[:, None], ranked.clusters)
        errors, told = _errors(vcov, model, ranked.names, groups)
        *broken, said = _broken(ranked, found, top, breaks if shared.any() else None, seed)
        notes += told + said
    return RankLogitFit(
        ranked.names, beta, errors, model, vcov,
        likelihood, found.start, n, len(ranked.starts), groups, not fault,
        ranked.lost, ranked.reference, tuple(notes), float(np.logical_or.reduceat(shared, ranked.starts).mean()),
        float(shared.sum() / read.sum()), broken[0], broken[1],
    )  # fmt: skip


def _fault(ranked: _Ranked, found: Maximum, reach: NDArray[np.float64]) -> str:
    """Why there is no fit, in words; empty where there is one."""
    if not ranked.informed:
        return "no fit: every ranking is tied throughout, so that nothing is ordered"
    if found.end == "maximum":
        return ""
    pull = np.abs(found.last) * reach
    names = ", ".join(shown(name) for name, size in zip(ranked.names, pull, strict=True) if size > 0.1 * pull.max())
    if found.end == "unfinished":
        return f"no fit: the search did not end; {names} still moved"
    return (
        f"no fit: the likelihood has no maximum in {names}: what they mark always ranks before, or after, the rest, or "
        "the order cannot tell it apart"
    )


def _sandwich(
    inverse: NDArray[np.float64], scores: NDArray[np.float64], clusters: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The covariance matrix from the scores of rankings, shape (p, rankings), summed by cluster."""
    half = inverse @ np.array([np.bincount(clusters, row) for row in scores])
    return half @ half.T


def _errors(
    vcov: NDArray[np.float64], model: NDArray[np.float64], names: Sequence[str], groups: int | None
) -> tuple[NDArray[np.float64], list[str]]:
    """Standard errors, and what is to be said about them."""
    errors = np.sqrt(np.clip(np.diag(vcov), 0, None))
    none = errors <= 1e-6 * model
    notes: list[str] = []
    if none.any():
        lacking = ", ".join(shown(name) for name, lacks in zip(names, none, strict=True) if lacks)
        notes.append(f"no standard error for {lacking}: the clusters do not differ")
    if groups is not None and groups <= len(model):
        notes.append(few_clusters(groups, len(model)))
    return np.where(none, np.nan, errors), notes


def _broken(
    ranked: _Ranked, found: Maximum, top: int | None, breaks: int | None, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Mean and standard deviation of the estimates when ties are broken at random; `breaks` None where none are."""
    if breaks is None:
        return found.beta / ranked.scale, np.zeros_like(found.beta), []
    nothing = np.full_like(found.beta, np.nan)
    if breaks == 0:
        return nothing, nothing, ["not refitted with ties broken at random"]
    rng = np.random.default_rng(seed)
    tied = np.flatnonzero(ranked.shared)
    group = np.cumsum(ranked.heads)[tied]
    reach = np.abs(ranked.x).max(axis=1)
    orders = lay_out_orders(ranked.starts, np.ones_like(ranked.heads), ties="breslow", top=top)
    order = np.arange(len(ranked.heads))
    start = found.beta
    refits: list[Maximum] = []
    for _ in range(breaks):
        order[tied] = tied[np.argsort(group + rng.random(len(tied)))]
        # The last step is a hundredth of a standard error at most, and leaves about its square.
        refits.append(maximise(take(orders, ranked.x, order), start, reach=reach, decrement=1e-4))
        start = refits[-1].beta if refits[-1].end == "maximum" else found.beta
    lost = sum(refit.end != "maximum" for refit in refits)
    if lost:
        return nothing, nothing, [f"{lost} of {breaks} refits with ties broken at random have no maximum"]
    estimates = np.array([refit.beta for refit in refits]) / ranked.scale
    return estimates.mean(axis=0), estimates.std(axis=0, ddof=1), []
