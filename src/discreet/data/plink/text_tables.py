"""Tables of text beside a PLINK fileset: .psam, phenotypes, strata, covariates, who to keep, frequencies.

Every line is read by itself; docs/proofs/sources.md.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.plink.fileset import (
    ABSENT,
    HEADERS,
    People,
    checked_people,
    has_controls,
    number_of,
    phenotypes,
)
from discreet.errors import InputError, no_column

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.typing import RawArray


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
    return checked_people(path, ids, phenotypes(values), (father, mother))


def read_phenotype(path: Path, people: People, column: str | None) -> NDArray[np.float64]:
    """Return everyone's phenotype from a PLINK phenotype file; NaN for -9, NA, and those not listed."""
    values = _by_person(path, people, column)
    return phenotypes(["NA" if value is None else value for value in values])


def read_strata(path: Path, people: People) -> RawArray:
    """Return everyone's stratum from a file FID IID stratum; None for those not listed."""
    result = np.empty(len(people.identifiers), dtype=object)
    result[:] = _by_person(path, people, None)
    return result


def read_covariates(path: Path, people: People, taken: Sequence[str]) -> dict[str, RawArray]:
    """Return the columns of a file FID IID PC1 ..., as text, None where it is missing; not those `taken`."""
    header, rows = _table(path)
    names = [name.lstrip("#") for name in header]
    free = [name for name in names if name not in {"FID", "IID"}]
    if not free or len(set(names)) != len(names) or not {*taken}.isdisjoint(names):
        raise InputError(f"{path}: needs a header FID IID and the name of each covariate, none of them twice")
    result: dict[str, RawArray] = {}
    for name in free:
        column = np.empty(len(people.identifiers), dtype=object)
        values = _by_person(path, people, name, (header, rows))
        column[:] = [None if value is None or number_of(value) == ABSENT else value for value in values]
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


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header, empty if there is none, and the other lines, all cut into fields."""
    rows = list(dropwhile(lambda row: row[0].startswith("##"), fields(path)))
    if rows and rows[0][0] in HEADERS:
        return rows[0], rows[1:]
    return [], rows


def text_of(path: Path) -> str:
    """Return a text file whole."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read as UTF-8 text") from None


def fields(path: Path) -> list[list[str]]:
    """Return the fields of each line that has some.

    Only a line feed ends a line and only ASCII blanks part fields: no name, however odd, makes two of one.
    """
    text_of(path)  # which says what is wrong, if it is no text
    raw = path.read_bytes().replace(b"\r\n", b"\n")
    if b"\r" in raw or has_controls(raw):
        raise InputError(f"{path}: the file holds control characters: it is not text, or was tampered with")
    rows = [[word.decode() for word in line.split()] for line in raw.split(b"\n") if line.strip()]
    if not rows:
        raise InputError(f"{path}: the file is empty")
    return rows


_COLUMNS = (("ID", "ALT_FREQS"), ("SNP", "MAF"))


def read_frequency(path: Path) -> dict[str, float]:
    """Return the minor allele frequency of each variant listed; NA, or several of them, counts as 0."""
    listed = text_of(path).splitlines()
    rows = [line.split() for line in listed if line.strip() and not line.startswith("##")]
    header = [name.lstrip("#") for name in rows[0]] if rows else []
    for name, value in _COLUMNS:
        if name in header and value in header:
            break
    else:
        raise InputError(f"{path}: the header must name ID and ALT_FREQS (.afreq), or SNP and MAF (.frq)")
    places = header.index(name), header.index(value)
    if any(len(row) != len(header) for row in rows):
        raise InputError(f"{path}: every line must have as many fields as the header")
    return {row[places[0]]: _minor(row[places[1]]) for row in rows[1:]}


def _minor(text: str) -> float:
    try:
        frequency = float(text)
    except ValueError:
        return 0.0
    return min(frequency, 1 - frequency) if 0 <= frequency <= 1 else 0.0
