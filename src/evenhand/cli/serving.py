"""The command that serves a real model on this machine: serve-local."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.collection.local import ALIAS, PORT, serve

if TYPE_CHECKING:
    from types import FrameType


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="The port on 127.0.0.1; 0 for any that is free.",
)
@click.option(
    "--weights",
    "model",
    type=click.Path(path_type=Path),
    metavar="GGUF",
    help="Another model's file, in place of SmolLM2's.",
)
@click.option("--alias", help=f"The model's name.  [default: {ALIAS}, or the name of the file given with --weights]")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads to compute with; fewer where other work runs too.  [default: one a core]",
)
def serve_local(port: int, model: Path | None, alias: str | None, threads: int | None) -> None:
    """Serve a small real model on this machine, for `evenhand run RUN --model local/smollm2`, until Ctrl-C."""
    name = alias or (model.stem if model else ALIAS)
    with serve(port, model=model, alias=name, threads=threads) as address:
        stopped = when_stopped()
        click.echo(f"local/{name} answers at {address}/v1\nCtrl-C stops it")
        while not stopped.wait(0.5):  # without a limit, Windows would not see Ctrl-C
            pass
        # The server's own end waits for requests under way, and leaves them without an answer until clients give up.
        os._exit(0)


def when_stopped() -> threading.Event:
    """An event that Ctrl-C or SIGTERM sets, so that either is an orderly end."""
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    return stopped
