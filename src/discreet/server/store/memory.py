"""What a process remembers of the audit log: a database that has forgotten it is not the one it was."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, NoReturn

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from pathlib import Path

END = "end of the log"
"""Where a transaction leaves the end of the log that it wrote, until it is committed."""
log = logging.getLogger("discreet.server")


class StoreError(DiscreetError):
    """The database cannot be used just now. Nothing that was not stored was shown."""


class ForkedError(StoreError):
    """The database is not the one that this process knows: an old copy was put in its place."""


class Memory:
    """The end of the log as this process last saw it, and once that is gone, why nothing is done any more.

    The promise: what this process saw committed is in the log whenever it adds a row. Positions only grow, so
    threads may tell what they saw in any order.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self.last: tuple[int, str] | None = None
        self.fault = ""
        self._which: tuple[int, int] | None = None
        self._lock = threading.Lock()

    def advance(self, position: int, sealed: str) -> None:
        """Remember an end of the log that is on disk."""
        with self._lock:
            if self.last is None or position > self.last[0]:
                self.last = (position, sealed)

    def fork(self, words: str) -> NoReturn:
        """Say, once in the log of the server and from now on to everybody, that the database is another."""
        with self._lock:
            if not self.fault:
                self.fault = words
                log.critical("nothing is answered any more: %s", words)
        raise ForkedError(self.fault)

    def refuse(self) -> None:
        """Refuse to go on with another database; a file that was replaced is one."""
        if self.fault:
            raise ForkedError(self.fault)
        if self.file is not None:
            try:
                stat = self.file.stat()
            except OSError:
                stat = None
            which = None if stat is None else (stat.st_dev, stat.st_ino)
            if self._which is None:
                self._which = which
            elif which != self._which:
                self.fork(
                    f"the file {self.file} was replaced or removed while the server ran, and what was "
                    "written since may be in neither. Stop the server, and put the newest copy back by "
                    "`discreet serve restore`"
                )
