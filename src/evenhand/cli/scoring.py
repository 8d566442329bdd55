"""Commands on files of replies and outcomes: score."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import json_option, print_json


@click.command()
@click.argument("files", metavar="FILE|RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--method",
    type=click.Choice(["released"]),
    default="released",
    show_default=True,
    help="How pillars are computed.",
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
    from evenhand.cli import console

    table = study.read_tables(files)
    with console.scoring(table["model"].n_unique(), quiet=as_json) as progress:
        scores = study.score(
            table,
            method=method,
            denominators=denominators,
            recompute=recompute_denominators,
            boot=boot,
            seed=seed,
            progress=progress,
            where=" + ".join(map(str, files)),
        )
    if as_json:
        print_json(scores.to_json_dict())
    else:
        console.print_leaderboard(scores, study.published_leaderboard())
    return 0
