"""People in PLINK's text files: .fam and .psam, phenotypes, who to keep, and public strata.

Every line is read by itself; docs/proofs/sources.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.plink.variants import all_have, fields, lines
from discreet.errors import InputError, no_column

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_HEADERS = frozenset({"FID", "#FID", "IID", "#IID"})
_ABSENT = -9.0  # PLINK's code for a missing phenotype


@dataclass(frozen=True, slots=True, repr=False)
class People:
    """Everyone in the file, by (family, person), with a phenotype: NaN where it is missing. Private.

    `parents` holds everyone's father and mother by name, "0" where there is none.
    """

    identifiers: tuple[tuple[str, str], ...]
    phenotype: NDArray[np.float64]
    parents: tuple[Sequence[str], Sequence[str]]

    def pedigree(self, kept: NDArray[np.bool_]) -> dict[str, NDArray[np.int64]]:
        """Return the families of those kept, by number, and the rows of their parents among them; else -1.

        Parents have the family of their child; family "0" is none.
        """
        rows = np.flatnonzero(kept).tolist()
        place = {self.identifiers[row]: new for new, row in enumerate(rows)}
        families: dict[str, int] = {"0": -1}
        for row in rows:
            families.setdefault(self.identifiers[row][0], len(families) - 1)
        whose = [self.identifiers[row][0] for row in rows]
        columns = {"family": [families[family] for family in whose]}
        for name, parent in zip(("father", "mother"), self.parents, strict=True):
            columns[name] = [
                place.get((family, parent[row]), -1) for family, row in zip(whose, rows, strict=True)
            ]
        return {name: np.array(numbers, dtype=np.int64) for name, numbers in columns.items()}

    def __repr__(self) -> str:
        return "People(private)"


def read_fam(path: Path) -> People:
    """Return the people of a .fam file; the sixth field is the phenotype."""
    text, starts = lines(path)
    if not all_have(text, starts, 6):
        raise InputError(f"{path}: every line must have six fields: FID IID father mother sex phenotype")
    words = (
        b"\n".join(text.split()).decode(errors="backslashreplace").split("\n")
    )  # cut at ASCII blanks alone
    family, person, father, mother, phenotype = (words[field::6] for field in (0, 1, 2, 3, 5))
    ids = list(zip(family, person, strict=True))
    return checked_people(path, ids, _numbers(phenotype), (father, mother))


def read_psam(path: Path) -> People:
    """Return the people of a .psam file; its first phenotype column, after SEX, is the phenotype."""
    header, rows = _table(path)
    ids = _identifiers(path, header, rows)
    known = {"FID", "IID", "SID", "PAT", "MAT", "SEX"}
    traits = [place for place, name in enumerate(header) if name.lstrip("#") not in known]
    values = [row[traits[0]] if traits else "NA" for row in rows]
    names = [name.lstrip("#") for name in header]
    father, mother = (
        [row[names.index(name)] if name in names else "0" for row in rows] for name in ("PAT", "MAT")
    )
    return checked_people(path, ids, _numbers(values), (father, mother))


def read_phenotype(path: Path, people: People, column: str | None) -> NDArray[np.float64]:
    """Return everyone's phenotype from a PLINK phenotype file; NaN for -9, NA, and those not listed."""
    values = _by_person(path, people, column)
    return _numbers(["NA" if value is None else value for value in values])


def read_strata(path: Path, people: People) -> NDArray[Any]:
    """Return everyone's stratum from a file FID IID stratum; None for those not listed."""
    result = np.empty(len(people.identifiers), dtype=object)
    result[:] = _by_person(path, people, None)
    return result


