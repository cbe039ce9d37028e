"""Do people of the second group live longer, or shorter? Gehan's test of times that may be censored."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy

from discreet import check
from discreet.alternative import toward
from discreet.block import codes, numbers
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import TEXTS, by_column
from discreet.evidence.core.cap import NEAR_NORMAL, caps
from discreet.evidence.core.effect import difference_effect
from discreet.evidence.core.groups import MEMBERSHIP, Grouped, about_sizes
from discreet.evidence.core.scores import ceiling_for, conclude, score_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Levels

    Floats = NDArray[np.float64]


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Gehan(Grouped):
    """Test whether times to an event, some of them censored, are longer in one of two groups.

    Every column holds times: until the event, or until a person was last seen without it. z = N / S, N half
    of: pairs of the two groups in which the one of the second is known to have outlived the other, less those
    the other way round; pairs that censoring or ties leave open count nothing. S is the deviation of N when
    groups are drawn by lot, or larger, so that one person takes z to at most z + D + e z, D being that of
    ranks. Without censoring this is `RankSum`.

    Parameters
    ----------
    {group}
    event : str, or a mapping from column to str
        The column that says, with 1, that the event came at that time and, with 0, that it had not come yet;
        one for all columns of times, or one for each. Protected like the times.
    {levels}
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), longer times in the second group, or shorter ones.
    protect : {"everything", "columns"}
        "everything" (default): the group of a person is protected like all else. "columns": who is in which
        group is public, as the arms of a trial may be, and so are the sizes of the groups.
    {ceiling}
    {adjacency}

    Notes
    -----
    Who lacks a time, or does not know if the event came, is left out of that column. Null hypothesis: among
    the others, groups are as good as drawn by lot, given times and events. That asks censoring to be alike in
    both groups, as where people are drawn by lot and followed alike; if it is not, but has nothing to do with
    what would have happened, N is still 0 on average and p-values are approximate. p-values are checked, not
    proved. Early differences weigh more than in the log-rank test. Proof: docs/proofs/gehan.md.

    References
    ----------
    E. A. Gehan (1965), A generalized Wilcoxon test for comparing arbitrarily singly-censored samples,
    Biometrika 52, 203-223. N. Mantel (1967), Ranking procedures for arbitrarily restricted observation,
    Biometrics 23, 65-78: the permutation variance.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> relapse, end = rng.exponential(1 + treated), rng.uniform(0, 3, 10_000)
    >>> table = pd.DataFrame({"treated": treated, "years": np.minimum(relapse, end), "seen": relapse < end})
    >>> test = discreet.Gehan(group="treated", event="seen")
    >>> discreet.discover(table, test, q=0.1, epsilon=1, delta=1e-6).discoveries
    ('years',)
    """

    name = "gehan"
    question = "Differences of times to an event"
    proof = "gehan"
    effect = "P(longer) - P(shorter)"
    sources = ("tables",)
    groups = 2
    unit = "a difference between groups in standard deviations, nobody being censored"
    words: ClassVar[Mapping[str, str]] = {"event": "event"}

    event: str | Mapping[str, str]
    levels: Levels = (0, 1)
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
    def _events(self) -> tuple[str, ...]:
        return (self.event,) if isinstance(self.event, str) else tuple(dict.fromkeys(self.event.values()))

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a group and an event."""
        return {"group": "group", "event": "event"}

    def expected_z(self, effect: Floats, people: Invented) -> Floats:
        """Return the mean z scores of normal columns with these effects, nobody being censored."""
        above = np.asarray(scipy.special.ndtr(effect / np.sqrt(2)), dtype=np.float64) - 0.5
        return above * np.sqrt(12 * people.first * people.second / (people.n + 1))

    def invented(self, z: Floats, people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores, nobody being censored."""
        first, second = float(people.first), float(people.second)
        deviation = np.full(z.size, math.sqrt(first * second * (people.n + 1) / 12))
        present = np.tile([[first], [second]], z.size)
        return self._evidence(("",) * z.size, present, z * deviation, deviation, people.n, present[:, 0])

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases without ties, with half of the people and nearly all of them censored."""
        from discreet.evidence.core.invented import NullCase

        first, second = (size // 2 for size in columns.few)
        labels = {"g": np.array([0, 0, 1, 1]), "e": np.array([0, 1, 0, 1])}
        test = cls(group="g", event="e", alternative=columns.alternative, protect="columns")
        rare = tuple(part for size in (2 * first, 2 * second) for part in (size - size // 10, size // 10))
        even = (first, first, second, second)
        return [
            NullCase("Gehan, half censored", test, None, even, labels, most=100_000),
            NullCase("Gehan, 90% censored", test, None, rare, labels, most=100_000),
            NullCase(
                "Gehan, protected", replace(test, protect="everything"), None, even, labels, most=100_000
            ),
        ]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        if not isinstance(self.event, str):
            absent = [name for name in names if name not in self.event]
            if absent:
                raise InputError(f"event must cover every column of times; {absent[0]!r} has none")
        return Rows(tuple(names), self.labels, self._conclude)

    def _conclude(self, rows: Rows) -> Evidence:
        group = codes(rows.label(self.group), self.levels)
        counts = np.array([np.sum(group == 0), np.sum(group == 1)], dtype=np.float64)
        excess, deviation = np.zeros(len(rows.names)), np.zeros(len(rows.names))
        present = np.zeros((2, len(rows.names)))
        events = {name: numbers(rows.label(name)) for name in self._events}
        for place, (name, times) in enumerate(zip(rows.names, rows.values.T, strict=True)):
            event = events[self.event if isinstance(self.event, str) else self.event[name]]
            inside = (group >= 0) & ~np.isnan(times) & ~np.isnan(event)
            score = outlived(times[inside].astype(np.float64), event[inside] >= 0.5)
            second = group[inside] == 1
            here, there = np.count_nonzero(~second), np.count_nonzero(second)
            pairs = max((here + there) * (here + there - 1), 1)
            present[:, place] = here, there
            excess[place] = np.sum(score[second]) / 2
            deviation[place] = math.sqrt(here * there * float(np.sum(score * score)) / (4 * pairs))
        return self._evidence(rows.names, present, excess, deviation, group.size, counts)

    def _evidence(
        self,
        names: tuple[str, ...],
        present: Floats,
        excess: Floats,
        deviation: Floats,
        people: int,
        counts: Floats,
    ) -> Evidence:
        """Return the evidence from what is present in each column, shape (2, m) and (m,)."""
        protected = self.protect == "everything"
        about = about_sizes(counts, people, protected=protected)
        influence = caps(*about, protected=protected)[0].influence
        pull = np.maximum(present.max(axis=0), 4 / influence**2)
        z = excess / np.maximum(deviation, pull / influence)
        grow = math.sqrt(1 + 7 / 8 * influence**2 + influence**4 / 8) - 1
        clip = ceiling_for(self.ceiling, sum(about))
        steps = score_map(partial(_tail, influence), influence, clip, grow=grow, slope=NEAR_NORMAL)
        first, second = present
        moves = 3 if protected else 2
        return conclude(
            names,
            steps(toward(z, self.alternative)),
            alternative=self.alternative,
            top=steps.top,
            sensitivity=steps.move(influence, grow),
            proof="docs/proofs/gehan.md",
            basis="checked",
            public="" if protected else MEMBERSHIP,
            effect=difference_effect(self.effect, first, second, 2 * excess, min(about), moves=moves),
        )


def outlived(times: Floats, event: NDArray[np.bool_]) -> Floats:
    """Return how many people each is known to have outlived, less how many outlived them; shape (n,).

    Of two equal times the censored one is the longer; two events at one time leave it open.
    """
    order, ended = np.sort(times), np.sort(times[event])
    shorter = np.where(event, np.searchsorted(ended, times), np.searchsorted(ended, times, side="right"))
    after = times.size - np.searchsorted(order, times, side="right")
    beside = np.searchsorted(order, times, side="right") - np.searchsorted(order, times)
    deaths = np.searchsorted(ended, times, side="right") - np.searchsorted(ended, times)
    longer = np.where(event, after + beside - deaths, 0)
    return (shorter - longer).astype(np.float64)


def _tail(influence: float, t: Floats) -> Floats:
    """Return the tail of z: a centred Poisson variable's of step D/2, with room for half a step of ties."""
    step = influence / 2
    mean = 1 / step**2
    places = mean + (t - influence / 2) / step + 1 / 6
    return np.asarray(scipy.special.gammainc(np.maximum(places, 1e-9), mean), dtype=np.float64)
