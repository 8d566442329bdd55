"""Work in several processes, which end when they are no longer wanted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def wanted(processes: int | None, otherwise: int) -> int:
    """How many processes to start.

    Args:
        processes: What a caller asks for; None leaves it to us.
        otherwise: What is best here.

    Raises:
        InputError: Fewer than one.
    """
    if processes is not None and processes < 1:
        raise InputError(f"{processes} processes do no work", where="processes", mend="Use 1 or more")
    return otherwise if processes is None else processes


@contextmanager
def spawned(
    processes: int, begin: Callable[..., None] | None = None, arguments: tuple[object, ...] = ()
) -> Generator[ProcessPoolExecutor]:
    """Processes that begin afresh (no fork), and are ended at once where something stops the work.

    Args:
        processes: How many.
        begin: What each does first.
        arguments: What that is told.

    Raises:
        EvenhandError: One of them was ended from outside.
    """
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_begin, initargs=(begin, arguments)
    )
    try:
        yield pool
    except BaseException as problem:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
        if isinstance(problem, BrokenProcessPool):
            raise EvenhandError(
                "a process was ended from outside before its work was done, for lack of memory perhaps",
                where=f"{processes} processes",
                mend="Free memory, or use fewer (--processes 1)",
            ) from problem
        raise
    pool.shutdown()


def _begin(begin: Callable[..., None] | None, arguments: tuple[object, ...]) -> None:
    # Ctrl-C reaches every process of a terminal; the first one tells the others to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if begin is not None:
        begin(*arguments)


def _end_with_parent() -> None:
    """A process whose parent was killed has nobody to work for."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
