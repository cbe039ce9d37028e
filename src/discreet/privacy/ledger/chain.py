"""The hash chain, in which every row seals its own content and all rows before it, and what rows add up to.

What it shows: any row edited, removed, inserted or moved, and rows cut from the end, unless whoever did it
also rewrote every later hash and the head record. A chain has no key, so someone who can write the file can
do just that, or put back an old copy. Against them a hash kept elsewhere helps, for instance the one that a
charge returns for its release to carry: a chain without it is not the chain that made the release.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from operator import ge
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.alternative import in_todays_words
from discreet.errors import BudgetError, DiscreetError, InputError, LedgerError
from discreet.privacy import events as event_kinds
from discreet.privacy.events import NEIGHBOURS
from discreet.privacy.filter import Filter, Sums, has_zcdp
from discreet.privacy.ledger.records import MOST_DRAWS, Budget, Entry

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from discreet.privacy.events import Event


COLUMNS = "position, kind, dataset, time, body, hash"
_OPTIONS = ("guarantee", "dependence", "cutoffs")  # None where they are of no effect
CUT = "rows after row {} are missing, or the head record was changed"


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it stands in the file."""

    position: int
    kind: str
    dataset: str
    time: str
    body: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """Where the chain starts and where it should end."""

    seed: str
    position: int
    hash: str


def canonical(content: object, name: str = "request") -> str:
    """Return the one JSON text of `content`: sorted keys, no spaces, ASCII, no NaN."""
    try:
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"{name} must hold plain JSON values: text, finite numbers, lists") from None


