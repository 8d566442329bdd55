"""Random generators keyed by what they are for, so that one part's draws never shift another's."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(*key: str | int) -> np.random.Generator:
    """A generator whose stream depends on the key alone, not on PYTHONHASHSEED or earlier draws.

    Args:
        *key: What the stream is for ("design", the seed, a pack's name, ...).
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in key)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))
