"""Paths: is something there, why not, and files written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from typing import TYPE_CHECKING

from evenhand.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.errors import EvenhandError


def exists(path: Path, error: type[EvenhandError], *, folder: bool = False) -> bool:
    """Whether there is a regular file at a path, or with `folder` a directory.

    Args:
        path: The place to look at.
        error: The class to raise where the system cannot tell.
        folder: Look for a directory instead.

    Raises:
        EvenhandError: Of the class given: the path cannot be looked at (a name too long, a folder above it without
            rights, a NUL, a circle of links), which is not the same as nothing being there.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as problem:
        raise unreadable(path, problem, error) from None
    return stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)


def reason(problem: OSError | ValueError) -> str:
    """Why the system could not do something with a path, in its own words."""
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)


def unreadable(path: Path, problem: OSError | ValueError, error: type[EvenhandError]) -> EvenhandError:
    """The error for a path that cannot be read, of the class given."""
    return error(f"cannot be read ({reason(problem)})", where=str(path), mend="Check the path and its rights")


def replace_file(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there when it is complete.

    Args:
        path: The file; one that exists is replaced.
        data: All of its content.

    Raises:
        InputError: It cannot be written there. A file that existed is then as it was.
    """
    part = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        try:
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there yet.

    Raises:
        InputError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from error


def _unwritable(path: Path, error: OSError | ValueError) -> InputError:
    return InputError(
        f"it cannot be written ({reason(error)})",
        where=str(path),
        mend="Choose a folder that exists and that you may write to",
    )
