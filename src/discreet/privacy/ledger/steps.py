"""The steps that a release takes with a ledger: looked up, reserved, drawn, stored.

`Ledger` has them from here. Its owner needs `Ledger.pay` alone; the library takes one step at a time.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from discreet import check
from discreet.privacy.ledger import file, payment
from discreet.privacy.ledger.book import Book
from discreet.privacy.ledger.records import Charge

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from os import PathLike

    from discreet.privacy.events import Event
    from discreet.privacy.ledger.payment import Reserved
    from discreet.privacy.ledger.records import Entry


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
            payment.refuse_excess(name, book.dataset(name), payment.checked(events), adjacency)

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
            return book.find(name, chosen, payment.plain(request))

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
            if entry is None or not payment.is_settled(entry, payment.plain(request)):
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
            reserved = payment.reserve(ledger, name, events, adjacency, request, release_id)
            if reserved.paid is not None:
                yield reserved
                return
            # The lock is kept: while this process lives, nobody takes the reservation for an interrupted one.
            with payment.held_back() as pressed:
                yield reserved
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
            return payment.charge(book, name, events, adjacency, request, release_id)

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
            return payment.settle(book, charge, result)

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
            return payment.give_up(book, name, check.text(release_id, "release_id"), result)

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
