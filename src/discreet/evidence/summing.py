"""Sums over columns in one pass, by compiled code: clipped, rounded, missing replaced, weighted, added."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.block import UNEVEN
from discreet.compiled import compile_text
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.evidence.contribution import Contribution

WORTH = 2**18  # values from which on a block is worth compiling for
_FIRST = Lock()  # threads that start together wait for the one that compiles
_WORDS = {
    "f": {"REAL": "float", "WIDEN": "fpext float %v.own to double"},
    "d": {"REAL": "double", "WIDEN": "fadd double %v.own, -0.0"},
}


def add_compiled(
    block: Block,
    contribution: Contribution,
    weight: NDArray[np.float64],
    total: NDArray[np.float64],
    square: NDArray[np.float64],
) -> bool:
    """Add the block's weighted sums to `total` and those of squares to `square`, unless that is empty.

    Both have shape (cells, m). Returns False, and adds nothing, where NumPy is as good or llvmlite is absent.
    The sums are whole numbers, the same as NumPy's.
    """
    cells, m = total.shape
    if isinstance(block.columns, np.ndarray) or block.rows * m < WORTH:
        return False
    light = np.ascontiguousarray(weight, np.float32)
    found = np.zeros((m, 2, cells))
    numbers: dict[str, NDArray[np.float64]] = {}
    for place, column in enumerate(block.columns):
        kind = np.dtype("f" if column.dtype.itemsize == 4 else "d")
        function = function_for(contribution.rule, kind.char)
        if function is None:
            return False
        if kind.char not in numbers:
            numbers[kind.char] = contribution.numbers(kind)
        rule = numbers[kind.char]
        values = np.ascontiguousarray(column, kind)
        if values.size != light.shape[1]:
            # Compiled code would read beyond the shorter one.
            raise InputError(UNEVEN)
        function(
            values.ctypes.data,
            values.size,
            rule[place % len(rule)].ctypes.data,
            light.ctypes.data,
            cells,
            int(square.size > 0),
            found[place].ctypes.data,
        )
    total += found[:, 0].T
    if square.size:
        square += found[:, 1].T
    return True


def function_for(rule: str, kind: str) -> Any:
    """Return the function that sums columns of one type, "f" or "d", by one rule; None without llvmlite."""
    with _FIRST:
        return compiled(rule, kind)


@lru_cache
def compiled(rule: str, kind: str) -> Any:
    """Return the same, compiled at the first call."""
    text = Path(__file__).with_name("sums.ll").read_text(encoding="utf-8")
    for word, other in {"RULE": rule, **_WORDS[kind]}.items():
        text = text.replace(word, other)
    return compile_text(text, "sums", "pippiip", widen=True)
