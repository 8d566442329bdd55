"""The entry point: which commands there are, and how errors leave.

Heavy libraries are imported inside the commands that use them, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import click

from evenhand import __version__
from evenhand.cli import (
    analysing,
    auditing,
    collecting,
    comparing,
    fitting,
    looking,
    reporting,
    scoring,
    serving,
    studies,
    validating,
    viewing,
)
from evenhand.cli.options import FAULT, INCOMPLETE
from evenhand.cli.streams import Lasting
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 done, 1 a check failed, 2 wrong use or unusable input, 3 incomplete."""
    # Read when numpy loads: our matrices are small, and a second BLAS thread costs more than it saves.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A scheduler's way to stop a job ends like Ctrl-C: cleanly, with the code for incomplete.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    with redirect_stdout(Lasting(sys.stdout, BrokenPipeError)), redirect_stderr(Lasting(sys.stderr, OSError)):
        code = _run(arguments)
        try:
            sys.stdout.flush()
        except OSError as error:
            click.echo(f"evenhand: standard output cannot be written ({error.strerror}).", err=True)
            code = 2
    sys.exit(code)


def _interrupt(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts jobs in the background: Ctrl-C is not for them, an order to end is.
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = commands.main(args=None if arguments is None else list(arguments), standalone_mode=False)
    except EvenhandError as error:
        click.echo(f"evenhand: {error}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "evenhand: stopped. Nothing is half-written; what was collected is kept, and the same command goes on.",
            err=True,
        )
        return INCOMPLETE
    except OSError as error:
        # Files have errors of their own above; what is left is output with nowhere to go (a full disk).
        click.echo(f"evenhand: output cannot be written ({error.strerror}). Make room or write elsewhere.", err=True)
        return 2
    except Exception:
        # Exit code 1 means that a check failed; a fault of ours must not look like one.
        traceback.print_exc()
        click.echo("evenhand: this is a fault of Evenhand itself. Please report it with the lines above.", err=True)
        return FAULT
    return code if isinstance(code, int) else 0


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
def commands() -> None:
    """Audit the decisions that language models make about people.

    Start with `evenhand demo`: the whole flow on simulated respondents, offline.
    """


for _command in (
    collecting.demo,
    auditing.audit,
    studies.build,
    studies.check,
    collecting.cost,
    collecting.run,
    collecting.merge,
    serving.serve_local,
    viewing.view,
    looking.status,
    looking.replies,
    looking.outcomes,
    looking.export,
    scoring.parse,
    scoring.score,
    analysing.analyse,
    reporting.report,
    reporting.leaderboard,
    comparing.compare,
    validating.validate,
    fitting.fit,
    studies.import_,
):
    commands.add_command(_command)
