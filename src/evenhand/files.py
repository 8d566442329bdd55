"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from evenhand.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


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
    # A path with a null character is a ValueError.
    reason = error.strerror if isinstance(error, OSError) else error
    return InputError(
        f"it cannot be written ({reason})",
        where=str(path),
        mend="Choose a folder that exists and that you may write to",
    )
