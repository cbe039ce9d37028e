"""Sums over columns in one pass, by compiled code: clipped, rounded, missing replaced, weighted, added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet import kernels
from discreet.block import UNEVEN
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.evidence.core.contribution import Contribution

_SIGN = np.array([np.nextafter(0.0, -1.0), 0.0])  # 1 from 0 on, -1 below: squares count who has a value


def add_compiled(
    block: Block,
    contribution: Contribution,
    weight: NDArray[np.float64],
    total: NDArray[np.float64],
    square: NDArray[np.float64],
    present: NDArray[np.float64],
) -> bool:
    """Add the block's weighted sums to `total`, those of squares to `square`, of people to `present`.

    All have shape (cells, m), or the last two are empty: not asked for. Returns False, and adds nothing,
    where the kernels were not built or the block is one array, which NumPy sums as fast. The sums are whole
    numbers, the same as NumPy's.
    """
    compiled = kernels.compiled
    if compiled is None or isinstance(block.columns, np.ndarray):
        return False
    cells, m = total.shape
    light = np.ascontiguousarray(weight, np.float32)
    sums = np.zeros((m, 2 if square.size else 1, cells))
    numbers: dict[str, NDArray[np.float64]] = {}
    for place, column in enumerate(block.columns):
        kind = np.dtype("f" if column.dtype.itemsize == 4 else "d")
        if kind.char not in numbers:
            numbers[kind.char] = contribution.numbers(kind)
        rule = numbers[kind.char]
        values = np.require(column, kind, ["C_CONTIGUOUS", "ALIGNED"])
        if values.size != light.shape[1]:
            raise InputError(UNEVEN)
        how = contribution.rule == "stepped", rule[place % len(rule)]
        compiled.sums(values, kind.itemsize, *how, light, cells, square.size > 0, sums[place])
        if present.size:
            signs = np.zeros((2, cells))
            compiled.sums(values, kind.itemsize, True, _SIGN, light, cells, True, signs)
            present[:, place] += signs[1]
    total += sums[:, 0].T
    if square.size:
        square += sums[:, 1].T
    return True
