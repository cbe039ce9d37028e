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
    itemsize: int,
    columns: int,
    rule: NDArray[np.float64],
    end: float,
    whole: NDArray[np.int16],
    /,
) -> None: ...
def add(
    rows: NDArray[np.int16],
    group: NDArray[np.int8],
    answer: NDArray[np.float64],
    balls: NDArray[np.float64],
    clips: bool,
    unit: float,
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
    kept: NDArray[np.float64],
    /,
) -> None: ...
