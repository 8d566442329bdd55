"""Estimators that know nothing of audits, for any data: a frame or arrays in, frozen records and tidy rows out.

| question | function |
|---|---|
| effects beside what was sampled (names, profiles, models) | `fit_mixed`; often: `lay_out_mixed`, `leave_one_out` |
| effects for these names only | `fit_clustered`; few clusters: `errors="cr2"`, `wild_cluster_test` |
| effects on an order | `fit_rank_logit` |
| is there none that matters | `equivalence`, `minimum_detectable_effect`, `detectable_multiplier`, `power_of` |
| many questions at once | `correct`; `simultaneous` |
| do effects differ between models | `summarise_effects` |
| sampling without a formula for it | `cluster_bootstrap`, `least_squares_draws`, `largest`, `difference_of_largest` |
| chance without a model | `sign_flip`, `within_blocks` |
| shares, agreement, association | `wilson_interval`, `cohens_kappa`, `rank_correlation` |
"""

from evenhand.statistics.agreement import cohens_kappa
from evenhand.statistics.association import RankCorrelation, rank_correlation
from evenhand.statistics.bootstrap import cluster_bootstrap, least_squares_draws
from evenhand.statistics.clustered import ClusteredFit, fit_clustered
from evenhand.statistics.draws import BootstrapDraws
from evenhand.statistics.equivalence import (
    Equivalence,
    detectable_multiplier,
    equivalence,
    minimum_detectable_effect,
    power_of,
    standardised,
)
from evenhand.statistics.heterogeneity import Heterogeneity, summarise_effects
from evenhand.statistics.mixed import MixedFit, MixedModel, WarmStart, fit_mixed, lay_out_mixed, leave_one_out
from evenhand.statistics.multiplicity import Corrected, correct
from evenhand.statistics.permutation import Permuted, sign_flip, within_blocks
from evenhand.statistics.proportions import equal_shares_p, wilson_interval
from evenhand.statistics.rank_logit import RankLogitFit, fit_rank_logit
from evenhand.statistics.simultaneous import Largest, difference_of_largest, largest, simultaneous
from evenhand.statistics.wild import WildTest, wild_cluster_test

__all__ = [
    "BootstrapDraws",
    "ClusteredFit",
    "Corrected",
    "Equivalence",
    "Heterogeneity",
    "Largest",
    "MixedFit",
    "MixedModel",
    "Permuted",
    "RankCorrelation",
    "RankLogitFit",
    "WarmStart",
    "WildTest",
    "cluster_bootstrap",
    "cohens_kappa",
    "correct",
    "detectable_multiplier",
    "difference_of_largest",
    "equal_shares_p",
    "equivalence",
    "fit_clustered",
    "fit_mixed",
    "fit_rank_logit",
    "largest",
    "lay_out_mixed",
    "least_squares_draws",
    "leave_one_out",
    "minimum_detectable_effect",
    "power_of",
    "rank_correlation",
    "sign_flip",
    "simultaneous",
    "standardised",
    "summarise_effects",
    "wild_cluster_test",
    "wilson_interval",
    "within_blocks",
]
