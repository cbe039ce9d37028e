"""Sums over columns in one pass, by compiled code: clipped, rounded, missing replaced, weighted, added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import kernels
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.evidence.contribution import Contribution


def add_compiled(
    block: Block,
    contribution: Contribution,
    weight: NDArray[np.float64],
    total: NDArray[np.float64],
    square: NDArray[np.float64],
) -> bool:
    """Add the block's weighted sums to `total` and those of squares to `square`, unless that is empty.

    Both have shape (cells, m). Returns False, and adds nothing, where the kernels were not built or the block is
    one array, which NumPy sums as fast. The sums are whole numbers, the same as NumPy's.
    """
    compiled = kernels.compiled
    if compiled is None or isinstance(block.columns, np.ndarray):
        return False
    cells, m = total.shape
    light = np.ascontiguousarray(weight, np.float32)
    sums = np.zeros((m, 2 if square.size else 1, cells))
    numbers: dict[Any, NDArray[np.floating[Any]]] = {}
    for place, column in enumerate(block.columns):
        kind = contribution.kind(column)
        if kind not in numbers:
            numbers[kind] = contribution.numbers(kind)
        rule = numbers[kind]
        values = np.ascontiguousarray(column, kind)
        if values.size != light.shape[1]:
            raise InputError("the columns of the table differ in length: a file of it is damaged")
        compiled.sums(
            values,
            values.itemsize,
            contribution.rule == "stepped",
            rule[place % len(rule)],
            light,
            cells,
            square.size > 0,
            sums[place],
        )
    total += sums[:, 0].T
    if square.size:
        square += sums[:, 1].T
    return True
