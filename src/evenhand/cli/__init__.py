"""The command line: parse arguments, call `evenhand.study`, print."""

from evenhand.cli.main import main

__all__ = ["main"]
