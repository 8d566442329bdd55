"""Linear mixed models with crossed and nested random effects: products -> criterion -> search -> fit."""

from evenhand.statistics.mixed.estimates import MixedFit
from evenhand.statistics.mixed.fit import MixedModel, fit_mixed, lay_out_mixed, leave_one_out
from evenhand.statistics.mixed.search import WarmStart

__all__ = ["MixedFit", "MixedModel", "WarmStart", "fit_mixed", "lay_out_mixed", "leave_one_out"]
