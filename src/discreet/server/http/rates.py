"""How many requests each visitor makes in a minute, to all servers on one database together."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from discreet.server.store.memory import StoreError
from discreet.server.store.tables import rate

if TYPE_CHECKING:
    from discreet.server.store import Store

_SECONDS = 1.0
_MOST_VISITORS = 50_000
log = logging.getLogger("discreet.server")


class Rates:
    """Counts of requests by the minute.

    The promise: of one visitor's requests in a minute, `most` are answered by all servers together, and by
    each beyond that no more than come within the second before counts are shared. Visitors
    are known by hashes; nothing is written while a request waits.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._minute = 0
        self._new: Counter[str] = Counter()
        self._known: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def allows(self, visitor: str, most: int) -> bool:
        """Count a request, and tell whether it may be answered."""
        key = hashlib.sha256(visitor.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            self._turn()
            if self._known.get(key, 0) + self._new[key] >= most:
                return False
            if len(self._new) < _MOST_VISITORS:
                self._new[key] += 1
            return True

    def start(self) -> None:
        """Begin to share the counts."""
        self._thread.start()

    def stop(self) -> None:
        """Share them once more, and end."""
        self._stop.set()
        self._thread.join()

    def share(self) -> None:
        """Add what was counted here to the database, and take over what all servers counted."""
        with self._lock:
            self._turn()
            minute, new, self._new = self._minute, self._new, Counter()
        try:
            known = self._exchange(minute, new)
        except StoreError:
            known = None
            log.warning("requests are counted by this server alone: the database cannot be used just now")
        with self._lock:
            if self._minute != minute:
                return
            if known is None:
                self._new.update(new)
            else:
                self._known = known

    def _exchange(self, minute: int, new: Counter[str]) -> dict[str, int]:
        if new:
            with self.store.writing() as db:
                db.execute(delete(rate).where(rate.c.minute < minute))
                made = self.store.upsert(rate)
                put = made.on_conflict_do_update(
                    index_elements=["visitor", "minute"],
                    set_={"count": rate.c.count + made.excluded["count"]},
                )
                # In one order on all servers: rows are locked as they come.
                rows = [{"visitor": key, "minute": minute, "count": new[key]} for key in sorted(new)]
                db.execute(put, rows)
        with self.store.reading() as db:
            counts = db.execute(select(rate.c.visitor, rate.c.count).where(rate.c.minute == minute))
            return {str(visitor): int(count) for visitor, count in counts}

    def _turn(self) -> None:
        """Begin to count anew when the minute is over."""
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._minute, self._new, self._known = minute, Counter(), {}

    def _run(self) -> None:
        while not self._stop.wait(_SECONDS):
            if self._new or self._known:
                self.share()