def sha256(text: str) -> str:
    """Return the hash of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def seal(previous: str, position: int, kind: str, dataset: str, time: str, body: str) -> str:
    """Return the hash of a row that follows the row with hash `previous`."""
    return sha256(canonical([previous, position, kind, dataset, time, body]))


def faults(rows: Sequence[Row], head: Head | None) -> Iterator[str]:
    """Yield, in words, where the chain does not hold; nothing if it does."""
    if head is None:
        yield "the head record is missing"
        return
    broken = list(breaks(rows, head.seed, 1))
    yield from broken
    last = rows[-1].hash if rows else head.seed
    if not broken and (head.position, head.hash) != (len(rows), last):
        yield CUT.format(len(rows))


def breaks(rows: Sequence[Row], previous: str, start: int) -> Iterator[str]:
    """Yield where rows from `start` on, after a row with the hash `previous`, do not hold together."""
    for place, row in enumerate(rows, start):
        if row.position != place:
            yield f"row {place} is missing or moved"
            return
        try:
            holds = row.hash == seal(previous, row.position, row.kind, row.dataset, row.time, row.body)
        except InputError:
            holds = False  # a column that holds no text
        if not holds:
            yield f"row {place} was changed, or a row before it was changed, removed or moved"
            return
        previous = row.hash


def head_of(db: sqlite3.Connection) -> Head | None:
    """Return the head record, if there is one."""
    head = db.execute("SELECT seed, position, hash FROM head").fetchone()
    return None if head is None else Head(*head)


def rows_of(db: sqlite3.Connection, start: int = -(2**63), count: int = -1) -> list[Row]:
    """Return the rows of the chain in order, or `count` of them from `start` on."""
    rows = db.execute(
        f"SELECT {COLUMNS} FROM chain WHERE position >= ? ORDER BY position LIMIT ?",  # noqa: S608 (constant)
        (start, count),
    )
    return [Row(*row) for row in rows]


def hash_before(db: sqlite3.Connection, position: int, head: Head) -> str:
    """Return the hash that the row at `position` must have sealed."""
    before = db.execute("SELECT hash FROM chain WHERE position = ?", (position - 1,)).fetchone()
    return head.seed if position == 1 else str(before and before[0])


def follows(db: sqlite3.Connection, row: Row, head: Head) -> bool:
    """Tell whether a row seals itself and the row before it."""
    return not any(breaks([row], hash_before(db, row.position, head), row.position))


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set without its history: total, exact sums over its charges, and how many have a result."""

    filter: Filter
    adjacency: str
    sums: Sums = field(default_factory=Sums)
    settled: int = 0

    @classmethod
    def create(cls, body: dict[str, Any]) -> DataSet:
        """Return a data set as the row that creates it says."""
        adjacency = check.choice(body["neighbours"], "adjacency", tuple(NEIGHBOURS))
        return cls(Filter(body["epsilon"], body["delta"], body["aside"]), adjacency)

    def charged(self, events: tuple[Event, ...]) -> DataSet:
        """Return the data set after one more charge."""
        return replace(self, sums=self.sums.plus(events))

    def released(self) -> DataSet:
        """Return the data set after one more result."""
        return replace(self, settled=self.settled + 1)

    @property
    def total(self) -> dict[str, Any]:
        """The total as plain JSON values."""
        rule = self.filter
        return {
            "epsilon": rule.epsilon,
            "delta": rule.delta,
            "aside": rule.aside,
            "neighbours": self.adjacency,
        }

    @property
    def text(self) -> str:
        """All of it as one JSON text; its hash stands in the last row of the data set."""
        return canonical({**self.total, "sums": self.sums.to_dict(), "settled": self.settled})

    @classmethod
    def read(cls, fields: dict[str, Any]) -> DataSet:
        """Return the data set that `text` holds."""
        total = Filter(fields["epsilon"], fields["delta"], fields["aside"])
        sums = Sums.from_dict(fields["sums"])
        return cls(total, str(fields["neighbours"]), sums, int(fields["settled"]))

    def refuse_excess(self, name: str, events: Sequence[Event], adjacency: str) -> None:
        """Refuse events that the total does not allow, or that are about other neighbours."""
        if check.choice(adjacency, "adjacency", tuple(NEIGHBOURS)) != self.adjacency:
            raise BudgetError(
                f"the budget of {name!r} is about adjacency {self.adjacency!r}, this release about "
                f"{adjacency!r}: costs for different neighbours do not add up to one promise. Use a test for "
                f"{self.adjacency!r}"
            )
        if self.filter.admits(self.sums.plus(events)):
            return
        slips = [event for event in events if isinstance(event, event_kinds.Approximate) and event.delta]
        hint = (
            " Its cost is approximate, which needs a part of delta set aside when the data set is created."
            if slips and not self.filter.aside
            else ""
        )
        if has_zcdp(events) and self.sums.gaussian:
            hint = " It is zero-concentrated, and the first release made this budget a sum of Gaussian ones."
        budget = self.budget(name)
        raise BudgetError(
            f"this release would exceed the budget of {name!r}; nothing was spent on it. {budget.meter} "
            f"{budget.room}{hint}"
        )

    def refuse_dearer(self, name: str, release_id: str, recharged: DataSet) -> None:
        """Refuse to complete a release at a higher cost than it was charged, if that is not allowed."""
        if not self.filter.admits(recharged.sums):
            budget = self.budget(name)
            raise BudgetError(
                f"release_id {release_id!r} was interrupted, and this version of discreet would draw it at a "
                f"higher cost, for which {name!r} has no room: complete it with the version that charged it. "
                f"{budget.meter} {budget.room}"
            )

    def budget(self, name: str) -> Budget:
        """Return the total and what is spent of it."""
        rule, sums = self.filter, self.sums
        return Budget(
            name,
            rule.epsilon,
            rule.delta,
            self.adjacency,
            rule.aside,
            rule.spent(sums),
            rule.left(sums),
            sums.count,
            sums.count - self.settled,
            rule.pure_left(sums),
        )


@dataclass(slots=True)
class History:
    """One data set: its charges by release id in the order they were made, and the rows of their results."""

    state: DataSet
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    settled: dict[str, Row] = field(default_factory=dict[str, Row])

    def recharge(self, release_id: str, events: tuple[Event, ...]) -> bool:
        """Let an interrupted release cost what it is drawn at now, if that is more; tell whether it is."""
        charged = self.entries[release_id].events
        if not events or covers(charged, events):
            return False
        if not covers(events, charged):
            raise LedgerError(
                f"release_id {release_id!r} was charged at a cost of another kind, by another version of "
                "discreet, and interrupted: complete it with that version. Its charge counts as spent; to "
                "release again, choose a new release_id"
            )
        self.entries[release_id] = replace(self.entries[release_id], events=events)
        charges = (entry.events for entry in self.entries.values())
        self.state = replace(self.state, sums=Sums.of(charges))
        return True


