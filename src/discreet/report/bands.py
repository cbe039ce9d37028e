"""Dots with bands: what the pictures of a release show of each discovery, and what it means in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.intervals import of_discoveries
from discreet.report.markup import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.report.release import Release
    from discreet.report.values import Values

_WIDE = 2  # noise standard deviations to each side, about 95% of Gaussian and of Laplace noise
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
    with np.errstate(over="ignore", invalid="ignore"):
        reach = _WIDE * values.noise
        each = _triples(values.noisy - reach, values.noisy, values.noisy + reach)
    about = (
        f"Each dot is a released value ({shown(values.name)}), noise included; its band reaches "
        f"{_WIDE} standard deviations of that noise ({deviation(values)}) to either side and covers "
        f"about 95% of it. {BEYOND}"
        if each
        else ""
    )
    reaches = f"each band is {_WIDE} standard deviations of the added noise to either side."
    return Bands(values.name, "bands of noise", reaches, about, each)


def _intervals(release: Release) -> Bands:
    """Return estimates over their standard errors: columns have units of their own."""
    numbers = of_discoveries(release)
    with np.errstate(all="ignore"):
        scaled = (numbers[name] / numbers["standard_error"] for name in ("low", "estimate", "high"))
        each = _triples(*scaled)
    about = (
        "Each dot is an estimate divided by its standard error, of sampling and privacy noise together, for "
        "columns have units of their own; its band is the interval of the table."
    )
    return Bands("estimate in standard errors", "intervals", "each band is its interval.", about, each)


def _triples(*columns: NDArray[np.float64]) -> list[tuple[float, float, float]]:
    return [(float(low), float(dot), float(high)) for low, dot, high in zip(*columns, strict=True)]
