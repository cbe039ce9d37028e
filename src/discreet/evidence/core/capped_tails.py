"""Tails of z = N/S with a capped S, whoever is present: of ranks and of answers."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.evidence.core import tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.cap import Cap

NEAR_NORMAL = 1.02  # the slope of scores whose law is nearly normal: they climb hardly faster than z
_CELLS = 8  # of the share of the larger group among those present


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
