"""Is the server running? Its processes lock a file of its home; the system lets go when they end."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FILE = "server.lock"


@contextmanager
def running(home: Path) -> Generator[None]:
    """Say that a process of the server is at work; many may be."""
    with _locked(home, exclusive=False):
        yield


@contextmanager
def stopped(home: Path) -> Generator[None]:
    """Refuse to go on while any process of the server is at work, and keep it from starting."""
    with _locked(home, exclusive=True):
        yield


@contextmanager
def _locked(home: Path, *, exclusive: bool) -> Generator[None]:
    try:
        fcntl: Any = import_module("fcntl")
    except ImportError:  # not on this system, which keeps open files from being replaced
        yield
        return
    with (home / FILE).open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError:
            if exclusive:
                words = (
                    "the server is running, or a worker of it still is: stop it first (Ctrl-C, or SIGTERM)"
                )
            else:
                words = "a copy of the database is being restored: start the server when that is done"
            raise InputError(words) from None
        yield
