"""What was told, handed to the proved p-values: which sums are of what, and where entries lie."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.proved import Noisy, proved_p_values, two_valued_squares
from discreet.methods.all.reading import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.measure import Learned, Measured
    from discreet.methods.all.noisy import Noisy as Sums


def proved_p(people: People, known: Learned, told: Measured, failure: float) -> NDArray[np.float64]:
    """Return proved p-values from sums of unclipped rows, 0 where an entry is missing.

    `failure` is the chance, for each column, that a bound on a number told beside the contrast is wrong.
    """
    rows, groups, share = known.rows, known.groups, known.share
    scale = rows.scale * FINE
    size = np.trunc(np.minimum(rows.scale, rows.most) * FINE) / FINE
    end = rows.most * FINE
    low = np.where(
        rows.answers, -rows.middle / FINE, np.trunc(np.clip(-rows.centre * scale, -end, 0.0)) / FINE
    )
    high = np.where(
        rows.answers, size - rows.middle / FINE, np.trunc(np.clip((1 - rows.centre) * scale, 0.0, end)) / FINE
    )
    question = known.columns.question
    missing, absent = (_noisy(sums, question) for sums in (told.missing, told.absent))
    everyone = groups.second * (1 - share) - groups.first * share
    spread = groups.deviation**2 * ((1 - share) ** 2 + share**2)
    labels = Noisy(everyone, spread, 0.5 if groups.deviation else 0.0) - missing
    present = Noisy(groups.first + groups.second, 2 * groups.deviation**2, 1.0) - absent
    level = known.means.mean
    rate = np.where(rows.answers, np.where(rows.turned, 1 - level, level), 0.0)
    usual = np.where(rows.answers, rate * (1 - rate) * size**2, (rows.scale * known.scaling.spread) ** 2)
    total = _noisy(told.sums)
    p_value = partial(
        proved_p_values,
        _noisy(told.contrast),
        total=total,
        squares=_sharper(_noisy(told.squares), two_valued_squares(total, present, low, high), rows.answers),
        labels=labels,
        present=present,
        share=share,
        low=low,
        high=high,
        expected=np.maximum(usual, 1e-3) * known.means.present,
        failure=failure,
        two_valued=rows.answers,
    )
    p = p_value(alternative=people.alternative)
    if people.alternative == "two-sided" or not rows.turned.any():
        return p
    turned = p_value(alternative="less" if people.alternative == "greater" else "greater")
    return np.where(rows.turned, turned, p)


def _sharper(measured: Noisy, followed: Noisy, answers: NDArray[np.bool_]) -> Noisy:
    """Return the sums of squares: as measured, or of answers as they follow from sums if that is sharper."""
    better = answers & np.less(followed.variance, measured.variance)
    return Noisy(
        np.where(better, followed.value, measured.value),
        np.where(better, followed.variance, measured.variance),
        np.where(better, followed.slack, measured.slack),
    )


def _noisy(sums: Sums, places: NDArray[np.intp] | slice = slice(None)) -> Noisy:
    return Noisy(sums.sums[places], sums.deviation**2, sums.unit / 2)
