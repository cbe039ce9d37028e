"""Do events come earlier in one of two groups, at all times alike? The log-rank test of censored times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import toward
from discreet.docstrings import documented
from discreet.evidence.core.effect import difference_effect
from discreet.evidence.core.groups import MEMBERSHIP, about_sizes
from discreet.evidence.core.scores import ceiling_for, conclude, score_map
from discreet.evidence.core.survival import SURVIVAL_TEXTS, Censored, lattice_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.accumulate import Rows
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented
    from discreet.evidence.core.survival import Times

    Floats = NDArray[np.float64]

_SHARE = 0.5  # c, as a share of the people: less is nearer to log-rank, and gives one person more weight
_ROOM = 1.05  # where rates differ one group is left sooner, and a person of the other pulls a little more
_ROUNDED = 1 + 1e-9


@documented(SURVIVAL_TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class LogRank(Censored):
    """Test whether events come at another rate in one of two groups, some of the times being censored.

    Every column holds times: until the event, or until a person was last seen without it. z = -C / S, C the
    events in the second group less those expected there, each with the weight Y/(Y + c), Y people being at
    risk and c half of all: the log-rank test but for the last events, which few are left to see. S is the
    usual deviation of C, or larger, so that one person takes z to at most z + D + e z.

    Parameters
    ----------
    {group}
    {...}

    Notes
    -----
    Null hypothesis: the rate of events is the same in both groups at all times; censoring may differ, if it
    has nothing to do with what would have happened. Where rates are proportional and nobody is censored z is
    .93 of what the log-rank test has, and that of `Gehan` .87; with half of the people censored at the end it
    is 1.00. One person may move z by about half more than that of `Gehan`, but z is shrunk less where people
    are censored: among a few thousand people of whom half or more have the event `Gehan` finds more, where
    events are rare or censoring differs between the groups, or with very many people, `LogRank`. Who lacks a
    time, or does not know if the event came, is left out of that column. How far one person moves a score is
    proved, p-values are checked: docs/proofs/log-rank.md.

    References
    ----------
    N. Mantel (1966), Evaluation of survival data and two new rank order statistics arising in its
    consideration, Cancer Chemotherapy Reports 50, 163-170. R. E. Tarone and J. Ware (1977), On
    distribution-free tests for equality of survival distributions, Biometrika 64, 156-160: weights.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> relapse, end = rng.exponential(1 + treated), rng.uniform(0, 3, 10_000)
    >>> table = pd.DataFrame({"treated": treated, "years": np.minimum(relapse, end), "seen": relapse < end})
    >>> test = discreet.LogRank(group="treated", event="seen")
    >>> discreet.discover(table, test, q=0.1, epsilon=1, delta=1e-6).discoveries
    ('years',)
    """

    name = "log-rank"
    question = "Differences of the rate of events"
    proof = "log-rank"
    unit = "a logarithm of the ratio of the two rates, nobody being censored"

    def expected_z(self, effect: Floats, people: Invented) -> Floats:
        """Return the mean z scores where the rate of the second group is exp(-effect) times the other's."""
        log = math.log1p(1 / _SHARE)
        seen = (1 - _SHARE * log) / math.sqrt(_squares(_SHARE))
        return effect * seen * math.sqrt(people.first * people.second / people.n)

    def invented(self, z: Floats, people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores, nobody being censored."""
        sizes = np.array([people.first, people.second], dtype=np.float64)
        known = self._known(people.n, sizes)
        share = float(sizes.max()) / people.n
        pull = np.full(z.size, _typical(share, protected=known.protected) + known.slack)
        product = people.first * people.second
        variance = np.full(z.size, product / people.n * _squares(_SHARE))
        excess = z * math.sqrt(product * people.n / 3)  # about as many pairs as of ranks with this z
        present, contrast = np.tile(sizes[:, None], z.size), -z * np.sqrt(variance)
        return self._evidence(("",) * z.size, known, present, contrast, variance, pull, excess)

    def conclude(self, rows: Rows) -> Evidence:
        """Return the evidence of everyone's rows."""
        m = len(rows.names)
        known = self._known(rows.label(self.group).size, self.sizes(rows))
        present = np.zeros((2, m))
        contrast, variance, pull, excess = np.zeros((4, m))
        for place, seen in enumerate(self.each(rows)):
            present[:, place] = seen.sizes
            excess[place] = np.sum(seen.outlived()[seen.second])
            contrast[place], variance[place], pull[place] = known.measured(seen)
        return self._evidence(rows.names, known, present, contrast, variance, pull, excess)

    def _known(self, people: int, counts: Floats) -> _Known:
        protected = self.protect == "everything"
        return _Known.of(*about_sizes(counts, people, protected=protected), protected=protected)

    def _evidence(
        self,
        names: tuple[str, ...],
        known: _Known,
        present: Floats,
        contrast: Floats,
        variance: Floats,
        pull: Floats,
        excess: Floats,
    ) -> Evidence:
        """Return the evidence from C, V, one person's pull and Gehan's excess, each of shape (m,)."""
        influence, grow = known.influence, known.grow
        z = contrast / np.maximum(np.sqrt(variance), np.maximum(pull, known.least) / influence)
        clip = ceiling_for(self.ceiling, known.people)
        steps = score_map(partial(lattice_tail, influence), influence, clip, grow=grow)
        first, second = present
        moves = 3 if known.protected else 2
        return conclude(
            names,
            steps(toward(-z, self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(influence, grow),
            proof="docs/proofs/log-rank.md",
            basis="checked",
            public="" if known.protected else MEMBERSHIP,
            effect=difference_effect(self.effect, first, second, excess, known.smaller, moves=moves),
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is public: about how many people there are, and what one of them can do; docs/proofs/log-rank.md.

    Attributes
    ----------
    people : float
        About how many people are in the two groups.
    weight : float
        c: an event with Y people at risk weighs Y/(Y + c).
    smaller : float
        About the size of the smaller group.
    influence, grow : float
        D and e: one person takes z to at most z + D + e z.
    least : float
        One person's pull counts as this at least.
    protected : bool
        Whether somebody may change the group.
    """

    people: float
    weight: float
    smaller: float
    influence: float
    grow: float
    least: float
    protected: bool

    @classmethod
    def of(cls, first: float, second: float, *, protected: bool) -> _Known:
        """Return it for groups of about these sizes."""
        people, share = first + second, max(first, second) / (first + second)
        weight = max(_SHARE * people, 1.0)
        least = (1.0 if protected else share) / (1 + _SHARE)
        deviation = math.sqrt(first * second / people * _squares(_SHARE))
        influence = min(1.0, (_typical(share, protected=protected) + 3 / weight) / deviation)
        of_variance = math.sqrt(1 + influence**2 * (1.125 if protected else 1.25) / least) - 1
        of_pull = (6 if protected else 4) / (weight * least)
        grow = max(of_variance, of_pull) * _ROUNDED
        return cls(people, weight, min(first, second), influence, grow, least, protected)

    @property
    def slack(self) -> float:
        """By how much the pull of a table exceeds that of the others, beside the one who changes."""
        return 3 / self.weight

    def measured(self, seen: Times) -> tuple[float, float, float]:
        """Return C, V and the pull of one person, from those present. Private."""
        if not seen.times.size:
            return 0.0, 0.0, self.slack
        risk = seen.times.size - np.searchsorted(np.sort(seen.times), seen.times)
        of_second = seen.sizes[1] - np.searchsorted(np.sort(seen.times[seen.second]), seen.times)
        of_first, total = risk - of_second, risk + self.weight
        # The most that an event of somebody new counts, in the first group and in the second.
        own = float(np.max(of_second / total)), float(np.max(of_first / total))
        risks, ours = np.stack([of_first, of_second])[:, seen.event], seen.second[seen.event]
        total = total[seen.event]
        contrast = np.sum(risks[0] * ours / total) - np.sum(risks[1] * ~ours / total)
        variance = np.sum(risks[0] * risks[1] / total**2)
        # What somebody who is at risk all the time takes from the events of others, in either group.
        each = total * (total + 1)
        others = (
            float(np.sum((risks[1] + self.weight * ours) / each)),
            float(np.sum((risks[0] + self.weight * ~ours) / each)),
        )
        pull = max(own[0] + others[0], own[1] + others[1])
        if self.protected:
            pull = max(pull, sum(own), sum(others))
        return float(contrast), float(variance), pull + self.slack


def _squares(share: float) -> float:
    """Return the mean of (u/(u + share))^2, u uniform: the variance of C among equals, nobody censored."""
    return 1 - 2 * share * math.log1p(1 / share) + share / (1 + share)


def _typical(share: float, *, protected: bool) -> float:
    """Return one person's pull among many equals, nobody being censored, `share` in the larger group."""
    others = math.log1p(1 / _SHARE)
    return others if protected else _ROOM * share * (1 / (1 + _SHARE) + others)
