"""A data dictionary: what the columns of a table mean, as a codebook says it; and a table read by it.

It is public. What becomes of an entry depends on the entry and on the dictionary; docs/proofs/reading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from discreet import check
from discreet.block import codes, numbers, spelled
from discreet.data.tables.columns import LABELLED, codes_of, names_people
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from discreet.data.tables.column import Column, TableSource
    from discreet.typing import RawArray

_OTHERS = {"text": "text", "date": "other"}
Meaning = Literal["number", "yes/no", "answers", "text", "date", "identifier"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One column: what it holds, what it is called in words, its answers, bounds and codes for missing."""

    name: str
    kind: Meaning | None = None  # None: as the table says
    label: str = ""
    levels: tuple[Any, ...] = ()
    answers: tuple[str, ...] = ()  # one for each level, in words
    bounds: tuple[float, float] | None = None
    missing: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        check.levels(self.levels, f"the levels of {self.name!r}")
        if self.kind == "answers" and not self.levels:
            raise InputError(f"{self.name!r} has answers: say which, in its levels")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise InputError(f"the bounds of {self.name!r} must be two numbers, the lower one first")

    def yes(self) -> int:
        """Return the place of the level that means yes; of two others, of the second."""
        words = [str(word).lower() for word in (*self.answers, *self.levels)]
        places = [place for place, word in enumerate(words) if word in {"yes", "true"}]
        return places[0] % len(self.levels) if places else 1

    def codes_of(self, asked: Sequence[object]) -> tuple[Any, ...]:
        """Return levels as the table has them, where they may be given by their labels."""
        return codes_of(asked, self.levels, self.answers)

    def labels(self) -> dict[str, str]:
        """Return what the hypotheses about it are in words."""
        named = {self.name: self.label} if self.label else {}
        for level, answer in zip(self.levels, self.answers, strict=bool(self.answers)):
            if answer or self.label:
                named[f"{self.name}={spelled(level)}"] = f"{self.label or self.name}: {answer or level}"
        return named


@dataclass(frozen=True, slots=True)
class Dictionary:
    r"""What the columns of a table mean: types, labels, answers, bounds, codes for missing. All public.

    Parameters
    ----------
    variables : sequence of variables
        As `Dictionary.read` makes them.

    Raises
    ------
    InputError
        Two variables have one name.

    Notes
    -----
    Write it from the questionnaire or the codebook, never from the data: levels and bounds that follow from
    people's entries would tell of them. `discreet.Table(data, dictionary=...)` uses it. An answer that is
    none of the levels counts as missing. Proof: docs/proofs/reading.md.

    Examples
    --------
    >>> import pathlib, tempfile, discreet
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "codebook.csv"
    >>> _ = path.write_text("name,label,levels,low,high\nsmokes,Do you smoke?,1=yes|2=no,,\nage,,,0,110\n")
    >>> dictionary = discreet.Dictionary.read(path)
    >>> dictionary.bounds
    {'age': (0.0, 110.0)}
    >>> dictionary.labels
    {'smokes': 'Do you smoke?', 'smokes=1': 'Do you smoke?: yes', 'smokes=2': 'Do you smoke?: no'}
    """

    variables: tuple[Variable, ...] = ()
    _by_name: dict[str, Variable] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        variables = tuple(check.entries(self.variables, "variables"))
        for variable in variables:
            check.made(variable, Variable, "a dictionary is made of variables: use Dictionary.read(path)")
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "_by_name", {variable.name: variable for variable in variables})
        if len(self._by_name) != len(variables):
            raise InputError("the dictionary has two variables of one name: remove one")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Dictionary:
        """Return the dictionary in a file.

        Parameters
        ----------
        path : path
            A CSV file with the columns name, type, label, levels, low, high, missing; REDCap's data
            dictionary (CSV); a Frictionless Table Schema (JSON or YAML); or an SPSS, Stata or SAS file,
            whose labels are taken.

        Returns
        -------
        Dictionary
            Its variables in order.

        Raises
        ------
        InputError
            The file is none of these, or says something that cannot be meant.
        """
        from discreet.data.tables.dictionary_files import read_dictionary

        return read_dictionary(check.path(path, "dictionary"))

    @property
    def labels(self) -> dict[str, str]:
        """What hypotheses are in words, by name."""
        return {name: text for variable in self.variables for name, text in variable.labels().items()}

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The bounds of numbers, by column."""
        return {variable.name: variable.bounds for variable in self.variables if variable.bounds is not None}

    def get(self, name: str) -> Variable | None:
        """Return what is said of a column, if anything.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        Variable or None
            Its record.
        """
        return self._by_name.get(name)

    def over(self, other: Dictionary) -> Dictionary:
        """Return both together; where both speak of a column, this one is right.

        Parameters
        ----------
        other : Dictionary
            What else is known.

        Returns
        -------
        Dictionary
            Everything.
        """
        return Dictionary(tuple({**other._by_name, **self._by_name}.values()))

    def digest(self) -> str:
        """Return a hash of all it says, by which a request is known again.

        Returns
        -------
        str
            Hexadecimal.
        """
        contents = [
            [str(getattr(variable, name)) for name in Variable.__slots__] for variable in self.variables
        ]
        return sha256(json.dumps(contents).encode()).hexdigest()


def as_dictionary(given: object) -> Dictionary:
    """Return a dictionary that is given as such, or as a path."""
    if isinstance(given, Dictionary):
        return given
    if isinstance(given, (str, Path)):
        return Dictionary.read(given)
    raise InputError(f"dictionary must be a path or discreet.Dictionary; got {check.kind_of(given)}")


def variables_of(records: Iterable[Mapping[str, Any]], where: str) -> Dictionary:
    """Return a dictionary of variables that are given by their fields; a wrong one is named by its place."""
    variables: list[Variable] = []
    for place, fields in enumerate(records, 1):
        try:
            variables.append(Variable(**fields))
        except InputError as refusal:
            raise InputError(f"{where}, variable {place}: {refusal}") from None
    return Dictionary(tuple(variables))


@dataclass(frozen=True, slots=True, eq=False)
class DocumentedSource:
    """A source whose columns are what a dictionary says."""

    source: TableSource
    dictionary: Dictionary
    missing: tuple[Any, ...] = ()  # codes in all columns
    person: str | None = None  # whose entries say who, whatever they are

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table."""
        return tuple(self._documented(column) for column in self.source.columns)

    def batches(self, wanted: Sequence[str]) -> Iterator[Mapping[str, RawArray]]:
        """Yield the wanted columns in batches of rows, declared codes for missing taken out."""
        asked = {*wanted}
        missing = {name: words for name, words in self._missing().items() if name in asked and words}
        for batch in self.source.batches(wanted):
            yield Cleared(batch, missing) if missing else batch

    def reading(self, text: frozenset[str]) -> DocumentedSource:
        """Return the same, of whose columns these are read as text where the file declares no types."""
        if not hasattr(self.source, "reading"):
            return self
        untyped: Any = self.source
        missing = {name: tuple(map(str, words)) for name, words in self._missing().items()}
        return replace(self, source=untyped.reading(text, missing))

    def _missing(self) -> dict[str, tuple[Any, ...]]:
        """Return the codes for missing of each column; identifiers have none but their own."""
        known: dict[str, tuple[Any, ...]] = {}
        for column in self.columns:
            variable = self.dictionary.get(column.name)
            own = () if variable is None else variable.missing
            exempt = column.name == self.person or names_people(column)
            known[column.name] = own if exempt else tuple(dict.fromkeys((*own, *self.missing)))
        return known

    def _documented(self, column: Column) -> Column:
        variable = self.dictionary.get(column.name)
        if self.missing and variable is not None and variable.levels:
            kept = np.flatnonzero(self._are_present(variable.levels)).tolist()
            answers = tuple(variable.answers[place] for place in kept) if variable.answers else ()
            variable = replace(
                variable, levels=tuple(variable.levels[place] for place in kept), answers=answers
            )
        elif self.missing and column.levels is not None:
            present = zip(column.levels, self._are_present(column.levels), strict=True)
            column = replace(column, levels=tuple(level for level, kept in present if kept) or None)
        if variable is None or variable.kind is None:
            return column
        column = replace(column, typed=True)
        if variable.kind == "number":
            # Text where numbers were declared is refused when it is read: it does not end a hypothesis.
            kind = "object" if column.kind == "text" and not hasattr(self.source, "reading") else column.kind
            return replace(column, kind=kind, levels=None, identifier=False)
        if variable.kind in {"answers", "yes/no"}:
            column = replace(column, kind="text", declared=True, identifier=False, yes=variable.yes())
            return replace(column, levels=variable.levels, answers=variable.answers)
        if variable.kind == "identifier":
            return replace(column, levels=None, identifier=True)
        return replace(column, kind=_OTHERS[variable.kind], levels=None)

    def _are_present(self, levels: Sequence[object]) -> NDArray[np.bool_]:
        """Say which levels stand for an answer, and not for a missing one."""
        return codes(np.array(levels, dtype=object), self.missing) < 0


