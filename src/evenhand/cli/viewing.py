"""The command that serves a page which follows a run: view."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from evenhand.cli.asking import price_option
from evenhand.cli.options import json_option, print_json, run_argument
from evenhand.cli.serving import when_stopped

if TYPE_CHECKING:
    from pathlib import Path

PORT = 8766


@click.command()
@run_argument
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="The port on 127.0.0.1; 0 for any that is free.",
)
@click.option("--open/--no-open", "opened", default=False, help="Open the page in a browser.  [default: no-open]")
@price_option
@json_option
def view(folder: Path, port: int, opened: bool, prices: Path | None, as_json: bool) -> None:
    """Serve a page on this machine that follows RUN while it is collected, until Ctrl-C; it writes nothing into RUN."""
    from urllib.parse import urlsplit

    from evenhand import showing

    with showing.view(folder, port=port, prices=prices) as address:
        stopped = when_stopped()
        if as_json:
            print_json({"url": address, "port": urlsplit(address).port})
        else:
            click.echo(f"{folder} is followed at {address}\nCtrl-C stops it")
        if opened:
            import webbrowser

            webbrowser.open(address)
        while not stopped.wait(0.5):  # without a limit, Windows would not see Ctrl-C
            pass
    # A look under way at a large run would keep the process for seconds; it has nothing to finish.
    os._exit(0)
