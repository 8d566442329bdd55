"""What commands share: options, exit codes, printing JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

INCOMPLETE = 3
"""Exit code of a command that was stopped or left something undone; the same command goes on."""

FAULT = 70
"""Exit code of a fault of our own (EX_SOFTWARE of sysexits.h)."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
out_option = click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="The run directory.")
run_argument = click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))


def print_json(content: object) -> None:
    """Print a result as one line of JSON."""
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))
