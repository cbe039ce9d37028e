"""How far one person moves the scores: the public numbers of a selection, in numbers and in words."""

from __future__ import annotations

from discreet import check
from discreet.errors import InputError

_SENSITIVITIES = (2.0**-900, 2.0**900)  # a lattice of values fits around each, far from the ends of floats


def read_sensitivity(sensitivity: float) -> float:
    """Return `sensitivity` as a float above 0 that floats can work with."""
    return check.between(check.positive(sensitivity, "sensitivity"), "sensitivity", *_SENSITIVITIES)


def read_spread(spread: float | None, sensitivity: float) -> float:
    """Return max(d, 0) - min(d, 0) over one person's changes d: as given, or twice the sensitivity."""
    if spread is None:
        return 2.0 * sensitivity
    width = check.positive(spread, "spread")
    if not sensitivity <= width <= 2.0 * sensitivity:
        raise InputError(
            f"spread must lie between sensitivity and 2*sensitivity; got {width:g} for {sensitivity:g}: "
            "give sensitivity itself when one person moves all scores the same way"
        )
    return width


def words(sensitivity: float, spread: float) -> str:
    """Return which inputs count as neighbours."""
    return (
        f"inputs in which no score differs by more than {sensitivity:g}, "
        f"and the largest rise plus the largest fall is at most {spread:g}"
    )
