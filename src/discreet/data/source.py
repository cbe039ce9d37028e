"""Whatever is given to `discover`, as one kind of thing: opened once, and asked by all who need it.

What each source delivers about a person is a function of that person's own rows; docs/proofs/sources.md.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from discreet.errors import DiscreetError, InputError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from discreet.block import Block, Genotyped
    from discreet.data.plink.plink import Cohort, Plink
    from discreet.data.tables.reading import TableReading
    from discreet.data.tables.source import TableSource


_CONVERTED = {".vcf": "--vcf", ".vcf.gz": "--vcf", ".bcf": "--bcf", ".bgen": "--bgen"}


class Reading(Protocol):
    """Data as one test reads it: the hypotheses, and everyone in blocks."""

    @property
    def names(self) -> Sequence[str]:
        """The hypotheses."""
        ...

    @property
    def genotyped(self) -> Genotyped | None:
        """Everyone's packed genotypes, where there are some."""
        ...

    def parts(self) -> Iterator[tuple[slice, Generator[Block]]]:
        """Yield which hypotheses, and everyone's rows of these."""
        ...


class Source(Protocol):
    """Tables, genotypes, or data on a cluster."""

    @property
    def data(self) -> Any:
        """What was given."""
        ...

    @property
    def by_row(self) -> bool:
        """Whether a row is taken for a person, unless a column says whose it is."""
        ...

    def public(self) -> dict[str, Any]:
        """Return what a ledger remembers of it; no more than its head is read."""
        ...

    def check(self, test: Any, columns: Any) -> None:
        """Refuse what is asked of data that does not have it, as its declared types and files say."""
        ...

    def read(self, labels: Sequence[str], *, columns: Any, person: Any) -> Reading:
        """Return the hypotheses and everyone's rows, with these label columns beside them."""
        ...

    def completed(self, test: Any) -> Any:
        """Return a test with what the data's dictionary says to it."""
        ...

    def labels(self, names: Iterable[str]) -> dict[str, str]:
        """Return what hypotheses are in words; public."""
        ...

    def let_go(self) -> None:
        """Keep no rows in memory."""
        ...


def open_source(data: Any) -> Source:
    """Return the source behind anything that `discover` takes; one that is open stays as it is."""
    if isinstance(data, (Tables, Genotypes, OnCluster)):
        return data
    if is_genotypes(data):
        return Genotypes(data)
    _refuse_others(data)
    return OnCluster(data) if type(data).__module__.startswith(("dask.", "dask_expr")) else Tables(data)


def _refuse_others(data: Any) -> None:
    """Say how genotypes in formats that are not read become one that is."""
    name = str(data).lower() if isinstance(data, (str, Path)) else ""
    for ending, option in _CONVERTED.items():
        if name.endswith(ending):
            raise InputError(
                f"{data}: genotypes are read from PLINK files; make them with plink2 {option} "
                f"{Path(data).name} --make-pgen --out cohort, and give cohort.pgen"
            )


def is_genotypes(data: Any) -> bool:
    """Say whether `data` is a Plink record, a path to PLINK files, or such a source."""
    from discreet.data.plink.plink import ENDINGS, Plink

    if isinstance(data, (str, Path)):
        return str(data).lower().endswith(tuple(ENDINGS))
    return isinstance(data, (Plink, Genotypes))


def is_table(data: Any) -> bool:
    """Say whether p-values come as a table, rather than as a vector or a mapping."""
    if isinstance(data, str) or hasattr(data, "suffix") or len(getattr(data, "shape", ())) == 2:
        return True
    return getattr(getattr(data, "dtype", None), "names", None) is not None


class Tables:
    """An array, a data frame of any make, or a path to a table. Its head is read once, as are its rows."""

    by_row = True

    def __init__(self, data: Any) -> None:
        from discreet.data.tables.table import as_table

        self.table = as_table(data)
        self.data = self.table.data
        self._opened: TableSource | None = None
        self._held: tuple[Any, tuple[Block, ...]] | None = None

    @property
    def opened(self) -> TableSource:
        """The table with its columns."""
        if self._opened is None:
            from discreet.data.tables.reading import (
                table_source,  # narwhals loads when there is a table to read
            )

            self._opened = table_source(self.table)
        return self._opened

    @property
    def is_file(self) -> bool:
        """Whether it may be larger than memory."""
        return isinstance(self.data, (str, Path))

    def public(self) -> dict[str, Any]:
        """Return the file's name and all column names, hashed; types in some formats follow from values."""
        file = _name(self.data) if self.is_file else None
        known: dict[str, Any] = {"kind": "table", "file": file, **self.table.public()}
        try:
            return {**known, "columns": hashed(column.name for column in self.opened.columns)}
        except DiscreetError:
            return known  # said in its turn, when the data is read

    def check(self, test: Any, columns: Any) -> None:
        """Refuse a level that the table's own type does not have, and a test on families."""
        from discreet.data.tables.choose import asked_levels, check_levels

        if test.sources == ("genotypes",):
            raise InputError(f"{type(test).__name__} reads PLINK files, which say who is whose parent")

        if asked := asked_levels(test, columns):
            check_levels(self.opened.columns, asked)

    def read(self, labels: Sequence[str], *, columns: Any, person: Any) -> TableReading:
        """Return the table as it is asked; rows that are held are not read again."""
        from discreet.data.tables.reading import table_of

        table = table_of(self.opened, columns=columns, labels=labels, person=person)
        if self._held is not None and self._held[0] == table.asked:
            return table.holding(self._held[1])
        return table

    def hold(self, table: TableReading, blocks: Sequence[Block]) -> None:
        """Keep everyone's rows for whoever asks for the same columns next."""
        self._held = (table.asked, tuple(blocks))

    def completed(self, test: Any) -> Any:
        """Return a test with the bounds of the dictionary, where it takes bounds and was given none."""
        bounds: Any = getattr(self.table.dictionary, "bounds", None)
        return replace(test, bounds=bounds) if bounds and getattr(test, "bounds", 0) is None else test

    def labels(self, names: Iterable[str]) -> dict[str, str]:
        """Return what hypotheses are in words, as far as the dictionary says, inside subgroups as well."""
        dictionary: Any = getattr(self._opened, "dictionary", None)  # None of p-values, which are no table
        known: dict[str, str] = {} if dictionary is None else dictionary.labels
        texts = {name: known.get(name.partition(" | ")[0]) for name in names}
        return {name: text for name, text in texts.items() if text is not None}

    def let_go(self) -> None:
        """Keep no rows in memory."""
        self._held = None


