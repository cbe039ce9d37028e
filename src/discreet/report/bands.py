"""Dots with bands: what the pictures of a release show of each discovery, and what it means in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.asked import compared
from discreet.report.estimates import places
from discreet.report.intervals import of_discoveries, told_of
from discreet.report.markup import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.report.release import Release
    from discreet.report.values import Values

_WIDE = 2  # noise standard deviations to each side, about 95% of Gaussian and of Laplace noise
_ALIKE = 1e-6  # noises this near to each other are one
_MOST = 1e300  # differences stay finite
BEYOND = "Sampling error comes on top, and the strongest of many tend to look stronger than they are."


@dataclass(frozen=True, slots=True)
class Bands:
    """One band (low, dot, high) for each discovery, in their order.

    `name` is what goes up the axis, `kind` what the bands are, `reach` how far they go and `about` all of it.
    """

    name: str
    kind: str
    reach: str
    about: str
    each: list[tuple[float, float, float]]

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of an axis that shows every band, and zero."""
        return min(0.0, *(low for low, _, _ in self.each)), max(0.0, *(high for _, _, high in self.each))


def bands_of(release: Release) -> Bands | None:
    """Return what to draw of the discoveries; None where there is nothing, or something is not finite."""
    if release.told is not None:
        bands = _intervals(release)
    else:
        bands = None if release.values is None else _noise(release.values)
    if bands is None or not bands.each or not (np.abs(bands.each) < _MOST).all():
        return None
    return bands


def deviation(values: Values) -> str:
    """Return the standard deviation of the noise, or from where to where it goes."""
    return " to ".join(dict.fromkeys(f"{sd:.3g}" for sd in (values.noise.min(), values.noise.max())))


def _noise(values: Values) -> Bands:
    """Return the values; over their noise where noises differ: columns then have units of their own."""
    noise = values.noise
    with np.errstate(all="ignore"):
        one = not noise.size or not (noise > 0).all() or float(np.ptp(noise)) <= _ALIKE * float(noise.max())
        scale = np.ones_like(noise) if one else noise
        reach = _WIDE * noise / scale
        each = _triples(values.noisy / scale - reach, values.noisy / scale, values.noisy / scale + reach)
    units = "" if one else ", divided by the standard deviation of its noise: columns have units of their own"
    about = (
        f"Each dot is a released value ({shown(values.name)}), noise included{units}; its band reaches "
        f"{_WIDE} standard deviations of that noise ({deviation(values)}) to either side and covers "
        f"about 95% of it. {BEYOND}"
        if each
        else ""
    )
    reaches = f"each band is {_WIDE} standard deviations of the added noise to either side."
    name = values.name if one else f"{values.name} over its noise"
    return Bands(name, "bands of noise", reaches, about, each)


def _intervals(release: Release) -> Bands:
    """Return estimates on one axis: in standard deviations of their columns.

    Where those are not known, in standard errors; estimates of one kind then stay as they are.
    """
    numbers, told = of_discoveries(release), told_of(release)
    scale, name = np.ones(len(release)), shown(" and ".join({*numbers["effect"]}), 40)
    per = ""
    if told.deviation is not None:
        scale, name = told.deviation[places(told, release.indices)], "difference in standard deviations"
        per = ", divided by the standard deviation of its column, so that all share one axis"
    if not np.isfinite(scale).all() or (told.deviation is None and len({*numbers["effect"]}) > 1):
        scale, name = numbers["standard_error"], "estimate in standard errors"
        per = ", divided by its standard error, for columns have units of their own"
    with np.errstate(all="ignore"):
        each = _triples(*(numbers[end] / scale for end in ("low", "estimate", "high")))
    groups = compared(release)
    side = "" if groups is None else f" Right of 0: higher, or more often, if {groups.whom}."
    about = f"Each dot is an estimate{per}; its band is the interval of the table.{side}"
    return Bands(name, "intervals", "each band is its interval.", about, each)


def _triples(*columns: NDArray[np.float64]) -> list[tuple[float, float, float]]:
    return [(float(low), float(dot), float(high)) for low, dot, high in zip(*columns, strict=True)]
