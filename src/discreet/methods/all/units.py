"""What the estimates are, exactly: a function of numbers that are public once learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.reading import Columns, Scaling

RATES = "difference of rates"
MEANS = "difference of means"
PERCENTILES = "difference of mean percentiles"


def units(scaling: Scaling, columns: Columns) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return what the whole range of each column's entries is worth, and what differences are called.

    Rates of answers. Means of numbers with bounds: where a narrower range was learned, of numbers cut to it,
    which the name says. Numbers without bounds count by their percentile on a curve through three learned
    quartiles, which the name gives: 0.25 at the first, 0.5 at the second, 0.75 at the third, normal on each
    side. About P(larger) - 1/2, and this exactly if the curve is that of everybody's numbers.
    """
    unit = np.ones(scaling.centre.size)
    names = [RATES] * unit.size
    for place, low, high in zip(columns.bounded.tolist(), columns.low, columns.high, strict=True):
        centre, reach = scaling.centre[place], scaling.below[place]
        unit[place] = 2 * reach
        inside = centre - reach <= low and centre + reach >= high
        ends = f"{max(centre - reach, low):.4g} to {min(centre + reach, high):.4g}"
        names[place] = MEANS if inside else f"{MEANS}, cut to {ends}"
    for place in columns.free.tolist():
        centre, below, above = scaling.centre[place], scaling.below[place], scaling.above[place]
        quartiles = f"{centre - below:.4g}, {centre:.4g} and {centre + above:.4g}"
        names[place] = f"{PERCENTILES}, quartiles {quartiles}"
    return unit, tuple(names)
