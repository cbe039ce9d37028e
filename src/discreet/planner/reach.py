"""How many people, how much epsilon, how large an effect: where the power passes a target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the target is reached.

    Attributes
    ----------
    value : float
        The point, or the end of the range that was searched.
    found : {"yes", "above", "below"}
        Whether it is the point, or lies above or below everything searched.
    """

    value: float
    found: str = "yes"

    def words(self, show: Callable[[float], str]) -> str:
        """Return the point in words, the number written by `show`."""
        return {"yes": "", "above": "more than ", "below": "less than "}[self.found] + show(self.value)


def grid(start: float, decades: int, steps: int = 8) -> list[float]:
    """Return points around `start`, that many decades to both sides, `steps` to a decade."""
    return [start * 10 ** (i / steps) for i in range(-decades * steps, decades * steps + 1)]


def reach(power: Callable[[float], float], points: Sequence[float], target: float, start: float) -> Reach:
    """Return where `power`, taken to rise, passes `target`: strides from `start`, bisection, interpolation.

    The last two points asked are neighbours on the grid; between them the power is taken as linear in the
    logarithm. Every question costs a simulation, so a good start is worth most.
    """
    seen: dict[int, float] = {}

    def enough(i: int) -> bool:
        seen[i] = power(points[i])
        return seen[i] >= target

    below, above = -1, len(points)
    at, stride = min(range(len(points)), key=lambda i: abs(math.log(points[i] / start))), 1
    while below < at < above:
        if enough(at):
            above, at = at, at - stride
        else:
            below, at = at, at + stride
        # Strides double while nothing but one side is known.
        stride = 2 * stride if below < 0 or above == len(points) else stride
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    if above == len(points):
        return Reach(points[-1], "above")
    if below < 0:
        return Reach(points[0], "below")
    weight = (target - seen[below]) / (seen[above] - seen[below])
    return Reach(math.exp((1 - weight) * math.log(points[below]) + weight * math.log(points[above])))
