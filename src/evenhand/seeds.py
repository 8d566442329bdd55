"""Randomness keyed by what it is for, so that one part's draws never shift another's.

Nothing here depends on PYTHONHASHSEED, on the order of draws, or on what else is drawn.
"""

from __future__ import annotations

import hashlib
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_NORMAL = NormalDist()


def generator(*key: str | int) -> np.random.Generator:
    """A generator whose stream depends on the key alone.

    Args:
        *key: What the stream is for ("design", the seed, a pack's name, ...); text and numbers are told apart.
    """
    import numpy as np

    return np.random.default_rng(int.from_bytes(hashlib.sha256(_text(key)).digest(), "big"))


def uniform(*key: str | int) -> float:
    """A number in (0, 1) that depends on the key alone; cheaper than a generator where one draw is wanted."""
    return (int.from_bytes(hashlib.blake2b(_text(key), digest_size=8).digest(), "big") + 0.5) / 2**64


def normal(*key: str | int) -> float:
    """A standard normal draw that depends on the key alone."""
    return _NORMAL.inv_cdf(min(max(uniform(*key), 1e-15), 1 - 1e-15))


def _text(key: tuple[str | int, ...]) -> bytes:
    return "\x1f".join([f"{type(part).__name__}:{part}" for part in key]).encode("utf-8", "surrogatepass")