def covers(charged: Sequence[Event], drawn: Sequence[Event]) -> bool:
    """Tell whether a charge pays for other events: as many, of the same kinds, none with a larger number."""
    return len(charged) == len(drawn) and all(
        type(before) is type(now) and all(map(ge, astuple(before), astuple(now)))
        for before, now in zip(charged, drawn, strict=True)
    )


def replay(rows: Iterable[Row]) -> dict[str, History]:
    """Return the data sets that the rows tell of; refuse rows that no ledger writes."""
    histories: dict[str, History] = {}
    for row in rows:
        try:
            body: dict[str, Any] = json.loads(row.body)
            if row.kind == "create":
                if row.dataset in histories:
                    raise InputError("created twice")
                histories[row.dataset] = History(DataSet.create(body))
            history = histories[row.dataset]
            release_id = str(body["release_id"]) if row.kind not in {"create", "upgrade"} else ""
            entry = history.entries.get(release_id)
            if row.kind == "charge" and entry is None:
                history.entries[release_id] = entry = entry_of(row, body)
                history.state = replace(history.state, sums=history.state.sums.plus(entry.events))
            elif row.kind == "again" and entry is not None and entry.state == "charged":
                history.entries[release_id] = replace(entry, interrupted=entry.interrupted + 1)
                history.recharge(release_id, events_of(body))
            elif row.kind == "settle" and entry is not None and entry.state == "charged":
                str(body["sha256"])
                history.entries[release_id] = settled(entry, row)
                history.settled[release_id] = row
                history.state = history.state.released()
            elif row.kind not in {"create", "upgrade"}:
                raise InputError("charged or settled twice")
            if "state" in body and body["state"] != sha256(history.state.text):
                raise InputError("another state than its rows add up to")
        except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
            raise LedgerError(f"row {row.position} of the ledger is not one this library writes") from None
    return histories


def entry_of(row: Row, body: dict[str, Any]) -> Entry:
    """Return the charge that a row makes."""
    release_id, automatic = str(body["release_id"]), bool(body.get("automatic"))
    request, events = dict(body["request"]), tuple(map(event_kinds.from_dict, body["events"]))
    by = str(body.get("by", ""))
    return Entry(row.position, row.time, release_id, request, events, "charged", row.hash, automatic, by=by)


def events_of(body: dict[str, Any]) -> tuple[Event, ...]:
    """Return the events that a row charges; none where it goes on with an earlier charge."""
    return tuple(map(event_kinds.from_dict, body.get("events", ())))


def is_settled(entry: Entry, request: Mapping[str, object]) -> bool:
    """Tell whether a charge has its result; refuse another request, and one interrupted too often."""
    differs = sorted(name for name in {*request, *entry.request} if _differs(name, request, entry.request))
    if differs:
        raise InputError(
            f"release_id {entry.release_id!r} stands for a request with other parameters "
            f"({', '.join(differs)}); choose a new one"
        )
    if entry.exhausted:
        raise LedgerError(
            f"release_id {entry.release_id!r} was interrupted {MOST_DRAWS} times while it was drawn. Its "
            "charge counts as spent; to release again, choose a new release_id"
        )
    return entry.state == "released"


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
    return canonical(now) != canonical(then)


def settled(entry: Entry, row: Row) -> Entry:
    """Return a charge with the row that settles it."""
    failed = bool(json.loads(row.body).get("failed"))
    return replace(entry, state="released", settled=row.hash, kept=digest_of(row) is not None, failed=failed)


def digest_of(row: Row) -> str | None:
    """Return the hash of the result that a row stored; None where the ledger had no room for the result."""
    body = json.loads(row.body)
    return str(body["sha256"]) if body.get("kept", True) else None