def read_covariates(path: Path, people: People, taken: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns of a file FID IID PC1 ..., as text, None where it is missing; not those `taken`."""
    header, rows = _table(path)
    names = [name.lstrip("#") for name in header]
    free = [name for name in names if name not in {"FID", "IID"}]
    if not free or len(set(names)) != len(names) or not {*taken}.isdisjoint(names):
        raise InputError(f"{path}: needs a header FID IID and the name of each covariate, none of them twice")
    result: dict[str, NDArray[Any]] = {}
    for name in free:
        column = np.empty(len(people.identifiers), dtype=object)
        values = _by_person(path, people, name, (header, rows))
        column[:] = [None if value is None or _number(value) == _ABSENT else value for value in values]
        result[name] = column
    return result


def read_keep(path: Path, people: People) -> NDArray[np.bool_]:
    """Return who is listed in a file of FID IID, or of IID alone."""
    header, rows = _table(path)
    if header:
        listed = set(_identifiers(path, header, rows))
    else:
        listed = {(row[0], row[1]) if len(row) > 1 else ("0", row[0]) for row in rows}
    alone = {person for family, person in listed if family == "0"}
    kept = np.array([person in listed or person[1] in alone for person in people.identifiers], dtype=bool)
    if not kept.any():
        raise InputError(f"{path}: nobody listed there is in the .fam file; each line is FID IID")
    return kept


def _by_person(
    path: Path,
    people: People,
    column: str | None,
    table: tuple[list[str], list[list[str]]] | None = None,
) -> list[str | None]:
    """Return everyone's entry in a column, the first if none is named; None for those not listed."""
    header, rows = _table(path) if table is None else table
    if header:
        ids = _identifiers(path, header, rows)
        names = [name.lstrip("#") for name in header]
        free = [place for place, name in enumerate(names) if name not in {"FID", "IID"}]
        if column is not None and column not in names:
            raise no_column(f"{path}:", column, names)
        place = names.index(column) if column is not None else (free[0] if free else -1)
    elif column is not None:
        raise InputError(f"{path}: has no header line FID IID ..., so no column can be called {column!r}")
    else:
        ids, names, place = [(row[0], row[1]) for row in rows if len(row) > 2], ["FID", "IID"], 2
    if place < 0 or any(len(row) <= place for row in rows):
        raise InputError(f"{path}: every line must be FID IID value")
    value = {identifier: row[place] for identifier, row in zip(ids, rows, strict=True)}
    if len(value) != len(rows):
        raise InputError(f"{path}: somebody is listed twice")
    if "FID" in names:
        return [value.get(identifier) for identifier in people.identifiers]
    # A line without a family is for one person only: it would hand one phenotype to several.
    listed = [person for _, person in people.identifiers if ("0", person) in value]
    if len(set(listed)) != len(listed):
        raise InputError(f"{path}: a line without FID fits several people: give FID and IID")
    return [value.get(("0", person)) for _, person in people.identifiers]


def _identifiers(path: Path, header: list[str], rows: list[list[str]]) -> list[tuple[str, str]]:
    names = [name.lstrip("#") for name in header]
    if "IID" not in names or any(len(row) != len(header) for row in rows):
        raise InputError(f"{path}: needs a column IID, and as many fields in every line as in the header")
    person = names.index("IID")
    family = names.index("FID") if "FID" in names else None
    return [("0" if family is None else row[family], row[person]) for row in rows]


def checked_people(
    path: Path,
    ids: list[tuple[str, str]],
    phenotype: NDArray[np.float64],
    parents: tuple[Sequence[str], Sequence[str]],
) -> People:
    """Return people whose names tell them apart, and stand for no header."""
    if len(set(ids)) != len(ids):
        raise InputError(f"{path}: somebody is listed twice (same FID and IID)")
    families, persons = ({name[part] for name in ids} for part in (0, 1))
    called = _HEADERS & (families | persons)
    if called or any(family.startswith("##") for family in families):
        # Such a person's line, where it comes first, would be taken for the header of a file about everyone.
        raise InputError(f"{path}: FID, IID and ## begin headers: nobody can be called so")
    return People(tuple(ids), phenotype, parents)


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header, empty if there is none, and the other lines, all cut into fields."""
    rows = list(dropwhile(lambda row: row[0].startswith("##"), fields(path)))
    if rows and rows[0][0] in _HEADERS:
        return rows[0], rows[1:]
    return [], rows


def _numbers(words: list[str]) -> NDArray[np.float64]:
    """Return phenotypes, each read by itself; NaN where it is missing or no number: not worth an error."""
    known = {word: _number(word) for word in set(words)}  # of cases and controls there are two
    values = np.array([known[word] for word in words], dtype=np.float64)
    return np.where(np.isfinite(values) & (values != _ABSENT), values, np.nan)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan
