"""The influence cap: z = N/S, S never below one person's pull on N over a public number; and tails of z."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.evidence.core import tails
from discreet.evidence.core.scores import EVEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELLS = 8  # of the share of the larger group among those present
_MOST = 1.0  # a larger influence could find nothing, and the proof asks for this much


@dataclass(frozen=True, slots=True)
class Cap:
    """What one person may do to z = N / max(S0, pull / influence): raise it by influence + grow * z at most.

    All of it is public, made from about how many people are in the two groups: a wrong number costs power,
    never privacy. Proof: docs/proofs/compare.md.

    Attributes
    ----------
    influence : float
        The most a score of 0 moves. A column whose own pull / S0 is smaller is left as it is.
    grow : float
        How much more per unit of z: S itself moves.
    share : float
        About the share of the larger group.
    protected : bool
        Whether the label of a person is protected: S must then move little when somebody changes the group.
    """

    influence: float
    grow: float
    share: float
    protected: bool

    def of_ranks(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return S of U - n1 n2 / 2, for the people present in each group; shape (m,)."""
        least = 4 / self.influence**2 if self.protected else 1.0
        pull = np.maximum(np.maximum(first, second), least)
        return np.maximum(np.sqrt(first * second * (first + second + 1) / 12), pull / self.influence)

    def of_answers(
        self, first: NDArray[np.float64], second: NDArray[np.float64], yes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return S of T - X n2 / N, T of X yes being in the second group, N people present; shape (m,)."""
        people = np.maximum(first + second, 1.0)
        return self.of_means(first, second, yes / people, yes * (people - yes) / people)

    def of_means(
        self,
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        mean: NDArray[np.float64],
        variation: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return S of the same for values in [0, 1], of this mean and sum of squares about it; shape (m,)."""
        people = np.maximum(first + second, 1.0)
        return self.of_products(people, second / people, first * second / people, mean, variation)

    def of_products(
        self,
        people: NDArray[np.float64],
        label_mean: NDArray[np.float64],
        label_variation: NDArray[np.float64],
        mean: NDArray[np.float64],
        variation: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return S of the sum of products about the means, label and value in [0, 1]; shape (m,)."""
        pull = np.maximum(np.maximum(label_mean, 1 - label_mean), self.share)
        if self.protected:
            pull = np.maximum(pull, np.maximum(mean, 1 - mean))
            pull = np.maximum(pull, np.minimum(1.0, 4 / (self.influence**2 * people)))
        known = label_variation * variation / np.maximum(people - 1, 1.0)
        return np.maximum(np.sqrt(np.maximum(known, 0.0)), pull / self.influence)


def cap_at(first: float, second: float, deviation: float, *, protected: bool) -> Cap:
    """Return the cap that leaves columns of this deviation alone: yes or no, or values in [0, 1]."""
    share = max(first, second) / (first + second)
    pull = 1.0 if protected else share
    influence = min(_MOST, pull / (deviation * sqrt(first * second / (first + second))))
    return _of_products(influence, share, protected=protected)


def cap_of_numbers(people: float, deviation: float | None) -> Cap:
    """Return the cap of two protected numbers in [0, 1] that leaves columns of this deviation alone.

    If None, it is between .1 and .25, lower for more people: more influence than .1 costs power at every
    cutoff, less only helps columns that vary little.
    """
    at = sqrt(people - 1) / people
    wanted = at / deviation**2 if deviation is not None else min(max(0.1, at / 2 / 0.25**2), at / 0.1**2)
    return _of_products(min(_MOST, wanted), 0.5, protected=True)


def caps(first: float, second: float, *, protected: bool) -> tuple[Cap, Cap]:
    """Return the cap for numbers and that for answers, when about so many people are in the two groups.

    Ranks of columns without missing values are left as they are. With public labels ranks move by no more
    than the influence, rare answers by more: their cap is lower, so that both move a score of `EVEN` alike.
    """
    many = max(first, second)
    share = many / (first + second)
    influence = min(_MOST, many / sqrt(first * second * (first + second + 1) / 12))
    if protected:
        cap = _of_products(influence, share, protected=True)
        return cap, cap
    rare = (sqrt(1 + 2 * EVEN * influence) - 1) / EVEN  # rare + EVEN * rare^2 / 2 = influence
    return Cap(influence, 0.0, share, protected=False), _of_products(rare, share, protected=False)


def _of_products(influence: float, share: float, *, protected: bool) -> Cap:
    square = influence * influence
    grow = sqrt(1 + (square / 2 + square * square / 2 if protected else square)) - 1
    return Cap(influence, grow, share, protected)


def ranks_tail(cap: Cap, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the tail of z of ranks, whatever the ties: normal, with room for half a step of a lattice."""
    return tails.normal(t - cap.influence / 2)


def answers_tail(cap: Cap, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the tail of z of answers: a centred Poisson variable's, as skewed as z can be.

    With room for half a step, influence/share at most, and for a median on the other side of 0.
    """
    mean = 1 / cap.influence**2
    places = mean + t / cap.influence + 1 / 6 - 1 / (2 * cap.share)
    return np.asarray(scipy.special.gammainc(np.maximum(places, 1e-9), mean), dtype=np.float64)


def proved_answers_tail(cap: Cap, top: float) -> tails.Survival:
    """Bound P(z >= t) of answers up to `top`: sums of independent coins; docs/proofs/two-by-two.md.

    With a the larger share among those present, coins count at most D/a in z, and their third moments add up
    to at most (2 - 1/a) D: the largest bound over cells of a, each at its worse ends.
    """
    shares = np.geomspace(cap.share, 1.0, _CELLS + 1).tolist() if cap.share < 1 else [1.0, 1.0]
    bounds = [
        tails.skewed_sum(cap.influence / low, low * (2 - 1 / high), top) for low, high in pairwise(shares)
    ]

    def survival(t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.max([bound(t) for bound in bounds], axis=0)

    return survival
