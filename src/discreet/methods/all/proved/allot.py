"""How wide the entries of each question are in a row: precision goes where it lets the most be found.

A block of width x costs cost * x^2 of the squared sensitivity, and the noise of its contrasts in their own
units falls as 1/x. At the best division of a fixed sum every block's part of the cost is in proportion to
what one per cent more of it would let be found. Everything here is public.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.proved.rows import cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.people import Question

    Floats = NDArray[np.float64]

_STRENGTHS = np.array([3.0, 4.0, 6.0, 9.0, 14.0, 20.0])  # z scores without privacy, of common answers
_NEEDED = 2.9  # the z score of a discovery, about
_ROUNDS = 40
_LEAST = 0.02  # of an even part: no question is given up


def widths(
    questions: Sequence[Question], mean: Floats, spread: Floats, *, people: float, share: float, rho: float
) -> Floats:
    """Return the width of each question's entries, the largest 1.

    Parameters
    ----------
    questions : sequence of Question
        What is asked.
    mean, spread : arrays of float, shape (m,)
        Of each column's entries, as shares of their range; of answers `spread` is not looked at.
    people, share, rho : float
        About how many people, the share of the second group, and what the contrasts may spend.
    """
    price = np.array([cost(mean[asked.places])[0] for asked in questions])
    which = np.repeat(np.arange(price.size), [mean[asked.places].size for asked in questions])
    answers = np.array([asked.answers for asked in questions])[which]
    rate = np.clip(mean, 0.5 / math.sqrt(max(people, 4.0)), None)
    rate = np.minimum(rate, 1 - rate)
    deviation = np.where(answers, np.sqrt(np.maximum(rate * (1 - rate), 1e-6)), spread)
    strength = np.where(answers, 2 * deviation, 1.0)  # the same odds ratio shows less in a rare answer
    size = max(people, 4.0) * share * (1 - share)
    noise = max(share, 1 - share) ** 2 / (2 * rho * size)  # of a contrast, if the squared sensitivity is 1
    part = price / price.sum()
    for _ in range(_ROUNDS):
        width = (part / price)[which]
        more = noise / (width * deviation**2)
        seen = _STRENGTHS[:, None] * strength / np.sqrt(1 + more)
        gain = np.sum(np.exp(-0.5 * (seen - _NEEDED) ** 2) * seen, axis=0) * more / (1 + more)
        bought = np.bincount(which, gain, minlength=price.size)
        bought = bought / max(float(bought.sum()), 1e-300) + _LEAST / price.size
        part = np.sqrt(part * bought)
        part /= part.sum()
    width = np.sqrt(part / price)
    return width / width.max()
