"""The worker process: takes one job after the other, within its memory, until it is told to stop."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from discreet.server import config as configs
from discreet.server.jobs import queue
from discreet.server.operate.running import running
from discreet.server.store import Store
from discreet.server.store.memory import StoreError

if TYPE_CHECKING:
    from collections.abc import Generator

    from discreet.server.config import Config
    from discreet.server.jobs.queue import Claim

_IDLE_SECONDS, _RENEW_SECONDS = 0.05, 5.0


def main(home: str, name: str, lane: str, position: str = "", sealed: str = "") -> None:
    """Work until SIGTERM, which lets the job at hand end; then leave.

    The log must hold the row with this position and hash: the server saw it.
    """
    stop = threading.Event()

    def end(*_: object) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    line = _hushed()
    try:
        _begin(stop, home, name, lane, (int(position), sealed) if position else None)
    except BaseException as error:  # noqa: BLE001  (its words are for nobody: they may be about people)
        line.write(json.dumps(_said(name, error)) + "\n")
        raise SystemExit(1) from None


def _begin(stop: threading.Event, home: str, name: str, lane: str, seen: tuple[int, str] | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which asks us to stop
    config = configs.read(Path(home))
    _limit_memory(config.job_memory_mb)
    with running(config.home), Store(config.url) as store:
        if seen is not None:
            store.memory.advance(*seen)
        _work(stop, store, config, name, lane)


def _work(stop: threading.Event, store: Store, config: Config, name: str, lane: str) -> None:
    from discreet.server.jobs.run import run

    parent = os.getppid()
    while not stop.is_set() and os.getppid() == parent:
        try:
            claim = queue.claim(store, config, name, lane)
        except StoreError:
            time.sleep(0.5)
            continue
        if claim is None:
            stop.wait(_IDLE_SECONDS)
            continue
        with _renewed(store, claim), suppress(StoreError):  # its lease runs out, and it is begun again
            run(store, config, claim)


@contextmanager
def _renewed(store: Store, claim: Claim) -> Generator[None]:
    """Keep the lease of a job while it is worked on."""
    done = threading.Event()

    def keep() -> None:
        while not done.wait(_RENEW_SECONDS):
            with suppress(StoreError):
                queue.renew(store, claim)

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _hushed() -> IO[str]:
    """Send to nowhere what this process prints, also from libraries: it may speak of people.

    What comes back is a line to the server's log, for what this module says itself.
    """
    line = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    return line


def _said(name: str, error: BaseException) -> dict[str, Any]:
    """Return what a log may hold of an error: its kind and the way to it, none of its words."""
    way = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    message = f"worker {name} ended: {type(error).__name__}"
    return {"level": "error", "logger": "discreet.worker", "message": message, "trace": way}


def _limit_memory(megabytes: int) -> None:
    try:
        resource: Any = import_module("resource")
    except ImportError:  # not on this system
        return
    size = megabytes * 2**20
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold rows


if __name__ == "__main__":
    main(*sys.argv[1:])
