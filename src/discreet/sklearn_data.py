"""From scikit-learn's X and y to a table with named columns; refusals quote no entry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.data.tables.arrays import entries
from discreet.errors import InputError, missing_extra

try:
    from sklearn.utils import validation
except ImportError:
    raise missing_extra("sklearn", "PrivateSelectFdr") from None

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.typing import RawArray

# How refusals of scikit-learn begin that speak of shapes and kinds alone.
_SAFE = (
    "Expected 2D",
    "Found ",
    "Complex data",
    "Sparse data",
    "y should",
    "X has",
    "The feature names",
    "float() arg",
)
checks: Any = validation
"""scikit-learn's own checks, which are untyped."""


class _NotNumbersError(InputError, TypeError):
    """Where scikit-learn raises a TypeError, those who catch one get one."""


def in_our_words(run: Callable[[], Any]) -> Any:
    """Return what `run` returns; of scikit-learn's refusals only words that quote no entry are kept."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001 - what stands in X may raise anything
        kind = _NotNumbersError if isinstance(error, TypeError) else InputError
        first = str(error).partition("\n")[0] if isinstance(error, (TypeError, ValueError)) else ""
    words = first.rstrip(":") if first.startswith(_SAFE) else "leave text columns out, or encode them"
    raise kind(f"X must hold numbers, people by features, and y one entry for each person: {words}")


def two_classes(y: NDArray[np.generic]) -> NDArray[np.intp]:
    """Return the two classes, which are public, as 0 and 1."""
    classes, codes = in_our_words(lambda: np.unique(y, return_inverse=True))
    if classes.size != 2:
        raise InputError(
            f"y must hold two classes; got {classes.size}. Only binary classification is supported: compare "
            "one class with the rest, or give y_bounds if y is a number"
        )
    return codes


def unmasked(data: object) -> Any:
    """Return data without a mask, NaN or None where it was: scikit-learn would read what lies under it."""
    masked: Any = data
    return entries(masked, masked.dtype) if isinstance(data, np.ma.MaskedArray) else masked


def type_kinds(data: object) -> list[str]:
    """Return NumPy's letters for the types of an array or of the columns of a data frame, if it has any."""
    types: Any = getattr(data, "dtypes", None)
    several = isinstance(types, Iterable)
    types_of: list[Any] = list(cast("Iterable[Any]", types)) if several else [getattr(data, "dtype", None)]
    return [letter for dtype in types_of if isinstance(letter := getattr(dtype, "kind", None), str)]


def column(y: object) -> RawArray:
    """Return y as a column of floats, or of objects where it is no number; what is masked is missing."""
    given = checks.column_or_1d(unmasked(y), warn=True)
    return entries(given, given.dtype)


def named_table(
    values: NDArray[np.generic],
    names: tuple[str, ...],
    labels: tuple[str, ...],
    target: NDArray[np.generic] | None,
) -> RawArray:
    """Return features and y as one table with named columns, of numbers in double precision."""
    for label in labels:
        if label in names:
            raise InputError(
                f"a feature is called {label!r}, like y's column in the test: rename one of them"
            )
    kinds: list[Any] = [(name, np.float64) for name in names]
    if target is not None:
        kinds += [(label, target.dtype) for label in labels]
    table = np.empty(values.shape[0], dtype=kinds)
    for place, name in enumerate(names):
        table[name] = values[:, place]
    for label in labels:
        table[label] = target
    return table
