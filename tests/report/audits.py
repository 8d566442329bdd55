"""Evidence of small audits that were drawn, not collected, and runs to report on."""

from __future__ import annotations

import numpy as np

from evenhand import study
from evenhand.analysis.blocks import analyse
from evenhand.analysis.material import Material
from evenhand.analysis.setting import Setting
from evenhand.analysis.simulation import Stage, World
from evenhand.outcomes.table import blank
from evenhand.report.evidence import Evidence
from evenhand.report.replies import ReplyBook, Shown, collect_replies

STUDY = """
name = "small"
[settings]
temperature = 0.0
[margins]
rate = 0.5
"""

HOSTILE = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    " \u202eevil\u202c \u2066turned\u2069 & <b>bold</b> \u2028 ]]>"
)


def evidence(
    world: World | None = None, *, respondents=("m1", "m2"), replies: ReplyBook | None = None, **cells
) -> Evidence:
    """What a report is told of one drawn audit of hiring."""
    plan, instrument = study.design("verdict")
    wanted = instrument.select(["hiring-rate", "hiring-decide", "hiring-rank_ties-*disguised*"])
    drawn = Stage(blank(wanted, study=plan.name, respondents=list(respondents))).draw(
        world or World(), np.random.default_rng(1)
    )
    setting = Setting(margins={"rate": 0.5})
    analysis = analyse(Material.of(drawn, setting), processes=1)
    units = len(wanted.units)
    counts = {"answered": units, "refused": 0, "malformed": 0, "no_answer": 0, "error": 0, "missing": 0}
    told = {
        "study": plan.name,
        "folder": "run",
        "digest": instrument.digest,
        "analysis": analysis,
        "models": [
            {"model": model, "units": units, "final": units, "versions": [f"{model}-2026"]} | counts
            for model in respondents
        ],
        "arms": [
            {"model": model, "arm": "hiring-rate", "domain": "hiring", "units": units} | counts for model in respondents
        ],
        "deviations": [],
        "accounting": study.account(plan, wanted, models=len(respondents)),
        "checks": [],
        "problems": [],
        "notes": [],
        "collected": ("2026-11-30T10:00:00Z", "2026-11-30T11:00:00Z"),
        "versions": {"evenhand": "0.1.0"},
        "replies": replies if replies is not None else collect_replies([shown()]),
    }
    return Evidence(**(told | cells))


def shown(**cells) -> Shown:
    """A reply as a report is told of it."""
    told = {
        "model": "m1", "arm": "hiring-rate", "unit": "u1", "groups": ("Black Female",), "status": "answered",
        "prompt": "Rate this.\nAn applicant.", "reply": "4", "reading": "read as 4",
    }  # fmt: skip
    return Shown(**(told | cells))
