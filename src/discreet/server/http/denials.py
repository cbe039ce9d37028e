"""Denied requests in the audit log: the first of a kind at once, those that follow it counted."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from discreet.server import audit
from discreet.server.store.memory import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Scope

    from discreet.server.store import Store

STATUSES = {401, 403, 404, 409, 413, 429}
"""Not known, not allowed, not there or not theirs, beyond the budget, too large, too often."""
_SECONDS = 10.0
_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}
_LONGEST = 200
log = logging.getLogger("discreet.server")


class Denial(NamedTuple):
    """What was denied to whom: as many kinds as accounts, functions and statuses, whatever is sent."""

    actor: str
    method: str
    function: str
    status: int


class Denials:
    """Writes denied requests down.

    The promise: every one is counted in a row of the log. The first of a kind is there before its answer is
    sent; of those that follow within ten seconds there is one row, with their number: strangers cannot fill
    the log. A server that is killed loses at most that number.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._begun: dict[Denial, tuple[float, str]] = {}
        self._more: Counter[Denial] = Counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def is_first(self, kind: Denial, path: str) -> bool:
        """Count a denied request; tell whether it has to be written down now."""
        with self._lock:
            if kind in self._begun:
                self._more[kind] += 1
                return False
            self._begun[kind] = (time.monotonic(), path)
            return True

    def write(self, kind: Denial, path: str) -> None:
        """Write the first of a kind down; what the database cannot take now is counted with the others."""
        try:
            with self.store.writing() as db:
                audit.append(db, "denied", path, kind.actor, method=kind.method, status=kind.status)
        except StoreError:
            with self._lock:
                self._more[kind] += 1

    def flush(self, *, everything: bool = False) -> None:
        """Write the numbers down of kinds whose time is over, or of all."""
        over = time.monotonic() - _SECONDS
        with self._lock:
            ended = {kind: each for kind, each in self._begun.items() if everything or each[0] < over}
            counts = {kind: self._more.pop(kind) for kind in ended if kind in self._more}
            for kind in ended:
                del self._begun[kind]
        if not counts:
            return
        try:
            with self.store.writing() as db:
                for kind, count in counts.items():
                    said = {"method": kind.method, "status": kind.status, "count": count}
                    audit.append(db, "denied", ended[kind][1], kind.actor, **said)
        except StoreError:
            log.warning("denied requests wait to be written down: the database cannot be used just now")
            with self._lock:
                self._more.update(counts)
                self._begun = {**{kind: ended[kind] for kind in counts}, **self._begun}

    def start(self) -> None:
        """Begin to write numbers down."""
        self._thread.start()

    def stop(self) -> None:
        """Write down what is left, and end."""
        self._stop.set()
        self._thread.join()
        self.flush(everything=True)

    def _run(self) -> None:
        while not self._stop.wait(1.0):
            self.flush()


def denial(scope: Scope, status: int) -> tuple[Denial, str]:
    """Return what kind of denied request this is, and its path; no word of a visitor makes a new kind."""
    state: Mapping[str, str] = scope.get("state", {})
    method = scope["method"] if scope["method"] in _METHODS else "OTHER"
    path = "".join(each if each.isprintable() else "?" for each in str(scope["path"])[:_LONGEST])
    if path.startswith("/invite/"):  # the secret of a link is for its owner
        path = "/invite/..."
    function = getattr(scope.get("endpoint"), "__name__", "")
    return Denial(state.get("actor", "nobody"), method, function, status), path
