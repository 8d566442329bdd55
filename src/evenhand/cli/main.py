"""The entry point: which commands there are, and how errors leave.

Heavy libraries are imported inside the commands that use them, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from evenhand import __version__
from evenhand.cli import collecting, scoring, studies
from evenhand.cli.options import INCOMPLETE
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 done, 1 a check failed, 2 wrong use or unusable input, 3 incomplete."""
    # Read when numpy loads: our matrices are small, and a second BLAS thread costs more than it saves.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = commands.main(args=None if arguments is None else list(arguments), standalone_mode=False)
    except EvenhandError as error:
        click.echo(f"evenhand: {error}", err=True)
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("evenhand: stopped. What was collected is kept; the same command goes on from here.", err=True)
        code = INCOMPLETE
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody left to tell.
        sys.stderr.close()
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
def commands() -> None:
    """Audit the decisions that language models make about people.

    Start with `evenhand demo`: the whole flow on simulated respondents, offline.
    """


for _command in (
    collecting.demo,
    studies.build,
    studies.check,
    collecting.run,
    collecting.status,
    collecting.replies,
    collecting.outcomes,
    scoring.parse,
    scoring.score,
    studies.import_,
):
    commands.add_command(_command)
