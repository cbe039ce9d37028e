"""Is yes more frequent in the second public group? The 2x2 table with a variance floor and an exact tail."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import Alternative, directions
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.arguments import only_replace, settle
from discreet.evidence.core.common import basis_of, ceiling_for, conclude
from discreet.evidence.core.contribution import Steps
from discreet.evidence.core.effect import effect
from discreet.evidence.core.groups import MEMBERSHIP, PUBLIC_GROUPS, Groups, sizes
from discreet.evidence.core.hypergeometric import MARGINS, Margins
from discreet.evidence.core.invented import evidence_of_sums
from discreet.evidence.core.protocol import Comparison, Test
from discreet.evidence.core.score_map import NuisanceScoreMap, nuisance_score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented
    from discreet.evidence.core.null_columns import NullCase, NullColumns
    from discreet.typing import Adjacency, Levels, Tail

_FLOOR = 0.05  # of the share of yes
_YES = Steps(0.5, reached=True, signed=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoByTwo(Test):
    """Test whether the rates of yes in two groups differ, or the second's is higher, or lower.

    z = (T - f S) / sqrt(f (1 - f) max(S (N - S), floor) / (N - 1)): T yes in the second group, S in both, f
    the second group's share of the N people, floor = N^2 r (1 - r) for a public smallest rate r. The
    certificate is enumerated over S = 0..N and the worst T; the tail is the largest hypergeometric tail
    over nearby S.

    Parameters
    ----------
    group : str
        The column that says who is in which group. Public: it is not protected, and neither are group sizes.
    levels : (first, second)
        The two public values of `group`, (0, 1) by default; rows with any other value are left out.
    floor : float
        Public: the smallest overall rate of yes (or of no) the test is sharp at, 0.05 by default. Rarer
        columns score lower, never higher. Without a floor one person could move z by sqrt(n_max/n_min)
        whatever N is.
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), a higher rate in the second group, or a lower one.
    ceiling : float, optional
        Scores above it count as it; between 1 and 37. When absent, a third of the largest z that so many
        people can reach, but at least 8 and at most 20.
    tail : {"safe", "normal"}
        "safe" (default) is read off the exact law at every number of people; "normal" is the textbook
        approximation.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    A value of at least one half is a yes; a missing value is a no, whatever the group. Null hypothesis: given
    who says yes, groups are as good as drawn by lot (Fisher's). Proof: docs/proofs/two-by-two.md.

    References
    ----------
    R. A. Fisher (1935), The logic of inductive inference, Journal of the Royal Statistical Society 98, 39-82.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> table = pd.DataFrame(rng.random((10_000, 2)) < 0.3, columns=["a", "b"])
    >>> table["b"] |= (treated == 1) & (rng.random(10_000) < 0.3)
    >>> table["treated"] = treated
    >>> test = discreet.TwoByTwo(group="treated")
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    name = "two-by-two"
    question = "Differences of shares of yes"
    proof = "two-by-two"
    effect = "difference of rates"
    groups = 2
    yes_or_no = True
    unit = "a difference between groups in standard deviations"

    group: str
    levels: Levels = (0, 1)
    floor: float = _FLOOR
    alternative: Alternative = "two-sided"
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        only_replace(self.adjacency, PUBLIC_GROUPS)

    @property
    def labels(self) -> tuple[str, ...]:
        """The group column."""
        return (self.group,)

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The group column."""
        return (self.group,)

    def comparison(self) -> Comparison | None:
        """Return the comparison of whole rows that this is, unless floor, tail or ceiling are its own."""
        if (self.floor, self.ceiling, self.tail) != (_FLOOR, None, "safe"):
            return None
        return Comparison(group=self.group, levels=self.levels, alternative=self.alternative, answers=True)

    @property
    def uses_sd(self) -> bool:
        """Yes: it says how frequent a yes is."""
        return True

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores, the rate of yes by the deviation."""
        n, first, second = people.n, people.first, people.second
        sd = people.sd or 0.5
        yes = max(1, round(n * (1 - np.sqrt(1 - 4 * sd * sd)) / 2))
        spread = np.sqrt(first * second / n**2 * yes * (n - yes) / (n - 1))
        own = np.clip(np.rint(second / n * yes + z * spread), max(0, yes - first), min(second, yes))
        return evidence_of_sums(self, [first, second], [yes - own, own])

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with a low floor, for both tails."""
        from discreet.evidence.core.null_columns import GROUP, NullCase

        test = partial(cls, group="g", floor=0.005, alternative=columns.alternative)
        normal = test(tail="normal")
        return [
            NullCase("TwoByTwo, floor .005", test(), columns.coin, columns.groups, GROUP),
            NullCase("TwoByTwo, normal tail", normal, columns.coin, columns.groups, GROUP),
        ]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        return Sums(tuple(names), _YES, Groups(self.group, self.levels).weigh, self._conclude, cells=2)

    def _conclude(self, sums: Sums) -> Evidence:
        first, second = sizes(sums.count)
        clip = ceiling_for(self.ceiling, first + second)
        yes = sums.total.sum(axis=0)
        groups = directions(self.alternative, (second, first, sums.total[1]), (first, second, sums.total[0]))
        sides = [Margins(own, other, self.floor) for own, other, _ in groups]
        used = [_steps(margins, clip, self.tail) for margins in sides]
        totals = [total for _, _, total in groups]
        scores = [
            one(margins.statistic(total, yes), yes)
            for one, margins, total in zip(used, sides, totals, strict=True)
        ]
        return conclude(
            sums.names,
            np.max(scores, axis=0),
            alternative=self.alternative,
            top=max(one.top for one in used),
            sup=max(one.move for one in used),
            proof="docs/proofs/two-by-two.md",
            basis=basis_of(self.tail, "proved" if first + second <= MARGINS else "checked"),
            public=MEMBERSHIP,
            effect=effect(
                self.effect,
                sums.total[1] / second - sums.total[0] / first,
                1 / min(first, second),
            ),
        )


def _steps(margins: Margins, clip: float, tail: str) -> NuisanceScoreMap:
    """Return the scores of one side, for every number of yes."""
    knots = margins.knots()
    reach = zip([knots[0], *knots[:-1]], [*knots[1:], knots[-1]], strict=True)
    survivals = [tails.normal if tail == "normal" else margins.survival(clip, *ends) for ends in reach]
    return nuisance_score_map(knots, survivals, margins.influence(clip), clip)
