"""The record that travels from data to evidence: some people's rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block:
    """Some people, one row each. Private: its printed form says nothing.

    Attributes
    ----------
    values : array of float32 or float64, shape (rows, m)
        The measurements; NaN marks a missing one.
    labels : mapping from column name to array, shape (rows,)
        The columns a test names beside the measurements: groups, strata, a partner.
    people : array, shape (rows,), optional
        One identifier for each row, when the table has them.
    first : int
        The slot of the first row: how many rows of the table come before it.
    """

    values: NDArray[np.floating[Any]]
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, "NDArray[Any]"])
    people: NDArray[Any] | None = None
    first: int = 0

    def __repr__(self) -> str:
        return "Block(private)"
