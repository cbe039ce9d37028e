"""How much each column weighs in a person's row: what leaves the most to be found, by public numbers.

Columns of equal deviation share the noise evenly; where there is much noise, it pays to give more to those
that cost less, and rare answers cost the most.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.methods.all.geometry import Ball, Balls, boxes_of, pull_of, reach_of
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
_USUAL = (0.7, 5.0)
_CENTRED_FROM = (0.0, 0.05, 0.15, 0.3, 1.0)  # answers more frequent than this are centred
_COMMON = 0.03  # of the variance of a column: errors that all columns share would make false ones crowd


def scaled_rows(
    people: People,
    means: Means,
    scaling: Scaling,
    columns: Columns,
    size: float,
    shares: NDArray[np.float64],
    rho: float,
    unsure: float,
) -> Rows:
    """Return the rows around these means, scaled so that the most columns would be discovered.

    `size` is about the number of people; noise is that of a contrast measured with `rho`. Answers that are
    not centred are less far apart, but add to each contrast sum (y - f), known up to the variance `unsure`;
    centred ones are shorter, which counts where labels are protected.
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
    usual = rate.copy()  # of a question with several answers, that of the most frequent one
    for asked in people.questions:
        usual[asked.places] = np.max(rate[asked.places])

    def rows(evenness: float, most: float, centred: float) -> Rows:
        scale = (typical / deviation) ** evenness / typical
        parts = (answers, turned, answers & (usual >= centred))
        return Rows(centre, np.where(answers, np.minimum(scale, most), scale), most, *parts)

    def worth(option: Rows) -> float:
        weight = (option.scale * deviation) ** 2
        boxes = boxes_of(people, option)
        # Rows as long as they are on average, and a little more.
        lengths = ((norm / FINE) ** 2 for norm in usual_norms(option, scaling))
        first, second = (
            Ball(FINE * math.sqrt(1.25 * part + 1), box.entry)
            for part, box in zip(lengths, boxes, strict=True)
        )
        balls = Balls(first, second)
        moved = reach_of(boxes, balls, pull_of(shares, option.positive), protected=protected).contrast / FINE
        noise = moved**2 / (2 * rho * size * balance)
        common = (option.shift / FINE) ** 2 * unsure / (size * balance)
        if np.any(common > _COMMON * (noise + weight)):
            return -1.0
        seen = _STRENGTHS[:, None] * strength / np.sqrt(1 + noise / weight)
        return float(np.sum(ndtr(seen - _NEEDED)))

    centred = max(_CENTRED_FROM, key=lambda least: worth(rows(_USUAL[0], _USUAL[1], least)))
    best = max((rows(*option, centred) for option in product(_EVENNESS, _ENTRIES)), key=worth)
    return best if worth(best) >= 0 else replace(best, centred=answers)


def usual_norms(rows: Rows, scaling: Scaling) -> tuple[float, float]:
    """Return about how long both parts of a row are, in steps: without negative entries, and with."""
    variance = np.where(rows.answers, rows.centre * (1 - rows.centre), scaling.spread**2)
    squared = np.where(rows.positive, rows.centre, variance) * rows.scale**2
    parts = (float(np.sum(squared[part])) for part in (rows.positive, ~rows.positive))
    positive, signed = (FINE * math.sqrt(part) for part in parts)
    return positive, signed
