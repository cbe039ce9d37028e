"""The ledger itself: create, pay for a release, read, and verify."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import InputError, LedgerError
from discreet.privacy.ledger import chain, file, payment
from discreet.privacy.ledger.book import Book
from discreet.privacy.ledger.chain import DataSet, replay
from discreet.privacy.ledger.payment import check_name
from discreet.privacy.ledger.records import Budget, Charge, Entry, Paid, Verdict
from discreet.privacy.ledger.verify import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from os import PathLike

    from discreet.privacy.events import Event
    from discreet.privacy.ledger.payment import Reserved


_MOST_MORE = 100


class Ledger:
    """One SQLite file that holds data sets, their totals, and every charge against them.

    The promise: whatever processes share the file, and wherever they are killed, the charges of a data set
    never exceed its total, no result is shown whose charge is not on disk, and none that was paid for is
    lost: it is stored with its charge, or the same request again completes it for nothing.

    Parameters
    ----------
    path : path
        The file. It is opened anew by each operation; only `create` can bring it into being. It must have one
        name: a second hard link, or a file mounted by itself, is refused.

    Notes
    -----
    `pay` reserves the cost on disk, draws, stores the result, all under one lock, and only then returns. A
    charge whose draw was interrupted counts as spent. Charges compose by `discreet.privacy.filter`, which is
    valid although each release is chosen after seeing the ones before. The hash chain detects edits by those
    who do not rewrite all of it; see `verify`. A name stands for one table of people: the same people under a
    second name get a second budget, and nothing here can notice. Proof: docs/proofs/ledger.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from discreet.privacy.events import ZCDP
    >>> from discreet.privacy.ledger import Ledger
    >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.ledger")
    >>> _ = ledger.create("cohort", epsilon=1.0, delta=1e-6)
    >>> draw = lambda charge, budget: '{"discoveries": []}'
    >>> paid = ledger.pay("cohort", [ZCDP(0.005)], "replace", {"q": 0.1}, draw, "first")
    >>> ledger.stored("cohort", "first", {"q": 0.1}) == paid.result
    True
    """

    __slots__ = ("path",)

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = file.absolute(check.path(path, "the path of a ledger"))

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def create(
        self, name: str, *, epsilon: float, delta: float, adjacency: str = "replace", aside: float = 0.0
    ) -> Budget:
        """Add a data set with its total, for good; make the file if it is not there.

        Parameters
        ----------
        name : str
            Printable, at most 200 characters, not yet in the ledger.
        epsilon, delta : float
            The total: all releases together will be (epsilon, delta)-DP.
        adjacency : {"replace", "add-remove"}
            Which two tables are neighbours: whom the promise is about. Releases about others are refused.
        aside : float, optional
            The part of delta kept for approximate events (method "oneshot"); the rest is for all others.
        """
        check_name(name, "name")
        total = {"epsilon": epsilon, "delta": delta, "aside": aside, "neighbours": adjacency}
        made = DataSet.create(total)
        with self._writing(create=True) as book:
            if name in book.names():
                raise InputError(f"the ledger already has a data set {name!r}, and totals are final")
            book.append("create", name, made.total, made)
        return made.budget(name)

    def budgets(self) -> tuple[str, ...]:
        """Return the names of all data sets, oldest first."""
        with self._reading() as book:
            return book.names()

    def budget(self, name: str) -> Budget:
        """Return a data set's total and what is spent of it."""
        return self._dataset(name).budget(name)

    def history(self, name: str) -> tuple[Entry, ...]:
        """Return every charge of a data set, oldest first."""
        with self._reading() as book:
            book.dataset(name)
            rows = [row for row in chain.rows_of(book.db) if row.dataset == name]
        return tuple(replay(rows)[name].entries.values())

    def more(self, name: str) -> int | None:
        """Return how many more releases that cost as much as the last one there is room for, at most 100.

        None if there was none yet.
        """
        entries = self.history(name)
        if not entries:
            return None
        dataset, last = self._dataset(name), entries[-1].events
        sums = [dataset.sums]
        for _ in range(_MOST_MORE):
            sums.append(sums[-1].plus(last))
        return bisect_left(sums, True, lo=1, key=lambda after: not dataset.filter.admits(after)) - 1

    def may_record(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a record may say of where and when a release was made: all of it, for its owner."""
        return facts

    def head(self) -> str:
        """Return the hash of the last row; kept elsewhere, it lets `verify` notice a rewritten ledger."""
        with self._reading() as book:
            return book.head.hash

    def affords(self, name: str, events: Sequence[Event], adjacency: str) -> None:
        """Raise `BudgetError`, with what is left, if these events would exceed the total; write nothing."""
        with self._reading() as book:
            payment.refuse_excess(name, book.dataset(name), payment.checked(events), adjacency)

    def entry(self, name: str, release_id: str | None, request: Mapping[str, Any]) -> Entry | None:
        """Return the charge that such a release would not have to make again, or None.

        Without a release id, that is an interrupted one for the same request whose id nobody chose.
        """
        with self._reading() as book:
            book.dataset(name)
            return book.find(name, release_id, request)

    def stored(self, name: str, release_id: str, request: Mapping[str, Any]) -> str | None:
        """Return the stored result of the same request, or None if it has none yet.

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
            if entry is None or not payment.is_settled(entry, request):
                return None
            return book.result(name, release_id)

    def result(self, name: str, release_id: str) -> Paid:
        """Return the stored result of a release, whatever was asked."""
        with self._reading() as book:
            book.dataset(name)
            entry = book.entry(name, check.text(release_id, "release_id"))
            if entry is None:
                raise InputError(f"{name!r} has no release {release_id!r}: see `discreet budget history`")
            if entry.state != "released":
                raise LedgerError(
                    f"release {release_id!r} has no result: it is being drawn, or was interrupted. The same "
                    "request under the same release_id completes it, and spends nothing more"
                )
            return Paid(book.result(name, release_id), entry.settled, fresh=False)

    def pay(
        self,
        name: str,
        events: Sequence[Event],
        adjacency: str,
        request: Mapping[str, Any],
        draw: Callable[[Charge, DataSet], str],
        release_id: str | None = None,
    ) -> Paid:
        """Reserve the cost of a release on disk, draw it, store it; nothing may be shown before this returns.

        The file is locked from the first step to the last. What would exceed the total is refused before
        anything is drawn. If the same request under the same id has its result, that is returned and nothing
        is drawn; if its draw was interrupted, it is drawn now, and nothing more is spent.

        Parameters
        ----------
        name : str
            The data set.
        events : sequence of events
            The cost, from public parameters alone.
        adjacency : {"replace", "add-remove"}
            Whom the events are about.
        request : mapping
            Everything public about what is asked, as plain JSON values.
        draw : callable
            Given the charge and the data set's state after it, returns the result, a JSON text.
        release_id : str, optional
            A name for the release, once and for all; invented when absent.
        """
        with self.paying(name, events, adjacency, request, release_id) as reserved:
            return reserved.paid or reserved.store(draw(reserved.charge, reserved.state))

    @contextmanager
    def paying(
        self,
        name: str,
        events: Sequence[Event],
        adjacency: str,
        request: Mapping[str, Any],
        release_id: str | None = None,
    ) -> Generator[Reserved]:
        """Reserve the cost of a release, and keep the file locked while the caller draws and stores it.

        The same as `pay`, for a caller who draws inside the block: if `paid` is not None, it has its result
        and nothing is drawn; else `store` is to be called with what was drawn. Nothing may be shown before
        the block has ended.
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
        request: Mapping[str, Any],
        release_id: str | None = None,
    ) -> Charge:
        """Take the first step of `pay` alone: write the cost of a release to disk, or refuse."""
        with self._writing() as book:
            return payment.charge(book, name, events, adjacency, request, release_id)

    def settle(self, charge: Charge, result: str) -> str:
        """Take the last step of `pay` alone: store the result, once and for all; return the hash after it."""
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

    def verify(self, head: str | None = None) -> Verdict:
        """Check the whole file: the chain, the results, the totals; with `head`, that it holds this hash too.

        Detected: any row edited, removed, inserted or moved, a changed result, rows cut from the end, damage.
        Not detected: a file rewritten from some row on with all later hashes and the head record recomputed,
        or put back from an old copy. For that give `head`, a hash from after that row, printed earlier or
        carried by a release: the ledger no longer contains it.
        """
        if head is not None:
            check.text(head, "head")
        try:
            with file.opened(self.path) as ledger, ledger.transaction("DEFERRED") as db:
                return verdict(db, head)
        except LedgerError as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.DatabaseError) and file.is_damage(cause):
                return Verdict(0, "", (file.reason(cause),))
            raise

    def _dataset(self, name: str) -> DataSet:
        with self._reading() as book:
            return book.dataset(name)

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
