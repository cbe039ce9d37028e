"""Two public groups, perhaps inside public strata: which row belongs where, and how many are in each cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check
from discreet.block import codes, numbers
from discreet.errors import InputError
from discreet.evidence.core.arguments import check_protect, only_replace, pair, settle
from discreet.evidence.core.covariates import is_bounds, pairs_of
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.scores import enough

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.evidence.core.accumulate import Rows
    from discreet.typing import Adjacency, Levels, Protect

_MOST_STRATA = 2**20
_SMALLEST, _FEWEST_BANDS = 8, 8  # people in a stratum of bands, on average; bands of a number
MEMBERSHIP = "who is in which group"
NOBODY = (
    "both groups need people: give `levels` as `group` has them (--levels A B); they are 0 and 1 if absent"
)
PUBLIC_PEOPLE = "the number of people is public"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped(Test):
    """The public arguments of every test of groups, the number of people being public."""

    label_arguments = ("group",)

    group: str
    protect: Protect = "everything"
    ceiling: float | None = None
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        check_protect(self.protect)
        only_replace(self.adjacency, PUBLIC_PEOPLE)


@dataclass(frozen=True, slots=True)
class Groups:
    """The cells of a comparison: 2*stratum for the first group, 2*stratum + 1 for the second."""

    group: str
    levels: Sequence[Any]
    stratum: str | None = None
    strata: Sequence[Any] = (None,)

    def weigh(self, block: Block) -> NDArray[np.float64]:
        """Return who is in which cell, (cells, rows); rows outside the declared levels are in none."""
        group = codes(block.labels[self.group], self.levels)
        cell = group
        if self.stratum is not None:
            stratum = codes(block.labels[self.stratum], self.strata)
            cell = np.where((group < 0) | (stratum < 0), -1, 2 * stratum + group)
        return (np.arange(2 * len(self.strata))[:, None] == cell).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The strata in which both groups have people, and what one person weighs there; all of it public.

    `pull` is the most that one person, replaced, moves the contrast.
    """

    used: NDArray[np.intp]
    people: NDArray[np.float64]
    share: NDArray[np.float64]
    public: str
    pull: float

    @property
    def everyone(self) -> int:
        """How many people there are."""
        return int(self.people.sum())

    @property
    def smaller(self) -> float:
        """The size of the smallest group."""
        return float(np.min(self.people * np.minimum(self.share, 1 - self.share)))

    @property
    def drawn(self) -> float:
        """The variance of the contrast of values of deviation 1 when groups are drawn at random."""
        factor = self.people / np.maximum(self.people - 1, 1.0)
        return float(np.sum(self.share * (1 - self.share) * self.people * factor))

    @property
    def weight(self) -> float:
        """The sum of n1 n2 / N: the contrast over it is a mean difference of the strata's means."""
        return float(np.sum(self.share * (1 - self.share) * self.people))


def hidden_strata(people: int, strata: int) -> Strata:
    """Return what is public where groups and strata are protected: as if there were two equal groups.

    A person who changes the stratum leaves one and joins another.
    """
    everyone = np.array([float(enough(people, 2, "people"))])
    return Strata(np.arange(strata), everyone, np.array([0.5]), "", 1.0 if strata == 1 else 2.0)


def both_groups(count: NDArray[np.float64]) -> Strata:
    """Return the strata that compare something, from the sizes of all cells."""
    count = count.reshape(-1, 2)
    used = np.flatnonzero(np.all(count > 0, axis=1))
    if used.size == 0:
        raise InputError(NOBODY if count.shape[0] == 1 else f"{NOBODY}, and both in one of the `strata`")
    first, second = count[used].T
    public = MEMBERSHIP if count.shape[0] == 1 else f"{MEMBERSHIP} and stratum"
    share = second / (first + second)
    return Strata(used, first + second, share, public, float(np.max(np.maximum(share, 1 - share))))


def about_sizes(
    count: NDArray[np.float64], people: int, *, protected: bool, least: int = 1
) -> tuple[float, float]:
    """Return about how many people are in the two groups, from public things: halves if they are protected.

    Public groups are counted, and refused where one has fewer than `least` people.
    """
    if protected:
        half = max(people / 2, 1.0)
        return half, half
    first, second = sizes(count)
    enough(min(first, second), least, "people in each group")
    return first, second


