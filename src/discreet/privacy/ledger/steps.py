"""The steps that a release takes with a ledger: looked up, its cost reserved, drawn, stored, under one lock.

`Ledger` has them from here. Its owner needs `Ledger.pay` alone; the library takes one step at a time. Their
order, and why a kill at any point loses neither charge nor result: docs/proofs/ledger.
"""

from __future__ import annotations

import signal
import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import DiscreetError
from discreet.privacy.ledger import file
from discreet.privacy.ledger.book import Book, checked, plain
from discreet.privacy.ledger.chain import is_settled
from discreet.privacy.ledger.records import Charge, Paid, Reserved

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from os import PathLike
    from types import FrameType

    from discreet.privacy.events import Event
    from discreet.privacy.ledger.records import Entry


_ROOM = 2**15  # bytes: several times what a row, its state and its index can take
_FROM_OUTSIDE = (DiscreetError, MemoryError, OSError, ImportError, sqlite3.Error)
"""What ends a draw for reasons that are not in what was drawn: files, clusters, the machine."""


class Steps:
    """A ledger's file, and what a release asks of it; nothing here shows a result that is not paid for.

    Parameters
    ----------
    path : path
        The file. It is opened anew by each operation.
    """

    __slots__ = ("path",)

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = file.absolute(check.path(path, "the path of a ledger"))

    def may_record(self, facts: Mapping[str, object]) -> Mapping[str, object]:
        """Return what a record may say of where and when a release was made: all of it, for its owner.

        Parameters
        ----------
        facts : mapping
            What there is to say: the file's name, the day, the number of people.

        Returns
        -------
        mapping
            The part of `facts` that may be said.
        """
        return facts

    def affords(self, name: str, events: Sequence[Event], adjacency: str) -> None:
        """Refuse events that would exceed the total, and say what is left; write nothing.

        Parameters
        ----------
        name : str
            The data set.
        events : sequence of events
            The cost, from public parameters alone.
        adjacency : {"replace", "add-remove"}
            Whom the events are about.

        Raises
        ------
        BudgetError
            They would, or they are about others than the total is.
        """
        with self._reading() as book:
            book.dataset(name).refuse_excess(name, checked(events), adjacency)

    def entry(self, name: str, release_id: str | None, request: Mapping[str, object]) -> Entry | None:
        """Return the charge that such a release would not have to make again, or None.

        Parameters
        ----------
        name : str
            The data set.
        release_id : str or None
            The name of the release. If None, an interrupted one whose name nobody chose is looked for.
        request : mapping
            Everything public about what is asked, as plain JSON values.

        Returns
        -------
        Entry or None
            The charge, None if there is none.
        """
        with self._reading() as book:
            book.dataset(name)
            chosen = None if release_id is None else check.text(release_id, "release_id")
            return book.find(name, chosen, plain(request))

    def stored(self, name: str, release_id: str, request: Mapping[str, object]) -> str | None:
        """Return the stored result of the same request, or None if it has none yet.

        Parameters
        ----------
        name : str
            The data set.
        release_id : str
            The name of the release.
        request : mapping
            Everything public about what is asked, as plain JSON values.

        Returns
        -------
        str or None
            The result, a JSON text.

        Raises
        ------
        InputError
            The release id stands for a different request.
        LedgerError
            Its draw was interrupted too often. The charge stands.
        """
        with self._reading() as book:
            book.dataset(name)
            entry = book.entry(name, check.text(release_id, "release_id"))
            if entry is None or not is_settled(entry, plain(request)):
                return None
            return book.result(name, release_id)

    @contextmanager
    def paying(
        self,
        name: str,
        events: Sequence[Event],
        adjacency: str,
        request: Mapping[str, object],
        release_id: str | None = None,
    ) -> Generator[Reserved]:
        """Reserve the cost of a release, and keep the file locked while the caller draws and stores it.

        The same as `Ledger.pay`, for a caller who draws inside the block. Nothing may be shown before the
        block has ended.

        Parameters
        ----------
        name, events, adjacency, request, release_id
            As for `Ledger.pay`.

        Yields
        ------
        Reserved
            If `paid` is not None, the release has its result and nothing is drawn; else `store` is to be
            called with what was drawn.
        """
        with file.opened(self.path) as ledger:
            reserved = _reserve(ledger, name, events, adjacency, request, release_id)
            if reserved.paid is not None:
                yield reserved
                return
            # The lock is kept: while this process lives, nobody takes the reservation for an interrupted one.
            with _held_back() as pressed:
                try:
                    yield reserved
                except Exception as error:
                    if may_tell(error):
                        _fail(ledger, reserved.charge)
                    raise
        if pressed:
            raise KeyboardInterrupt(
                f"the release was finished first, and is stored as {reserved.charge.release_id}"
            )

    def charge(
        self,
        name: str,
        events: Sequence[Event],
        adjacency: str,
        request: Mapping[str, object],
        release_id: str | None = None,
    ) -> Charge:
        """Take the first step of `Ledger.pay` alone: write the cost of a release to disk, or refuse.

        Parameters
        ----------
        name, events, adjacency, request, release_id
            As for `Ledger.pay`.

        Returns
        -------
        Charge
            Proof that the release may be drawn, for `settle`.
        """
        with self._writing() as book:
            return book.charge(name, events, adjacency, request, release_id)

    def settle(self, charge: Charge, result: str) -> str:
        """Take the last step of `Ledger.pay` alone: store the result, once and for all.

        Parameters
        ----------
        charge : Charge
            What `charge` returned.
        result : str
            A JSON text.

        Returns
        -------
        str
            The hash of the last row, after it.
        """
        check.made(charge, Charge, "charge must be what Ledger.charge returned")
        with self._writing() as book:
            return book.settle(charge, result)

    def give_up(self, name: str, release_id: str, result: str) -> str:
        """Store `result`, made of public things alone, for a release whose draw was interrupted.

        The charge stands, and the release is never drawn again. What was stored before is not replaced.

        Parameters
        ----------
        name : str
            The data set.
        release_id : str
            A release that was charged.
        result : str
            A JSON text.

        Returns
        -------
        str
            What the ledger holds now.
        """
        with self._writing() as book:
            book.dataset(name)
            return book.give_up(name, check.text(release_id, "release_id"), result)

    @contextmanager
    def _reading(self) -> Generator[Book]:
        """Open the ledger to look at it; one of layout 1 is upgraded in memory only."""
        with file.opened(self.path) as ledger, ledger.transaction("DEFERRED") as db:
            if file.version(db) == file.VERSION:
                yield Book.read(db)
                return
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
                db.backup(copy)
                yield Book.read(copy)

    @contextmanager
    def _writing(self, *, create: bool = False) -> Generator[Book]:
        """Open the ledger for one transaction that writes."""
        with (
            file.opened(self.path, create=create) as ledger,
            ledger.transaction("IMMEDIATE", create=create) as db,
        ):
            yield Book.read(db)


