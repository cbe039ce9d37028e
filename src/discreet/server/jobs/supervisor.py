"""Starts workers, starts them again when they die, and kills those that take too long."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from discreet.server import config as configs
from discreet.server.jobs import ending
from discreet.server.store.memory import ForkedError, StoreError
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from discreet.server.config import Config
    from discreet.server.store import Store

_LOOK_SECONDS, _SWEEP_SECONDS, _YOUNG_SECONDS = 0.2, 5.0, 1.0
log = logging.getLogger("discreet.server")


@dataclass(slots=True)
class Worker:
    """A process, the name it takes jobs under, which of them it takes, and what it is at since when.

    Times here are of a clock that nobody sets: one that jumps makes no job late.
    """

    name: str
    process: subprocess.Popen[bytes]
    lane: str = "ask"
    begun: float = field(default_factory=time.monotonic)
    at: tuple[Any, ...] = ()
    since: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """The workers of one server."""

    store: Store
    config: Config
    workers: list[Worker] = field(default_factory=list[Worker])
    stopping: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def start(self) -> None:
        """Start all workers, and watch over them."""
        lanes = ["ask"] * self.config.workers + ["trial"] * self.config.trial_workers
        self.workers = [self._spawn(lane) for lane in lanes]
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def stop(self, grace: float = 10.0) -> None:
        """Let jobs at hand end for a while, then abandon them: another worker completes what is charged."""
        self.stopping.set()
        if self.thread is not None:
            self.thread.join()
        for worker in self.workers:
            worker.process.terminate()
        until = time.monotonic() + grace
        for worker in self.workers:
            try:
                worker.process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            self._take_back(worker)

    def _spawn(self, lane: str) -> Worker:
        name = f"{socket.gethostname()[:40]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        command = [sys.executable, "-m", "discreet.server.jobs.worker", str(self.config.home), name, lane]
        # What the server saw of the log, so that a worker that is new notices an old copy as well.
        command += map(str, self.store.memory.last or ())
        # In a group of its own: Ctrl-C at the server's terminal is not for workers.
        process = subprocess.Popen(  # noqa: S603  (our own module)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, **configs.environment(self.config)},
        )
        return Worker(name, process, lane)

    def _watch(self) -> None:
        swept = 0.0
        while not self.stopping.wait(_LOOK_SECONDS):
            try:
                self._look()
                if time.monotonic() - swept > _SWEEP_SECONDS:
                    swept = time.monotonic()
                    ending.sweep(self.store, self.config)
            except ForkedError:
                for worker in self.workers:  # another database is not theirs to work on
                    worker.process.kill()
                return
            except StoreError:
                log.warning("the database cannot be used just now")
                self.stopping.wait(1.0)
            except OSError:
                log.warning("a worker cannot be started just now")
                self.stopping.wait(1.0)

    @property
    def works(self) -> bool:
        """Whether somebody watches over the workers, and one of each kind there should be is alive."""
        alive = {worker.lane for worker in self.workers if worker.process.poll() is None}
        watched = self.thread is not None and self.thread.is_alive()
        return watched and alive == {worker.lane for worker in self.workers}

    def _look(self) -> None:
        for place, worker in enumerate(self.workers):
            late = worker.process.poll() is None and self._is_late(worker)
            if late:
                worker.process.kill()
                worker.process.wait()
            young = time.monotonic() - worker.begun < _YOUNG_SECONDS  # one that cannot start is not hurried
            if late or (worker.process.poll() is not None and not young):
                log.warning("worker %s ended; it is replaced", worker.name)
                self._take_back(worker, late=late)
                self.workers[place] = self._spawn(worker.lane)

    def _is_late(self, worker: Worker) -> bool:
        """Tell whether a job took more than its time; a draw that is charged gets as long again.

        Time on invented people is counted by itself: an analyst who fills it takes nothing from the time for
        data, and cannot make a question fail there.
        """
        asked = select(job.c.id, job.c.attempts, job.c.reading, job.c.draws).where(
            job.c.worker == worker.name, job.c.state.in_(("running", "charged"))
        )
        with self.store.reading() as db:
            row = db.execute(asked).first()
        if row is None:
            return False
        if worker.at != row[:3]:
            worker.at, worker.since = row[:3], time.monotonic()
        limit = self.config.trial_seconds if row.reading is None else self.config.job_seconds
        return time.monotonic() - worker.since > limit * (2 if row.draws else 1)

    def _take_back(self, worker: Worker, *, late: bool = False) -> None:
        try:
            ending.release_worker(self.store, self.config, worker.name, late=late)
        except StoreError:
            log.warning("jobs of worker %s wait for their lease to run out", worker.name)
