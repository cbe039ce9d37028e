"""What tests of times to an event share: arguments, and times and events column by column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy

from discreet import check
from discreet.block import Block, codes, numbers
from discreet.check import NO_AND_YES
from discreet.docstrings import Text
from discreet.errors import InputError
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import TEXTS, by_column
from discreet.evidence.core.groups import Grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import NullCase, NullColumns
    from discreet.typing import Levels

    Floats = NDArray[np.float64]

SURVIVAL_TEXTS = {
    "event": Text(
        "str, or a mapping from column to str",
        "The column that says, with 1, that the event came at that time and, with 0, that it had not come "
        "yet; one for all columns of times, or one for each. Protected like the times.",
    ),
    **TEXTS,
    "protect": Text(
        '{"everything", "columns"}',
        '"everything" (default): the group of a person is protected like all else. "columns": who is in '
        "which group is public, as the arms of a trial may be, and so are the sizes of the groups.",
    ),
    "alternative": Text(
        '{"two-sided", "greater", "less"}',
        "What to look for: any difference (default), longer times in the second group, or shorter ones.",
    ),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Times:
    """Everyone of the two groups who has a time in one column and knows if the event came; private.

    Attributes
    ----------
    times : array of float64, shape (n,)
        Until the event, or until a person was last seen without it.
    event : array of bool, shape (n,)
        Whether the event came.
    second : array of bool, shape (n,)
        Who is in the second group.
    """

    times: Floats
    event: NDArray[np.bool_]
    second: NDArray[np.bool_]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many are in each group."""
        there = int(np.count_nonzero(self.second))
        return self.second.size - there, there

    def outlived(self) -> Floats:
        """Return how many people each is known to have outlived, less how many outlived them; shape (n,).

        Of two equal times the censored one is the longer; two events at one time leave it open.
        """
        times, event = self.times, self.event
        order, ended = np.sort(times), np.sort(times[event])
        until = np.searchsorted(order, times, side="right")
        deaths_until = np.searchsorted(ended, times, side="right")
        shorter = np.where(event, np.searchsorted(ended, times), deaths_until)
        after = times.size - until
        beside = until - np.searchsorted(order, times)
        deaths = deaths_until - np.searchsorted(ended, times)
        longer = np.where(event, after + beside - deaths, 0)
        return (shorter - longer).astype(np.float64)

    def __repr__(self) -> str:
        return "Times(private)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Censored(Grouped):
    """The public arguments of every test of times to an event, and how it reads them."""

    effect = "P(longer) - P(shorter)"
    sources = ("tables",)
    groups = 2
    words: ClassVar[Mapping[str, str]] = {"event": "event"}

    event: str | Mapping[str, str]
    levels: Levels = NO_AND_YES
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        Grouped.__post_init__(self)
        check.settle(self, event=by_column(check.text, self.event, "event"))
        if self.group in self._events:
            raise InputError("event must name other columns than group")

    @property
    def labels(self) -> tuple[str, ...]:
        """The group column, and those of events."""
        return (self.group, *self._events)

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The group column, where it is not protected; events always are."""
        return () if self.protect == "everything" else (self.group,)

    @property
    def _events(self) -> tuple[str, ...]:
        return (self.event,) if isinstance(self.event, str) else tuple(dict.fromkeys(self.event.values()))

    @classmethod
    def example(cls) -> Mapping[str, object]:
        """Return a group and an event."""
        return {"group": "group", "event": "event"}

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        if not isinstance(self.event, str):
            absent = [name for name in names if name not in self.event]
            if absent:
                raise InputError(f"event must cover every column of times; {absent[0]!r} has none")
        return Rows(tuple(names), self.labels, self.conclude)

    def conclude(self, rows: Rows) -> Evidence:
        """Return the evidence of everyone's rows."""
        raise NotImplementedError

    def sizes(self, rows: Rows) -> Floats:
        """Return how many people are in the two groups; private where the groups are."""
        group = codes(rows.label(self.group), self.levels)
        return np.array([np.count_nonzero(group == 0), np.count_nonzero(group == 1)], dtype=np.float64)

    def each(self, rows: Rows) -> Iterator[Times]:
        """Return who is seen in each column of times; who lacks a time or an event is not."""
        group = codes(rows.label(self.group), self.levels)
        events = {name: numbers(rows.label(name)) for name in self._events}
        for name, times in zip(rows.names, rows.values.T, strict=True):
            event = events[self.event if isinstance(self.event, str) else self.event[name]]
            inside = (group >= 0) & ~np.isnan(times) & ~np.isnan(event)
            yield Times(times[inside].astype(np.float64), event[inside] >= 0.5, group[inside] == 1)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases without ties: nobody, half of the people or nearly all of them censored."""
        from discreet.evidence.core.invented import GROUP, NullCase

        test = cls(group="g", event="e", alternative=columns.alternative, protect="columns")
        hidden = replace(test, protect="everything")
        return [
            NullCase(
                f"{cls.__name__}, {words}",
                chosen,
                None,
                columns.few,
                GROUP,
                most=10_000,
                censored=censored,
                score=partial(_scored, chosen, columns.few),
            )
            for words, chosen, censored in (
                ("nobody censored", test, 0.0),
                ("half censored", test, 0.5),
                ("90% censored", test, 0.9),
                ("half censored, protected", hidden, 0.5),
            )
        ]


def _scored(
    test: Censored, sizes: tuple[int, ...], times: NDArray[np.float64], seen: NDArray[np.bool_]
) -> Evidence:
    """Return the evidence of columns of times, and of who had an event, (people, columns)."""
    names = tuple(map(str, range(times.shape[1])))
    events = {f"e{name}": column for name, column in zip(names, seen.T, strict=True)}
    rows = replace(test, event=dict(zip(names, events, strict=True))).start(names)
    rows.update(Block(times, {**events, test.group: np.repeat([0, 1], sizes)}))
    return rows.finish()


def lattice_tail(influence: float, t: Floats) -> Floats:
    """Return the tail of z: a centred Poisson variable's of step D/2, with room for half a step of ties."""
    step = influence / 2
    mean = 1 / step**2
    places = mean + (t - influence / 2) / step + 1 / 6
    return np.asarray(scipy.special.gammainc(np.maximum(places, 1e-9), mean), dtype=np.float64)
