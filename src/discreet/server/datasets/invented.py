"""Invented data of the same shape, made from the metadata alone: to try a question, and to rehearse it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError, missing_extra

if TYPE_CHECKING:
    from discreet.server.datasets.metadata import Column, Metadata

_MOST_CELLS, _MOST_PEOPLE, _FEWEST = 2_000_000, 2_000, 200


def invented(about: Metadata, people: int | None = None, *, seed: int = 1) -> Any:
    """Return a table of people who do not exist: every column by itself, nothing really differs.

    The same metadata and seed give the same table: no row of it, nor its size, comes from data.
    """
    if about.genotypes:
        raise InputError("genotypes are not invented: try the question on a table")
    try:
        table: Any = import_module("pyarrow").table
    except ImportError:
        raise missing_extra("server", "inventing data") from None
    wanted = min(about.people, _MOST_PEOPLE) if people is None else people
    count = max(min(wanted, _MOST_CELLS // max(len(about.columns), 1)), min(wanted, _FEWEST))
    rng = np.random.default_rng(seed)
    columns = {name: _values(column, count, rng) for name, column in about.columns.items()}
    if about.person is not None:
        columns[about.person] = np.arange(count)
    return table(columns)


def _values(column: Column, count: int, rng: np.random.Generator) -> Any:
    if column.levels is not None:
        return np.array(column.levels)[rng.integers(0, len(column.levels), count)]
    if column.type == "yes/no":
        return rng.integers(0, 2, count).astype(bool)
    low, high = column.bounds or (0.0, 1.0)
    return rng.uniform(low, high, count)
