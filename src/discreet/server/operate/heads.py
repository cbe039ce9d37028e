"""Heads kept elsewhere: a server whose database is an old copy notices, at its start and while it runs."""

from __future__ import annotations

import logging
import os
import re
import threading
from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.server import audit
from discreet.server.store.memory import ForkedError, StoreError

if TYPE_CHECKING:
    from discreet.server.config import Config
    from discreet.server.store import Store

FORGET = "forget"
"""A line of the file of heads: what was kept before it is not missed any more."""
_SECONDS = 1.0
_TAIL = 65_536  # bytes of the file that a running server looks at: what others added in the last minutes
# A line that was cut off, by a crash or a full disk, is no head.
_HEAD = re.compile(r"(?:\d+ )?([0-9a-f]{64})", re.ASCII)
_REMEDY = (
    "Charges may be missing: restore the newest copy. Only if all after this one is lost for good, add the "
    'line "forget" to that file'
)
log = logging.getLogger("discreet.server")


def check(store: Store, config: Config) -> None:
    """Refuse a database whose audit log lacks any hash that was kept, or does not hold since the newest."""
    hashes = kept(config)
    with store.reading() as db:
        missing, newest = audit.absent(db, hashes)
        if missing:
            raise LedgerError(_old(config, missing[-1]))
        words = audit.breaks(db, newest)
        if words:
            raise LedgerError(f"the audit log does not hold: {words}. See `discreet serve verify HOME`")
        audit.follow(db, store.memory, None)


def kept(config: Config, tail: int | None = None) -> list[str]:
    """Return the hashes that were kept, oldest first; with `tail`, those in so many bytes at the end."""
    place = config.heads_file
    try:
        with place.open("rb") as file:
            if tail is not None:
                file.seek(max(0, file.seek(0, os.SEEK_END) - tail))
            # A last line without an end is being written.
            lines = file.read().decode("utf-8").split("\n")[:-1]
    except FileNotFoundError:
        if not place.parent.is_dir():  # a disk that is not there would hide a restored copy
            raise LedgerError(f"the folder of heads {place} is not there: mount it") from None
        return []
    except (OSError, ValueError):
        raise LedgerError(f"the file of heads {place} cannot be read: check `heads`") from None
    words = [line.strip() for line in lines]
    begin = len(words) - words[::-1].index(FORGET) if FORGET in words else 0
    return [head[1] for line in words[begin:] if (head := _HEAD.fullmatch(line))]


def forget(config: Config) -> None:
    """Say among heads kept in the home that what they stand for is lost for good; not in those elsewhere."""
    if not config.heads and config.heads_file.exists():
        _add(config, FORGET)


class Witness:
    """Compares the log with what was seen and kept of it, and keeps its end, whenever it has moved."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store, self.config = store, config
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._last = ""

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look once more, and end."""
        self._stop.set()
        self._thread.join()

    def look(self) -> None:
        """Refuse a log that lacks what this process saw, or what any server kept; keep its end otherwise."""
        # Both before the transaction: what they hold was on disk by then.
        hashes, last = kept(self.config, _TAIL), self.store.memory.last
        with self.store.reading() as db:
            end = audit.follow(db, self.store.memory, last)
            missing, _ = audit.absent(db, hashes)
        if missing:
            self.store.memory.fork(_old(self.config, missing[-1]))
        if end.hash != self._last:
            _add(self.config, f"{end.position} {end.hash}")
            self._last = end.hash

    def _run(self) -> None:
        while True:
            last = self._stop.wait(_SECONDS)
            try:
                self.look()
            except ForkedError:
                pass  # it was said when it was found
            except (OSError, StoreError, LedgerError):
                log.warning("the head of the audit log could not be kept in %s", self.config.heads_file)
            if last:
                return


def _add(config: Config, line: str) -> None:
    with config.heads_file.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        cut = size and file.read(1) != b"\n"
        file.write(b"\n" * bool(cut) + f"{line}\n".encode())


def _old(config: Config, missing: str) -> str:
    return (
        f"the database is an old copy, or was rewritten: its audit log lacks the hash {missing} that "
        f"{config.heads_file} keeps. {_REMEDY}"
    )
