"""What the page that follows a run shows: counts and rows as text, so that the page itself computes nothing."""

from __future__ import annotations

import hashlib
import shlex
from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evenhand.errors import RunError
from evenhand.formats.types import STATUSES
from evenhand.report.places import PAGE, REPORT
from evenhand.runs import LEDGER, is_run

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from evenhand.collection.progress import RunStatus
    from evenhand.runs import Run

NOT_FOR_DECISIONS = (
    "Nobody planned a look before the end: these numbers move while replies come in, nothing is corrected for looking "
    "at them, and no status is given to any."
)
_REPLIED = ("answered", "refused", "malformed", "no_answer")
MODEL_COLUMNS = ("respondent", "units", *STATUSES, "read as answers", "asked again", "dollars")
ARM_COLUMNS = ("arm", "respondent", "units", *STATUSES, "read as answers")
ERROR_COLUMNS = ("respondent", "units", "reason")
ESTIMATE_COLUMNS = ("domain", "format", "group", "estimate", "95% interval", "n", "answered so far", "method", "note")
_WORDS = ("respondent", "arm", "reason", "domain", "format", "group", "method", "note")
"""Columns that hold no numbers."""
_NONE = "none yet"


@dataclass(frozen=True, slots=True)
class Live:
    """The page.

    Attributes:
        html: It.
        policy: Its Content-Security-Policy, which lets its own script and style alone run.
    """

    html: bytes
    policy: str


