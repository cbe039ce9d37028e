"""Columns of text as numbers, each entry by itself. Proof: docs/proofs/reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.tables.arrow import arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What stands for nothing in a text file: Arrow's list, spelled out so that it stays.
MISSING = (
    *("", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "NULL", "null"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
_ANSWERS = {"true": "1", "false": "0"}
_FEW = 64


def numbers_of(column: Any) -> NDArray[np.float64] | None:
    """Return a column of text as floats, NaN where missing; None if an entry is not a number.

    An entry is missing, "true" or "false" in any case, or a decimal number; blanks around it do not count.
    """
    # An entry that Arrow reads is one that tidying leaves as it is, so both ways read it alike. The first few
    # tell which way is faster: Arrow takes long to refuse many.
    found = None if _cast(column.slice(0, _FEW)) is None else _cast(column)
    if found is None:
        found = _tidied(column.combine_chunks())
    return None if found is None else np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.float64)


def first_text(column: Any) -> int:
    """Return the place of the first entry that is not a number, in a column that has one."""
    good, bad = 0, len(column)  # so many entries can be read; so many cannot
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if numbers_of(column.slice(0, middle)) is not None else (good, middle)
    return good


def _cast(column: Any) -> Any:
    try:
        return column.cast(arrow().float64())
    except arrow().ArrowInvalid:  # it quotes the entry
        return None


def _tidied(column: Any) -> Any:
    """Return numbers of text without blanks around it, yes/no as 1 and 0, and missing ones as such."""
    compute = arrow("pyarrow.compute")
    coded = column.dictionary_encode()  # each spelling is tidied once
    bare = compute.ascii_trim(coded.dictionary, " \t")
    lower = compute.ascii_lower(bare)
    for word, digit in _ANSWERS.items():
        bare = compute.if_else(compute.equal(lower, word), digit, bare)
    absent = compute.is_in(bare, value_set=arrow().array(MISSING))
    found = _cast(compute.if_else(absent, arrow().scalar(None, arrow().string()), bare))
    return None if found is None else found.take(coded.indices)
