"""How much each column weighs in a person's row: what leaves the most to be found, by public numbers.

Columns of equal deviation share the noise evenly; where there is much noise, it pays to give more to those
that cost less, and rare answers cost the most.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.methods.all.geometry import box_of
from discreet.methods.all.reading import FINE, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.reading import Columns, Scaling

_ENTRIES = (2.5, 4.0, 6.0, 10.0, 15.0)  # the largest scaled entries that are considered
_EVENNESS = (1.0, 0.7, 0.4, 0.0)  # 1: every column has deviation 1; 0: an answer is an answer
_STRENGTHS = np.array([3.0, 4.0, 6.0, 9.0, 14.0, 20.0])  # z scores without privacy
_NEEDED = 2.7  # the z score of a discovery, about


def scaled_rows(
    people: People,
    mean: NDArray[np.float64],
    scaling: Scaling,
    columns: Columns,
    size: float,
    share: float,
    rho: float,
) -> Rows:
    """Return the rows around these means, scaled so that the most columns would be discovered.

    `size` is about the number of people; noise is that of a contrast measured with `rho`.
    """
    doubt = 0.5 / math.sqrt(max(size, 4.0))
    rate = np.clip(mean, doubt, 1 - doubt)[columns.answers]
    deviation = scaling.spread.copy()
    deviation[columns.answers] = np.sqrt(rate * (1 - rate))
    typical = float(np.exp(np.mean(np.log(deviation))))
    largest = np.maximum(mean, 1 - mean)[columns.answers]
    noise = max(share, 1 - share) ** 2 / (2 * rho * size * share * (1 - share))

    def rows(evenness: float, most: float) -> Rows:
        scale = (typical / deviation) ** evenness / typical
        scale[columns.answers] = np.minimum(scale[columns.answers], most / largest)
        return Rows(mean, scale, most)

    def worth(option: Rows) -> float:
        weight = (option.scale * deviation) ** 2
        ball = 4 * (1.05 * weight.sum() + option.most**2)
        apart = min(ball, (box_of(people, option).diameter / FINE) ** 2)
        seen = _STRENGTHS[:, None] / np.sqrt(1 + noise * apart / weight)
        return float(np.sum(ndtr(seen - _NEEDED)))

    return max((rows(*option) for option in product(_EVENNESS, _ENTRIES)), key=worth)
