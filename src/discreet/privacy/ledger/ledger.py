"""The ledger itself: create, pay for a release, read, and verify."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from typing import TYPE_CHECKING, TypeAlias

from discreet import check
from discreet.errors import InputError, LedgerError
from discreet.privacy.ledger import chain, file
from discreet.privacy.ledger.chain import DataSet, replay
from discreet.privacy.ledger.records import Paid, Verdict
from discreet.privacy.ledger.steps import Steps
from discreet.privacy.ledger.verify import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from discreet.privacy.events import Event
    from discreet.privacy.ledger.records import Budget, Charge, Entry

LedgerLike: TypeAlias = "Ledger | str | PathLike[str]"
"""A ledger, or the path of its file."""
_MOST_MORE = 100


class Ledger(Steps):
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
    >>> import pathlib, tempfile, discreet
    >>> ledger = discreet.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.ledger")
    >>> _ = ledger.create("cohort", epsilon=1.0, delta=1e-6)
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> asked = {"q": 0.1, "epsilon": 0.5, "delta": 1e-6, "ledger": ledger, "dataset": "cohort"}
    >>> found = discreet.release(evidence, **asked)
    >>> ledger.budgets(), ledger.budget("cohort").releases, ledger.verify(found.budget.head).good
    (('cohort',), 1, True)

    What is drawn elsewhere is charged by its events:

    >>> def draw(charge, state):
    ...     return '{"mean": 4.2}'
    >>> paid = ledger.pay("cohort", [discreet.Gaussian(0.05)], "replace", {"mean": "age"}, draw, "age")
    >>> ledger.result("cohort", "age").result == paid.result
    True
    """

    __slots__ = ()

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

        Returns
        -------
        Budget
            The total, of which nothing is spent.

        Raises
        ------
        InputError
            The ledger has a data set of this name.
        """
        check.printable(name, "name")
        total = {"epsilon": epsilon, "delta": delta, "aside": aside, "neighbours": adjacency}
        made = DataSet.create(total)
        with self._writing(create=True) as book:
            if name in book.names():
                raise InputError(f"the ledger already has a data set {name!r}, and totals are final")
            book.append("create", name, made.total, made)
        return made.budget(name)

    def budgets(self) -> tuple[str, ...]:
        """Return the names of all data sets, oldest first.

        Returns
        -------
        tuple of str
            The names.
        """
        with self._reading() as book:
            return book.names()

    def budget(self, name: str) -> Budget:
        """Return a data set's total and what is spent of it.

        Parameters
        ----------
        name : str
            The data set.

        Returns
        -------
        Budget
            Both, and what one more release may cost; in words when printed.
        """
        return self._dataset(name).budget(name)

    def history(self, name: str) -> tuple[Entry, ...]:
        """Return every charge of a data set, oldest first.

        Parameters
        ----------
        name : str
            The data set.

        Returns
        -------
        tuple of Entry
            For each release what was asked, its events, when, by whom, and whether its result is stored.
        """
        with self._reading() as book:
            book.dataset(name)
            rows = [row for row in chain.rows_of(book.db) if row.dataset == name]
        return tuple(replay(rows)[name].entries.values())

    def more(self, name: str) -> int | None:
        """Return how many more releases that cost as much as the last one there is room for, at most 100.

        Parameters
        ----------
        name : str
            The data set.

        Returns
        -------
        int or None
            Their number; None if there was no release yet.
        """
        entries = self.history(name)
        if not entries:
            return None
        dataset, last = self._dataset(name), entries[-1].events
        sums = [dataset.sums]
        for _ in range(_MOST_MORE):
            sums.append(sums[-1].plus(last))
        return bisect_left(sums, True, lo=1, key=lambda after: not dataset.filter.admits(after)) - 1

    def head(self) -> str:
        """Return the hash of the last row; kept elsewhere, it lets `verify` notice a rewritten ledger.

        Returns
        -------
        str
            64 hexadecimal digits.
        """
        with self._reading() as book:
            return book.head.hash

    def result(self, name: str, release_id: str) -> Paid:
        """Return the stored result of a release, whatever was asked; `discreet.stored` reads it, too.

        Parameters
        ----------
        name : str
            The data set.
        release_id : str
            The name of the release, as `history` has it.

        Returns
        -------
        Paid
            The result, a JSON text, and the hash that seals it.

        Raises
        ------
        InputError
            There is no such release.
        LedgerError
            It has no result: it is being drawn, or was interrupted.
        """
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
        request: Mapping[str, object],
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

        Returns
        -------
        Paid
            The result, which may be shown now, and the hash that seals it.

        Raises
        ------
        BudgetError
            The cost exceeds what is left, or is about others than the total is. Nothing was spent.
        InputError
            The release id stands for a different request.
        LedgerError
            The file cannot be trusted or written, or the draw was interrupted too often.
        """
        with self.paying(name, events, adjacency, request, release_id) as reserved:
            return reserved.paid or reserved.store(draw(reserved.charge, reserved.state))

    def verify(self, head: str | None = None) -> Verdict:
        """Check the whole file: the chain, the results, the totals; with `head`, that it holds this hash too.

        Detected: any row edited, removed, inserted or moved, a changed result, rows cut from the end, damage.
        Not detected: a file rewritten from some row on with all later hashes and the head record recomputed,
        or put back from an old copy. For that give `head`, a hash from after that row, printed earlier or
        carried by a release: the ledger no longer contains it.

        Parameters
        ----------
        head : str, optional
            A hash that the ledger is to hold: of `head`, of `Paid.hash`, or of `Release.budget.head`.

        Returns
        -------
        Verdict
            Whether all is `good`, and every fault in words.
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
