"""The estimators' door on the command line, for anyone's table."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import json_option, pairs, print_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from evenhand.statistics import ClusteredFit, MixedFit, RankLogitFit

_TITLES = {
    "mixed": "Linear mixed model",
    "clustered": "Least squares with cluster-robust errors",
    "rank-logit": "Rank-ordered logit",
}
_CAPTIONS = {
    "mixed": "95% intervals: Wald's z as papers have them, and t with Satterthwaite's degrees of freedom (Sat.).",
    "clustered": "95% intervals: t.",
    "rank-logit": "Positive is ranked better. 95% intervals: Wald's z.\n"
    "Random break: mean and SD of the estimates when ties are broken at random.",
}
_HEADS = {
    "conf_low_satterthwaite": "low (Sat.)",
    "conf_high_satterthwaite": "high (Sat.)",
    "p_value_satterthwaite": "p (Sat.)",
    "conf_low": "low",
    "conf_high": "high",
    "p_value": "p",
    "std_error": "SE",
    "random_break_sd": "SD",
}
METHODS = tuple(_TITLES)
_ONLY = {
    "cluster": ("clustered", "rank-logit"),
    "errors": ("clustered",),
    "ranking": ("rank-logit",),
    "ties": ("rank-logit",),
    "best": ("rank-logit",),
    "top": ("rank-logit",),
    "ml": ("mixed",),
    "absorb": ("mixed",),
}


@click.command()
@click.argument("file", metavar="FILE|RUN", type=click.Path(path_type=Path))
@click.option("--formula", required=True, help="As lme4 writes it: 'rating ~ race + gender + (1|profile) + (1|name)'.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="Mixed model, least squares with clustered errors, rank-ordered logit. By default: mixed where the formula "
    "has random terms, rank-logit where --ranking is given, else clustered.",
)
@click.option("--cluster", help="Column of clusters; several joined by colons.")
@click.option("--errors", type=click.Choice(["cr1", "cr2"]), help="Clustered errors; cr2 for few clusters. [cr1]")
@click.option("--ranking", help="Column that names the ranking an item stands in; several joined by colons.")
@click.option(
    "--ties", type=click.Choice(["exact", "efron", "breslow"]), help="How items that share a rank are treated. [exact]"
)
@click.option("--best", type=click.Choice(["lowest", "highest"]), help="Which outcome is ranked first. [lowest]")
@click.option("--top", type=click.IntRange(min=1), help="Read the first places alone.")
@click.option(
    "--ml", is_flag=True, default=None, help="Full likelihood of a mixed model in place of the restricted one."
)
@click.option(
    "--absorb",
    help="Of a mixed model: column whose levels get a fixed effect each, taken out beforehand (the call, where ranks "
    "or dollars sum to a constant); several joined by colons.",
)
@click.option("--reference", "references", multiple=True, metavar="FACTOR=LEVEL", help="Reference level of a factor.")
@click.option("--where", "filters", multiple=True, metavar="COLUMN=VALUE", help="Keep these rows alone.")
@json_option
def fit(
    file: Path,
    formula: str,
    method: str | None,
    references: tuple[str, ...],
    filters: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Fit a model to the columns of a CSV or Parquet file, an outcomes file or a run."""
    from evenhand import study
    from evenhand.tables import keep_rows

    given = {name: value for name, value in options.items() if value is not None}
    reference = pairs(references, "--reference")
    chosen = method or _method(formula, given)
    _require_fitting(chosen, given)
    table = keep_rows(study.read_any(file), pairs(filters, "--where"))
    found = study.fit(table, formula, method=chosen, reference=reference, **given)
    if as_json:
        print_json(_record(found, chosen))
    else:
        _print(found, chosen)
    return 0


def _method(formula: str, given: Mapping[str, Any]) -> str:
    from evenhand.statistics.formulas import parse_formula

    if parse_formula(formula).random:
        return "mixed"
    return "rank-logit" if "ranking" in given else "clustered"


