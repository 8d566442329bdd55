"""What each block's numbers are computed by, and where that is from."""

from __future__ import annotations

_AUDIT = '"The Audit Decides the Verdict"'
_FUND = "Lukk 2026"

MODEL = (
    "y ~ race + gender + (1|model) + (1|profile) + (1|name) + (1|stimulus); rankings and allocations: each call's mean "
    "taken out, position + stratum + (1|profile) + (1|name) + (1|slot); t with Satterthwaite's df"
)
SOURCES = {
    "primary_endpoint": ("difference of two standardised contrasts in one stacked fit", f"{_AUDIT}, section 2"),
    "recovery": ("contrast after swaps of ranks that plant a size, less the contrast before", f"{_AUDIT}, table 3"),
    "placebo": ("share of 1,000 relabellings whose test rejects at 5%", f"{_AUDIT}, table 3"),
    "verdict": (f"{MODEL}; q by Benjamini and Hochberg (1995)", f"{_AUDIT}, section 2; Kuznetsova et al. (2017)"),
    "contrasts": (f"{MODEL}; `paper`: without stimulus, slot and the calls' means, Wald's z", f"{_AUDIT}, section 2"),
    "left_out": ("rows without a score over the group's rows", f"{_AUDIT}, section 2"),
    "decisions": ("share of profiles decided both ways; names permuted within profile", "permutation test"),
    "floors": (
        "multiplier m with P(|T(df, m)| > t(1 - alpha/2)) = 80%, times the standard error; bound: far end of the 90% "
        "interval; two one-sided tests",
        f"{_AUDIT}, table 3; Schuirmann (1987)",
    ),
    "power": ("P(|T(df, effect / SE)| > t(1 - alpha/2)), noncentral t", f"{_AUDIT}, table 3"),
    "interactions": ("z ~ (race + gender + nuisance) x format, errors clustered", f"{_AUDIT}, section 3"),
    "robustness": (
        "the same contrasts by rank-ordered logit, least squares with clustered errors, random slopes, and without "
        "each name, profile and respondent",
        f"{_AUDIT}, appendix C",
    ),
    "position": ("mean of the first place less the others'", f"{_AUDIT}, figure 2"),
    "wording": ("race x wording on the same applications; raw difference of means beside", f"{_AUDIT}, table 4"),
    "tools": ("native calls less text on the same applications", f"{_AUDIT}, table 5"),
    "audit_against_demographics": ("one fit of all disguised rankings, bundles resampled", f"{_AUDIT}, figure 2"),
    "ties": ("calls with a tie over calls", f"{_AUDIT}, section 3"),
    "recognition": ("share with Wilson's (1927) interval", f"{_AUDIT}, figure 3"),
    "precision": (MODEL, f"{_AUDIT}, appendix C"),
    "reasoning": ("with less without reasoning, on the same applications", f"{_AUDIT}, appendix C"),
    "aid_replication": (MODEL, f"{_AUDIT}, appendix C; {_FUND}"),
    "fairfund_focal": ("y ~ race + gender + design factors + (1|model); Wald's z", f"{_FUND}, sections 4.2, 4.3"),
    "fairfund_framing": ("the same for framings, by task; allocations within bundles", f"{_FUND}, table 10"),
    "equal_splits": ("bundles split equally over bundles, Wilson's interval", f"{_FUND}, figure 5"),
    "dollar_gaps": ("mean over groups of |mean dollars - reference's|", f"{_FUND}, figure 6"),
    "dollars_by_framing": ("mean dollars, t interval", f"{_FUND}, figure 7"),
    "validity": ("valid answers over answers, Wilson's interval", f"{_FUND}, appendix A"),
    "wording_variants": ("variant less base; Spearman's rho of the models' order", f"{_FUND}, appendix A"),
    "unanswered": ("share with Wilson's interval; Fisher's or a permuted chi-squared test", "beyond the papers"),
    "impact_ratios": ("selection rate over the highest group's", "New York City Local Law 144; no legal finding"),
    "run_variance": ("variance of contrasts between epochs, and an interval that holds it", "beyond the papers"),
    "arity_null": ("largest less smallest group mean; labels dealt anew over names", "beyond the papers"),
    "pillars": (
        "d: a difference over the released denominator. P1 mean |d|; P2 mean d; P3 1 - mean(d_max - d_min) over tasks; "
        "P4 1 - mean(||d_disguised| - |d_transparent||); intervals by bootstrap",
        f"{_FUND}, section 3; docs/scores.md",
    ),
}
"""By block: its formula, in short, and its source; docs/analysis.md has them in full."""
