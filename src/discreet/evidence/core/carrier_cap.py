"""The influence cap of carriers in public strata: one public number bounds what one person does to z.

z = N / max(S0, a / D) summed over strata; docs/proofs/association.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core.cap import Cap
from discreet.evidence.core.genetic import SMALL

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMMON, RARE = 0.15, 0.05  # allele frequencies left as they are: with few people, and with many
FEW_CASES = 0.1  # the smallest share of cases left as it is with many people, where nothing is declared
_LEAST = 24  # people in a stratum; the proof asks for so many
_PART = 0.45  # a stratum missing more than about a tenth of its calls may weigh more


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
