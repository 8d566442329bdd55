"""What commands print for people: progress to standard error, results to standard output."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evenhand.formats.types import STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from evenhand.analysis.scores import Scores
    from evenhand.collection.attempts import Attempt
    from evenhand.collection.progress import RunStatus
    from evenhand.instrument import Unit

PILLARS = ("p1", "p2", "p3", "p4")
"""The domain whose models the published leaderboard holds."""
WIDE = 160
NARROWEST = 118
UNANSWERED = tuple(status for status in STATUSES if status != "answered")


def out() -> Console:
    """Standard output, as wide as its tables need."""
    # A narrow terminal wraps lines; a table squeezed into it would lose its numbers. A file or pipe has no width.
    console = Console(highlight=False)
    return Console(highlight=False, width=max(console.width, NARROWEST) if console.is_terminal else WIDE)


def say(text: str) -> None:
    """A line as it stands: nothing in it is markup, and the terminal alone wraps it."""
    out().print(text, markup=False, soft_wrap=True)


def ruled(title: str, *, texts: Sequence[str], numbers: Sequence[str], caption: str | None = None) -> Table:
    """A table without rows: columns of text, then columns of numbers."""
    table = Table(title=title, caption=caption, caption_justify="left")
    for column in texts:
        table.add_column(column.replace("_", " "))
    for column in numbers:
        table.add_column(column.replace("_", " "), justify="right")
    return table


def print_status(rows: Sequence[Mapping[str, Any]]) -> None:
    """What became of each model's units."""
    columns = ("units", *STATUSES, "input_tokens", "output_tokens")
    priced = any(row["dollars"] is not None for row in rows)
    table = Table(title="Status, in units")
    table.add_column("model", overflow="fold")
    for column in (*columns, *(["dollars"] if priced else [])):
        table.add_column(column.replace("_", " "), justify="right")
    for row in rows:
        cells = [f"{row[column]:,}" for column in columns]
        cells += [dollars(row["dollars"])] if priced else []
        table.add_row(escape(row["model"]), *cells)
    out().print(table)


def dollars(amount: float | None) -> str:
    """US dollars; a model without a price says so."""
    return "no price" if amount is None else f"${amount:,.4f}"


def print_served(status: RunStatus) -> None:
    """Who answered, and where calls parted from what was asked for."""
    console = out()
    for row in status.models:
        served = ", ".join((*row["versions"], *row["backends"]))
        said = [f"{row['model']}: served by {served or 'a version that the provider does not name'}"]
        if row["retried"]:
            said.append(f"{row['retried']:,} units asked more than once")
        if row["shared_reply_ids"]:
            said.append(f"{row['shared_reply_ids']:,} replies bear the id of another")
        if row["unsettled_batch_items"]:
            said.append(
                f"{row['unsettled_batch_items']:,} requests in batches that were never settled may be paid twice"
            )
        say(_visible("; ".join(said)))
    print_errors(status.errors)
    for row in status.refusals:
        instead = "left out" if row["value"] is None else f"{row['value']} sent instead"
        text = f"{row['model']}, {row['format']}: {row['parameter']} refused, {instead} ({row['message']})"
        say(_visible(text))
    if not status.deviations:
        return
    table = Table(title="Replies to requests that were not as the study asks")
    for column in ("model", "format", "deviation"):
        table.add_column(column, overflow="fold")
    table.add_column("calls", justify="right")
    for row in status.deviations:
        texts = (escape(row[column]) for column in ("model", "format", "deviation"))
        table.add_row(*texts, f"{row['calls']:,} of {row['of']:,}")
    console.print(table)


def print_errors(rows: Sequence[Mapping[str, Any]]) -> None:
    """Why units stand as errors."""
    for row in rows:
        text = f"{row['model']}: {row['units']:,} unit{'s' * (row['units'] > 1)} failed: {row['reason']}"
        say(_visible(text))


