"""The `.env` file, as Inspect reads it inside its own commands: values that are not set otherwise."""

from __future__ import annotations

from dotenv import find_dotenv, load_dotenv


def load_environment() -> str:
    """Read the nearest `.env`, from the working directory upwards; variables that are set already stay.

    Returns:
        The file's path, empty where there is none.
    """
    path = find_dotenv(usecwd=True)
    if path:
        load_dotenv(path, override=False)
    return path
