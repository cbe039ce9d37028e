"""Many analysts at once, workers killed, the database restarted: what is granted, what is lost."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.privacy.filter import Filter
from discreet.server import config as configs
from discreet.server.accounts import credentials, people
from discreet.server.datasets import metadata, question, registry, shares
from discreet.server.datasets.invented import invented
from discreet.server.operate.home import init
from discreet.server.operate.verify import verify
from discreet.server.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

_ABOUT = {
    "people": 500,
    "columns": {"treated": {"type": "answers", "levels": [0, 1]}, "a": {"bounds": [0, 1]}},
}
_SETTINGS = """
requests_per_minute = 1000000
queue_per_account = 1000
first_answer_seconds = 0.25
trial_workers = 0
"""
_PATIENCE = 300.0  # seconds until an answer that does not come counts as lost


@dataclass(slots=True)
class Run:
    """What a run counted."""

    requests: int
    capacity: int
    seconds: float = 0.0
    granted: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    refused: int = 0
    lost: int = 0
    killed: int = 0
    restarts: int = 0
    faults: tuple[str, ...] = ()
    latencies: list[float] = field(default_factory=list[float])

    @property
    def good(self) -> bool:
        """Whether exactly the capacity was granted, and nothing was lost or overspent."""
        return len(self.granted) == self.capacity and not self.lost and not self.faults

    def __str__(self) -> str:
        p50, p99 = (1000 * float(np.quantile(self.latencies, share)) for share in (0.5, 0.99))
        rate = (
            f"{self.requests} requests in {self.seconds:.1f} s: {self.requests / self.seconds:.0f} a second"
        )
        lines = [
            f"{rate}; p50 {p50:.0f} ms, p99 {p99:.0f} ms",
            f"workers killed with -9: {self.killed}; database restarted: {self.restarts}",
            f"granted {len(self.granted)}, capacity {self.capacity}, refused {self.refused}",
            f"results lost: {self.lost}; overspend and other faults: {len(self.faults)}",
            "PASS" if self.good else "\n".join(["MISS", *self.faults]),
        ]
        return "\n".join(lines)


def run(
    analysts: int,
    requests: int,
    *,
    epsilon: float = 0.2,
    kills: int = 5,
    workers: int = 2,
    database: str | None = None,
    restart: Callable[[], Any] | None = None,
) -> Run:
    """Let `analysts` send `requests` questions at once to a server on this machine, and break what can break.

    A request is sent until the server has answered it, always under the same id: sent twice, it is asked
    once. `restart` stops the database and starts it again, in the middle.
    """
    body = {"test": {"name": "compare", "group": "treated"}, "epsilon": epsilon}
    made = Run(requests, _capacity(body))
    with tempfile.TemporaryDirectory(prefix="discreet-load-") as folder:
        home, tokens = _prepare(Path(folder), analysts, database)
        port = _free_port()
        command = [sys.executable, "-m", "discreet", "serve", "run", str(home), "--port", str(port)]
        server = subprocess.Popen(  # noqa: S603  (our own program)
            [*command, "--workers", str(workers)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _patiently(lambda: _send(port, tokens[0], "GET", "/datasets"))
            with ThreadPoolExecutor(1) as aside:
                broken = aside.submit(_break, made, server.pid, kills, restart)
                _ask_all(made, port, tokens, requests, body)
                made.lost = _missing(made, port)
                broken.result()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
        store = Store(configs.read(home).url)
        verdict = verify(store)
        store.close()
    made.faults = verdict.faults
    if (verdict.charges, verdict.results) != (len(made.granted), len(made.granted)):
        made.faults += (f"{verdict.charges} charges, {verdict.results} results",)
    return made


def _prepare(folder: Path, analysts: int, database: str | None) -> tuple[Path, list[str]]:
    """Make a home with a cohort that everybody may ask about; return their tokens."""
    home, path = folder / "home", folder / "people.parquet"
    init(home, database=database)
    with (home / configs.FILE).open("a", encoding="utf-8") as file:
        file.write(_SETTINGS)
    write: Any = import_module("pyarrow.parquet").write_table
    write(invented(metadata.read(_ABOUT)), path)
    store = Store(configs.read(home).url)
    with store.writing() as db:
        registry.register(db, "bench", "cohort", {"path": str(path)}, _ABOUT, epsilon=1.0, delta=1e-6)
        shares.grant(db, "bench", "cohort", "everyone", 1.0, 1e-6)
        names = [people.create(db, "bench", f"a{number}", "analyst").name for number in range(analysts)]
        tokens = [credentials.token(db, name, "bench", credentials.SCOPES, 1) for name in names]
    store.close()
    return home, tokens


def _capacity(body: dict[str, Any]) -> int:
    """Return how many such questions the filter of the total admits by itself."""
    cost = question.read(body, metadata.read(_ABOUT)).cost
    count = 0
    while Filter(1.0, 1e-6).admits([[cost]] * (count + 1)):
        count += 1
    return count


def _ask_all(made: Run, port: int, tokens: list[str], requests: int, body: dict[str, Any]) -> None:
    """Send all requests, each analyst one after the other, all analysts at once."""

    def ask(analyst: int) -> None:
        for _ in range(analyst, requests, len(tokens)):
            asked = {**body, "again": True, "request_id": uuid.uuid4().hex}
            begin = time.perf_counter()
            status, answer = _patiently(
                lambda asked=asked: _send(port, tokens[analyst], "POST", "/datasets/cohort/ask", asked)
            )
            made.latencies.append(time.perf_counter() - begin)
            if status == 202:
                made.granted.append((answer["id"], tokens[analyst]))
            elif answer.get("kind") == "budget":
                made.refused += 1
            else:
                made.faults += (f"status {status}: {answer}",)

    begin = time.perf_counter()
    with ThreadPoolExecutor(len(tokens)) as pool:
        for done in [pool.submit(ask, analyst) for analyst in range(len(tokens))]:
            done.result()
    made.seconds = time.perf_counter() - begin


def _missing(made: Run, port: int) -> int:
    """Wait for every answer; return how many did not come."""
    until, open_ = time.monotonic() + _PATIENCE, list(made.granted)
    while open_ and time.monotonic() < until:
        time.sleep(0.2)
        for job, token in list(open_):
            _, answer = _patiently(lambda job=job, token=token: _send(port, token, "GET", f"/jobs/{job}"))
            if answer["state"] == "answered":
                status, _ = _patiently(
                    lambda job=job, token=token: _send(port, token, "GET", f"/jobs/{job}/answer")
                )
                if status == 200:
                    open_.remove((job, token))
    return len(open_)


def _break(made: Run, server: int, kills: int, restart: Callable[[], Any] | None) -> None:
    """Kill workers with -9, and restart the database once, while questions come in and are answered."""
    for turn in range(kills):
        time.sleep(0.8)
        workers = _children(server)
        if workers:
            os.kill(workers[turn % len(workers)], signal.SIGKILL)
            made.killed += 1
        if restart is not None and turn == 1:
            restart()
            made.restarts += 1


def _children(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    listing = subprocess.run(  # noqa: S603  (constant words)
        ["/usr/bin/env", "pgrep", "-P", str(parent)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in listing.stdout.split()]


def _send(
    port: int, token: str, method: str, path: str, body: dict[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    """Send one request; raise OSError where the server does not answer it."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Authorization": f"Bearer {token}"}
        line.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        answer = line.getresponse()
        status, text = answer.status, answer.read()
    except http.client.HTTPException as error:
        raise OSError from error
    finally:
        line.close()
    if status >= 500 or status == 429:
        raise OSError(status)
    return status, json.loads(text)


def _patiently(act: Callable[[], tuple[int, dict[str, Any]]]) -> tuple[int, dict[str, Any]]:
    """Do something that can be done twice until it is done."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return act()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
