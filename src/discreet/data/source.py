"""Whatever is given to `discover`, as one kind of thing: opened once, and asked by all who need it.

What each source delivers about a person is a function of that person's own rows; docs/proofs/sources.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, get_args

from discreet import check
from discreet.block import spelled
from discreet.data.tables.dictionary import Dictionary, as_dictionary
from discreet.data.tables.encodings import known_encoding
from discreet.errors import DiscreetError, InputError
from discreet.typing import DecimalMark, Separator

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from os import PathLike

    from discreet.block import Block, Genotyped
    from discreet.data.plink.plink import Cohort, Plink
    from discreet.typing import TableLike

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_TABS = (".tsv", ".tsv.gz")
TEXT = (".csv", ".csv.gz", *_TABS, ".txt", ".txt.gz")
EXCEL = (".xlsx", ".xlsm")

_FOR = {
    "separator": ("text files (.csv, .tsv, .txt)", TEXT),
    "decimal": ("text files (.csv, .tsv, .txt)", TEXT),
    "encoding": ("text files (.csv, .tsv, .txt)", TEXT),
    "sheet": ("Excel files (.xlsx)", EXCEL),
}


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

    data: Any
    """What was given."""
    by_row: bool = True
    """Whether a row is taken for a person, unless a column says whose it is."""

    def public(self) -> dict[str, Any]:
        """Return what a ledger remembers of it; no more than its head is read."""
        ...

    def check(self, test: object, columns: object) -> None:
        """Refuse what is asked of data that does not have it, as its declared types and files say."""
        ...

    def read(self, labels: Sequence[str], *, columns: object, person: object) -> Reading:
        """Return the hypotheses and everyone's rows, with these label columns beside them."""
        ...

    def completed(self, test: object) -> Any:
        """Return a test with what the data's dictionary says to it, where there is one."""
        return test

    def labels(self, names: Iterable[str]) -> dict[str, str]:  # noqa: ARG002
        """Return what hypotheses are in words, where a dictionary says so; public."""
        return {}

    def let_go(self) -> None:
        """Keep no rows in memory, where any are kept."""
        return


def open_source(data: object) -> Source:
    """Return the source behind anything that `discover` takes; one that is open stays as it is."""
    from discreet.data.tables.reading import Tables

    if isinstance(data, (Tables, Genotypes, OnCluster)):
        return data
    if is_genotypes(data):
        return Genotypes(data)
    if type(data).__module__.startswith(("dask.", "dask_expr")):
        return OnCluster(data)
    return Tables(data)


def is_genotypes(data: object) -> bool:
    """Say whether `data` is a Plink record, a path to PLINK files, or such a source."""
    from discreet.data.plink.plink import ENDINGS, Plink

    if isinstance(data, (str, Path)):
        return str(data).lower().endswith(ENDINGS)
    return isinstance(data, (Plink, Genotypes))