def print_forecast(rows: Sequence[Mapping[str, Any]]) -> None:
    """What is still to be sent, and what it will cost."""
    table = Table(
        title="Still to come",
        caption="Dollars: replies as long as measured or assumed; most: every reply as long as the output cap allows.\n"
        "Assumed before anything was measured: four characters a token, replies in form alone. Retries cost extra.",
        caption_justify="left",
    )
    table.add_column("model", overflow="fold")
    for column in ("requests", "input tokens", "output tokens", "basis", "dollars", "most", "spent so far"):
        table.add_column(column, justify="right")
    for row in rows:
        numbers = (f"{row[column]:,}" for column in ("requests", "input_tokens", "output_tokens"))
        basis = "measured" if row["measured"] else "assumed"
        sums = (dollars(row[column]) for column in ("dollars", "dollars_most", "spent"))
        table.add_row(escape(row["model"]), *numbers, basis, *sums)
    out().print(table)


def print_validity(arms: Sequence[Mapping[str, Any]]) -> None:
    """What became of the units of each domain and format, over all models, and the model that answered least."""
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in arms:
        kinds.setdefault((row["domain"], row["format"]), []).append(row)
    table = ruled(
        "Validity by domain and format, all models, in units",
        texts=("domain", "format"),
        numbers=("units", *STATUSES, "answered", "least, by model"),
    )
    for kind, rows in kinds.items():
        by_model: dict[str, list[int]] = {}
        for row in rows:
            counts = by_model.setdefault(row["model"], [0, 0])
            counts[0] += row["answered"]
            counts[1] += row["units"]
        units = sum(row["units"] for row in rows)
        numbers = [f"{sum(row[column] for row in rows):,}" for column in STATUSES]
        share = sum(row["answered"] for row in rows) / units
        least = min(answered / total for answered, total in by_model.values())
        table.add_row(*(escape(text) for text in kind), f"{units:,}", *numbers, f"{share:.1%}", f"{least:.1%}")
    out().print(table)


def print_unanswered(arms: Sequence[Mapping[str, Any]], groups: Sequence[Mapping[str, Any]]) -> None:
    """Where units were not answered: by arm, then by group with the test that the groups' shares are the same."""
    console = out()
    lost = [row for row in arms if row["units"] > row["answered"]]
    if not lost:
        return
    table = ruled("Units without an answer, by arm", texts=("model", "arm"), numbers=("units", *UNANSWERED))
    for row in lost:
        counts = (f"{row[column]:,}" for column in ("units", *UNANSWERED))
        table.add_row(escape(row["model"]), escape(row["arm"]), *counts)
    console.print(table)
    compared = [row for row in groups if row["p_value"] is not None]
    table = ruled(
        "Shares by group, where a unit holds one group",
        texts=("model", "arm", "status", "factor", "group"),
        numbers=("share", "95% interval", "units", "p, groups alike"),
        caption="Bundles that hold every group lose all of them together: differences are not identified there.",
    )
    for row in compared:
        texts = (row["model"], row["arm"], row["estimand"].removeprefix("share_"), row["term"], row["group"])
        interval = f"{row['conf_low']:.1%} to {row['conf_high']:.1%}"
        numbers = (f"{row['estimate']:.1%}", interval, f"{row['n']:,}", f"{row['p_value']:.3f}")
        table.add_row(*(escape(text) for text in texts), *numbers)
    if compared:
        console.print(table)


def reply_record(unit: Unit, attempt: Attempt) -> dict[str, Any]:
    """What is shown of one raw reply."""
    reply = attempt.reply
    return {
        "unit": unit.key,
        "model": attempt.respondent,
        "epoch": attempt.epoch,
        "attempt": attempt.attempt,
        "cause": attempt.cause,
        "status": attempt.status,
        "reason": attempt.reason,
        "names": [slot.name for slot in unit.slots],
        "text": reply.text if reply else None,
        "reasoning": reply.reasoning if reply else None,
        "tool_calls": [asdict(call) for call in reply.tool_calls] if reply else [],
        "stop_reason": reply.stop_reason if reply else None,
        "error": attempt.error,
    }


