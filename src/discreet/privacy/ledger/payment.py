"""One release, paid for: its cost reserved, its result drawn and stored, under one lock.

The order, and why a kill at any point loses neither charge nor result: docs/proofs/ledger.
"""

from __future__ import annotations

import getpass
import json
import signal
import sqlite3
import threading
import uuid
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.alternative import in_todays_words
from discreet.errors import BudgetError, InputError, LedgerError
from discreet.privacy import events as event_kinds
from discreet.privacy.events import NEIGHBOURS
from discreet.privacy.filter import has_zcdp
from discreet.privacy.ledger import chain, file
from discreet.privacy.ledger.book import Book
from discreet.privacy.ledger.chain import entry_of
from discreet.privacy.ledger.records import Charge, Entry, Paid

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from types import FrameType

    from discreet.privacy.events import Event
    from discreet.privacy.ledger.chain import DataSet

MOST_DRAWS = 8
"""Draws that one charge pays for, all but the last one interrupted, and so not shown to anybody."""

_OPTIONS = ("guarantee", "dependence", "cutoffs")
_LONGEST = 200
_ROOM = 2**15  # bytes: several times what a row, its state and its index can take


@dataclass(frozen=True, slots=True)
class Reserved:
    """A release that may be drawn, its cost being on disk, or one that has its result, `paid`.

    `state` is that of its data set after the charge; `store` takes what was drawn, a JSON text.
    """

    charge: Charge
    state: DataSet
    store: Callable[[str], Paid]
    paid: Paid | None = None


def reserve(
    ledger: file.Open,
    name: str,
    events: Sequence[Event],
    adjacency: str,
    request: Mapping[str, Any],
    release_id: str | None,
) -> Reserved:
    """Write the cost of a release to disk and keep the lock; or find its result, if it has one.

    A release that was interrupted keeps the charge it has.
    """
    request = plain(request)
    if release_id is not None:
        check_name(release_id, "release_id")
    with ledger.transaction("IMMEDIATE", keep=True) as db:
        Book.read(db).dataset(name)
        db.execute("INSERT OR IGNORE INTO room VALUES (1, randomblob(?)), (2, randomblob(?))", (_ROOM, _ROOM))
    with ledger.transaction("IMMEDIATE") as db:
        book = Book.read(db)
        entry = book.find(name, release_id, request)
        paid = None
        if entry is None:
            reserved = charge(book, name, events, adjacency, request, release_id)
        elif is_settled(entry, request):
            reserved = Charge(name, entry.release_id, entry.position, entry.hash)
            paid = Paid(book.result(name, entry.release_id), entry.settled, fresh=False)
        else:
            reserved = _again(book, name, entry, checked(events))
        if paid is None:
            # Both parts are written anew, so that the journal has more room than giving up one of them takes.
            db.execute("UPDATE room SET space = randomblob(?)", (_ROOM,))
        return Reserved(reserved, book.dataset(name), partial(store, ledger, reserved), paid)


def charge(
    book: Book,
    name: str,
    events: Sequence[Event],
    adjacency: str,
    request: Mapping[str, Any],
    release_id: str | None,
) -> Charge:
    """Write the cost of a new release, or refuse."""
    chosen = uuid.uuid4().hex if release_id is None else release_id
    check_name(chosen, "release_id")
    events = checked(events)
    content: dict[str, Any] = {
        "release_id": chosen,
        "request": json.loads(chain.canonical(plain(request))),
        "events": [event_kinds.to_dict(event) for event in events],
        "by": _user(),
    }
    if release_id is None:
        content["automatic"] = True
    dataset = book.dataset(name)
    if book.entry(name, chosen) is not None:
        raise InputError(f"release_id {chosen!r} was already charged; choose a new one")
    refuse_excess(name, dataset, events, adjacency)
    row = book.append("charge", name, content, dataset.charged(events))
    book.note(name, entry_of(row, content))
    return Charge(name, chosen, row.position, row.hash)


