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
