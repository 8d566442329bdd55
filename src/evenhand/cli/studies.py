"""Commands that make a run directory and check it: build, check, import."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import json_option, print_json
from evenhand.errors import InputError

PACKS = "agentfairbench-packs"


@click.command()
@click.argument("study_file", metavar="STUDY")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The run directory; without it the study is built and counted."
)
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
    study_file: str, out: Path | None, models: int, reasoning_models: int, formats: tuple[str, ...], as_json: bool
) -> int:
    """Build a study's instrument. STUDY is a preset (verdict, fairfund, fairfund-wording, demo) or a TOML file."""
    from evenhand import study
    from evenhand.cli import designs

    if reasoning_models > models:
        raise InputError(
            f"{reasoning_models} of {models} models", where="--reasoning-models", mend="Raise --models or lower it"
        )
    if out is None:
        plan, instrument = study.design(study_file, formats=_arm_formats(formats))
    else:
        run = study.build(study_file, out, formats=_arm_formats(formats))
        plan, instrument = run.plan, run.instrument
    accounting = study.account(plan, instrument, models=models, reasoning_models=reasoning_models)
    if as_json:
        print_json(accounting)
    else:
        designs.print_accounting(accounting, out)
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
    """Check a design: composition of arms and pools, prompts, bundles, hints at race or gender. Exit 1 on a problem.

    After a collection the gaps in baseline quality between the groups of every arm are shown too.
    """
    from evenhand import study
    from evenhand.cli import designs

    findings = study.check(target)
    baseline = None if findings.baseline is None else findings.baseline.to_dicts()
    if as_json:
        from dataclasses import asdict

        found = {"arms": [asdict(check) for check in findings.checks], "problems": findings.problems}
        print_json(found | {"notes": findings.notes, "words": findings.words, "baseline": baseline})
    else:
        designs.print_checks(findings)
        designs.print_baseline(baseline or [])
    return 1 if findings.problems else 0


@click.command(name="import")
@click.argument("kind", type=click.Choice(["fairfund", "agentfairbench", "inspect"]))
@click.argument("sources", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help=f"The run directory; of agentfairbench the packs' folder, by default {PACKS}, or the outcomes file.",
)
@click.option(
    "--as",
    "label",
    default="",
    help="Of logs of one model: its id in the results. Of agentfairbench: its form, `pack` or `outcomes`.",
)
@click.option(
    "--strata",
    type=click.Path(path_type=Path),
    help="Of agentfairbench: a CSV with id and stratum (1 the strongest), which its disguised cells need.",
)
@json_option
def import_(
    kind: str, sources: tuple[Path, ...], out: Path | None, label: str, strata: Path | None, as_json: bool
) -> int:
    """Make a run from materials released elsewhere or from logs of `inspect eval evenhand/audit`.

    Of agentfairbench come packs or an outcomes file.
    """
    from evenhand import study
    from evenhand.cli import designs

    if strata is not None and kind != "agentfairbench":
        raise InputError("only agentfairbench takes strata", where="--strata", mend="Leave --strata away")
    if kind == "agentfairbench":
        return _import_agentfairbench(sources, out, label, strata, as_json=as_json)
    if out is None:
        raise InputError("a run needs a folder", where="import", mend="Name a new one with -o RUN")
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
    accounting = study.account(made.plan, made.instrument, models=1)
    if as_json:
        print_json(accounting)
    else:
        designs.print_accounting(accounting, made.folder)
    return 0


def _import_agentfairbench(
    sources: tuple[Path, ...], out: Path | None, form: str, strata: Path | None, *, as_json: bool
) -> int:
    if form not in {"pack", "outcomes"} or len(sources) != 1:
        raise InputError(
            "AgentFairBench is brought in as packs or as outcomes, from one folder",
            where="import agentfairbench",
            mend="Write `evenhand import agentfairbench PATH --as pack -o DIR`, or `--as outcomes -o FILE`",
        )
    if form == "pack":
        return _import_packs(sources[0], out or Path(PACKS), strata, as_json=as_json)
    if strata is not None:
        raise InputError("outcomes take no strata", where="--strata", mend="Leave --strata away")
    if out is None:
        raise InputError("outcomes need a file", where="import agentfairbench", mend="Name one with -o FILE.csv")
    return _import_decisions(sources[0], out, as_json=as_json)


def _import_decisions(source: Path, file: Path, *, as_json: bool) -> int:
    from evenhand import study

    found = study.import_decisions(source, file)
    if as_json:
        print_json({"outcomes": str(file), **found})
        return 0
    models = f"{found['models']} model{'' if found['models'] == 1 else 's'}"
    click.echo(f"{found['decisions']:,} decisions of {models} in {file}, {found['malformed']:,} of them malformed")
    for key, count in found["left_out"].items():
        click.echo(f"{key} of {count:,} answers is left out: outcomes have no column for it")
    return 0


def _import_packs(source: Path, out: Path, strata: Path | None, *, as_json: bool) -> int:
    from evenhand import study

    made = study.import_packs(source, out, strata=strata)
    if as_json:
        print_json({"packs": [str(folder) for folder in made], "strata": strata is not None})
        return 0
    for folder in made:
        click.echo(f"Pack in {folder}")
    if strata is None:
        click.echo("The profiles have no strata: the disguised cells cannot be built from them. Give --strata FILE.")
    return 0
