"""What a release tells of its hypotheses beside the discoveries: estimates, their errors, p-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BY_QUESTION = "BH by question"
PROCEDURES = ("adaptive BH", "BH", "BY", BY_QUESTION)


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What was measured of each hypothesis that was told, noise included; public once released.

    Attributes
    ----------
    indices : array of int, shape (k,)
        Places among the hypotheses, ascending.
    hypotheses : sequence of str
        Their names.
    effect : tuple of str
        What each estimate is: "difference of means", "difference of rates", "P(larger) - P(smaller)".
    estimate : array of float, shape (k,)
        In the column's own units; NaN where nothing could be measured.
    standard_error : array of float, shape (k,)
        Of the estimate, sampling and privacy noise together; NaN with the estimate.
    degrees : array of float, shape (k,)
        Degrees of freedom of the t distribution the estimate is referred to; infinite: normal.
    p_value : array of float, shape (k,)
        Two-sided or one-sided, as the test was.
    procedure : {"adaptive BH", "BH", "BY", "BH by question"}
        What made discoveries of p-values; hypotheses that were not told counted as p = 1.
    question : array of int, shape (k,), optional
        The number of the column that each hypothesis is about, from 0 on: "BH by question" needs it.
    deviation : array of float, shape (k,), optional
        The standard deviation of each column, in the units of its estimate, as far as noise lets it be known;
        NaN where it is not. An estimate over it is free of units.

    Notes
    -----
    An estimate or error that is not finite was not measured: both become NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Told
    >>> ones, what = np.ones(2), ("difference of means",) * 2
    >>> told = Told(np.arange(2), ("age", "pay"), what, 3 * ones, ones, 30 * ones, ones / 2, "BH")
    >>> len(told)
    2
    """

    indices: NDArray[np.int64]
    hypotheses: Sequence[str]
    effect: tuple[str, ...]
    estimate: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    degrees: NDArray[np.float64]
    p_value: NDArray[np.float64]
    procedure: str
    question: NDArray[np.int64] | None = None
    deviation: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        check.choice(self.procedure, "procedure", PROCEDURES)
        numbers = {name: check.floats(getattr(self, name), name) for name in NUMBERS}
        indices, count = check.array(self.indices, "indices").astype(np.int64), len(self.hypotheses)
        shapes = {array.shape for array in (indices, *numbers.values())} | {(len(self.effect),)}
        if shapes != {(count,)}:
            raise InputError(f"indices, effect, {', '.join(NUMBERS)} must have {count} entries each")
        if not (np.diff(indices, prepend=-1) > 0).all():
            raise InputError("indices must ascend, from 0 on")
        if not (numbers["degrees"] > 0).all():
            raise InputError("degrees must be above 0")
        if not ((numbers["p_value"] >= 0) & (numbers["p_value"] <= 1)).all():
            raise InputError("p_value must lie in [0, 1]")
        if (numbers["standard_error"] < 0).any():
            raise InputError("standard_error must be at least 0")
        measured = np.isfinite(numbers["estimate"]) & np.isfinite(numbers["standard_error"])
        for name in ("estimate", "standard_error"):
            numbers[name] = np.where(measured, numbers[name], np.nan)
        check.settle(
            self, indices=indices, question=self._questions(count), deviation=self._scales(count), **numbers
        )

    def _scales(self, count: int) -> NDArray[np.float64] | None:
        if self.deviation is None:
            return None
        deviation = check.floats(self.deviation, "deviation")
        if deviation.shape != (count,):
            raise InputError(f"deviation must have {count} entries")
        return np.where(np.isfinite(deviation) & (deviation > 0), deviation, np.nan)

    def _questions(self, count: int) -> NDArray[np.int64] | None:
        if (self.question is None) == (self.procedure == BY_QUESTION):
            raise InputError(f'question belongs to procedure "{BY_QUESTION}", which needs it')
        if self.question is None:
            return None
        question = check.array(self.question, "question").astype(np.int64)
        if question.shape != (count,) or question.min(initial=0) < 0 or question.max(initial=-1) >= count:
            raise InputError(f"question must have {count} numbers from 0 on, each below {count}")
        return question

    def __len__(self) -> int:
        return len(self.hypotheses)


NUMBERS = ("estimate", "standard_error", "degrees", "p_value")
"""The fields of `Told` that hold a number for each hypothesis."""


def strongest_first(told: Told, where: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return these places by p-value, equal ones by the estimate over its error, then as they stand."""
    with np.errstate(all="ignore"):
        size = np.nan_to_num(np.abs(told.estimate / told.standard_error), posinf=np.inf)[where]
    return where[np.lexsort((-size, told.p_value[where]))]


def places(told: Told, indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where in `told` the hypotheses at `indices` stand; all of them must be there."""
    # They ascend from 0 on: if the last is as large as their number allows, each stands at its own place.
    complete = len(told) > 0 and told.indices[-1] == len(told) - 1
    positions = indices if complete else np.searchsorted(told.indices, indices)
    if (
        positions.max(initial=-1) >= len(told)
        or positions.min(initial=0) < 0
        or (told.indices[positions] != indices).any()
    ):
        raise InputError("a discovery is not among the hypotheses that were told")
    return positions
