"""In which direction a test looks, in SciPy's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")

T = TypeVar("T")

# How many sides a test looked at by default when its record said `sides`, and not its default.
_SIDES = {
    **dict.fromkeys(("mean", "proportion", "sign", "signed-rank", "two-groups", "two-by-two"), 1),
    **dict.fromkeys(("rank-sum", "stratified", "correlation"), 1),
    **dict.fromkeys(("allelic", "trend", "score"), 2),
}


def toward(statistic: NDArray[np.float64], alternative: Alternative) -> NDArray[np.float64]:
    """Return a statistic whose null law is bounded alike on both sides so that larger is stronger."""
    if alternative == "two-sided":
        return np.abs(statistic)
    return statistic if alternative == "greater" else -statistic


def directions(alternative: Alternative, greater: T, less: T) -> tuple[T, ...]:
    """Return what looks upwards, what looks downwards, or both."""
    return {"greater": (greater,), "less": (less,), "two-sided": (greater, less)}[alternative]


def in_todays_words(test: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the record of a test with its alternative; earlier records say `sides`, or mean its default."""
    name = test.get("name")
    if "alternative" in test or not isinstance(name, str) or name not in _SIDES:
        return test
    rest = {key: value for key, value in test.items() if key != "sides"}
    return {**rest, "alternative": "two-sided" if test.get("sides", _SIDES[name]) == 2 else "greater"}
