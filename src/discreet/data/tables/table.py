"""A table as whoever holds it describes it: how its file is read, and what its columns mean. All public."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from discreet import check
from discreet.data.tables.dictionary import Dictionary, as_dictionary
from discreet.errors import InputError
from discreet.typing import DecimalMark, Separator

if TYPE_CHECKING:
    from os import PathLike

    from discreet.typing import TableLike

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_TABS = (".tsv", ".tsv.gz")
_TEXT = (".csv", ".csv.gz", *_TABS, ".txt", ".txt.gz")

_FOR = {
    "separator": ("text files (.csv, .tsv, .txt)", _TEXT),
    "decimal": ("text files (.csv, .tsv, .txt)", _TEXT),
    "sheet": ("Excel files (.xlsx)", (".xlsx", ".xlsm")),
}


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

    def __post_init__(self) -> None:
        if isinstance(self.data, (Table, _plink())):
            raise InputError("Table describes a path, an array or a data frame; PLINK files are for Plink")
        for name, (kind, endings) in _FOR.items():
            if getattr(self, name) is not None and not self._ends(endings):
                raise InputError(f"{name} is for {kind}: leave it out")
        if self.separator is not None:
            typed: Any = self.separator
            if isinstance(typed, str) and typed in {"\t", "\\t"}:
                object.__setattr__(self, "separator", "tab")
            check.choice(self.separator, "separator", get_args(Separator))
        if self.decimal is not None:
            check.choice(self.decimal, "decimal", get_args(DecimalMark))
        if self.sheet is not None:
            check.text(self.sheet, "sheet")
        if self.dictionary is not None:
            object.__setattr__(self, "dictionary", as_dictionary(self.dictionary))
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

    def public(self) -> dict[str, Any]:
        """Return what was said, as a request is known again by.

        Returns
        -------
        dict
            By option; of a dictionary a hash.
        """
        options = {name: getattr(self, name) for name in ("separator", "decimal", "sheet")}
        options["dictionary"] = self.dictionary.digest() if isinstance(self.dictionary, Dictionary) else None
        return {name: value for name, value in options.items() if value is not None}

    def _ends(self, endings: tuple[str, ...]) -> bool:
        return isinstance(self.data, (str, Path)) and str(self.data).lower().endswith(endings)

    def __repr__(self) -> str:
        options = {name: getattr(self, name) for name in ("separator", "decimal", "sheet")}
        shown = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
        return f"Table({str(self.data) if isinstance(self.data, (str, Path)) else 'private'}{shown})"


def as_table(data: Any) -> Table:
    """Return a table as it was described, or with nothing said about it."""
    return data if isinstance(data, Table) else Table(data)


def _plink() -> type:
    from discreet.data.plink.plink import Plink

    return Plink