def sizes(count: NDArray[np.float64]) -> tuple[int, int]:
    """Return the public sizes of the two groups."""
    if not np.all(count > 0):
        raise InputError(NOBODY)
    return int(count[0]), int(count[1])


def settled_strata(adjust: object, role: str, other: str) -> dict[str, tuple[Any, ...]]:
    """Return the columns to adjust for and their levels, checked; `other` is what the test has as `role`."""
    pairs = pairs_of(adjust)
    if not pairs:
        raise InputError('adjust must map columns to levels: {"sex": ["female", "male"]}')
    strata: dict[str, tuple[Any, ...]] = {}
    for name, levels in pairs:
        column = check.text(name, "a column of adjust")
        if column == other:
            raise InputError(f"adjust must name other columns than {role}")
        strata[column] = check.levels(levels, f"adjust: the levels of {column!r}")
        if not strata[column]:
            raise InputError(f"adjust: the levels of {column!r} must be at least one")
        if is_number(strata[column]):
            strata[column] = pair(strata[column], f"adjust: bounds of {column!r}")
    if number_of_strata(strata) > _MOST_STRATA:
        raise InputError("adjust makes more than a million strata: take fewer columns or levels")
    return strata


def is_number(levels: Levels) -> bool:
    """Say whether they are the bounds of a number to be cut into bands: two numbers, not 0 and 1 or the like.

    Whole numbers next to one another are two answers, {"smoker": [0, 1]}.
    """
    whole = all(isinstance(level, int) for level in levels)
    return is_bounds(levels) and not (whole and abs(levels[1] - levels[0]) == 1)


def bands_for(adjust: Mapping[str, Levels], people: int) -> int:
    """Return into how many bands each number with bounds is cut; 0 where there is none.

    In K bands 1/K^2 of the variance of a number that fills its bounds is left inside them: what it confounds
    grows as sqrt(people)/K^2. Strata hold eight people on average, or more.
    """
    numeric = [is_number(levels) for levels in adjust.values()]
    if not any(numeric):
        return 0
    answers = math.prod(
        len(levels) for levels, number in zip(adjust.values(), numeric, strict=True) if not number
    )
    room = (max(people, 1) / (_SMALLEST * answers)) ** (1 / sum(numeric))
    bands = int(min(math.ceil(4 * max(people, 1) ** 0.25), room))
    if bands < _FEWEST_BANDS:
        raise InputError(
            f"adjust: {people} people are too few for so many covariates that are numbers; leave some out, "
            "cut them into levels yourself, or let `discover` compare rows: `Compare`, or `Correlation` "
            "without a method"
        )
    return bands


def number_of_strata(adjust: Mapping[str, Levels], bands: int = 0) -> int:
    """Return how many combinations of levels, and of bands of numbers if there are some, there are."""
    return math.prod(bands if bands and is_number(levels) else len(levels) for levels in adjust.values())


def strata_of(adjust: Mapping[str, Levels], rows: Rows, bands: int = 0) -> tuple[NDArray[np.intp], int]:
    """Return the stratum of everyone, -1 where a level is not declared, and how many strata there are.

    Numbers with bounds are cut into so many bands.
    """
    stratum = np.zeros(rows.label(next(iter(adjust))).size, dtype=np.intp)
    for column, levels in adjust.items():
        if bands and is_number(levels):
            place, many = _band(numbers(rows.label(column)), levels, bands), bands
        else:
            place, many = codes(rows.label(column), levels), len(levels)
        stratum = np.where((place < 0) | (stratum < 0), -1, stratum * many + place)
    return stratum, number_of_strata(adjust, bands)


def _band(values: NDArray[np.float64], bounds: Levels, bands: int) -> NDArray[np.intp]:
    """Return the band of everyone, those beyond the bounds in the last one on their side, -1 without."""
    low, high = bounds
    known = ~np.isnan(values)
    share = np.clip((np.where(known, values, low) / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0)
    return np.where(known, np.minimum(np.floor(share * bands), bands - 1), -1).astype(np.intp)
