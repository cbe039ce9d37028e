"""Do more cases than controls carry an allele? Carriers against all others, whichever allele is rare."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil, log, log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import toward
from discreet.docstrings import documented
from discreet.evidence.core import tails
from discreet.evidence.core.allele_tails import AlleleTails
from discreet.evidence.core.association import allele_effect, allele_share, some_at_a_time
from discreet.evidence.core.cap import Cap, answers_tail, proved_answers_tail
from discreet.evidence.core.case_control import moments_of
from discreet.evidence.core.genetic import SMALL, TEXTS, AlleleCounts
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, nuisance_score_map, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.case_control import Genotypes
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import NullCase, NullColumns
    from discreet.evidence.core.scores import NuisanceScoreMap

COMMON, RARE = 0.15, 0.05  # allele frequencies left as they are: with few people, and with many
FEW_CASES = 0.1  # the smallest share of cases left as it is with many people, where nothing is declared
_LEAST = 24  # people in a stratum; the proof asks for so many
_PART = 0.45  # a stratum missing more than about a tenth of its calls may weigh more
_APART = 2**0.25  # each knot of S is so many times the one before,
_SLIGHT = 0.02  # or twice as far away, in logarithms, where nobody has more influence than this
_PAID = 0.02  # of one person's influence, for scores that know S
_WHOLE = 9 / 16  # of a stratum, what few people called add to third moments; docs/proofs/association.md


@dataclass(frozen=True, slots=True)
class CarrierCap:
    """What is public of the cap.

    Attributes
    ----------
    cap : Cap
        The influence D, how it grows with z, and the least pull a.
    least : float
        With n people called in a stratum the pull is at least least/n, or 1: few people move S much.
    """

    cap: Cap
    least: float

    def scale(
        self, first: NDArray[np.float64], second: NDArray[np.float64], yes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return S of N, for carriers among the people called in each group; (strata, m) to (m,)."""
        people = np.maximum(first + second, 1.0)
        cases, rate = second / people, yes / people
        pull = np.maximum(np.maximum(cases, 1 - cases), np.minimum(1.0, self.least / people))
        if self.cap.protected:
            pull = np.maximum(pull, np.maximum(rate, 1 - rate))
        largest = np.maximum(pull.max(axis=0), self.cap.share)
        known = first * second / people * yes * (1 - rate) / np.maximum(people - 1, 1.0)
        return np.maximum(np.sqrt(np.maximum(known.sum(axis=0), 0.0)), largest / self.cap.influence)

    def margin(self, scale: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
        """Return log S in units of what one person changes it by."""
        # Logarithms of S up to 2^33 are off by far less than a part in 10^9 of the unit.
        return np.asarray(np.log(scale) / (log1p(self.cap.grow) * (1 + 1e-9)), dtype=np.float64)

    def largest(self, slots: NDArray[np.float64]) -> float:
        """Return the largest S there is."""
        own = float(np.sum(slots * slots / np.maximum(slots - 1, 1.0))) / 16
        return max(sqrt(own), 1 / self.cap.influence)

    def knots(self, slots: NDArray[np.float64]) -> list[float]:
        """Return where scores are worked out, from the smallest S to the largest."""
        first = self.cap.share / self.cap.influence
        apart = _APART if self.cap.influence > _SLIGHT else _APART**2
        count = max(1, ceil(log(self.largest(slots) / first) / log(apart)))
        return [first * apart**place for place in range(count + 1)]

    def third_moments(self, slots: NDArray[np.float64], low: float, high: float) -> float:
        """Bound the sum of third moments of the coins that z is made of, S being between `low` and `high`."""
        people, influence = float(slots.sum()), self.cap.influence
        kink = sqrt(people) / 6
        even = 1 - 4 * low / sqrt(people) if low <= kink else people / (108 * low * low)
        even += _WHOLE * slots.size / (low * low)
        return min(even, 2 * influence * high - 1, 1.0) / low


def carrier_cap(slots: NDArray[np.float64], influence: float, share: float, *, protected: bool) -> CarrierCap:
    """Return the cap of this influence, at most 1, where `share` is the least pull there can be."""
    least = max(float(_LEAST), _PART * float(slots.min()))
    square = min(influence, 1.0) ** 2
    grow = max(sqrt(1 + square * (9 / 16 if protected else 1.0)) - 1, 1 / least)
    return CarrierCap(Cap(min(influence, 1.0), grow, share, protected), least)


def influence_at(frequency: float, variation: float, share: float, *, protected: bool) -> float:
    """Return one person's influence on carriers of an allele of this frequency.

    `variation` is the sum of squares of the phenotype about its means, `share` that of the larger group.
    """
    rate = 1 - (1 - frequency) ** 2
    pull = max(rate, 1 - rate, share) if protected else share
    return pull / sqrt(rate * (1 - rate) * variation)


def unasked(common: float, rare: float) -> float:
    """Return the influence taken unasked, from that of common alleles and that of rare ones."""
    return max(common, min(rare, SMALL))


_WAYS = 2  # carriers of the one allele, and of the other: the larger z counts, its p-value twice


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Carriers(AlleleCounts):
    """Test whether cases and controls differ in how many carry an allele; the test to begin with.

    A person counts 0 or 1 in place of 0, 1 or 2 alleles, and so moves z half as far, while little is lost:
    at a frequency of 0.2, 11% of the information. z = N / S, N the carriers among cases beyond their share, S
    the deviation of N when cases are drawn at random. The larger of two z counts, of carriers of the effect
    allele and of the other one, with twice its p-value: which of them is rare need not be known.

    Parameters
    ----------
    {protect}
    maf_floor : float, optional
        Public: the smallest minor allele frequency that is left as it is; z of rarer alleles is made smaller,
        so that one person moves it no more. If None, 0.15, and down to 0.05 where so many people leave little
        noise.
    {...}
    tail : {"safe", "proved", "normal"}
        "safe" (default) is checked against exact laws; "proved" holds for every study, and is some 6% of z
        less sharp; "normal" is the usual approximation.

    Notes
    -----
    A missing call contributes nothing. Null hypothesis: among those with a call, genotype and phenotype are
    independent (within strata). Proof: docs/proofs/association.md.

    References
    ----------
    P. D. Sasieni (1997), From genotypes to genes: doubling the sample size, Biometrics 53, 1253-1261.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame(rng.binomial(2, 0.2, (20_000, 2)), columns=["rs1", "rs2"])
    >>> table["phenotype"] = 1 + (rng.random(20_000) < 0.3 + 0.3 * table["rs2"])
    >>> discreet.discover(table, discreet.Carriers(), q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'rs2'
    """

    name = "carriers"
    question = "Carriers of an allele, cases against controls"

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of common and of rare alleles, the latter for all tails."""
        from discreet.evidence.core.invented import STATUS, NullCase, genetic_cases

        test = partial(cls, case_floor=0.1, alternative=columns.alternative)
        public = cls(protect="genotypes", maf_floor=0.005, tail="proved", alternative=columns.alternative)
        return [
            *genetic_cases("Carriers", test, 0.005, columns),
            NullCase("Carriers, proved", public, columns.genotypes, columns.groups, STATUS),
        ]

    def _least_variance(self, people: float) -> float:  # noqa: ARG002  one cap serves every share of cases
        """Return 0: a cap lowers no score of a variant on which one person has less influence."""
        return 0.0

    def concluded(self, counts: Genotypes) -> Evidence:
        """Return the evidence of everyone counted."""
        design = self.design(counts)
        limit = self._limit(counts)
        clip = ceiling_for(self.ceiling, design.people)
        steps = self._steps(limit, counts.slots.astype(np.float64), clip)
        score, share = np.empty(len(counts.names)), np.empty(len(counts.names))
        for some in some_at_a_time(score.size):
            seen = counts.counts[:, :, :3, some].astype(np.float64)  # strata, groups, genotypes, variants
            called = seen.sum(axis=2)
            carrying = (seen[:, :, 1:].sum(axis=2), seen[:, :, 2])
            ways = [_z(limit, called, each) for each in carrying]
            scores = [steps(toward(z, self.alternative), limit.margin(scale)) for z, scale in ways]
            score[some] = np.maximum(*scores)
            share[some] = allele_share(moments_of(counts, some), design)
        return conclude(
            counts.names,
            score,
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move,
            proof="docs/proofs/association.md",
            basis=basis_of(self.tail, "checked"),
            public=design.public,
            effect=allele_effect(share, design),
        )

    def _limit(self, counts: Genotypes) -> CarrierCap:
        """Return the cap: declared, or by the number of people and, where it is public, of cases."""
        slots = counts.slots.astype(np.float64)
        protected = self.protect == "both"
        if protected:
            usual, fewest = (0.5, FEW_CASES) if self.case_floor is None else (self.case_floor,) * 2
            least, people = 0.5, float(slots.sum())
            known = [(people * share * (1 - share), 1 - share) for share in (usual, fewest)]
        else:
            controls, cases = counts.members.T.astype(np.float64)
            least = float(np.max(np.maximum(controls, cases) / slots))
            known = [(float(np.sum(controls * cases / slots)), least)] * 2
        both = (COMMON, RARE) if self.maf_floor is None else (self.maf_floor,) * 2
        common, rare = (
            influence_at(frequency, *study, protected=protected)
            for frequency, study in zip(both, known, strict=True)
        )
        return carrier_cap(slots, unasked(common, rare), least, protected=protected)

    def _steps(self, limit: CarrierCap, slots: NDArray[np.float64], clip: float) -> NuisanceScoreMap:
        """Return the score of z where S is known: the larger S, the less skewed z can be."""
        cap, knots = limit.cap, limit.knots(slots)
        survivals = [partial(_either, tail) for tail in self._tails(limit, slots, knots, clip)]
        middle = score_map(survivals[len(knots) // 2], cap.influence, clip, grow=cap.grow)
        return nuisance_score_map(
            [float(limit.margin(np.float64(knot))) for knot in knots],
            survivals,
            cap.influence,
            clip,
            grow=cap.grow,
            multiple=middle.multiple,
            paid=_PAID,
        )

    def _tails(
        self, limit: CarrierCap, slots: NDArray[np.float64], knots: Sequence[float], clip: float
    ) -> list[tails.Survival]:
        """Return a bound on the tail of z for each knot, valid where S is at least the knot before."""
        if self.tail == "normal":
            return [tails.normal] * len(knots)
        least = (knots[0], *knots[:-1])
        if self.tail == "proved":
            always = _kept(proved_answers_tail(limit.cap, clip))
            known = proved_tails(limit, slots, least, clip)
        else:
            # A person called is one draw, as an allele is: of half as many people.
            alike = AlleleTails(slots / 2, None, alleles=True)
            always = partial(answers_tail, limit.cap)
            known = [alike.exact(scale * scale, clip) for scale in least]
        return [tails.least(always, each) for each in known]


def _either(survival: tails.Survival, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that one of two statistics with this tail passes."""
    return _WAYS * survival(t)


def proved_tails(
    limit: CarrierCap, slots: NDArray[np.float64], least: Sequence[float], clip: float
) -> list[tails.Survival]:
    """Bound the tail of z wherever S is at least each of these; they do not fall.

    Cell by cell of S: z is a sum of independent coins of at most 1/S, of which third moments are bounded.
    """
    bounds: dict[float, tails.Survival] = {}
    for low, high in pairwise([*sorted(set(least)), np.inf]):
        skew = low * limit.third_moments(slots, low, high)
        bounds[low] = _kept(tails.skewed_sum(1 / low, min(skew, 1.0), clip))

    def beyond(start: float, t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.max([bound(t) for low, bound in bounds.items() if low >= start], axis=0)

    return [partial(beyond, start) for start in least]


def _kept(survival: tails.Survival) -> tails.Survival:
    """Return the same bound, worked out once for the same places."""
    known: dict[bytes, NDArray[np.float64]] = {}

    def again(t: NDArray[np.float64]) -> NDArray[np.float64]:
        place = t.tobytes()
        if place not in known:
            known[place] = survival(t)
        return known[place]

    return again


def _z(
    limit: CarrierCap, called: NDArray[np.float64], carrying: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return z of carriers among the people called, and its S; (strata, groups, m) to (m,) each."""
    people = np.maximum(called.sum(axis=1), 1.0)
    excess = (called[:, 0] * carrying[:, 1] - called[:, 1] * carrying[:, 0]) / people
    scale = limit.scale(called[:, 0], called[:, 1], carrying.sum(axis=1))
    return excess.sum(axis=0) / scale, scale
