"""A pack's files taken along into a run, so that the run can be built again from itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import PackError
from evenhand.files import exists, reason

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.packs.pack import Pack

MOST_BYTES = 20_000_000


def copy_pack(pack: Pack, folder: Path) -> None:
    """Copy the files that make a pack, its README and its LICENSE into a new folder; nothing else that lies there.

    Args:
        pack: The pack.
        folder: Is made, with the folders above it.

    Raises:
        PackError: A file cannot be read, or they hold more than 20 MB together.
        OSError: The copy cannot be written.
    """
    total = 0
    for name in (*pack.files, *_companions(pack.folder)):
        data = _read(pack.folder / name)
        total += len(data)
        if total > MOST_BYTES:
            raise PackError(
                f"the pack's files hold more than {MOST_BYTES / 1e6:.0f} MB",
                where=str(pack.folder),
                mend="A run keeps a copy of its packs: make the texts shorter or take away what is no text",
            )
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _companions(folder: Path) -> list[str]:
    found = [path for pattern in ("README*", "LICENSE*") for path in folder.glob(pattern)]
    return sorted(path.name for path in found if exists(path, PackError))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as problem:
        raise PackError(
            f"cannot be read ({reason(problem)})", where=str(path), mend="Check the path and its rights"
        ) from None
