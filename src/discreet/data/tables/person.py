"""Several rows of one person become one, before anything is counted: privacy is per person.

A person's row is a function of that person's own rows, in doubles, and of public things. Proof:
docs/proofs/reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from discreet import check
from discreet.block import plain, spelled
from discreet.data.tables.arrays import is_missing
from discreet.errors import InputError
from discreet.typing import Reduction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.typing import RawArray

REDUCTIONS: tuple[str, ...] = get_args(Reduction)
_WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
_TOLD_APART = 2.0**53  # from here on two whole numbers may be the same float


@dataclass(frozen=True, slots=True)
class Person:
    """Which column says who, and how several rows of one person become one.

    Parameters
    ----------
    column : str
        The identifier. Rows without one are left out: nobody could say whose they are.
    reduce : {"mean", "first", "any", "difference", "slope"}, optional
        The mean of the values present, the first row's values, or whether any value present is above 0; of
        everyone's values, also of those with one row. "difference": the last value present less the first;
        "slope": by how much values rise from one row to the next, by least squares over the values present;
        both in the order of the person's rows, and missing where fewer than two values are present. If None,
        each person must have one row.

    Raises
    ------
    InputError
        `reduce` is none of these. Several rows of one person without `reduce` are refused when data is read.

    Notes
    -----
    Privacy is per person, however many rows they have: a person's row is a function of that person's own rows
    and of public things. Proof: docs/proofs/reading.md.

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
    reduce: Reduction | None = None

    def __post_init__(self) -> None:
        check.text(self.column, "person")
        if self.reduce is not None:
            check.choice(self.reduce, "reduce", REDUCTIONS)


def one_row_each(
    values: NDArray[np.floating],
    labels: Mapping[str, NDArray[np.generic]],
    people: NDArray[np.generic],
    how: str | None,
) -> tuple[NDArray[np.float64], dict[str, RawArray], RawArray]:
    """Return one row for each person, in order of first appearance; labels are those of the first row.

    People are returned as text that does not depend on how the column of identifiers arrived.
    """
    keys = [_key(person) for person in people.tolist()]
    rows = np.flatnonzero(np.array([key is not None for key in keys], dtype=np.bool_))
    numbered: dict[str, int] = {}
    member = np.array(
        [numbered.setdefault(key, len(numbered)) for key in keys if key is not None], dtype=np.intp
    )
    if how is None and len(numbered) < rows.size:
        raise InputError(
            "some people have several rows: say how they become one, --reduce, or in Python "
            f"person=Person(column, reduce=...), with one of {', '.join(map(repr, REDUCTIONS))}"
        )
    kept = rows[np.unique(member, return_index=True)[1]]
    if how in (None, "first"):
        reduced = values[kept].astype(np.float64)
    else:
        reduced = np.empty((kept.size, values.shape[1]))
        for place in range(values.shape[1]):
            reduced[:, place] = _REDUCED[how](values[rows, place].astype(np.float64), member, kept.size)
    names = np.array(list(numbered), dtype=object)
    return reduced, {name: label[kept] for name, label in labels.items()}, names


def _key(person: object) -> str | None:
    """Return the text that identifies a person, None if missing: 7, 7.0, "7" and "7.0" are one person."""
    if is_missing(person):
        return None
    entry = plain(person)
    if isinstance(entry, float) and abs(entry) >= _TOLD_APART:
        raise InputError(
            "person: identifiers of 2**53 and more are rounded when read as numbers, and two people would "
            "become one: write them as text"
        )
    text = spelled(entry)
    whole = _WHOLE.fullmatch(text)
    return whole.group(1) if whole else text


def _mean(values: NDArray[np.float64], member: NDArray[np.intp], people: int) -> NDArray[np.float64]:
    # Rows are added one after the other, so a sum is rounded as the person's own rows say.
    present = ~np.isnan(values)
    total = np.bincount(member, np.where(present, values, 0.0), people)
    with np.errstate(all="ignore"):
        return total / np.bincount(member, present, people)  # 0/0, missing, if nothing is present


def _any(values: NDArray[np.float64], member: NDArray[np.intp], people: int) -> NDArray[np.float64]:
    present = np.bincount(member, ~np.isnan(values), people)
    return np.where(present > 0, np.bincount(member, values > 0, people) > 0, np.nan)


def _visits(member: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the number of each row among the rows of its person: 0, 1, ..."""
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], member[order])
    visit = np.empty(member.size)
    visit[order] = np.arange(member.size) - starts
    return visit


def _difference(values: NDArray[np.float64], member: NDArray[np.intp], people: int) -> NDArray[np.float64]:
    present = np.flatnonzero(~np.isnan(values))
    first, last = np.full(people, np.nan), np.full(people, np.nan)
    first[member[present[::-1]]] = values[present[::-1]]  # of several assignments the last one stays
    last[member[present]] = values[present]
    several = np.bincount(member[present], minlength=people) > 1
    with np.errstate(all="ignore"):
        return np.where(several, last - first, np.nan)


def _slope(values: NDArray[np.float64], member: NDArray[np.intp], people: int) -> NDArray[np.float64]:
    present = ~np.isnan(values)
    of, x, visit = member[present], values[present], _visits(member)[present]
    with np.errstate(all="ignore"):
        count = np.bincount(of, minlength=people)
        away = visit - (np.bincount(of, visit, people) / count)[of]
        centred = x - (np.bincount(of, x, people) / count)[of]
        return np.bincount(of, away * centred, people) / np.bincount(of, away * away, people)


_REDUCED = {"mean": _mean, "any": _any, "difference": _difference, "slope": _slope}
