"""Commands on files of replies and outcomes: parse, score."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from evenhand.cli.options import json_option, print_json
from evenhand.errors import InputError


@click.command()
@click.argument("files", metavar="FILE|RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--method",
    type=click.Choice(["released", "identified"]),
    default="released",
    show_default=True,
    help="How pillars are computed: as in the published leaderboard, or from what pools identify alone.",
)
@click.option(
    "--denominators",
    type=click.Path(path_type=Path),
    help="Denominators to divide by, instead of the released ones.",
)
@click.option("--recompute-denominators", is_flag=True, help="Take the denominators from the models scored here.")
@click.option("--boot", type=click.IntRange(min=0), default=2000, show_default=True, help="Bootstrap replicates.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@json_option
def score(
    files: tuple[Path, ...],
    method: str,
    denominators: Path | None,
    recompute_denominators: bool,
    boot: int,
    seed: int,
    as_json: bool,
) -> int:
    """Score outcomes files (or runs) on the four pillars of FairFund-Bench."""
    from evenhand import study
    from evenhand.cli import console, progress

    table = study.read_tables(files)
    with progress.scoring(table["model"].n_unique(), quiet=as_json) as tell:
        scores = study.score(
            table,
            method=method,
            denominators=denominators,
            recompute=recompute_denominators,
            boot=boot,
            seed=seed,
            progress=tell,
            where=" + ".join(map(str, files)),
        )
    kept = study.keep_scores(files[0], scores) if len(files) == 1 else []
    if as_json:
        print_json(scores.to_json_dict())
    else:
        console.print_leaderboard(scores, study.published_leaderboard())
        if kept:
            console.print_files(kept)
    return 0


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.option(
    "-n", "slots", type=click.IntRange(min=1), default=1, show_default=True, help="Slots: applications shown."
)
@click.option("--options", type=click.IntRange(2, 26), default=5, show_default=True, help="Options of a choice.")
@click.option("--total", type=click.IntRange(min=1), default=10_000, show_default=True, help="Sum of an allocation.")
@click.option("--label", default="application", show_default=True, help="What the pack calls an application.")
def parse(format_name: str, slots: int, options: int, total: int, label: str) -> int:
    """Read replies: JSON lines with `text`, `stop_reason`, ... on standard input, JSON lines of answers out."""
    from evenhand import formats

    formats.read(format_name, formats.Reply(), slots=slots, options=options, total=total, label=label)
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        record = _record(line, number)
        answer = formats.read(
            format_name,
            formats.reply_from_record(record),
            slots=slots,
            options=options,
            total=total,
            label=label,
        )
        read = {
            "id": record.get("id"),
            "status": answer.status,
            "value": answer.coded,
            "reason": answer.reason,
            "flags": answer.flags,
        }
        # ASCII, so that a lone surrogate in a model's text leaves as it came.
        sys.stdout.write(json.dumps(read) + "\n")
    return 0


def _record(line: bytes, number: int) -> dict[str, Any]:
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"not JSON ({problem})", where=f"standard input, line {number}", mend="Give one JSON object a line"
        ) from None
    if not isinstance(record, dict):
        raise InputError(
            "not a JSON object", where=f"standard input, line {number}", mend="Give one JSON object a line"
        )
    return record  # pyright: ignore[reportUnknownVariableType]