def _require_fitting(method: str, given: Mapping[str, Any]) -> None:
    """Refuse options that the method would not read, and ask for those it needs."""
    for name in given:
        if method not in _ONLY[name]:
            mend = "Write a random term as in '(1|bundle)'" if name == "cluster" else f"It is for {_ONLY[name][0]}"
            raise InputError(f"--{name} has no meaning for {method}", where="fit", mend=mend)
    needed = {"clustered": "cluster", "rank-logit": "ranking"}.get(method)
    if needed and needed not in given:
        mend = f"Add --{needed} COLUMN" + (", or random terms to the formula" if needed == "cluster" else "")
        raise InputError(f"{method} needs --{needed}", where="fit", mend=mend)


def _record(found: MixedFit | ClusteredFit | RankLogitFit, method: str) -> dict[str, Any]:
    """What `--json` prints: NaN is null."""
    from evenhand.statistics import ClusteredFit, MixedFit

    criterion = float("nan")
    if isinstance(found, MixedFit):
        criterion = found.criterion
    elif not isinstance(found, ClusteredFit):
        criterion = -2 * found.log_likelihood
    mixed = {"variances": dict(found.variances), "sigma": _finite(found.sigma)} if isinstance(found, MixedFit) else {}
    return {
        "method": method,
        "coef_names": list(found.coef_names),
        "beta": _plain(found.beta),
        "std_errors": _plain(found.std_errors),
        "criterion": _finite(criterion),
        "converged": isinstance(found, ClusteredFit) or found.converged,
        "singular": isinstance(found, MixedFit) and found.singular,
        "not_identified": list(found.not_identified),
        "notes": list(found.notes),
        "reference": dict(found.reference),
        "n": found.n,
        **mixed,
        "rows": [{name: _finite(value) for name, value in row.items()} for row in found.tidy().to_dicts()],
    }


def _plain(numbers: NDArray[np.float64]) -> list[float | None]:
    return [_finite(number) for number in numbers.tolist()]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


def _print(found: MixedFit | ClusteredFit | RankLogitFit, method: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    from evenhand.cli.console import out
    from evenhand.statistics import MixedFit, RankLogitFit

    title = f"{_TITLES[method]}, {found.n:,} row{'s' * (found.n != 1)}"
    table = Table(title=title, caption=_CAPTIONS[method], caption_justify="left")
    columns = [name for name in found.tidy().columns if name not in {"term", "n", "method", "note", "tie_rate"}]
    table.add_column("term", overflow="fold")
    for column in columns:
        table.add_column(_HEADS.get(column, column.replace("_", " ")), justify="right")
    for row in found.tidy().to_dicts():
        table.add_row(escape(row["term"]), *(_cell(row[column], column) for column in columns))
    console = out()
    console.print(table)
    said = [f"Reference: {', '.join(f'{name} = {level}' for name, level in found.reference.items())}."]
    if isinstance(found, MixedFit) and found.converged:
        counts = {name: f" ({count})" for name, count in found.levels.items()}
        parts = [f"{name} {variance**0.5:.4g}{counts.get(name, '')}" for name, variance in found.variances.items()]
        said.append(f"SD between: {', '.join(parts)}; residual {found.sigma:.4g}.")
    if isinstance(found, RankLogitFit):
        many = "s" * (found.rankings != 1)
        said.append(f"{found.rankings:,} ranking{many}, {found.tie_rate:.1%} of them with a tie.")
    said += [f"Note: {note}." for note in found.notes]
    for line in said if found.reference else said[1:]:
        console.print(line, markup=False, soft_wrap=True)


def _cell(value: float | None, column: str) -> str:
    if value is None:
        return "none"
    if column.startswith("p_value"):
        return f"{value:.3g}"
    return f"{value:,.1f}" if column == "df" else f"{value:.4f}"
