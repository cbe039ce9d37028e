"""The exact upper tail of a yes/no column against a group drawn by lot, at given numbers of yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core.tails import log_choose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from discreet.evidence.core.tails import Survival

_OUTWARD = 1.0 + 1e-5  # covers the rounding of log-gamma


def lot_tail(own: int, other: int, numbers_of_yes: Iterable[int], clip: float) -> Survival:
    """Return t -> the largest P(z >= t) over some numbers of yes, for 0 < t <= clip.

    z is how many yes are in the group of `own`, beside `other` people, standardised. For each number of yes
    the exact tail is a staircase in t; the chords through its upper corners lie above it.
    """
    people = own + other
    tried = [_corners(own, other, yes, clip) for yes in numbers_of_yes if 0 < yes < people]

    def largest(t: NDArray[np.float64]) -> NDArray[np.float64]:
        log_p = np.full(t.shape, -np.inf)
        for z, log_tail in tried:
            # Left of the first corner the tail is at most 1, right of the last it is 0.
            log_p = np.maximum(log_p, np.interp(t, z, log_tail, left=0.0, right=-np.inf))
        return np.minimum(np.exp(log_p) * _OUTWARD, 1.0)

    return largest


def _corners(own: int, other: int, yes: int, clip: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners (z_T, log P(T or more)) of one tail, from just under 0 to past the clip."""
    people = own + other
    centre = own / people * yes
    deviation = float(np.sqrt(own * other / people**2 * yes * (people - yes) / (people - 1)))
    low = max(0, yes - other, int(np.floor(centre)) - 1)
    # The mass beyond falls at least as fast as at the clip: what is left out is below 1e-20 of the last.
    reach = clip * deviation + 60 * (1 + deviation / clip)
    high = min(own, yes, int(np.ceil(centre + reach)))
    count = np.arange(low, high + 1, dtype=np.float64)
    mass = np.exp(
        log_choose(float(own), count)
        + log_choose(float(other), yes - count)
        - log_choose(float(people), np.array(float(yes)))
    )
    tail = np.cumsum(mass[::-1])[::-1]
    kept = tail > 0
    return (count[kept] - centre) / deviation, np.log(np.minimum(tail[kept], 1.0))
