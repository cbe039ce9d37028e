"""How a test takes in people: block by block, mergeable, the same result in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from discreet import kernels
from discreet.block import UNEVEN, Block
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.evidence.core.contribution import Contribution
    from discreet.evidence.core.evidence import Evidence
    from discreet.typing import RawArray

Numbers = np.ndarray[Any, np.dtype[np.float64]]


class Accumulator(Protocol):
    """Private running totals of one test."""

    def update(self, block: Block) -> None:
        """Take in some people."""
        ...

    def merge(self, other: Any) -> None:
        """Take in what another accumulator of the same test has seen."""
        ...

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        ...


@dataclass(slots=True, eq=False, repr=False)
class Sums:
    """Exact weighted sums of whole-number contributions: memory O(cells * m).

    `contribution` turns values into whole numbers; `weigh` gives each row's whole-number weight, up to 2^24,
    in each cell, (cells, rows): membership of a group, or a partner's value. Without it everyone weighs 1 in
    one cell. `rows` people were seen. `counted`: the weights of those who have a value are summed too, column
    by column, in `present`.
    """

    names: tuple[str, ...]
    contribution: Contribution
    weigh: Callable[[Block], Numbers] | None
    conclude: Callable[[Sums], Evidence]
    cells: int = 1
    squared: bool = False
    counted: bool = False
    rows: int = 0
    count: Numbers = field(init=False)
    total: Numbers = field(init=False)
    square: Numbers = field(init=False)
    present: Numbers = field(init=False)

    def __post_init__(self) -> None:
        shape = (self.cells, len(self.names))
        self.count = np.zeros(self.cells)
        self.total = np.zeros(shape)
        self.square = np.zeros(shape if self.squared else (0, 0))
        self.present = np.zeros(shape if self.counted else (0, 0))

    def update(self, block: Block) -> None:
        """Add some people's contributions."""
        weight = np.ones((1, block.rows)) if self.weigh is None else self.weigh(block)
        self.rows += block.rows
        self.count += weight.sum(axis=1)
        if not add_compiled(block, self.contribution, weight, self.total, self.square, self.present):
            self._add(block, weight)

    def _add(self, block: Block, weight: Numbers) -> None:
        for part, columns, values in block.tiles():
            if self.counted:
                self.present[:, columns] += weight[:, part] @ ~np.isnan(values)
            wide = self.contribution.whole(values, columns)
            self.total[:, columns] += weight[:, part] @ wide
            if self.squared:
                self.square[:, columns] += weight[:, part] @ (wide * wide)

    def merge(self, other: Self) -> None:
        """Add another accumulator's sums: whole numbers below 2^53, so the order cannot matter."""
        self.rows += other.rows
        self.count += other.count
        self.total += other.total
        self.square += other.square
        self.present += other.present

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        return self.conclude(self)

    def __repr__(self) -> str:
        return "Sums(private)"


@dataclass(slots=True, eq=False, repr=False)
class Rows:
    """Everyone's values, for tests that rank or split people: memory O(people * m).

    Rows are put back in the order of their slots, so merging in any order gives the same result.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    conclude: Callable[[Rows], Evidence]
    blocks: list[Block] = field(default_factory=list[Block])

    def update(self, block: Block) -> None:
        """Keep some people's rows."""
        self.blocks.append(Block(block.values, block.labels, block.people, block.first))

    def merge(self, other: Self) -> None:
        """Keep another accumulator's rows too."""
        self.blocks.extend(other.blocks)

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        if not self.blocks:
            raise InputError("the data has no rows: there is nothing to test")
        self.blocks.sort(key=lambda block: block.first)
        return self.conclude(self)

    @property
    def values(self) -> NDArray[np.floating]:
        """All values, shape (n, m)."""
        return np.concatenate([block.values for block in self.blocks])

    def label(self, name: str) -> RawArray:
        """One label column, shape (n,)."""
        return np.concatenate([block.labels[name] for block in self.blocks])

    @property
    def people(self) -> RawArray | None:
        """Everyone's identifiers, shape (n,), if the table had them."""
        parts = [block.people for block in self.blocks if block.people is not None]
        return np.concatenate(parts) if parts and len(parts) == len(self.blocks) else None

    def __repr__(self) -> str:
        return "Rows(private)"


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
