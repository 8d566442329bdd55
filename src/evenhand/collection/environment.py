"""The `.env` file, as Inspect reads it inside its own commands: values that are not set otherwise."""

from __future__ import annotations

from dotenv import find_dotenv, load_dotenv

from evenhand.errors import InputError


def load_environment() -> str:
    """Read the nearest `.env`, from the working directory upwards; variables that are set already stay.

    Returns:
        The file's path, empty where there is none.

    Raises:
        InputError: It cannot be read.
    """
    path = find_dotenv(usecwd=True)
    if path:
        try:
            load_dotenv(path, override=False)
        except (OSError, ValueError) as problem:
            raise InputError(
                f"the file cannot be read ({problem})", where=path, mend="Write it as UTF-8 lines of NAME=VALUE"
            ) from None
    return path
