"""From raw data about people to evidence: the first half of every release."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.evidence.effect import joined
from discreet.evidence.evidence import Evidence
from discreet.evidence.p_values import PValues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.data.person import Person
    from discreet.data.plink import Cohort
    from discreet.data.table import Table
    from discreet.evidence.accumulate import Accumulator, Test

_WORKERS = min(4, os.cpu_count() or 1)


def measure(data: Any, test: Test, *, person: str | Person | None = None, columns: Any = None) -> Evidence:
    """Test every hypothesis in a table of people; the evidence is private and carries its certificate.

    Parameters
    ----------
    data : path, array or table
        CSV (.csv, .csv.gz), Parquet, or a folder of Parquet files, read in blocks; a NumPy array (n, m); or a
        pandas, polars (eager or lazy) or pyarrow table. One row for each person, unless `person` is given. Or
        genotypes: `Plink`, or a path to a .bed or .pgen file; the phenotype is the column "phenotype".
    test : Mean, Proportion, TwoGroups, ...
        What to test, with its public arguments.
    person : str or Person, optional
        The column that says whose row it is; Person(column, reduce="mean") when people have several rows.
    columns : optional
        What to test: a list of names, a pattern such as "lab_*", a type (bool, int, float), or a mapping from
        column to its declared levels (None for numbers). All number and yes/no columns when absent.

    Returns
    -------
    Evidence
        One score for each hypothesis. Never print or ship its scores: hand it to a release.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> people = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> discreet.measure(people, discreet.Proportion(null=0.5)).names
    ('0', '1')
    """
    if isinstance(test, PValues) and not _is_table(data):
        return test.of(data)
    if isinstance(test, PValues) and test.column is not None:
        columns = [test.column]
    from discreet.data.plink import open_plink

    cohort = open_plink(data)
    if cohort is not None:
        return _genotypes(cohort, test, person=person, columns=columns)
    from discreet.data.table import open_table  # narwhals loads only when there is a table to read

    table = open_table(data, columns=columns, labels=test.labels, person=person)
    return _everyone(table, test).finish()


def _everyone(table: Table, test: Test) -> Accumulator:
    """Return the accumulator of all people; threads take blocks in turn, and what they found is merged."""
    blocks, turn = table.blocks(), Lock()

    def work() -> Accumulator:
        mine = test.start(table.names)
        try:
            while True:
                with turn:  # the next block is read by one while others count theirs
                    block = next(blocks, None)
                if block is None:
                    return mine
                mine.update(block)
        except BaseException:
            with turn:
                blocks.close()
            raise

    with ThreadPoolExecutor(_WORKERS) as pool:
        first, *rest = [one.result() for one in [pool.submit(work) for _ in range(_WORKERS)]]
    for one in rest:
        first.merge(one)
    return first


def _genotypes(cohort: Cohort, test: Test, *, person: Any, columns: Any) -> Evidence:
    """Test every variant of a cohort: where its genotypes lie packed, or decoded some variants at a time."""
    if person is not None or columns is not None:
        raise InputError(
            "person and columns are for tables: PLINK files have one entry for each person; use extract"
        )
    for name in test.labels:
        if name not in cohort.labels:
            raise InputError(f"PLINK files have no column {name!r}; they have: {', '.join(cohort.labels)}")
    accumulator: Any = test.start(cohort.names)
    if hasattr(accumulator, "scan"):
        accumulator.scan(cohort)
        return accumulator.finish()
    parts: list[Evidence] = []
    for part, block in cohort.blocks():
        accumulator = test.start(cohort.names[part])
        accumulator.update(block)
        parts.append(accumulator.finish())
    return _joined(cohort.names, parts)


def _joined(names: Sequence[str], parts: Sequence[Evidence]) -> Evidence:
    """Return the evidence of all variants: bounds may differ between them, and the widest hold for all."""
    certificates = [part.certificate for part in parts]
    widest = replace(
        certificates[0],
        sup=max(one.sup for one in certificates),
        spread=max(one.spread for one in certificates),
    )
    null = max((part.null for part in parts), key=lambda null: null.ceiling)
    score = np.concatenate([part.score for part in parts])
    signs = [part.signed for part in parts if part.signed is not None]
    effects = [part.effect for part in parts if part.effect is not None]
    signed = np.concatenate(signs) if signs else None
    return Evidence(names, score, null, widest, signed, joined(effects) if effects else None)


def _is_table(data: Any) -> bool:
    """Say whether p-values come as a table, rather than as a vector or a mapping."""
    if isinstance(data, str) or hasattr(data, "suffix") or len(getattr(data, "shape", ())) == 2:
        return True
    return getattr(getattr(data, "dtype", None), "names", None) is not None