def render(study: str, folder: Path) -> Live:
    """The page that follows a run; what it tells of comes later, as data."""
    from markupsafe import Markup

    from evenhand.report.page import pages, template

    css, js = template("page.css") + template("view.css"), template("view.js")
    html = (
        pages()
        .get_template("view.html")
        .render(
            study=study,
            folder=str(folder),
            why=NOT_FOR_DECISIONS,
            tables={
                "models": _heads(MODEL_COLUMNS),
                "arms": _heads(ARM_COLUMNS),
                "errors": _heads(ERROR_COLUMNS),
                "estimates": _heads(ESTIMATE_COLUMNS),
            },
            css=Markup(css),
            js=Markup(js),
        )
    )
    policy = (
        f"default-src 'none'; script-src {_digest(js)}; style-src {_digest(css)}; img-src data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Live(html.encode("utf-8", "replace"), policy)


def mark(folder: Path) -> Hashable:
    """What changes where a run has something new to tell.

    Raises:
        RunError: The run is gone.
    """
    if not is_run(folder):
        raise RunError("the run is gone", where=str(folder), mend="Put it back, or end this with Ctrl-C")
    return tuple(_stand(folder / name) for name in (LEDGER, f"{LEDGER}-wal", f"{REPORT}/{PAGE}"))


def told_progress(run: Run, status: RunStatus, heard: Mapping[str, datetime]) -> dict[str, Any]:
    """How far a run is, as the page shows it.

    Args:
        run: The run.
        status: Its units by respondent and arm.
        heard: When the latest attempt of each respondent came to an end.
    """
    units, final = (sum(row[name] for row in status.models) for name in ("units", "final"))
    finished = 0 < units == final
    waiting = len(run.instrument.units) * run.plan.epochs
    return {
        "finished": finished,
        "empty": "" if units else f"Nothing was collected yet: {waiting:,} units wait for each respondent.",
        # Said aloud by screen readers, so that it changes seldom.
        "said": "Every unit is final." if finished else f"At least {_tenths(final, units)}% of the units are final.",
        "report": _report(run, max(heard.values(), default=None)) if finished else {"link": "", "text": ""},
        "bars": [
            {"name": row["model"], "value": row["final"], "max": row["units"], "text": _how_far(row, heard)}
            for row in status.models
        ],
        "models": [
            [row["model"], *_counts(row), f"{row['retried']:,}", _dollars(row)] for row in _with_total(status.models)
        ],
        "arms": [[row["arm"], row["model"], *_counts(row)] for row in status.arms],
        "errors": [[row["model"], f"{row['units']:,}", row["reason"]] for row in status.errors],
    }


def told_estimates(rows: pl.DataFrame) -> dict[str, Any]:
    """Running estimates as the page shows them.

    Args:
        rows: From `analysis.interim`; without any, no planned contrast can be read from the run.
    """
    from evenhand.analysis.interim import CONTRAST, SHARE

    found = rows.to_dicts()
    shares = {(row["domain"], row["format"]): row for row in found if row["estimand"] == SHARE}
    contrasts = [row for row in found if row["estimand"] == CONTRAST]
    total = shares.pop(("", ""), None)
    if total is None:
        return {"share": "", "rows": [], "empty": "There is no planned contrast to estimate, or nothing to read yet."}
    with_rows = {(row["domain"], row["format"]) for row in contrasts}
    lines = [_estimate(row, shares[row["domain"], row["format"]]) for row in contrasts]
    lines += [_waiting(row) for place, row in shares.items() if place not in with_rows]
    share = f"{_percent(total['estimate'])} of the {total['n']:,} slots of planned cells have a score so far"
    note = f" ({total['note']})" if total["note"] else ""
    return {"share": f"{share}{note}.", "rows": lines, "empty": ""}


def _estimate(row: Mapping[str, Any], share: Mapping[str, Any]) -> list[str]:
    known = row["conf_low"] is not None and row["conf_high"] is not None
    return [
        row["domain"],
        row["format"],
        row["group"],
        _NONE if row["estimate"] is None else f"{row['estimate']:+.3f}",
        f"{row['conf_low']:+.3f} to {row['conf_high']:+.3f}" if known else _NONE,
        f"{row['n']:,}",
        _percent(share["estimate"]),
        row["method"],
        row["note"],
    ]


def _waiting(share: Mapping[str, Any]) -> list[str]:
    """The line of a cell without a contrast: nothing of it was answered, or it has one group alone."""
    told = "no answer has a score yet" if not share["estimate"] else "there are no two groups to compare"
    none = ["", _NONE, _NONE, "0", _percent(share["estimate"]), ""]
    return [share["domain"], share["format"], *none, "; ".join(part for part in (told, share["note"]) if part)]


def _with_total(models: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Respondents, and where there are several the sum of them."""
    if len(models) < 2:
        return list(models)
    total: dict[str, Any] = {name: sum(row[name] for row in models) for name in ("units", *STATUSES, "retried")}
    known = [row["dollars"] for row in models if row["dollars"] is not None]
    total |= {"model": "all together", "dollars": sum(known) if len(known) == len(models) else None}
    return [*models, total]


def _how_far(row: Mapping[str, Any], heard: Mapping[str, datetime]) -> str:
    far = f"{row['final']:,} of {row['units']:,} units final ({_floored(row['final'], row['units'])})"
    last = heard.get(row["model"])
    return far if last is None else f"{far}; last reply {last.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _dollars(row: Mapping[str, Any]) -> str:
    return "no price known" if row["dollars"] is None else f"{row['dollars']:,.4f}"


def _counts(row: Mapping[str, Any]) -> list[str]:
    came = sum(row[name] for name in _REPLIED)
    read = f"{_percent(row['answered'] / came)} of {came:,}" if came else _NONE
    return [*(f"{row[name]:,}" for name in ("units", *STATUSES)), read]


def _report(run: Run, heard: datetime | None) -> dict[str, str]:
    """Where the report of a finished run is, or which command writes it."""
    command = f"evenhand report {shlex.quote(str(run.folder))}"
    written = _stand(run.folder / REPORT / PAGE)
    if written is None:
        return {"link": "", "text": f"The run is finished. Its report is written by: {command}"}
    if heard is not None and written[0] < heard.timestamp() * 1e9:
        return {"link": f"/{REPORT}/", "text": f"It is older than the last reply; written again by: {command}"}
    return {"link": f"/{REPORT}/", "text": "The run is finished."}


def _stand(path: Path) -> tuple[int, int] | None:
    """When a file was changed, in nanoseconds, and its size; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _tenths(part: int, whole: int) -> int:
    return 10 * (10 * part // whole) if whole else 0


def _floored(part: int, whole: int) -> str:
    """A share in tenths of a percent, never rounded up to all."""
    return f"{1000 * part // whole / 10:.1f}%" if whole else "0.0%"


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _heads(columns: Sequence[str]) -> list[dict[str, str]]:
    return [{"name": name.replace("_", " "), "kind": "" if name in _WORDS else "number"} for name in columns]


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