@dataclass(frozen=True, slots=True, eq=False)
class Cleared(Mapping[str, "RawArray"]):
    """A batch whose codes for missing are missing; a column is read when it is asked for."""

    batch: Mapping[str, RawArray]
    missing: Mapping[str, tuple[Any, ...]]

    def __getitem__(self, name: str) -> RawArray:
        column = self.batch[name]
        if name not in self.missing:
            return column
        if column.dtype == np.float32:  # such a column has -99.9 as the float32 that is nearest
            known = numbers(np.array(self.missing[name], dtype=object))
            known = known[np.abs(known) <= np.finfo(np.float32).max].astype(np.float32)
            return np.where(np.isin(column, known), np.float32(np.nan), column)
        absent = codes(column, self.missing[name]) >= 0
        if column.dtype == object:
            cleared = column.copy()
            cleared[absent] = None
            return cleared
        return np.where(absent, np.array(np.nan, dtype=column.dtype), column)

    def __iter__(self) -> Iterator[str]:
        return iter(self.batch)

    def __len__(self) -> int:
        return len(self.batch)


def in_codes(test: Any, dictionary: Dictionary) -> Any:
    """Return a test whose levels are codes, where they were given by their labels."""
    for role, levels_of in LABELLED:
        name, levels = getattr(test, role, None), getattr(test, levels_of, ())
        variable = dictionary.get(name) if isinstance(name, str) else None
        if variable is not None and any(isinstance(level, str) for level in levels):
            coded = variable.codes_of(levels)
            test = test if coded == tuple(levels) else replace(test, **{levels_of: coded})
    adjust: Any = getattr(test, "adjust", None)
    if not isinstance(adjust, Mapping):
        return test
    covariates: dict[str, Any] = dict(cast("Mapping[str, Any]", adjust))
    for name, levels in covariates.items():
        variable = dictionary.get(name)
        if variable is not None and any(isinstance(level, str) for level in levels or ()):
            covariates[name] = tuple(spelled(code) for code in variable.codes_of(levels))
    return test if covariates == adjust else replace(test, adjust=covariates)
