"""Is the server running? Its processes lock a file of its home; the system lets go when they end."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FILE = "server.lock"
_PLACES = 4096  # bytes of the file, where a lock cannot be shared: each process takes one, a restore all


@contextmanager
def running(home: Path) -> Generator[None]:
    """Say that a process of the server is at work; many may be."""
    with (home / FILE).open("a+b") as file:
        if not _lock(file, exclusive=False):
            raise InputError("a copy of the database is being restored: start the server when that is done")
        yield


@contextmanager
def stopped(home: Path) -> Generator[None]:
    """Refuse to go on while any process of the server is at work, and keep it from starting."""
    with (home / FILE).open("a+b") as file:
        if not _lock(file, exclusive=True):
            raise InputError(
                "the server is running, or a worker of it still is: stop it first (Ctrl-C, or SIGTERM)"
            )
        yield


def _lock(file: IO[bytes], *, exclusive: bool) -> bool:
    """Take a lock until the file is closed; tell whether nobody else holds one that forbids it."""
    try:
        fcntl: Any = import_module("fcntl")
    except ImportError:  # Windows
        return _lock_bytes(file, exclusive=exclusive)
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lock_bytes(file: IO[bytes], *, exclusive: bool) -> bool:
    """Take the same lock where only stretches of a file can be locked, each by one process.

    Whoever is at work holds one byte, the first that is free from one of their own on; a restore holds all of
    them. Nothing is written there.
    """
    msvcrt: Any = import_module("msvcrt")
    places = [0] if exclusive else [(os.getpid() + step) % _PLACES for step in range(64)]
    for place in places:
        os.lseek(file.fileno(), place, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, _PLACES if exclusive else 1)
        except OSError:
            continue
        return True
    return False