class Genotypes:
    """PLINK files. The list of variants is read once."""

    by_row = False

    def __init__(self, data: Any) -> None:
        from discreet.data.plink.plink import Plink

        self.data = data
        self.plink: Plink = data if isinstance(data, Plink) else Plink(data)
        self._variants: Any = None

    @property
    def variants(self) -> Any:
        """The variants that are tested."""
        if self._variants is None:
            self._variants = self.plink.variants()
        return self._variants

    def public(self) -> dict[str, Any]:
        """Return the files by name, the lists of people and strata by content, and the variants tested.

        Lists that are public by declaration count by their content, private ones (a phenotype) by name alone.
        """
        plink = self.plink
        known: dict[str, Any] = {"kind": "genotypes", "file": _name(plink.path)}
        known["pheno"] = None if plink.pheno is None else [_name(plink.pheno), plink.pheno_name]
        for name in ("keep", "within"):
            listed = getattr(plink, name)
            known[name] = None if listed is None else _content(listed)
        try:
            variants = self.variants
        except DiscreetError:
            return known  # said in its turn, when the data is read
        return {**known, "variants": sha256(variants.text + variants.chosen.tobytes()).hexdigest()}

    def check(self, test: Any, columns: Any) -> None:  # noqa: ARG002 - extract stands in place of columns
        """Refuse a phenotype or strata that the test would not look at."""
        self.plink.check_used(test.labels)

    def read(self, labels: Sequence[str], *, columns: Any, person: Any) -> Cohort:
        """Return the cohort; its genotypes are not read yet."""
        from discreet.data.plink.plink import PEDIGREE

        cohort = self.plink.open(self.variants, pedigree=not {*PEDIGREE}.isdisjoint(labels))
        cohort.check(labels, person, columns)
        return cohort

    def completed(self, test: Any) -> Any:
        """Return the test as it is: there is no dictionary."""
        return test

    def labels(self, names: Iterable[str]) -> dict[str, str]:  # noqa: ARG002
        """Return nothing: there is no dictionary."""
        return {}

    def let_go(self) -> None:
        """Do nothing: genotypes are not kept."""


class OnCluster:
    """A dask array or data frame: only the engine of that name can read it."""

    by_row = True

    def __init__(self, data: Any) -> None:
        self.data = data

    def public(self) -> dict[str, Any]:
        """Return all column names, hashed."""
        named: Any = getattr(self.data, "columns", None)
        names = cast("Iterable[Any]", range(self.data.shape[1]) if named is None else named)
        return {"kind": "table", "file": None, "columns": hashed(names)}

    def check(self, test: Any, columns: Any) -> None:
        """Refuse a level that the table's own type does not have."""
        example = getattr(self.data, "_meta_nonempty", None)  # Dask's name for a frame that tells the types
        if example is not None:
            Tables(example).check(test, columns)

    def read(self, labels: Sequence[str], *, columns: Any, person: Any) -> Reading:
        """Refuse, in the words of tables."""
        return Tables(self.data).read(labels, columns=columns, person=person)

    def completed(self, test: Any) -> Any:
        """Return the test as it is: there is no dictionary."""
        return test

    def labels(self, names: Iterable[str]) -> dict[str, str]:  # noqa: ARG002
        """Return nothing: there is no dictionary."""
        return {}

    def let_go(self) -> None:
        """Do nothing: rows are elsewhere."""


def hashed(names: Iterable[Any]) -> str:
    """Return the hash of a list of names."""
    return sha256(json.dumps([str(name) for name in names]).encode()).hexdigest()


def _name(path: str | Path) -> str:
    """Return a file's name, without its folder: a copy elsewhere is the same."""
    return Path(path).absolute().name


def _content(path: str | Path) -> str | None:
    try:
        return sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None
