"""What the estimates are, exactly: a function of numbers that are public once learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.reading import Columns, Scaling

RATES = "difference of rates"
MEANS = "difference of means"


def units(scaling: Scaling, columns: Columns) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return what the whole range of each column's entries is worth, and what differences are called.

    Rates of answers, and means of numbers: of numbers cut to the range that was learned, which the name then
    says, unless it has all of the bounds inside.
    """
    unit = np.ones(scaling.centre.size)
    names = [RATES] * unit.size
    bounds = dict(zip(columns.bounded.tolist(), zip(columns.low, columns.high, strict=True), strict=True))
    for place in columns.numbers.tolist():
        centre, reach = float(scaling.centre[place]), float(scaling.reach[place])
        low, high = bounds.get(place, (-np.inf, np.inf))
        unit[place] = 2 * reach
        inside = centre - reach <= low and centre + reach >= high
        ends = f"{max(centre - reach, low):.4g} to {min(centre + reach, high):.4g}"
        names[place] = MEANS if inside else f"{MEANS}, cut to {ends}"
    return unit, tuple(names)
