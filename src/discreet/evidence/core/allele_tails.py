"""Alleles in cases when cases are drawn at random: how skewed their number can be, and its tail.

Two bounds, docs/proofs/association.md: one proved for every study, one read off exact laws, which is sharper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core import tails
from discreet.evidence.core.association import lesser_share, padded
from discreet.evidence.core.tails import hypergeometric_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELLS = 200
_CALLED = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)  # parts of the number below which a variant is padded
_COARSE = 6  # variances, in squared steps, below which exact laws differ too much to speak for one another
_NEAR = 1.5  # steps: so near 0 rare alleles may have more than half their law, and nothing is evidence
_ROOM = 1.02  # for what lies between the laws tried
_FEW = 12  # people with a call
_SLIGHT = _FEW**2 / (4 * (_FEW - 1))  # the variance of C among fewer


@dataclass(frozen=True, eq=False)
class AlleleTails:
    """What is public of cases and controls.

    Attributes
    ----------
    slots : array, shape (strata,)
        People in each stratum.
    uneven : array, shape (strata,), or None
        By how many cases and controls differ in each stratum; None where that is private.
    alleles : bool
        Whether the two alleles of a person are drawn apart, or together.
    """

    slots: NDArray[np.float64]
    uneven: NDArray[np.float64] | None
    alleles: bool

    @property
    def most(self) -> int:
        """How far one draw moves C."""
        return 1 if self.alleles else 2

    def proved(self, square: float, clip: float) -> tails.Survival:
        """Bound P(C / S >= t) for S^2 of at least `square`: C is a sum of independent bounded terms."""
        more = self.widest(square)
        bound = tails.skewed_sum(self.most / (float(np.sqrt(square)) * more), self.skew(square), clip / more)
        return lambda t: bound(t / more)

    def widest(self, square: float) -> float:
        """Return a bound on the deviation of C over S: above 1, since few calls vary more than S^2 says."""
        return float(np.sqrt(1 + self.slots.size * (1 / 12 if self.alleles else 1 / 2) / square))

    def exact(self, square: float, clip: float) -> tails.Survival:
        """Return the largest P(C / S >= t) of exact laws with S^2 = `square`, 0 < t <= clip.

        Everyone's alleles, or with people drawn whole only pairs of them: of all laws with one S^2 those with
        the largest steps. Cases are as rare or frequent as missing calls can make them.
        """
        if square < _COARSE * self.most**2:
            return self.proved(square, clip)
        near = _NEAR * self.most / float(np.sqrt(square))
        laws = [self._law(square, clip, *mix) for mix in self._mixes(square)]

        def largest(t: NDArray[np.float64]) -> NDArray[np.float64]:
            bound = _ROOM * np.max([law(t / part) for law, part in laws], axis=0)
            return np.where(t < near, 1.0, np.minimum(bound, 1.0))

        return largest

    def _law(
        self, square: float, clip: float, share: float, called: float, part: float
    ) -> tuple[tails.Survival, float]:
        """Return the law with a share of cases among those called, and its deviation as a part of S."""
        units = round(float(self.slots.sum()) * called * (2 if self.alleles else 1))
        needed = self._needed(square * part * part, units)
        rare = lesser_share(4 * needed)
        share = min(max(share, rare), 1 - rare)
        own = min(max(round(units * share), 1), units - 1)
        yes = max(1, round(units * lesser_share(needed / (share * (1 - share)))))
        return hypergeometric_tail(own, units - own, (yes, yes + 1), clip / part), part

    def _needed(self, square: float, units: float) -> float:
        """Return f (1 - f) p (1 - p) of a law with this variance."""
        return square * (units - 1) / (units * self.most) ** 2

    def _mixes(self, square: float) -> list[tuple[float, float, float]]:
        """Return what to try: a share of cases, who is called, the deviation of C as a part of S."""
        units = float(self.slots.sum()) * (2 if self.alleles else 1)
        even = lesser_share(float(np.sqrt(self._needed(square, units))))
        if self.uneven is None:
            some = np.linspace(even, 1 - even, 9)
            return [(float(share), 1.0, 1.0) for share in some]
        mixes: set[tuple[float, float, float]] = set()
        for people, uneven in zip(self.slots.tolist(), self.uneven.tolist(), strict=True):
            typed = float(padded(np.array(people))[0]) / people
            for called in (1.0, *(typed * share for share in _CALLED)):
                apart = min((uneven / people + 1 - called) / called, 1.0)
                lacking, variance = max(1 - called / typed, 0.0), 1 - apart * apart
                part = float(np.sqrt(variance / (variance * (1 - lacking) + lacking))) if variance else 1.0
                low = (1 - apart) / 2
                for share in {low, min(max(low, even), 0.5)}:
                    mixes |= {(share, called, part), (1 - share, called, part)}
        return sorted(mixes)

    def skew(self, square: float) -> float:
        """Return a bound on E C^3 / (most * S^2) wherever S^2 is at least `square`."""
        slots = self.slots
        largest = float(np.sum(slots**2 / ((2 if self.alleles else 1) * slots - 1))) / 4
        share = min(square / largest, 2 / 3)
        lopsided = (largest * share * float(np.sqrt(1 - share)) + slots.size) / square
        if self.uneven is None:
            return min(1.0, lopsided)
        return min(1.0, lopsided, self._designed + _SLIGHT * slots.size / square)

    @cached_property
    def _designed(self) -> float:
        """The largest share of cases less controls, times the share of S^2 that is variance, by stratum."""
        assert self.uneven is not None  # noqa: S101  asked only where it is public
        return max(map(_most_uneven, self.slots.tolist(), self.uneven.tolist()))


def _most_uneven(people: float, uneven: float) -> float:
    """Return the bound for one stratum, whichever calls are missing."""
    typed = float(padded(np.array(people))[0])
    full = min(1.0, (uneven + people - typed) / (typed - 2))
    edges = np.linspace(min(_FEW, typed), typed, _CELLS + 1)
    low, high = edges[:-1, None], edges[1:, None]
    more = np.linspace(0, 1, _CELLS + 1)
    less = more[:-1]
    # Cell by cell, each term at the end where it is largest.
    variance = 1 - (less * (1 - 2 / low)) ** 2
    value = more[1:] * variance / (variance * high / typed + 1 - high / typed) * low / (low - 1)
    possible = less <= (uneven + people - low) / (low - 2)
    return max(full, float(np.max(np.where(possible, np.minimum(value, more[1:]), 0.0))))
