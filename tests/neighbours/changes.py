"""One person changed in every way we could think of; everybody else's rows are left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forms import line
from nasty import TEXTS, Study, entry

if TYPE_CHECKING:
    import numpy as np
    from forms import Form

LONG = "x" * 40_000
# Rows without an identifier are left out, so whoever gets one of these is not replaced but gone.
ABSENT = {"", " ", "nan", "NaN", "NA", "n/a", "None", "null", "\u00a0"}


@dataclass(frozen=True)
class Change:
    """What was done to whom, the study afterwards, and which labels it touched."""

    name: str
    study: Study
    person: int
    labels: frozenset[str] = frozenset()


def rows_of(study: Study, person: int) -> list[dict[str, Any]]:
    """Return copies of a person's rows."""
    return [dict(row) for row, one in zip(study.rows, study.owner, strict=True) if one == person]


def change(rng: np.random.Generator, study: Study, form: Form) -> Change:
    """Return one person of a study, changed at random."""
    person = int(rng.choice(study.owner))
    kinds = [_values, _values, _values, _values, _values, _label]
    kinds += [_identifier, _rows, _elsewhere] if study.identified else []
    kinds += [_line] if form.lines else []
    return kinds[rng.integers(len(kinds))](rng, study, person, form)


def _values(rng: np.random.Generator, study: Study, person: int, form: Form) -> Change:
    """Change one value, all, or some; to odd ones, to none, or to somebody else's."""
    rows, tested, types = rows_of(study, person), study.tested, study.types
    kind = str(rng.choice(["value", "values", "missing", "all missing", "copy"]))
    if kind == "value":
        row, name = rows[rng.integers(len(rows))], str(rng.choice(tested))
        row[name] = _odd(rng, types[name], form)
    elif kind == "copy":
        other = rows_of(study, int(rng.choice(study.owner)))[0]
        rows = [row | {name: other[name] for name in tested} for row in rows]
    elif kind == "missing":
        rows = [row | {str(rng.choice(tested)): None} for row in rows]
    else:
        odd = kind == "values"
        rows = [
            row | {name: _odd(rng, types[name], form) if odd else None for name in tested} for row in rows
        ]
    return Change(kind, study.with_rows(person, rows), person)


def _elsewhere(rng: np.random.Generator, study: Study, person: int, form: Form) -> Change:  # noqa: ARG001
    """Move all rows to another place."""
    place = int(rng.integers(len(study.rows)))
    return Change("moved", study.with_rows(person, rows_of(study, person), place), person)


def _odd(rng: np.random.Generator, kind: str, form: Form) -> Any:
    """Return an entry that a column of this type can hold, or that a line of text can."""
    if form.lines and rng.random() < 0.2:
        return str(rng.choice(TEXTS)) if kind == "text" or rng.random() < 0.5 else 0.5
    return entry(rng, kind, "nasty", missing=True)


def _label(rng: np.random.Generator, study: Study, person: int, form: Form) -> Change:  # noqa: ARG001
    """Change a label, in all rows."""
    rows = rows_of(study, person)
    name = str(rng.choice(["g", "s", "y"]))
    for row in rows:
        row[name] = entry(rng, study.types[name], "nasty", missing=True)
        if study.types[name] in ("text", "category") and rng.random() < 0.1:
            row[name] = LONG
    return Change(f"label {name}", study.with_rows(person, rows), person, frozenset(name))


def _identifier(rng: np.random.Generator, study: Study, person: int, form: Form) -> Change:  # noqa: ARG001
    """Rename somebody."""
    rows = rows_of(study, person)
    new: Any = 10_000 + int(rng.integers(1_000))
    if study.types["id"] == "text":
        new = LONG if rng.random() < 0.1 else str(rng.choice([one for one in TEXTS if one not in ABSENT]))
    return Change("identifier", study.with_rows(person, [row | {"id": new} for row in rows]), person)


def _rows(rng: np.random.Generator, study: Study, person: int, form: Form) -> Change:
    """Give somebody one row or several, where they were or elsewhere."""
    rows = rows_of(study, person)
    more = [
        rows[0] | {name: _odd(rng, study.types[name], form) for name in study.tested}
        for _ in range(int(rng.integers(0, 4)))
    ]
    place = int(rng.integers(len(study.rows))) if rng.random() < 0.5 else None
    return Change("rows", study.with_rows(person, [rows[0], *more], place), person)


def _line(rng: np.random.Generator, study: Study, person: int, form: Form) -> Change:
    """Damage the line itself: quotes, blanks, too many entries or too few, bytes that are no text."""
    rows, separator = rows_of(study, person), "\t" if "tsv" in form.name else ","
    separator = ";" if "semicolons" in form.name else separator
    row = rows[0]
    whole = line(row, study, separator).rstrip(b"\n")
    cells = whole.split(separator.encode())
    at = int(rng.integers(len(cells)))
    damage: dict[str, bytes] = {
        "empty line": b"",
        "blank line": b"   ",
        "quote alone": b'"',
        "open quote": separator.encode().join([*cells[:at], b'"' + cells[at], *cells[at + 1 :]]),
        "closing quote": separator.encode().join([*cells[:at], cells[at] + b'"', *cells[at + 1 :]]),
        "quote after space": separator.encode().join([*cells[:at], b' "' + cells[at], *cells[at + 1 :]]),
        "too many": whole + separator.encode() + b"1",
        "too few": separator.encode().join(cells[:-1]),
        "trailing separator": whole + separator.encode(),
        "carriage return": whole + b"\r",
        "return inside": cells[0] + b"\r" + whole,
        "null": whole + b"\0",
        "latin-1": separator.encode().join([*cells[:at], b"\xe9", *cells[at + 1 :]]),
        "byte order mark": b"\xef\xbb\xbf" + whole,
        "end of file": whole + b"\x1a",
        "comment": b"#" + whole,
        "long number": separator.encode().join([*cells[:-1], b"9" * 5_000]),
    }
    name = str(rng.choice(list(damage)))
    row["raw"] = damage[name] + b"\n"
    touched = frozenset("gsy")  # whatever it is read as, the labels may be others
    # The only row: were there others, one with another identifier would be one person more.
    return Change(f"line: {name}", study.with_rows(person, [row]), person, touched)
