"""The command that serves a real model on this machine: serve-local."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.collection.local import ALIAS, PORT, serve

if TYPE_CHECKING:
    from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM)


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="The port on 127.0.0.1; 0 for any that is free.",
)
@click.option(
    "--model", type=click.Path(path_type=Path), metavar="GGUF", help="Another model's file, in place of SmolLM2's."
)
@click.option("--alias", help=f"The model's name.  [default: {ALIAS}, or the name of the file given with --model]")
def serve_local(port: int, model: Path | None, alias: str | None) -> int:
    """Serve a small real model on this machine, for `evenhand run RUN --model local/smollm2`, until Ctrl-C."""
    name = alias or (model.stem if model else ALIAS)
    with serve(port, model=model, alias=name) as address:
        stopped = _when_stopped()
        click.echo(f"local/{name} answers at {address}/v1\nCtrl-C stops it")
        while not stopped.wait(0.5):  # without a limit, Windows would not see Ctrl-C
            pass
        click.echo("Stopping when the request under way is answered; Ctrl-C again stops at once")
    return 0


def _when_stopped() -> threading.Event:
    """An event that Ctrl-C or SIGTERM sets: the first is an orderly end, the second ends the process."""
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)

    for number in _ENDING:
        signal.signal(number, stop)
    return stopped
