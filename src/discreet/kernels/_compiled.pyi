from typing import Any

import numpy as np
from numpy.typing import NDArray

def count(
    packed: NDArray[np.uint8],
    stride: int,
    masks: NDArray[np.uint64],
    cells: int,
    counts: NDArray[np.int32],
    start: int,
    stop: int,
    /,
) -> None: ...
def count_file(
    file: int,
    offset: int,
    stride: int,
    masks: NDArray[np.uint64],
    cells: int,
    counts: NDArray[np.int32],
    start: int,
    stop: int,
    /,
) -> bool: ...
def dose(
    packed: NDArray[np.uint8], stride: int, weights: NDArray[np.int32], sums: NDArray[np.int64], /
) -> None: ...
def sources() -> int: ...
def limit(level: int, /) -> int: ...
def sums(
    values: NDArray[np.floating[Any]],
    itemsize: int,
    steps: bool,
    rule: NDArray[np.float64],
    weights: NDArray[np.float32],
    cells: int,
    squared: bool,
    sums: NDArray[np.float64],
    /,
) -> None: ...
def whole(
    values: NDArray[np.floating[Any]],
    kind: int,
    columns: int,
    rules: NDArray[np.float64],
    first: int,
    last: int,
    whole: NDArray[np.int16],
    /,
) -> None: ...
def add(
    values: NDArray[Any],
    kind: int,
    columns: int,
    places: NDArray[np.int64],
    rules: NDArray[np.float64],
    first: int,
    last: int,
    group: NDArray[np.int8],
    signs: NDArray[np.uint8],
    balls: NDArray[np.float64],
    clips: bool,
    unit: float,
    sums: NDArray[np.int64],
    squares: NDArray[np.int64],
    kept: NDArray[np.int64],
    /,
) -> None: ...
def lengths(
    values: NDArray[Any],
    kind: int,
    columns: int,
    places: NDArray[np.int64],
    rules: NDArray[np.float64],
    first: int,
    last: int,
    lengths: NDArray[np.int64],
    /,
) -> None: ...
def look(
    values: NDArray[np.floating[Any]],
    kind: int,
    columns: int,
    places: NDArray[np.int64],
    what: int,
    centre: NDArray[np.float64],
    window: NDArray[np.float64],
    first: int,
    last: int,
    out: NDArray[np.int64],
    /,
) -> None: ...
def lacking(
    values: NDArray[np.floating[Any]],
    kind: int,
    columns: int,
    places: NDArray[np.int64],
    first: int,
    last: int,
    group: NDArray[np.int8],
    norm: float,
    unit: float,
    sums: NDArray[np.int64],
    /,
) -> None: ...
def lower_ends(
    scores: NDArray[np.float64],
    words: NDArray[np.uint16],
    scale: float,
    least: NDArray[np.float64],
    lower: NDArray[np.float64],
    /,
) -> None: ...
def reaching(
    lower: NDArray[np.float64],
    words: NDArray[np.uint16],
    needed: NDArray[np.float64],
    places: NDArray[np.int64],
    /,
) -> int: ...
def noisy(
    scores: NDArray[np.float64],
    high: NDArray[np.uint16],
    low: NDArray[np.uint64],
    scale: float,
    gumbel: bool,
    bounds: NDArray[np.float64],
    /,
) -> None: ...
def negated(scores: NDArray[np.float64], limit: float, negative: NDArray[np.float64], /) -> None: ...
def joint(
    negative: NDArray[np.float64],
    ranked: NDArray[np.float64],
    spread: float,
    epsilon: float,
    words: NDArray[np.uint64],
    places: NDArray[np.int64],
    /,
) -> int: ...
