"""Is yes more frequent in the second group? The 2x2 table of the people who answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.alternative import Alternative, toward
from discreet.check import NO_AND_YES
from discreet.docstrings import documented
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.arguments import PROVABLE, TEXTS
from discreet.evidence.core.cap import Cap, answers_tail, cap_at, caps, proved_answers_tail
from discreet.evidence.core.contribution import Steps
from discreet.evidence.core.effect import difference_effect
from discreet.evidence.core.groups import MEMBERSHIP, Grouped, Groups, about_sizes
from discreet.evidence.core.invented import evidence_of_sums
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Levels, Protect, Tail

_YES = Steps(0.5, reached=True, signed=False)


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class TwoByTwo(Grouped):
    """Test whether the rates of yes in two groups differ, or the second's is higher, or lower.

    z = (T - X n2 / N) / S among the people present in a column: T of X yes are in the second group, of n2
    people. S is the deviation when groups are drawn at random, sqrt(n1 n2 X (N - X) / (N^2 (N - 1))), or
    larger: never so small that one person could move z by more than a public D + e z.

    Parameters
    ----------
    {group}
    {levels}
    floor : float, optional
        Public: the smallest overall rate of yes (or of no) the test is sharp at; about 0.1 if absent. Rarer
        columns score lower, never higher; a lower floor means more noise.
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), a higher rate in the second group, or a lower one.
    protect : {"columns", "everything"}
        "columns" (default): who is in which group is public, as are the sizes of the groups. "everything":
        the group of a person is protected like all else; sharpest where the groups are equally large.
    {ceiling}
    tail : {"safe", "proved", "normal"}
        "safe" (default) is checked against exact laws at every number of people; "proved" is proved, and some
        6% of z less sharp; "normal" is the textbook approximation.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    A value of at least one half is a yes; who has none counts in neither group. Null hypothesis: among those
    who answered, groups are as if drawn at random (Fisher's); one group may answer less than the other, and
    yes be left out more often than no, but not both together. Proof: docs/proofs/two-by-two.md.

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
    tails: ClassVar[tuple[str, ...]] = PROVABLE
    compares = ("answers",)

    levels: Levels = NO_AND_YES
    floor: float | None = None
    alternative: Alternative = "two-sided"
    protect: Protect = "columns"
    tail: Tail = "safe"

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
        """Return null cases with and without a low floor, protected too, for all tails."""
        from discreet.evidence.core.invented import GROUP, NullCase

        test = partial(cls, group="g", alternative=columns.alternative)
        cases = {
            "TwoByTwo": test(),
            "TwoByTwo, protected": test(protect="everything"),
            "TwoByTwo, floor .005": test(floor=0.005),
            "TwoByTwo, proved": test(floor=0.005, tail="proved"),
            "TwoByTwo, normal tail": test(floor=0.005, tail="normal"),
        }
        return [NullCase(name, case, columns.coin, columns.groups, GROUP) for name, case in cases.items()]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        weigh = Groups(self.group, self.levels).weigh
        return Sums(tuple(names), _YES, weigh, self._conclude, cells=2, counted=True)

    def _cap(self, first: float, second: float) -> Cap:
        protected = self.protect == "everything"
        if self.floor is None:
            return caps(first, second, protected=protected)[1]
        return cap_at(first, second, sqrt(self.floor * (1 - self.floor)), protected=protected)

    def survival(self, cap: Cap, clip: float) -> tails.Survival:
        """Return the bound on the tail of z."""
        if self.tail == "proved":
            return proved_answers_tail(cap, clip)
        return tails.normal if self.tail == "normal" else partial(answers_tail, cap)

    def _conclude(self, sums: Sums) -> Evidence:
        protected = self.protect == "everything"
        about = about_sizes(sums.count, sums.rows, protected=protected)
        cap, clip = self._cap(*about), ceiling_for(self.ceiling, sum(about))
        steps = score_map(self.survival(cap, clip), cap.influence, clip, grow=cap.grow)
        (first, second), (no, own) = sums.present, sums.total
        excess = first * own - second * no
        z = excess / np.maximum(first + second, 1.0) / cap.of_answers(first, second, own + no)
        return conclude(
            sums.names,
            steps(toward(z, self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(cap.influence, cap.grow),
            proof="docs/proofs/two-by-two.md",
            basis=basis_of(self.tail, "checked"),
            public="" if protected else MEMBERSHIP,
            effect=difference_effect(self.effect, first, second, excess, min(about), moves=1 + protected),
        )