def _user() -> str:
    """Return who asks, as the system calls them; empty where it does not say."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
    return "".join(letter for letter in name if letter.isprintable())[:_LONGEST]


def settle(book: Book, reserved: Charge, result: str, *, kept: bool = True) -> str:
    """Write the hash of a result and, if `kept`, the result; return the hash of the chain after it."""
    try:
        json.loads(result.encode())
    except (AttributeError, ValueError):
        raise InputError("result must be a JSON text") from None
    dataset, release_id = book.dataset(reserved.name), reserved.release_id
    entry = book.entry(reserved.name, release_id)
    if entry is None or entry.hash != reserved.hash:
        raise InputError(f"release_id {release_id!r} was not charged to this ledger")
    if entry.state == "released":
        raise InputError(f"release_id {release_id!r} has its result, and results are final")
    content: dict[str, Any] = {"release_id": release_id, "sha256": chain.sha256(result)}
    if not kept:
        content["kept"] = False
    if not kept:
        book.db.execute("DELETE FROM room WHERE part = 1")
    row = book.append("settle", reserved.name, content, dataset.released())
    book.note(reserved.name, entry, row.position)
    if kept:
        book.db.execute("INSERT INTO result VALUES (?, ?)", (row.position, result))
    return row.hash


def store(ledger: file.Open, reserved: Charge, result: str) -> Paid:
    """Store the result; where it does not fit, its hash alone, for which there is room."""
    try:
        with ledger.transaction("IMMEDIATE") as db:
            return Paid(result, settle(Book.read(db), reserved, result), fresh=True)
    except sqlite3.Error:
        # The charge is on disk, so the result may be shown; but then it must never be drawn again.
        with ledger.transaction("IMMEDIATE") as db:
            return Paid(result, settle(Book.read(db), reserved, result, kept=False), fresh=True, kept=False)


def give_up(book: Book, name: str, release_id: str, result: str) -> str:
    """Store a result in place of one whose draw was interrupted; return what is stored, older results first.

    While a draw runs the file is locked: whoever has the lock knows that nobody draws. `result` must be made
    of public things alone.
    """
    entry = book.entry(name, release_id)
    if entry is None:
        raise InputError(f"release_id {release_id!r} was not charged to this ledger")
    if entry.state == "released":
        return book.result(name, release_id)
    settle(book, Charge(name, release_id, entry.position, entry.hash), result)
    return result


def is_exhausted(entry: Entry) -> bool:
    """Tell whether a charge was interrupted so often that it pays for no further draw."""
    return entry.state != "released" and entry.interrupted + 1 >= MOST_DRAWS


def is_settled(entry: Entry, request: Mapping[str, Any]) -> bool:
    """Tell whether a charge has its result; refuse another request, and one interrupted too often."""
    differs = sorted(name for name in {*request, *entry.request} if _differs(name, request, entry.request))
    if differs:
        raise InputError(
            f"release_id {entry.release_id!r} stands for a request with other parameters "
            f"({', '.join(differs)}); choose a new one"
        )
    if is_exhausted(entry):
        raise LedgerError(
            f"release_id {entry.release_id!r} was interrupted {MOST_DRAWS} times while it was drawn. Its "
            "charge counts as spent; to release again, choose a new release_id"
        )
    return entry.state == "released"


def refuse_excess(name: str, dataset: DataSet, events: Sequence[Event], adjacency: str) -> None:
    """Refuse events that the total does not allow, or that are about other neighbours."""
    if check.choice(adjacency, "adjacency", tuple(NEIGHBOURS)) != dataset.adjacency:
        raise BudgetError(
            f"the budget of {name!r} is about adjacency {dataset.adjacency!r}, this release about "
            f"{adjacency!r}: costs for different neighbours do not add up to one promise. Use a test for "
            f"{dataset.adjacency!r}"
        )
    if dataset.filter.admits(dataset.sums.plus(events)):
        return
    slips = [event for event in events if isinstance(event, event_kinds.Approximate) and event.delta]
    hint = (
        " Its cost is approximate, which needs a part of delta set aside when the data set is created."
        if slips and not dataset.filter.aside
        else ""
    )
    if has_zcdp(events) and dataset.sums.gaussian:
        hint = " It is zero-concentrated, and the first release made this budget a sum of Gaussian ones."
    budget = dataset.budget(name)
    raise BudgetError(
        f"this release would exceed the budget of {name!r}; nothing was spent on it. {budget.meter} "
        f"{budget.room}{hint}"
    )


def checked(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events of one release; none at all is a mistake, not a release for free."""
    listed: tuple[Any, ...] = tuple(check.entries(events, "events"))
    if not listed or not all(isinstance(event, event_kinds.Event) for event in listed):
        raise InputError("events must hold privacy events, at least one")
    return listed


def plain(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request that JSON can hold."""
    message = "request must be a mapping of public parameters that JSON can hold"
    parameters = check.attempt(lambda: dict(request), message)
    check.attempt(lambda: chain.canonical(parameters), message)
    return parameters


def check_name(value: Any, name: str) -> None:
    """Refuse a name that is not short, printable text."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST or not value.isprintable():
        raise InputError(f"{name} must be printable text of 1 to {_LONGEST} characters")


def _differs(name: str, asked: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Tell whether two requests differ in one parameter; of the data only what both say is compared.

    A file that is gone has no columns any more, and earlier versions said nothing about the data.
    """
    now, then = asked.get(name), before.get(name)
    if name == "test" and isinstance(then, Mapping):  # earlier versions wrote `sides`
        then = in_todays_words(cast("Mapping[str, Any]", then))
    if name in _OPTIONS and now is None:  # of no effect; earlier versions wrote its default down
        return False
    if name == "data":
        both = sorted({*(now or ())} & {*(then or ())})
        now, then = ([(request or {})[key] for key in both] for request in (now, then))
    return chain.canonical(now) != chain.canonical(then)


def _again(book: Book, name: str, entry: Entry, events: tuple[Event, ...]) -> Charge:
    """Write down that an interrupted release is drawn once more, under the charge it has."""
    if events != entry.events:
        raise LedgerError(
            f"release_id {entry.release_id!r} was charged at another cost, by another version of discreet, "
            "and interrupted. Its charge counts as spent; to release again, choose a new release_id"
        )
    book.append("again", name, {"release_id": entry.release_id}, book.dataset(name))
    book.note(name, replace(entry, interrupted=entry.interrupted + 1))
    return Charge(name, entry.release_id, entry.position, entry.hash)


@contextmanager
def held_back() -> Generator[list[int]]:
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
