"""Named peers of the estimators: lme4, lmerTest and survival in R where they are installed, and statsmodels."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

R_RUNS = 3
PACKAGES = ("lme4", "lmerTest", "survival")

_READ = """
args <- commandArgs(TRUE)
put <- function(key, values) cat(key, if (is.character(values)) values else sprintf("%.17g", values), sep = "\\t")
tell <- function(key, values) { put(key, values); cat("\\n") }
cpu <- function(call) sum(system.time(call())[c("user.self", "sys.self")])
best <- function(runs, call) {
  times <- c()
  while (length(times) < runs && sum(times) < 10) times <- c(times, cpu(call))
  min(times)
}
d <- read.csv(args[1], stringsAsFactors = TRUE)
runs <- as.integer(args[2])
for (pair in strsplit(args[3], ",")[[1]]) {
  known <- strsplit(pair, "=")[[1]]
  d[[known[1]]] <- relevel(factor(d[[known[1]]]), ref = known[2])
}
"""

_VERSIONS = """
cat(R.version.string, "BLAS", basename(normalizePath(extSoftVersion()[["BLAS"]])), "\\n")
for (name in commandArgs(TRUE)) if (requireNamespace(name, quietly = TRUE))
  cat(name, as.character(packageVersion(name)), "\\n")