def may_tell(error: BaseException) -> bool:
    """Tell whether an error that ended a draw may depend on what was drawn.

    Drawn once more, it might not come: what is seen of the charge would be chosen among several draws. So
    such a release is settled without a result.
    """
    return isinstance(error, Exception) and not isinstance(error, _FROM_OUTSIDE)


def _fail(ledger: file.Open, reserved: Charge) -> None:
    """Settle a release whose draw ended in an error, unless it has its result."""
    with suppress(DiscreetError, sqlite3.Error), ledger.transaction("IMMEDIATE") as db:
        Book.read(db).settle(reserved, "null", failed=True)


def _reserve(
    ledger: file.Open,
    name: str,
    events: Sequence[Event],
    adjacency: str,
    request: Mapping[str, object],
    release_id: str | None,
) -> Reserved:
    """Write the cost of a release to disk and keep the lock; or find its result, if it has one.

    A release that was interrupted keeps the charge it has.
    """
    request = plain(request)
    if release_id is not None:
        check.printable(release_id, "release_id")
    with ledger.transaction("IMMEDIATE", keep=True) as db:
        Book.read(db).dataset(name)
        db.execute("INSERT OR IGNORE INTO room VALUES (1, randomblob(?)), (2, randomblob(?))", (_ROOM, _ROOM))
    with ledger.transaction("IMMEDIATE") as db:
        book = Book.read(db)
        entry = book.find(name, release_id, request)
        paid = None
        if entry is None:
            reserved = book.charge(name, events, adjacency, request, release_id)
        elif is_settled(entry, request):
            reserved = Charge(name, entry.release_id, entry.position, entry.hash)
            paid = Paid(book.result(name, entry.release_id), entry.settled, fresh=False)
        else:
            reserved = book.again(name, entry, checked(events))
        if paid is None:
            # Both parts are written anew, so that the journal has more room than giving up one of them takes.
            db.execute("UPDATE room SET space = randomblob(?)", (_ROOM,))
        return Reserved(reserved, book.dataset(name), partial(_store, ledger, reserved), paid)


def _store(ledger: file.Open, reserved: Charge, result: str) -> Paid:
    """Store the result; where it does not fit, its hash alone, for which there is room."""
    try:
        with ledger.transaction("IMMEDIATE") as db:
            return Paid(result, Book.read(db).settle(reserved, result), fresh=True)
    except sqlite3.Error:
        # The charge is on disk, so the result may be shown; but then it must never be drawn again.
        with ledger.transaction("IMMEDIATE") as db:
            return Paid(result, Book.read(db).settle(reserved, result, kept=False), fresh=True, kept=False)


@contextmanager
def _held_back() -> Generator[list[int]]:
    """Hold Ctrl-C back while a release is drawn and stored; a second one passes.

    Yields a list that is empty until it is pressed. Without a handler of Python's, nothing is held.
    """
    held: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield held
        return

    def hold(number: int, frame: FrameType | None) -> None:
        if held:
            handler(number, frame)
        held.append(number)

    signal.signal(signal.SIGINT, hold)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, handler)
