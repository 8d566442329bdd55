"""Standard output and error that may go away.

A reader that closes its end (`| head -1`), or a terminal that is gone, must not change what a command does: a paid
collection goes on, and the exit code stays that of the command.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class Lasting:
    """A text stream that falls silent, rather than fail, once nobody reads it.

    Args:
        stream: The stream it stands for.
        failing: The errors that silence it; for standard error any, for output only a closed pipe.
    """

    def __init__(self, stream: Any, failing: type[OSError]) -> None:
        self._stream = stream
        self._failing = failing

    def write(self, text: str) -> int:
        """Write, or say nothing."""
        try:
            return self._stream.write(text)
        except self._failing:
            self._silence()
            return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines, or say nothing."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush, or say nothing."""
        try:
            self._stream.flush()
        except self._failing:
            self._silence()

    def _silence(self) -> None:
        # What is still buffered, and all that follows, goes to where it disturbs nobody.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
