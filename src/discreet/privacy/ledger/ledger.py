"""The ledger itself: create, charge, settle; read, and verify."""

from __future__ import annotations

import json
import sqlite3
import uuid
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import BudgetError, InputError, LedgerError
from discreet.privacy import events as event_kinds
from discreet.privacy.filter import Filter, has_zcdp, is_gaussian
from discreet.privacy.ledger import chain, file, inspect
from discreet.privacy.ledger.book import Book, DataSet
from discreet.privacy.ledger.records import Budget, Charge, Entry, Verdict
from discreet.privacy.promise import NEIGHBOURS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from discreet.privacy.events import Event

_LONGEST = 200


class Ledger:
    """One SQLite file that holds data sets, their totals, and every charge against them.

    The promise: whatever processes share the file, and wherever they are killed, the charges of a data set
    never exceed its total, and no release is made whose charge is not on disk.

    Parameters
    ----------
    path : path
        The file. It is opened anew by each operation; only `create` can bring it into being.

    Notes
    -----
    The order is `charge`, draw noise, `settle`. A charge without a result counts as spent. Charges compose by
    `discreet.privacy.filter`, which is valid although each release is chosen after seeing the ones before.
    The hash chain detects edits by those who do not rewrite all of it; see `verify`. A name stands for one
    table of people: the same people under a second name get a second budget, and nothing here can notice.
    Proof: docs/proofs/ledger.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from discreet.privacy.events import ZCDP
    >>> from discreet.privacy.ledger import Ledger
    >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.ledger")
    >>> _ = ledger.create("cohort", epsilon=1.0, delta=1e-6)
    >>> charge = ledger.charge("cohort", [ZCDP(0.005)], "replace", {"q": 0.1}, "first")
    >>> ledger.settle(charge, '{"discoveries": []}')
    >>> ledger.stored("cohort", "first", {"q": 0.1})
    '{"discoveries": []}'
    """

    __slots__ = ("path",)

    def __init__(self, path: str | PathLike[str]) -> None:
        # Absolute, so that a change of folder does not change the ledger.
        # A null character is refused: SQLite would end the name there, and take another file.
        self.path = check.path(path, "the path of a ledger").absolute()

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def create(
        self, name: str, *, epsilon: float, delta: float, neighbours: str = "replace", aside: float = 0.0
    ) -> Budget:
        """Add a data set with its total, for good; make the file if it is not there.

        Parameters
        ----------
        name : str
            Printable, at most 200 characters, not yet in the ledger.
        epsilon, delta : float
            The total: all releases together will be (epsilon, delta)-DP.
        neighbours : {"replace", "add-remove"}
            Whom the promise is about; releases about other neighbours are refused.
        aside : float, optional
            The part of delta kept for approximate events (method "oneshot"); the rest is for all others.
        """
        check_name(name, "name")
        total = Filter(epsilon, delta, aside)
        check.choice(neighbours, "neighbours", tuple(NEIGHBOURS))
        with file.transaction(self.path, "IMMEDIATE", create=True) as db:
            book = Book.read(db)
            if name in book.datasets:
                raise InputError(f"the ledger already has a data set {name!r}, and totals are final")
            book.append(
                "create",
                name,
                {
                    "epsilon": total.epsilon,
                    "delta": total.delta,
                    "aside": total.aside,
                    "neighbours": neighbours,
                },
            )
        return _budget(name, DataSet(total, neighbours))

    def budgets(self) -> tuple[str, ...]:
        """Return the names of all data sets, oldest first."""
        with file.transaction(self.path, "DEFERRED") as db:
            return tuple(Book.read(db).datasets)

    def budget(self, name: str) -> Budget:
        """Return a data set's total and what is spent of it."""
        return _budget(name, self._dataset(name))

    def history(self, name: str) -> tuple[Entry, ...]:
        """Return every charge of a data set, oldest first."""
        return tuple(self._dataset(name).entries.values())

    def head(self) -> str:
        """Return the hash of the last row; kept elsewhere, it lets `verify` notice a rewritten ledger."""
        with file.transaction(self.path, "DEFERRED") as db:
            return Book.read(db).head.hash

    def affords(self, name: str, events: Sequence[Event], neighbours: str) -> None:
        """Raise `BudgetError`, with what is left, if these events would exceed the total; write nothing."""
        _refuse_excess(name, self._dataset(name), _checked(events), neighbours)

    def stored(self, name: str, release_id: str, request: Mapping[str, Any]) -> str | None:
        """Return the stored result of the same request, or None if the release id is new.

        Raises
        ------
        InputError
            The release id stands for a different request.
        LedgerError
            It was charged and has no result: still running elsewhere, or interrupted. The charge stands.
        """
        with file.transaction(self.path, "DEFERRED") as db:
            dataset = Book.read(db).dataset(name)
            entry = dataset.entries.get(check.text(release_id, "release_id"))
            if entry is None:
                return None
            if chain.canonical(_plain(request)) != chain.canonical(entry.request):
                raise InputError(
                    f"release_id {release_id!r} stands for a request with other parameters; choose a new one"
                )
            if entry.state != "released":
                raise LedgerError(
                    f"release_id {release_id!r} was charged and has no result: it is still running, or was "
                    "interrupted. Its charge counts as spent; to release again, choose a new release_id"
                )
            position, digest = dataset.settled[release_id]
            return inspect.result(db, position, digest)

    def charge(
        self,
        name: str,
        events: Sequence[Event],
        neighbours: str,
        request: Mapping[str, Any],
        release_id: str | None = None,
    ) -> Charge:
        """Write the cost of a release to disk, or refuse; draw no noise before this returns.

        One transaction that locks the file first, reads all charges of the data set, refuses if these events
        would exceed its total, and writes. `request` holds the public parameters, as plain JSON values. What
        is drawn for this charge must not depend on outputs of later ones.
        """
        release_id = uuid.uuid4().hex if release_id is None else release_id
        check_name(release_id, "release_id")
        events = _checked(events)
        content = {
            "release_id": release_id,
            "request": json.loads(chain.canonical(_plain(request))),
            "events": [event_kinds.to_dict(event) for event in events],
        }
        with file.transaction(self.path, "IMMEDIATE") as db:
            book = Book.read(db)
            dataset = book.dataset(name)
            if release_id in dataset.entries:
                raise InputError(f"release_id {release_id!r} was already charged; choose a new one")
            _refuse_excess(name, dataset, events, neighbours)
            row = book.append("charge", name, content)
        return Charge(name, release_id, row.position, row.hash)

    def settle(self, charge: Charge, result: str) -> None:
        """Store the result of a charged release, a JSON text, once and for all."""
        check.made(charge, Charge, "charge must be what Ledger.charge returned")
        try:
            json.loads(result.encode())
        except (AttributeError, ValueError):
            raise InputError("result must be a JSON text") from None
        with file.transaction(self.path, "IMMEDIATE") as db:
            book = Book.read(db)
            entry = book.dataset(charge.name).entries.get(charge.release_id)
            if entry is None or entry.hash != charge.hash:
                raise InputError(f"release_id {charge.release_id!r} was not charged to this ledger")
            if entry.state == "released":
                raise InputError(f"release_id {charge.release_id!r} has its result, and results are final")
            content = {"release_id": charge.release_id, "sha256": chain.sha256(result)}
            row = book.append("settle", charge.name, content)
            db.execute("INSERT INTO result VALUES (?, ?)", (row.position, result))

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
            with file.transaction(self.path, "DEFERRED") as db:
                return inspect.verdict(db, head)
        except LedgerError as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.DatabaseError) and file.is_damage(cause):
                return Verdict(0, "", (file.reason(cause),))
            raise

    def _dataset(self, name: str) -> DataSet:
        with file.transaction(self.path, "DEFERRED") as db:
            return Book.read(db).dataset(name)