def print_replies(records: Sequence[Mapping[str, Any]]) -> None:
    """Raw replies, one below the other; control characters are shown, not obeyed."""
    console = out()
    for record in records:
        head = f"{record['unit']}  {record['model']}  epoch {record['epoch']}, attempt {record['attempt']}"
        console.print(_visible(head), style="bold", markup=False, soft_wrap=True)
        why = f": {record['reason']}" if record["reason"] else ""
        say(_visible(f"{record['status']}{why}; stop {record['stop_reason']}"))
        for part in (record["reasoning"], record["text"], record["error"]):
            if part:
                say(_visible(str(part)))
        for call in record["tool_calls"]:
            say(_visible(f"call {call['function']}({call['arguments']!r})"))
        console.print()


def _visible(text: str) -> str:
    """Model text is untrusted: what would steer a terminal, or cannot be printed, is shown by its number."""
    return "".join(c if c == "\n" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def print_leaderboard(scores: Scores, published: pl.DataFrame) -> None:
    """Print the scored models, among the published ones where they answered the same questions."""
    from evenhand.analysis.scores import EVERY_POOL

    console = out()
    console.print(leaderboard(scores, published))
    for row in scores.rows.to_dicts():
        if row["n_valid"] < row["n_rows"] or row["pools"] < EVERY_POOL:
            counts = f"{row['n_valid']:,} of {row['n_rows']:,} rows valid, {row['pools']} of {EVERY_POOL} pools"
            say(_visible(f"{row['model']}: {counts}"))


def leaderboard(scores: Scores, published: pl.DataFrame) -> Table:
    """The scored models by P1, among the published ones where they answered the same questions."""
    comparable = scores.comparable
    table = Table(
        title=f"{'FairFund-Bench pillars' if comparable else 'Pillars'} ({escape(scores.method)} method, "
        f"{scores.boot:,} bootstrap replicates)",
        caption=_how_to_read(scores, comparable=comparable),
        caption_justify="left",
    )
    table.add_column("model", overflow="fold")
    for pillar in PILLARS:
        table.add_column(pillar.upper(), justify="right")
    rows = [(row, True) for row in scores.rows.to_dicts()]
    rows += [(row, False) for row in published.to_dicts() if comparable]
    for row, own in sorted(rows, key=lambda item: item[0]["p1"] if item[0]["p1"] is not None else float("inf")):
        cells = [_interval(row, pillar) + _floor(row, pillar) for pillar in PILLARS]
        table.add_row(escape(row["model"]), *cells, style="bold" if own else "dim")
    return table


def _how_to_read(scores: Scores, *, comparable: bool) -> str:
    if not comparable:
        beside = f"Domain {escape(str(scores.domain))}: not FairFund-Bench's, so no published models beside it."
    else:
        beside = (
            "Bold: scored here. Others: the published leaderboard (Lukk 2026, arXiv 2607.28934), which has no floors."
        )
        if scores.method != "released":
            beside += "\nThey were scored by the released method: only P2 and P4 can be compared with the bold rows."
    return (
        f"{beside}\n"
        "P1 demographic bias: lower is better. P2 agreement with human deservingness norms, no measure of fairness.\n"
        "P3 consistency across tasks, P4 across presentation: higher is better. Intervals: 95%.\n"
        "Floor: the mean score that chance alone gives. P1, and what P3 and P4 subtract, are sizes: read both together."
    )


def _interval(row: Mapping[str, Any], pillar: str) -> str:
    if row.get(pillar) is None:
        return "none"
    if row.get(f"{pillar}_lo") is None:
        return f"{row[pillar]:.3f}"
    return f"{row[pillar]:.3f} [{row[f'{pillar}_lo']:.3f}, {row[f'{pillar}_hi']:.3f}]".replace("[", r"\[")


def _floor(row: Mapping[str, Any], pillar: str) -> str:
    """A second line under a score that has a floor; published rows have none."""
    floor = row.get(f"{pillar}_floor")
    return "" if floor is None else f"\nfloor {floor:.3f}"


def print_files(paths: Sequence[Path]) -> None:
    """Where the files are."""
    out().print("\nFiles:")
    for path in paths:
        say(f"  {path}")
