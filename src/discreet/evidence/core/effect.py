"""How large a finding is, in units a reader knows, and how far one person can move it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# More than the rounding of a share of at most 1 on two neighbouring tables.
_ROUNDING = 2.0**-48
_FEWEST = 0.8  # differences are shrunk where fewer than this share of the smaller group is present


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Effect:
    """One effect for each hypothesis: `share * unit`. Private like the scores; docs/proofs/effects.md.

    Attributes
    ----------
    name : str
        What it is: "difference of means", ...; public.
    share : array of float64, shape (m,)
        The effects in parts of `unit`, each in [-1, 1]; private.
    sensitivity : float
        One person moves every share by at most this; public.
    unit : array of float64, shape (m,)
        The width of each column's bounds, or 1; public.
    """

    name: str
    share: NDArray[np.float64] = field(repr=False)
    sensitivity: float
    unit: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"Effect({self.name}, private)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("effects are private and are not pickled")


def effect(
    name: str,
    share: NDArray[np.float64],
    sensitivity: float,
    unit: NDArray[np.float64] | None = None,
    *,
    strata: int = 1,
) -> Effect:
    """Return the effects `share`, computed in floats; one person moves each by at most `sensitivity`.

    A sum over `strata` is rounded once for each of them, and pays for it.
    """
    most = sensitivity + _ROUNDING + (strata - 1) * 2.0**-52
    return Effect(name, np.clip(share, -1.0, 1.0), most, np.ones(share.size) if unit is None else unit)


def difference_effect(
    name: str,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    excess: NDArray[np.float64],
    smaller: float,
    unit: NDArray[np.float64] | None = None,
    *,
    moves: int = 1,
) -> Effect:
    """Return excess/(n1 n2), nearer 0 where the groups have few people present; docs/proofs/compare.md.

    `excess` is the sum over pairs of the two groups of a number within +-1: a difference of values, or its
    sign. One person moves the effect by at most `moves` over the least number of people it is divided by.
    """
    fewest = _FEWEST * smaller
    few, many = np.minimum(first, second), np.maximum(first, second)
    share = excess / np.maximum(np.maximum(few, fewest) * many, fewest)
    return effect(name, share, min(2.0, moves / fewest), unit)


def joined(parts: Sequence[Effect]) -> Effect:
    """Return the effects of several runs of hypotheses, one after the other."""
    share = np.concatenate([part.share for part in parts])
    widest = max(part.sensitivity for part in parts)
    return replace(
        parts[0], share=share, sensitivity=widest, unit=np.concatenate([part.unit for part in parts])
    )
