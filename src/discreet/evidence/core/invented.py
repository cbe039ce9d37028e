"""People that the planner invents: a test's own code turns totals with chosen z scores into evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from discreet.evidence.core.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Invented:
    """What is assumed of invented people. All public.

    Attributes
    ----------
    n : int
        How many there are.
    share : float
        The second group's share of them.
    sd : float or None
        The columns' standard deviation as a share of the width of their bounds; None leaves it to the test.
    declared : int
        The number of people at which a declared sensitivity holds.
    """

    n: int
    share: float = 0.5
    sd: float | None = None
    declared: int = 0

    @property
    def first(self) -> int:
        """People in the first group; it has some."""
        return self.n - self.second

    @property
    def second(self) -> int:
        """People in the second group; it has some."""
        return min(max(1, round(self.n * self.share)), self.n - 1)


def evidence_of_sums(
    test: Any, count: Any, total: Any, square: Any = None, *, rows: int | None = None
) -> Evidence:
    """Return the evidence of a test whose accumulator holds these sums; nobody's value is missing."""
    sums = test.start(invented_names(test, len(total[0])))
    sums.count[:], sums.total[:] = count, total
    sums.rows = round(float(sums.count.sum())) if rows is None else rows
    if square is not None:
        sums.square[:] = square
    if sums.counted:
        sums.present[:] = sums.count[:, None]
    return sums.finish()


def invented_names(test: Any, size: int) -> tuple[str, ...]:
    """Return as many column names as needed: those that the test declares bounds or nulls for, over again."""
    for declared in (getattr(test, "bounds", None), getattr(test, "null", None)):
        if isinstance(declared, Mapping):
            return tuple(islice(cycle(cast("Mapping[str, Any]", declared)), size))
    return ("",) * size
