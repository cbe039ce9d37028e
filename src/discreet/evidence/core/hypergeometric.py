"""A yes/no column against a public group, over every possible number of yes: influence and tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core.tails import log_choose

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MARGINS = 200  # at most so many numbers of yes are tried in a range; their tails change smoothly
_CHUNK = 2**18
_OUTWARD = 1.0 + 1e-5  # covers the rounding of log-gamma


@dataclass(frozen=True, slots=True)
class Margins:
    """The upper side for a group of `own` beside `other` people; `floor` is the smallest sharp rate."""

    own: int
    other: int
    floor: float

    @property
    def people(self) -> int:
        """Everyone."""
        return self.own + self.other

    def deviation(self, yes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the hypergeometric standard deviation at each number of yes, floored."""
        people = self.people
        share = self.own / people
        spread = np.maximum(yes * (people - yes), people * people * self.floor * (1 - self.floor))
        return np.sqrt(share * (1 - share) * spread / (people - 1))

    def statistic(self, own_yes: NDArray[np.float64], yes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z for counts of yes in the group and in all."""
        return (own_yes - self.own / self.people * yes) / self.deviation(yes)

    def influence(self, clip: float) -> float:
        """Return the most z, clipped to [0, clip], moves when one person's answer changes; enumerated.

        One person's yes takes (T, S) to (T + 1, S + 1) in the group, to (T, S + 1) outside it. For each S the
        change is piecewise linear in T, with corners where an end of the pair meets a clip, so corners and
        ends of the range of T are enough.
        """
        worst = 0.0
        for start in range(0, self.people, _CHUNK):
            yes = np.arange(start, min(start + _CHUNK, self.people), dtype=np.float64)
            before, after = self.deviation(yes), self.deviation(yes + 1)
            centre = self.own / self.people * yes
            for gain, low, high in (
                (1.0, np.maximum(0, yes - self.other), np.minimum(self.own - 1, yes)),
                (0.0, np.maximum(0, yes - self.other + 1), np.minimum(self.own, yes)),
            ):
                step = gain - self.own / self.people
                corners = (
                    low,
                    high,
                    centre,
                    centre + clip * before,
                    centre - step,
                    centre - step + clip * after,
                )
                for corner in corners:
                    at = np.minimum(np.maximum(corner, low), high)
                    z = np.clip((at - centre) / before, 0, clip)
                    moved = np.clip((at - centre + step) / after, 0, clip)
                    change = np.where(low <= high, np.abs(moved - z), 0.0)
                    worst = max(worst, float(np.max(change)))
        return worst

    def survival(
        self, clip: float, fewest: int, most: int
    ) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """Return t -> the largest P(z >= t) over numbers of yes in fewest..most, for 0 < t <= clip.

        For each number of yes the exact tail is a staircase in t; the chords through its upper corners lie
        above it. Where only some numbers of yes are tried, the curve lies above the others' too: tails change
        smoothly from one number of yes to the next, but for a cusp at the floor, which is tried.
        """
        fewest, most = max(fewest, 1), min(most, self.people - 1)
        tried = {*_between(fewest, most)} | {yes for yes in self._cusps() if fewest <= yes <= most}
        curve = _chords if len(tried) > most - fewest else _over_corners

        def largest(t: NDArray[np.float64]) -> NDArray[np.float64]:
            log_p = np.full(t.shape, -np.inf)
            for yes in sorted(tried):
                log_p = np.maximum(log_p, curve(t, *self._tail(yes, clip)))
            return np.minimum(np.exp(log_p) * _OUTWARD, 1.0)

        return largest

    def knots(self) -> list[int]:
        """Return numbers of yes, from 0 to everyone, between which the tail changes little."""
        people = self.people
        half, edge = people // 2, max(1, round(people * self.floor))
        rising = [edge]
        while 2 * rising[-1] < half:
            rising.append(2 * rising[-1])
        return sorted({0, *rising, half, *(people - knot for knot in rising), people})

    def _cusps(self) -> set[int]:
        """Return the numbers of yes beside the floor: the deviation stops falling, tails are largest."""
        edge = self.people * self.floor
        few = {int(np.floor(edge)), int(np.ceil(edge))}
        return {yes for one in few for yes in (one, self.people - one) if 0 < yes < self.people}

    def _tail(self, yes: int, clip: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return one margin's corners (z_T, log P(T or more)), from just under 0 to past the clip."""
        centre = self.own / self.people * yes
        deviation = float(self.deviation(np.array(float(yes))))
        low = max(0, yes - self.other, int(np.floor(centre)) - 1)
        # The mass beyond falls at least as fast as at the clip: what is left out is below 1e-20 of the last.
        reach = clip * deviation + 60 * (1 + deviation / clip)
        high = min(self.own, yes, int(np.ceil(centre + reach)))
        count = np.arange(low, high + 1, dtype=np.float64)
        mass = np.exp(
            log_choose(float(self.own), count)
            + log_choose(float(self.other), yes - count)
            - log_choose(float(self.people), np.array(float(yes)))
        )
        tail = np.cumsum(mass[::-1])[::-1]
        kept = tail > 0
        return (count[kept] - centre) / deviation, np.log(np.minimum(tail[kept], 1.0))


def _chords(
    t: NDArray[np.float64], z: NDArray[np.float64], log_tail: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the chords through the corners of one staircase, which lie above it."""
    # Left of the first corner the tail is at most 1, right of the last it is 0.
    return np.interp(t, z, log_tail, left=0.0, right=-np.inf)


def _over_corners(
    t: NDArray[np.float64], z: NDArray[np.float64], log_tail: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a curve over the corners of one staircase: over every concave one through them.

    log P(T or more) is concave in T, and the corners of nearby numbers of yes lie on a like curve between
    these. Chords would pass under it; the neighbouring chords, prolonged, meet above it.
    """
    slope = np.diff(log_tail) / np.diff(z)
    at = np.clip(np.searchsorted(z, t, side="right") - 1, 0, z.size - 1)
    onward = log_tail[at] + np.append(0.0, slope)[at] * (t - z[at])
    following = np.minimum(at + 1, z.size - 1)
    # Nothing comes back from beyond the last corner: there the chord onward alone is over the curve.
    steep = np.append(slope[1:], [0.0, 0.0])[at]
    back = np.where(steep < 0, log_tail[following] + steep * (t - z[following]), 0.0)
    return np.where(t < z[0], 0.0, np.where(t > z[-1], -np.inf, np.minimum(onward, back)))


def _between(fewest: int, most: int) -> list[int]:
    if most - fewest < MARGINS:
        return list(range(fewest, most + 1))
    few = np.geomspace(fewest, most, MARGINS // 2)
    even = np.linspace(fewest, most, MARGINS // 2)
    return sorted({round(float(one)) for one in (*few, *even)})
