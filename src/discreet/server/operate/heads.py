"""Heads kept elsewhere: a server that is started on an old copy of its database notices, and refuses."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.server import audit
from discreet.server.store.database import StoreError

if TYPE_CHECKING:
    from discreet.server.config import Config
    from discreet.server.store import Store

_SECONDS = 1.0
_LOOKED_AT = 20
log = logging.getLogger("discreet.server")


def check(store: Store, config: Config) -> None:
    """Refuse a database whose audit log lacks one of the last hashes that were kept elsewhere."""
    for sealed in kept(config)[-_LOOKED_AT:]:  # several servers may write them, not quite in order
        with store.reading() as db:
            if not audit.holds(db, sealed):
                raise LedgerError(
                    f"the database is an old copy, or was rewritten: its audit log lacks the hash {sealed} "
                    f"that {config.heads} keeps. Charges may be missing; restore the newest copy"
                )


def kept(config: Config) -> list[str]:
    """Return the hashes that were kept elsewhere, oldest first."""
    if not config.heads:
        return []
    try:
        # A last line without an end was cut off by a crash while it was written.
        lines = Path(config.heads).read_text("utf-8").split("\n")[:-1]
        return [line.split()[-1] for line in lines if line.strip()]
    except FileNotFoundError:
        if not Path(config.heads).parent.is_dir():  # a disk that is not there would hide a restored copy
            raise LedgerError(f"the folder of heads {config.heads} is not there: mount it") from None
        return []
    except (OSError, ValueError):
        raise LedgerError(f"the file of heads {config.heads} cannot be read: check `heads`") from None


class Witness:
    """Adds the end of the audit log to the file of heads whenever it has moved."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store, self.config = store, config
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last = ""

    def start(self) -> None:
        """Begin to write, if there is somewhere to write to."""
        if self.config.heads:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Write once more, and end."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            last = self._stop.wait(_SECONDS)
            try:
                self._write()
            except (OSError, StoreError):
                log.warning("the head of the audit log could not be written to %s", self.config.heads)
            if last:
                return

    def _write(self) -> None:
        with self.store.reading() as db:
            end = audit.end(db)
        if end.hash != self._last:
            with Path(self.config.heads).open("a", encoding="utf-8") as file:
                file.write(f"{end.position} {end.hash}\n")
            self._last = end.hash