def _budget(name: str, dataset: DataSet) -> Budget:
    total, charges = dataset.filter, dataset.charges
    unfinished = sum(entry.state == "charged" for entry in dataset.entries.values())
    return Budget(
        name,
        total.epsilon,
        total.delta,
        dataset.neighbours,
        total.aside,
        total.spent(charges),
        total.left(charges),
        len(charges),
        unfinished,
    )


def _refuse_excess(name: str, dataset: DataSet, events: Sequence[Event], neighbours: str) -> None:
    if check.choice(neighbours, "neighbours", tuple(NEIGHBOURS)) != dataset.neighbours:
        raise BudgetError(
            f"the budget of {name!r} is about neighbours {dataset.neighbours!r}, this release about "
            f"{neighbours!r}: costs for different neighbours do not add up to one promise. Use a test for "
            f"{dataset.neighbours!r}"
        )
    if dataset.filter.admits([*dataset.charges, tuple(events)]):
        return
    slips = [event for event in events if isinstance(event, event_kinds.Approximate) and event.delta]
    hint = (
        " Its cost is approximate, which needs a part of delta set aside when the data set is created."
        if slips and not dataset.filter.aside
        else ""
    )
    if has_zcdp(events) and is_gaussian(dataset.charges):
        hint = " It is zero-concentrated, and the first release made this budget a sum of Gaussian ones."
    budget = _budget(name, dataset)
    raise BudgetError(
        f"this release would exceed the budget of {name!r}; nothing was spent on it. {budget.meter} "
        f"{budget.room}{hint}"
    )


def _checked(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events of one release; none at all is a mistake, not a release for free."""
    found = tuple(check.entries(events, "events"))
    if not found or not all(isinstance(event, event_kinds.Event) for event in found):
        raise InputError("events must hold privacy events, at least one")
    return found


def _plain(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request that JSON can hold."""
    message = "request must be a mapping of public parameters that JSON can hold"
    found = check.attempt(lambda: dict(request), message)
    check.attempt(lambda: chain.canonical(found), message)
    return found


def check_name(value: Any, name: str) -> None:
    """Refuse a name that is not short, printable text."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST or not value.isprintable():
        raise InputError(f"{name} must be printable text of 1 to {_LONGEST} characters")
