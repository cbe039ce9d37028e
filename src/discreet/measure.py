"""From raw data about people to evidence: the first half of every release."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from discreet import check
from discreet.data.source import is_table, open_source
from discreet.errors import InputError
from discreet.evidence.core.compared import compared
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.pending import Pending
from discreet.evidence.core.protocol import Test, check_test, is_own
from discreet.evidence.core.sharded import Part, joined
from discreet.gather import entries_of, gathered

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from discreet.block import Block
    from discreet.data.source import Source
    from discreet.data.tables.person import Person
    from discreet.evidence.core.accumulate import Accumulator
    from discreet.evidence.core.sharded import Sharded
    from discreet.typing import Columns, Engine, SchedulerLike, TableLike

_WORKERS = min(4, os.cpu_count() or 1)


def measure(
    data: TableLike,
    test: Test,
    *,
    person: str | Person | None = None,
    columns: Columns | None = None,
    engine: Engine = "local",
    scheduler: SchedulerLike = None,
) -> Evidence:
    """Test every hypothesis in a table of people; the evidence is private and carries its certificate.

    Parameters
    ----------
    data : path, array or table
        CSV or TSV (also .gz), Parquet, a folder of Parquet files, Excel, SPSS, Stata, SAS, Arrow; an array
        (n, m); a pandas, polars (eager or lazy) or pyarrow table, a DuckDB relation or anything that gives
        an Arrow stream; or `Table`, which says how a file is read and what its columns mean. One row for
        each person, unless `person` is given. Or genotypes: `Plink`, or a path to a .bed or .pgen file; the
        phenotype is the column "phenotype".
    test : Mean, Proportion, TwoGroups, ...
        What to test, with its public arguments.
    person : str or Person, optional
        The column that says whose row it is; Person(column, reduce="mean") when people have several rows. If
        None, each row is a person.
    columns : str, type, sequence or mapping, optional
        What to test: a list of names, a pattern such as "lab_*", a type (bool, int, float), or a mapping
        from column to its declared levels (None for numbers); all other levels together are "other", unless
        one alone is declared. If None, all number and yes/no columns, and answers whose levels the table
        declares, but no identifiers (known by their names) and no row numbers; of CSV, which declares no
        types, all others, and text among them is refused.
    engine : {"local", "dask"}
        Where to count. "dask": on a cluster, from Parquet or PLINK files that its workers can read, a dask
        array (n, m) or a dask data frame. The evidence is the same, bit for bit.
    scheduler : str or distributed.Client, optional
        "dask" only: the cluster. If None, the current client, or a cluster of this machine for this call.

    Returns
    -------
    Evidence
        One score for each hypothesis. Never print or ship its scores: hand it to a release.

    Raises
    ------
    InputError
        An argument or the data cannot be used as they are; the message names public things only.
    MissingExtraError
        A package that reads this kind of data is not installed.

    Notes
    -----
    What a person adds to the scores is a function of that person's own rows and of public things, from the
    first byte read: docs/proofs/reading.md and docs/proofs/sources.md. How far one person moves the scores is
    in `Evidence.certificate`, which names its proof. No noise is drawn and nothing is spent.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803, Definition 4.1: how far
    one person moves the p-values of many tests.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> people = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> discreet.measure(people, discreet.Proportion(null=0.5)).names
    ('0', '1')
    """
    how: dict[str, Any] = {"person": person, "columns": columns, "scheduler": scheduler}
    with measuring(data, test, engine=engine, **how, gather=True) as evidence:
        assert isinstance(evidence, Evidence)  # noqa: S101  it was to be gathered
        return evidence


@contextmanager
def measuring(
    data: object,
    test: Test,
    *,
    person: object,
    columns: object,
    engine: str,
    scheduler: object,
    gather: bool,
    look: bool = False,
) -> Generator[Evidence | Sharded | Pending]:
    """Yield the evidence; unless `gather`, that of very many hypotheses may stay on a cluster meanwhile.

    `look`: evidence of a test that asks for a first look waits for it, where it is counted in this process.
    """
    check.engine(engine, scheduler)
    check_test(test)
    source = open_source(data)
    test = source.completed(test)
    if "p-values" in test.sources:
        check_p_values(source.data, test, person, columns)
        if not is_table(source.data):
            yield test.of(source.data)
            return
        column = getattr(test, "column", None)
        columns = columns if column is None else [column]
    if test.needs_rows:
        if engine != "local":
            raise InputError(f"{type(test).__name__} counts in this process: leave engine out")
        if test.comparison() is None:
            entries = entries_of(source, test, person=person, columns=columns)
            with np.errstate(all="ignore"):
                yield _assuming(entries.assumption, _with_people(entries.rows, test.of_rows(entries)))
            return
        people = gathered(source, test, person=person, columns=columns)
        assert people is not None  # noqa: S101  rows are needed
        with np.errstate(all="ignore"):
            yield _assuming(people.assumption, _with_people(people.rows, compared(people)))
        return
    source.check(test, columns)
    assumption = _assumption(source, test, person)
    if engine == "local":
        yield _assuming(assumption, _counted(source, test, person=person, columns=columns, look=look))
        return
    from discreet.engine.scan import scan

    with scan(source, test, person=person, columns=columns, scheduler=scheduler, gather=gather) as evidence:
        yield _assuming(assumption, evidence)


def _assumption(source: Source, test: Test, person: object) -> str:
    """Return what is taken for granted: who vouches for the test, and that rows are people."""
    name = type(test).__name__
    words = [] if is_own(type(test)) else [f"{name} is no test of discreet: its authors vouch for it."]
    words += [vouched] if (vouched := getattr(source, "vouched", "")) else []
    by_row = source.by_row and person is None and "p-values" not in test.sources
    return " ".join([*words, "Each row was taken to be one person."] if by_row else words)


@overload
def _assuming(assumption: str, evidence: Evidence) -> Evidence: ...
@overload
def _assuming(assumption: str, evidence: Evidence | Sharded | Pending) -> Evidence | Sharded | Pending: ...
def _assuming(assumption: str, evidence: Evidence | Sharded | Pending) -> Evidence | Sharded | Pending:
    """Return the evidence with one more sentence on what its certificate stands on."""
    if not assumption:
        return evidence
    if isinstance(evidence, Pending):
        return evidence.changed(partial(_assuming, assumption))
    certificate = evidence.certificate
    words = " ".join(filter(None, (certificate.assumption, assumption)))
    return replace(evidence, certificate=replace(certificate, assumption=words))


def check_p_values(data: object, test: Test, person: object, columns: object) -> None:
    """Refuse what does nothing where p-values are the data: they are nobody's rows."""
    if person is not None:
        raise InputError("person is for rows about people, and these are p-values: leave it out")
    column = getattr(test, "column", None)
    if columns is not None and (column is not None or not is_table(data)):
        raise InputError("columns are for p-values that lie side by side in one row: leave them out")
    if column is not None and not is_table(data):
        raise InputError("column names a column of a table of p-values, and these are a vector: leave it out")


