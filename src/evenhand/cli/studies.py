"""Commands that make a run directory and check it: build, check, import."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import json_option, out_option, print_json
from evenhand.errors import InputError


@click.command()
@click.argument("study_file", metavar="STUDY")
@out_option
@click.option(
    "--models", type=click.IntRange(min=1), default=1, show_default=True, help="Models to count requests for."
)
@click.option(
    "--reasoning-models",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Models among them to count the arms with reasoning for.",
)
@click.option(
    "--arm-format",
    "formats",
    multiple=True,
    metavar="PATTERN=FORMAT",
    help="Another format for the arms that match, as in 'aid-rank_ties-*=rank'.",
)
@json_option
def build(
    study_file: str, out: Path, models: int, reasoning_models: int, formats: tuple[str, ...], as_json: bool
) -> int:
    """Build a study's instrument. STUDY is a preset (verdict, fairfund, fairfund-wording, demo) or a TOML file."""
    from evenhand import study
    from evenhand.cli import console

    if reasoning_models > models:
        raise InputError(
            f"{reasoning_models} of {models} models", where="--reasoning-models", mend="Raise --models or lower it"
        )
    run = study.build(study_file, out, formats=_arm_formats(formats))
    accounting = study.account(run, models=models, reasoning_models=reasoning_models)
    if as_json:
        print_json(accounting)
    else:
        console.print_accounting(accounting, run.folder)
    return 0


def _arm_formats(pairs: tuple[str, ...]) -> dict[str, str]:
    formats: dict[str, str] = {}
    for pair in pairs:
        pattern, equals, format = pair.rpartition("=")
        if not equals or not pattern or not format:
            raise InputError(
                f"{pair!r} is not PATTERN=FORMAT", where="--arm-format", mend="Write 'aid-rank_ties-*=rank'"
            )
        formats[pattern] = format
    return formats


@click.command()
@click.argument("target", metavar="RUN|STUDY")
@json_option
def check(target: str, as_json: bool) -> int:
    """Check a design: composition of every arm, and hints at race or gender in its packs. Exit 1 on a problem."""
    from evenhand import study
    from evenhand.cli import console

    checks, problems = study.check(study.load_target(target))
    if as_json:
        from dataclasses import asdict

        print_json({"arms": [asdict(found) for found in checks], "problems": problems})
    else:
        console.print_checks(checks, problems)
    return 1 if problems else 0


@click.command(name="import")
@click.argument("kind", type=click.Choice(["fairfund", "inspect"]))
@click.argument("sources", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option
@click.option("--as", "label", default="", help="The id of the model in the results (logs of one model).")
@json_option
def import_(kind: str, sources: tuple[Path, ...], out: Path, label: str, as_json: bool) -> int:
    """Make a run from materials released elsewhere, or from the logs of `inspect eval evenhand/audit`."""
    from evenhand import study
    from evenhand.cli import console

    if kind == "inspect":
        counts = study.import_logs(sources, out, label=label)
        if as_json:
            print_json({"run": str(out), **counts})
        else:
            click.echo(f"{counts['attempts']:,} attempts of {counts['samples']:,} samples in {out}")
        return 0
    if label or len(sources) != 1:
        raise InputError(
            "one folder of materials is read at a time, and no model", where="import", mend="Leave --as away"
        )
    [source] = sources
    made = study.import_materials(kind, source, out)
    accounting = study.account(made, models=1)
    if as_json:
        print_json(accounting)
    else:
        console.print_accounting(accounting, made.folder)
    return 0
