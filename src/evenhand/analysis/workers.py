"""Several processes that answer parts of one analysis: each holds the same material, and is told what to do with it."""

from __future__ import annotations

import time
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Generic, TypeVar

import polars as pl

from evenhand.analysis.material import Material
from evenhand.errors import InputError
from evenhand.files import reason
from evenhand.processes import cores, spawned, wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from concurrent.futures import ProcessPoolExecutor

    from evenhand.analysis.material import FitKey, Fitted
    from evenhand.analysis.setting import Setting

WORTH_PROCESSES = 10_000
"""Rows below which starting a process costs more than it saves."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What a piece of work found.

    Attributes:
        found: Its result.
        seconds: How long it took.
    """

    found: T
    seconds: float


@dataclass(frozen=True, slots=True)
class Workers:
    """Where pieces of work go: to other processes, or done at once in this one.

    Attributes:
        material: What is analysed, as this process holds it.
        pool: The other processes; None where there are none.
    """

    material: Material
    pool: ProcessPoolExecutor | None

    def give(self, work: Callable[..., T], *arguments: object, fits: bool = False) -> Future[Done[T]]:
        """Have something done with the material.

        Args:
            work: A function of the material and the arguments, to be found by its name in a module.
            *arguments: What it is told besides.
            fits: Whether it reads fits that this process keeps.
        """
        if self.pool is None:
            done: Future[Done[T]] = Future()
            done.set_result(_timed(self.material, work, arguments))
            return done
        return self.pool.submit(_work, work, arguments, self.material.light_fits() if fits else {})


@contextmanager
def workers(material: Material, processes: int | None = None) -> Generator[Workers]:
    """Start processes that hold a material, and end them.

    Args:
        material: What is analysed.
        processes: How many; by default one a core, and none beside this one where there is little to do.
    """
    count = wanted(processes, 1 if material.outcomes.height < WORTH_PROCESSES else cores())
    if count == 1:
        yield Workers(material, None)
        return
    # A file that each of them maps costs less than sending every one the table.
    with TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True) as folder:
        table = Path(folder) / "outcomes.arrow"
        try:
            material.outcomes.write_ipc(table, compression="uncompressed")
        except OSError as problem:
            raise InputError(
                f"the outcomes cannot be passed on to other processes ({reason(problem)})",
                where=folder,
                mend="Make room there, or use one process (--processes 1)",
            ) from problem
        with spawned(count, _begin, (table, material.setting)) as pool:
            yield Workers(material, pool)


@dataclass(slots=True)
class _Held:
    """What a worker process holds from its beginning to its end."""

    material: list[Material] = field(default_factory=list[Material])


_held = _Held()


def _begin(table: Path, setting: Setting) -> None:
    _held.material = [Material.of(pl.read_ipc(table), setting)]


def _work(work: Callable[..., T], arguments: tuple[object, ...], fits: Mapping[FitKey, Fitted]) -> Done[T]:
    [material] = _held.material
    return _timed(material.with_fits(fits), work, arguments)


def _timed(material: Material, work: Callable[..., T], arguments: tuple[object, ...]) -> Done[T]:
    began = time.perf_counter()
    found = work(material, *arguments)
    return Done(found, time.perf_counter() - began)
