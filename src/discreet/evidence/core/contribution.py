"""One person's contribution as a whole number: sums are then exact, in any order, on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.arguments import pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FINE = 2**20  # parts of the width, for sums; exact up to 2^33 people
_ALL = slice(None)
COARSE = 2**10  # the same where squares are summed too


class Contribution(Protocol):
    """What a person's value counts as: a rule, its numbers, and the same in NumPy.

    All arithmetic is in double precision, in which a value of single precision is the same number: what a
    value counts as does not depend on how its column is stored; docs/proofs/sources.md.
    """

    rule: ClassVar[str]

    def numbers(self, kind: np.dtype[Any]) -> NDArray[np.float64]:
        """Return the numbers of the rule for columns of this type: one row for each column, or for all."""
        ...

    def whole(self, values: NDArray[np.floating], columns: slice = ...) -> NDArray[np.float64]:
        """Return whole numbers for the values of some columns, which may be overwritten; same shape."""
        ...


@dataclass(frozen=True, slots=True)
class Scale:
    """The public bounds of every column, and what a missing value counts as, in parts of the width."""

    low: NDArray[np.float64]
    width: NDArray[np.float64]
    missing: NDArray[np.float64]
    parts: int
    rule: ClassVar[str] = "scaled"

    def numbers(self, kind: np.dtype[Any]) -> NDArray[np.float64]:  # noqa: ARG002 - the same for every type
        """Return low, parts / width, parts and what a missing value counts as, shape (m, 4)."""
        most = np.full(self.low.shape, float(self.parts))
        with np.errstate(all="ignore"):  # the factor of a tiny width is infinite
            return np.stack([self.low, self.parts / self.width, most, self.missing], axis=1)

    def whole(self, values: NDArray[np.floating], columns: slice = _ALL) -> NDArray[np.float64]:
        """Return round(parts * (value - low) / width), clipped to 0..parts, missing replaced; same shape.

        `values` are those of the columns named by the slice, and may be overwritten.

        Whatever the value, infinite or absurd, the result is a whole number in 0..parts: nothing is raised
        and nothing is warned of, since either would speak of the data.
        """
        wide = values.astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            wide -= self.low[columns]
            wide *= self.parts / self.width[columns]
            np.rint(wide, out=wide)
            np.clip(wide, 0, self.parts, out=wide)
            np.copyto(wide, self.missing[columns], where=np.isnan(wide))
        return wide


@dataclass(frozen=True, slots=True)
class Steps:
    """1 above a public edge, and below it -1 or 0; a missing value counts 0.

    The edge is rounded as the column's values are: 0.3 in single precision ties with an edge of 0.3.
    """

    edge: float
    reached: bool = False  # the edge itself counts as above it
    signed: bool = True  # below counts -1
    rule: ClassVar[str] = "stepped"

    def numbers(self, kind: np.dtype[Any]) -> NDArray[np.float64]:
        """Return above which number a value counts 1 and below which it counts -1, shape (1, 2)."""
        own = np.float32 if kind.itemsize == 4 else np.float64
        with np.errstate(all="ignore"):  # an edge beyond single precision is infinite
            edge = own(self.edge)
        up = np.nextafter(edge, own(-np.inf)) if self.reached else edge
        return np.array([[up, edge if self.signed else -np.inf]], dtype=np.float64)

    def whole(self, values: NDArray[np.floating], columns: slice = _ALL) -> NDArray[np.float64]:  # noqa: ARG002 - all columns count alike
        """Return what each value counts as; same shape."""
        up, down = self.numbers(values.dtype)[0]
        wide = values.astype(np.float64, copy=False)
        return (wide > up).astype(np.float64) - (wide < down)


def bounds_of(bounds: object, names: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the low ends and the widths of all columns, each of shape (m,)."""
    if isinstance(bounds, Mapping):
        given = cast("Mapping[str, Any]", bounds)
        absent = [name for name in names if name not in given]
        if absent:
            raise InputError(
                f"bounds must cover every column tested; {absent[0]!r} has none: add it, or choose columns"
            )
        pairs = [pair(given[name], f"bounds[{name!r}]") for name in names]
    else:
        pairs = [pair(bounds)] * len(names)
    low = np.array([ends[0] for ends in pairs])
    return low, np.array([ends[1] for ends in pairs]) - low


def scale(bounds: object, names: Sequence[str], missing: object, parts: int) -> Scale:
    """Return the scale of all columns; `missing` is a share of the width, one or one for each column."""
    low, width = bounds_of(bounds, names)
    fill = np.rint(np.broadcast_to(np.asarray(missing, dtype=np.float64), low.shape) * parts)
    return Scale(low, width, fill, parts)
