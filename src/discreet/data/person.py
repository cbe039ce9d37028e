"""Several rows of one person become one, before anything is counted: privacy is per person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check
from discreet.data.source import is_missing
from discreet.errors import InputError
from discreet.labels import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

REDUCTIONS = ("mean", "first", "any")
_WHOLE = re.compile(r"(?<=\d)\.0+\Z")
_TOLD_APART = 2.0**53  # from here on two whole numbers may be the same float


@dataclass(frozen=True, slots=True)
class Person:
    """Which column says who, and how several rows of one person become one.

    Parameters
    ----------
    column : str
        The identifier. Rows without one are left out: nobody could say whose they are.
    reduce : {"mean", "first", "any"}, optional
        The mean of the values present, the first row's values, or whether any value present is above 0. When
        absent, each person must have one row.

    Examples
    --------
    >>> import discreet
    >>> visits = {"who": ["a", "a", "b"], "hours": [1.0, 3.0, 2.0]}
    >>> import pandas as pd
    >>> once = discreet.Person("who", reduce="mean")
    >>> evidence = discreet.measure(pd.DataFrame(visits), discreet.Sign(null=1.5), person=once)
    >>> evidence.names
    ('hours',)
    """

    column: str
    reduce: str | None = None

    def __post_init__(self) -> None:
        check.text(self.column, "person")
        if self.reduce is not None:
            check.choice(self.reduce, "reduce", REDUCTIONS)


def one_row_each(
    values: NDArray[np.floating[Any]],
    labels: Mapping[str, NDArray[Any]],
    people: NDArray[Any],
    how: str | None,
) -> tuple[NDArray[np.floating[Any]], dict[str, NDArray[Any]], NDArray[Any]]:
    """Return one row for each person, in order of first appearance; labels are those of the first row.

    People are returned as text that does not depend on how the column of identifiers arrived.
    """
    named = np.array([not is_missing(person) for person in people.tolist()], dtype=bool)
    values, people = values[named], people[named]
    labels = {name: label[named] for name, label in labels.items()}
    if people.dtype.kind == "f" and np.any(np.abs(people) >= _TOLD_APART):
        raise InputError(
            "person: identifiers of 2**53 and more are rounded when read as numbers, and two people would "
            "become one: write them as text"
        )
    people = np.array([_key(person) for person in people.tolist()], dtype=object)
    # The mark at the end keeps a null character before it, which NumPy would strip.
    marked = np.array([f"{person}." for person in people.tolist()], dtype=np.str_)
    _, first, member = np.unique(marked, return_index=True, return_inverse=True)
    if first.size == people.size:
        return values, labels, people
    if how is None:
        raise InputError(
            "some people have several rows: say how they become one, --reduce, or in Python "
            f"person=Person(column, reduce=...), with one of {', '.join(map(repr, REDUCTIONS))}"
        )
    order = np.argsort(first)
    kept = first[order]
    reduced = values[kept] if how == "first" else _grouped(values, member, first.size, how)[order]
    return reduced, {name: label[kept] for name, label in labels.items()}, people[kept]


def _key(person: Any) -> str:
    """Return the text people are told apart by: 7, 7.0, "7" and "7.0" are one person."""
    return _WHOLE.sub("", spelled(person))


def _grouped(
    values: NDArray[np.floating[Any]], member: NDArray[np.intp], size: int, how: str
) -> NDArray[np.float64]:
    present = ~np.isnan(values)
    filled = np.where(present, values, 0.0)
    if how == "any":
        filled = (filled > 0).astype(np.float64)
    count = np.zeros((size, values.shape[1]))
    total = np.zeros((size, values.shape[1]))
    np.add.at(count, member, present)
    np.add.at(total, member, filled)
    if how == "any":
        total = (total > 0).astype(np.float64)
        return np.where(count > 0, total, np.nan)
    with np.errstate(all="ignore"):
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)