"""

_MIXED = """
suppressPackageStartupMessages({library(lme4); library(lmerTest)})
formula <- as.formula(args[4])
tell("seconds", best(runs, function() fit <<- lme4::lmer(formula, d)))
tight <- lmerControl("bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5), calc.derivs = FALSE)
exact <- lme4::lmer(formula, d, control = tight)
tell("df_seconds", best(1, function() found <<- coef(summary(as_lmerModLmerTest(exact)))))
tell("names", rownames(found))
tell("beta", found[, "Estimate"])
tell("std_errors", found[, "Std. Error"])
tell("df", found[, "df"])
tell("criterion", REMLcrit(exact))
simulated <- grep("^simulated", names(d), value = TRUE)
if (length(simulated)) {
  tell("refit_seconds", cpu(function() for (name in simulated) refit(fit, d[[name]])) / length(simulated))
  again <- function(name) fixef(lme4::lmer(update(formula, as.formula(paste(name, "~ ."))), d, control = tight))
  beta <- sapply(simulated, again)
  tell("refit_beta", as.vector(beta))
}
if (nzchar(args[5])) {
  kept <- d[d[[args[5]]] != levels(d[[args[5]]])[1], ]
  tell("without_seconds", cpu(function() lme4::lmer(formula, kept)))
  tell("without_beta", fixef(lme4::lmer(formula, kept, control = tight)))
}
"""

_RANKINGS = """
suppressPackageStartupMessages(library(survival))
d$event <- 1
formula <- as.formula(args[4])
tell("seconds", best(runs, function() coxph(formula, d, ties = args[5], cluster = bundle, robust = TRUE)))
fit <- coxph(formula, d, ties = args[5], cluster = bundle, robust = TRUE, control = coxph.control(eps = 1e-12))
tell("names", names(coef(fit)))
tell("beta", coef(fit))
tell("std_errors", sqrt(diag(fit$var)))
tell("criterion", fit$loglik[2])
"""


@dataclass(frozen=True, slots=True)
class Estimates:
    """What an engine found.

    Attributes:
        names: Of the coefficients.
        beta: Estimates, shape (p,).
        std_errors: Shape (p,).
        df: Degrees of freedom, shape (p,); None where the engine has none.
        criterion: -2 log likelihood, or the log likelihood; None where the engine has none to compare.
        seconds: Processor seconds; None where it was not timed (stored values).
    """

    names: tuple[str, ...]
    beta: NDArray[np.float64]
    std_errors: NDArray[np.float64]
    df: NDArray[np.float64] | None = None
    criterion: float | None = None
    seconds: float | None = None


def best_of(runs: int, call: Callable[[], Any]) -> float:
    """Processor seconds, of all threads together, of the cheapest of several calls."""
    times: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def installed_in_r() -> dict[str, str]:
    """Versions of the packages that R has here, and R's own under `R`; empty where there is no R."""
    if shutil.which("Rscript") is None:
        return {}
    first, *others = _rscript(_VERSIONS, PACKAGES).splitlines()
    return {"R": first.strip(), **dict(line.split() for line in others)}


def mixed_in_r(
    data: pl.DataFrame, formula: str, reference: Mapping[str, str], *, without: str = ""
) -> dict[str, list[str]]:
    """What lme4 and lmerTest give, by key.

    Args:
        data: The rows; columns `simulated...` are further outcomes to refit with.
        formula: As R reads it.
        reference: Reference levels.
        without: A column whose first level is left out in one more fit.
    """
    return _in_r(_READ + _MIXED, data, reference, formula, without)


def rankings_in_r(data: pl.DataFrame, formula: str, reference: Mapping[str, str], ties: str) -> Estimates:
    """What `survival::coxph` gives, its errors clustered on `bundle`."""
    return from_r(_in_r(_READ + _RANKINGS, data, reference, formula, ties))


def from_r(told: Mapping[str, Sequence[str]]) -> Estimates:
    """Estimates from what R wrote."""
    df = numbers(told["df"]) if "df" in told else None
    criterion, seconds = float(told["criterion"][0]), float(told["seconds"][0])
    return Estimates(tuple(told["names"]), numbers(told["beta"]), numbers(told["std_errors"]), df, criterion, seconds)


def numbers(told: Sequence[str]) -> NDArray[np.float64]:
    """What R wrote, as numbers."""
    return np.array([float(value) for value in told])


def from_stored(stored: Mapping[str, Any], *, std_error: str, criterion: str = "", df: str = "") -> Estimates:
    """Stored results of R, under the keys named."""
    return Estimates(
        tuple(stored["coef_names"]),
        np.array(stored["beta"]),
        np.array(stored[std_error]),
        np.array(stored[df]) if df in stored else None,
        float(stored[criterion]) if criterion else None,
    )


def mixed_in_statsmodels(
    data: pl.DataFrame, fixed: str, groups: Sequence[str], reference: Mapping[str, str]
) -> Estimates:
    """MixedLM with crossed intercepts: variance components in one group that holds all rows."""
    from statsmodels.formula.api import mixedlm

    table = _with_reference(_as_pandas(data), reference)
    components = {group: f"0 + C({group})" for group in groups}
    start = time.process_time()
    model = mixedlm(fixed, table, groups=np.ones(len(table)), re_formula="0", vc_formula=components)
    fit: Any = model.fit(reml=True)
    seconds = time.process_time() - start
    names = _plain_names(fit.fe_params.index)
    errors = np.asarray(fit.bse_fe, dtype=np.float64)
    return Estimates(names, np.asarray(fit.fe_params), errors, None, -2 * float(fit.llf), seconds)


def clustered_in_statsmodels(
    data: pl.DataFrame, formula: str, cluster: str, reference: Mapping[str, str], runs: int
) -> Estimates:
    """Least squares with `cov_type="cluster"`, timed from the frame."""
    from statsmodels.formula.api import ols

    raw = _as_pandas(data)

    def fitted() -> Any:
        table = _with_reference(raw, reference)
        groups = table[cluster].astype("category").cat.codes
        fit = ols(formula, table).fit(cov_type="cluster", cov_kwds={"groups": groups})
        return fit, np.asarray(fit.bse)

    seconds = best_of(runs, fitted)
    fit, errors = fitted()
    return Estimates(_plain_names(fit.params.index), np.asarray(fit.params), errors, seconds=seconds)


def wild_in_statsmodels(data: pl.DataFrame, formula: str, cluster: str, replicates: int) -> float:
    """Seconds a replicate of a wild cluster bootstrap that refits with `cov_type="cluster"`."""
    from statsmodels.formula.api import ols

    table = _as_pandas(data)
    groups = table[cluster].astype("category").cat.codes.to_numpy()
    fit = ols(formula, table).fit()
    rng = np.random.default_rng(0)
    start = time.process_time()
    for _ in range(replicates):
        signs = rng.choice(np.array([-1.0, 1.0]), groups.max() + 1)[groups]
        again = type(fit.model)(fit.fittedvalues.to_numpy() + signs * fit.resid.to_numpy(), fit.model.exog)
        _ = again.fit(cov_type="cluster", cov_kwds={"groups": groups}).tvalues
    return (time.process_time() - start) / replicates


def rankings_in_statsmodels(data: pl.DataFrame, outcome: str, terms: str, reference: Mapping[str, str]) -> Estimates:
    """PHReg stratified by `call`, its robust errors grouped by `bundle`; one run."""
    from statsmodels.duration.hazard_regression import PHReg
    from statsmodels.formula.api import ols

    table = _with_reference(_as_pandas(data), reference)
    start = time.process_time()
    design: Any = ols(f"{outcome} ~ {terms}", table)
    calls, bundles = (table[name].astype("category").cat.codes.to_numpy() for name in ("call", "bundle"))
    model = PHReg(table[outcome].to_numpy(float), design.exog[:, 1:], strata=calls, ties="efron")
    fit: Any = model.fit(groups=bundles)
    seconds = time.process_time() - start
    return Estimates(
        _plain_names(design.exog_names[1:]),
        np.asarray(fit.params),
        np.asarray(fit.bse),
        criterion=float(fit.llf),
        seconds=seconds,
    )


def _as_pandas(data: pl.DataFrame) -> Any:
    import pandas as pd

    # Polars converts by way of pyarrow, which is not needed otherwise.
    return pd.DataFrame(data.to_dict(as_series=False))


def _with_reference(table: Any, reference: Mapping[str, str]) -> Any:
    """The table with categories that begin with the reference levels."""
    import pandas as pd

    table = table.copy()
    for name, first in reference.items():
        values = table[name].astype(str)
        others = sorted(set(values) - {first})
        table[name] = pd.Categorical(values, categories=[first, *others])
    return table


def _plain_names(terms: Sequence[str]) -> tuple[str, ...]:
    """The names that R gives: `raceblack` for `race[T.black]`."""
    return tuple(re.sub(r"\[T\.(.*?)\]", r"\1", term).replace("Intercept", "(Intercept)") for term in terms)


def _in_r(
    script: str, data: pl.DataFrame, reference: Mapping[str, str], formula: str, more: str
) -> dict[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        data.write_csv(path)
        levels = ",".join(f"{name}={level}" for name, level in reference.items())
        told = _rscript(script, (str(path), str(R_RUNS), levels, formula, more))
    return {key: values for key, *values in (line.split("\t") for line in told.splitlines())}


def _rscript(script: str, arguments: Sequence[str]) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".R", encoding="utf-8") as file:
        file.write(script)
        file.flush()
        command = ["Rscript", "--vanilla", file.name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"R ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
