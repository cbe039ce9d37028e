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

from discreet.methods.all.geometry import Ball, Balls, boxes_of, reach_of
from discreet.methods.all.reading import FINE, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.learn import Means
    from discreet.methods.all.reading import Columns, Scaling

_ENTRIES = (2.5, 3.5, 5.0, 7.0, 10.0, 15.0)  # the largest scaled entries that are considered
_EVENNESS = (1.0, 0.7, 0.4, 0.0)  # 1: every column has deviation 1; 0: an answer is an answer
_STRENGTHS = np.array([3.0, 4.0, 6.0, 9.0, 14.0, 20.0])  # z scores without privacy, of common answers
_NEEDED = 2.7  # the z score of a discovery, about


def scaled_rows(
    people: People,
    means: Means,
    scaling: Scaling,
    columns: Columns,
    size: float,
    shares: NDArray[np.float64],
    rho: float,
) -> Rows:
    """Return the rows around these means, scaled so that the most columns would be discovered.

    `size` is about the number of people; noise is that of a contrast measured with `rho`.
    """
    mean = means.mean
    # A rate is not taken to be smaller than what noise and chance could hide.
    doubt = np.minimum(np.maximum(0.5 / math.sqrt(max(size, 4.0)), means.doubt / means.present), 0.5)
    answers = np.zeros(mean.size, dtype=np.bool_)
    answers[columns.answers] = True
    turned = answers & (mean > 0.5)
    centre = np.where(turned, 1 - mean, mean)
    rate = np.clip(centre, doubt, 0.5)
    deviation = np.where(answers, np.sqrt(rate * (1 - rate)), scaling.spread)
    typical = float(np.exp(np.mean(np.log(deviation))))
    protected = people.protect == "everything"
    # The same odds ratio shows less in a rare answer.
    strength = np.where(answers, 2 * deviation, 1.0)

    balance = float(np.mean(shares * (1 - shares)))

    def rows(evenness: float, most: float) -> Rows:
        scale = (typical / deviation) ** evenness / typical
        return Rows(centre, np.where(answers, np.minimum(scale, most), scale), most, answers, turned)

    def worth(option: Rows) -> float:
        weight = (option.scale * deviation) ** 2
        boxes = boxes_of(people, option)
        # Rows as long as they are on average, and a little more.
        lengths = ((norm / FINE) ** 2 for norm in usual_norms(option, scaling))
        first, second = (
            Ball(FINE * math.sqrt(1.25 * part + 1), box.entry)
            for part, box in zip(lengths, boxes, strict=True)
        )
        moved = reach_of(boxes, Balls(first, second), shares, answers, protected=protected).contrast / FINE
        noise = moved**2 / (2 * rho * size * balance)
        seen = _STRENGTHS[:, None] * strength / np.sqrt(1 + noise / weight)
        return float(np.sum(ndtr(seen - _NEEDED)))

    return max((rows(*option) for option in product(_EVENNESS, _ENTRIES)), key=worth)


def usual_norms(rows: Rows, scaling: Scaling) -> tuple[float, float]:
    """Return about how long the answers and the numbers of a row are, in steps."""
    answers = float(np.sum((rows.centre * rows.scale**2)[rows.answers]))
    numbers = float(np.sum((scaling.spread * rows.scale)[~rows.answers] ** 2))
    return FINE * math.sqrt(answers), FINE * math.sqrt(numbers)