def is_table(data: object) -> bool:
    """Say whether p-values come as a table, rather than as a vector or a mapping."""
    if isinstance(data, str) or hasattr(data, "suffix") or len(getattr(data, "shape", ())) == 2:
        return True
    return getattr(getattr(data, "dtype", None), "names", None) is not None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    r"""A table with what has to be said about it, to be given to `discover` or `measure` in its place.

    Parameters
    ----------
    data : path, array or table
        Whatever `measure` takes, but genotypes.
    separator : {",", ";", "tab", "|"}, optional
        What lies between two entries of a text file. If None, a tab in .tsv files and a comma in .csv files;
        of a .txt file it has to be said.
    decimal : {".", ","}, optional
        The mark before the decimals in a text file. If None, a point.
    sheet : str, optional
        The worksheet of an Excel file. If None, the first.
    dictionary : path or Dictionary, optional
        What the columns mean: `Dictionary.read` says in which files. It gives types, levels, labels, codes
        for missing, and bounds to tests that were given none.
    missing : text, number, or list of them, optional
        Words and numbers that stand for no entry, such as "k.A.", -9 or 999: in every column, but for
        identifiers and the column of `person`. An answer that is one of them is no level either.
    encoding : str, optional
        How a text file spells letters, such as "windows-1252" or "latin-1": any encoding in which a letter is
        one byte. If None, UTF-8.

    Raises
    ------
    InputError
        An option is none of these, or would do nothing for this data.

    Notes
    -----
    Everything here is public and part of what a release id stands for. Nothing of it is guessed from the
    data: one person's entries would then decide how everyone's are read. Proof: docs/proofs/reading.md.

    Examples
    --------
    >>> import pathlib, tempfile, discreet
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("height;weight\n1,80;75,5\n1,62;58\n")
    >>> people = discreet.Table(path, separator=";", decimal=",")
    >>> discreet.measure(people, discreet.Sign(null=1.7)).names
    ('height', 'weight')
    """

    data: TableLike
    separator: Separator | None = None
    decimal: DecimalMark | None = None
    sheet: str | None = None
    dictionary: Dictionary | str | PathLike[str] | None = None
    missing: Sequence[str | float] | str | float | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        from discreet.data.plink.plink import Plink

        if isinstance(self.data, (Table, Plink)):
            raise InputError("Table describes a path, an array or a data frame; PLINK files are for Plink")
        for name, (kind, endings) in _FOR.items():
            if getattr(self, name) is not None and not self._ends(endings):
                raise InputError(f"{name} is for {kind}: leave it out")
        self._check_text()
        if self.sheet is not None:
            check.text(self.sheet, "sheet")
        if self.dictionary is not None:
            object.__setattr__(self, "dictionary", as_dictionary(self.dictionary))
        object.__setattr__(self, "missing", _codes(self.missing))

    def _check_text(self) -> None:
        """Refuse what cannot be said of a text file."""
        if self.separator is not None:
            typed: Any = self.separator
            if isinstance(typed, str) and typed in {"\t", "\\t"}:
                object.__setattr__(self, "separator", "tab")
            check.choice(self.separator, "separator", get_args(Separator))
        if self.decimal is not None:
            check.choice(self.decimal, "decimal", get_args(DecimalMark))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", known_encoding(self.encoding))
        if self.decimal == "," and self.between == ",":
            raise InputError(
                'decimal "," in a file separated by commas: say what separates its entries, as separator=";" '
                "or --separator ';'"
            )

    @property
    def between(self) -> str | None:
        """What lies between two entries: as declared, or as the ending says; None of a .txt file."""
        if self.separator is not None:
            return "\t" if self.separator == "tab" else self.separator
        return "\t" if self._ends(_TABS) else None if self._ends((".txt", ".txt.gz")) else ","

    def public(self) -> dict[str, object]:
        """Return what was said, as a request is known again by.

        Returns
        -------
        dict
            By option; of a dictionary a hash.
        """
        options = self._said()
        options["dictionary"] = self.dictionary.digest() if isinstance(self.dictionary, Dictionary) else None
        return {name: value for name, value in options.items() if value is not None}

    def _ends(self, endings: tuple[str, ...]) -> bool:
        return isinstance(self.data, (str, Path)) and str(self.data).lower().endswith(endings)

    def _said(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            name: getattr(self, name) for name in ("separator", "decimal", "sheet", "missing", "encoding")
        }
        if self.missing is not None:  # 9, 9.0 and "9" are one code
            options["missing"] = [spelled(code) for code in cast("Sequence[Any]", self.missing)]
        return options

    def __repr__(self) -> str:
        options = self._said()
        shown = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
        return f"Table({str(self.data) if isinstance(self.data, (str, Path)) else 'private'}{shown})"


def _codes(given: object) -> tuple[Any, ...] | None:
    """Return the codes for missing, one or several, as they are kept."""
    given = [] if given is None else [given] if isinstance(given, (str, int, float)) else given
    return check.levels(given, "missing") or None


def as_table(data: object) -> Table:
    """Return a table as it was described, or with nothing said about it."""
    return data if isinstance(data, Table) else Table(data)


class Genotypes(Source):
    """PLINK files. The lists of variants and of people are read once."""

    by_row = False

    def __init__(self, data: Any) -> None:
        from discreet.data.plink.plink import Plink

        self.data = data
        self.plink: Plink = data if isinstance(data, Plink) else Plink(data)
        self._variants: Any = None
        self._cohorts: dict[bool, Cohort] = {}

    @property
    def variants(self) -> Any:
        """The variants that are tested."""
        if self._variants is None:
            self._variants = self.plink.variants()
        return self._variants

    def public(self) -> dict[str, object]:
        """Return the files by name, the lists of people and strata by content, and the variants tested.

        Lists that are public by declaration count by their content, private ones (a phenotype) by name alone.
        """
        plink = self.plink
        known: dict[str, Any] = {"kind": "genotypes", "file": _name(plink.path)}
        known["pheno"] = None if plink.pheno is None else [_name(plink.pheno), plink.pheno_name]
        if plink.covar is not None:
            known["covar"] = _name(plink.covar)
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

        pedigree = not {*PEDIGREE}.isdisjoint(labels)
        if pedigree not in self._cohorts:
            self._cohorts[pedigree] = self.plink.open(self.variants, pedigree=pedigree)
        cohort = self._cohorts[pedigree]
        cohort.check(labels, person, columns)
        return cohort


class OnCluster(Source):
    """A dask array or data frame: only the engine of that name can read it."""

    def __init__(self, data: object) -> None:
        self.data = data

    def public(self) -> dict[str, object]:
        """Return all column names, hashed."""
        named: Any = getattr(self.data, "columns", None)
        names = cast("Iterable[Any]", range(self.data.shape[1]) if named is None else named)
        return {"kind": "table", "file": None, "columns": hashed(names)}

    def check(self, test: object, columns: object) -> None:
        """Refuse a level that the table's own type does not have."""
        from discreet.data.tables.reading import Tables

        example = getattr(self.data, "_meta_nonempty", None)  # Dask's name for a frame that tells the types
        if example is not None:
            Tables(example).check(test, columns)

    def read(self, labels: Sequence[str], *, columns: object, person: object) -> Reading:
        """Refuse, in the words of tables."""
        from discreet.data.tables.reading import Tables

        return Tables(self.data).read(labels, columns=columns, person=person)


def hashed(names: Iterable[object]) -> str:
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
