"""What was told, handed to the proved p-values: which sums are of what, and where entries lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.proved import Noisy, proved_p_values
from discreet.methods.all.reading import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.measure import Learned, Measured
    from discreet.methods.all.noisy import Noisy as Sums

_FLIP = {"greater": "less", "less": "greater", "two-sided": "two-sided"}


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
    arguments = {
        "total": _noisy(told.sums),
        "squares": _noisy(told.squares),
        "labels": labels,
        "present": present,
        "share": share,
        "low": low,
        "high": high,
        "expected": np.maximum(usual, 1e-3) * known.means.present,
        "failure": failure,
        "two_valued": rows.answers,
    }
    contrast = _noisy(told.contrast)
    p = proved_p_values(contrast, **arguments, alternative=people.alternative)
    if people.alternative == "two-sided" or not rows.turned.any():
        return p
    turned = proved_p_values(contrast, **arguments, alternative=_FLIP[people.alternative])
    return np.where(rows.turned, turned, p)


def _noisy(sums: Sums, places: NDArray[np.intp] | slice = slice(None)) -> Noisy:
    return Noisy(sums.sums[places], sums.deviation**2, sums.unit / 2)