def _counted(
    source: Source, test: Test, *, person: object, columns: object, look: bool
) -> Evidence | Pending:
    """Return the evidence, counted in this process.

    Genotypes are counted where they lie packed, if the test can, or decoded some variants at a time.
    """
    reading = source.read(test.labels, columns=columns, person=person)
    genotypes = reading.genotyped
    with np.errstate(all="ignore"):  # a warning would speak of the data
        if genotypes is not None and test.scans:
            accumulator: Any = test.start(reading.names)
            accumulator.scan(genotypes)
            return _finished(genotypes.rows, test, accumulator, look=look)
        workers = _WORKERS if genotypes is None else 1
        parts = [
            _everyone(test, reading.names[columns], blocks, workers) for columns, blocks in reading.parts()
        ]
        if genotypes is None:
            ((everyone, people),) = parts
            return _finished(people, test, everyone, look=look)
        evidence = [Part.of(everyone.finish()) for everyone, _ in parts]
        return _with_people(genotypes.rows, joined(reading.names, evidence, test))


def _finished(people: int, test: Test, everyone: Any, *, look: bool) -> Evidence | Pending:
    """Return the evidence of everyone counted; or what waits for a first look, if the test asks for one."""
    if look and test.looks_first:
        return everyone.pending().changed(partial(_with_people, people))
    return _with_people(people, everyone.finish())


def _with_people(people: int, evidence: Evidence) -> Evidence:
    """Return the evidence with the number of people, where neighbours share it and it is public."""
    if evidence.certificate.adjacency != "replace":
        return evidence
    return replace(evidence, certificate=replace(evidence.certificate, people=people))


def _everyone(
    test: Test, names: Sequence[str], blocks: Generator[Block], workers: int
) -> tuple[Accumulator, int]:
    """Return the accumulator of all people, and their number; threads take blocks in turn, then merge."""
    turn = Lock()
    rows: list[int] = []

    def work() -> Accumulator:
        mine = test.start(names)
        with np.errstate(all="ignore"):  # a warning would speak of the data; each thread has its own state
            return take(mine)

    def take(mine: Accumulator) -> Accumulator:
        try:
            while True:
                with turn:  # the next block is read by one while others count theirs
                    block = next(blocks, None)
                if block is None:
                    return mine
                rows.append(block.rows)
                mine.update(block)
        except BaseException:
            with turn:
                blocks.close()
            raise

    with ThreadPoolExecutor(workers) as pool:
        first, *rest = [counting.result() for counting in [pool.submit(work) for _ in range(workers)]]
    for accumulator in rest:
        first.merge(accumulator)
    return first, sum(rows)
