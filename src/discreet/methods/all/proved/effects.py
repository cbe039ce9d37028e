"""After the draw: how large differences are, with the error that they have under the truth, not the null."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.methods.all.proved.sums import ProvedSums

    Floats = NDArray[np.float64]

_LEAST = 1.0  # degrees of freedom
_EDGE = 1e-3  # shares of the groups stay this far from 0 and 1


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """Differences between the groups, second less first, in units of the column; shape (m,) each.

    `error` is the standard error, sampling and privacy noise together, `noise` the part that privacy adds;
    `degrees` those of the t distribution that (estimate - truth)/error is referred to; `deviation` is the
    standard deviation inside the groups.
    """

    estimate: Floats
    error: Floats
    noise: Floats
    degrees: Floats
    deviation: Floats

    @classmethod
    def joined(cls, parts: Sequence[Effects]) -> Effects:
        """Return those of several tables, one after the other."""
        return cls(
            *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Effects))
        )


def effects(sums: ProvedSums) -> Effects:
    """Return the differences among those present; groups may differ in spread, and in who is missing.

    With n people present, a share h of them in the second group, the contrast U - D S/n is n h (1-h) times
    the difference of means, and its variance n h (1-h) ((1-h) s1 + h s0), s1 and s0 the groups' variances.
    """
    noisy, size = sums.noisy_sums(), sums.size
    n = np.maximum(noisy.present.sums, 2.0)
    mean, drift = noisy.total.sums / n, noisy.labels.sums / n
    part = np.clip(noisy.share + drift, _EDGE, 1 - _EDGE)
    weight = n * part * (1 - part)
    contrast = noisy.contrast.sums - noisy.labels.sums * mean
    apart = contrast / weight
    noise = (
        np.square(noisy.contrast.deviation)
        + np.square(noisy.labels.deviation * mean)
        + np.square(noisy.total.deviation * drift)
    )
    means = (mean - part * apart, mean + (1 - part) * apart)
    # Of answers the rates tell the variances; of numbers the sums of squares of each group do.
    rates = [np.clip((each - noisy.low) / size, 0.0, 1.0) for each in means]
    spread = [rate * (1 - rate) * size**2 for rate in rates]
    slope = np.abs(noisy.low + noisy.high) * noisy.total.deviation
    doubt = noisy.share * (1 - noisy.share) * slope
    if sums.squares is not None and sums.uneven is not None:
        at = sums.numbers
        second = np.maximum(sums.uneven.sums + noisy.share * sums.squares.sums, 0.0)
        first = np.maximum(sums.squares.sums - second, 0.0)
        people = n * part
        spread[1][at] = second / people[at] - means[1][at] ** 2
        spread[0][at] = first / (n - people)[at] - means[0][at] ** 2
        each = np.hypot(
            (1 - 2 * part[at]) * sums.uneven.deviation, (part * (1 - part))[at] * sums.squares.deviation
        )
        doubt = np.where(noisy.two_valued, doubt, 0.0)
        doubt[at] = each
    sampling = weight * np.maximum((1 - part) * spread[1] + part * spread[0], 0.0)
    variance = sampling + noise
    degrees = np.maximum(2 * (variance / np.maximum(doubt, 1e-300)) ** 2, _LEAST)
    unit = sums.unit / (weight * size)
    inside = np.sqrt(np.maximum((1 - part) * spread[0] + part * spread[1], 0.0)) * sums.unit / size
    return Effects(contrast * unit, np.sqrt(variance) * unit, np.sqrt(noise) * unit, degrees, inside)
