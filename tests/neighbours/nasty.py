"""Invented studies: people, their rows, declared types, and entries that have broken readers before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from discreet.data.tables.arrays import is_missing

INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64", "longdouble")
NUMBERS = ("bool", *INTS, *FLOATS)
TEXTS = (
    "",
    " ",
    "a",
    "b",
    "c",
    "A",
    "0",
    "1",
    "2",
    "01",
    "1.0",
    "1e0",
    "+1",
    " 1",
    "true",
    "True",
    "False",
    "nan",
    "NaN",
    "NA",
    "n/a",
    "None",
    "null",
    "inf",
    "-9",
    "1_0",
    "0x1",
    "2\0",
    "2\0x",
    '"',
    '""',
    'a"b',
    '"a',
    "'",
    "a,b",
    "a;b",
    "a\tb",
    "a\nb",
    "a\rb",
    "a\r\nb",
    "a\u2028b",
    "a\x85b",
    "\u00a0",
    "1\u00a0",
    "\ufeff1",
    "\u0661",
    "\u200b",
    "ß",
    "日本",
    "👩‍👩‍👧",
    "=1+1",
    "#1",
    "##x",
    "2020-01-01",
    "08:00",
    "1" * 400,
    "x" * 3_000,
)
REALS = (
    0.0,
    -0.0,
    1.0,
    0.5,
    0.1,
    0.3,
    1 / 3,
    14.0,
    15.000001,
    -1.0,
    2.0,
    30.0,
    1e-320,
    5e-324,
    1e-45,
    6e-8,
    65_504.0,
    65_520.0,
    1e30,
    3.4e38,
    1e308,
    -1e308,
    16_777_217.0,
    2.0**53,
    2.0**53 + 2,
    1e6 + 0.5,
    np.inf,
    -np.inf,
    np.nan,
)
OBJECTS = (0, 1, 0.5, True, 14, np.float32(0.1), Decimal("0.1"), np.int8(3), np.nan, 10**400, 1e308, "x")


@dataclass(frozen=True)
class Study:
    """Rows about people; `owner` says whose each row is, and no reader is told."""

    types: dict[str, str]
    rows: tuple[dict[str, Any], ...]
    owner: tuple[int, ...]
    levels: dict[str, tuple[Any, ...]]  # the public levels of g, s and t
    reduce: str | None = None  # how several rows become one, where rows have an identifier
    identified: bool = False

    @property
    def people(self) -> int:
        """How many."""
        return len(set(self.owner))

    @property
    def tested(self) -> list[str]:
        """The columns that are tested."""
        return [name for name in self.types if name[0] in "vt"]

    def column(self, name: str) -> list[Any]:
        """All entries of a column; None is a missing one."""
        return [row[name] for row in self.rows]

    def with_rows(self, person: int, rows: list[dict[str, Any]], place: int | None = None) -> Study:
        """Return the study with a person's rows replaced, in the same place or all together at another."""
        at = [i for i, one in enumerate(self.owner) if one == person]
        if place is None and len(rows) == len(at):
            new = list(self.rows)
            for i, row in zip(at, rows, strict=True):
                new[i] = row
            return replace(self, rows=tuple(new))
        others = [(row, one) for row, one in zip(self.rows, self.owner, strict=True) if one != person]
        start = min(at) if place is None else min(place, len(others))
        mixed = [*others[:start], *((row, person) for row in rows), *others[start:]]
        return replace(self, rows=tuple(row for row, _ in mixed), owner=tuple(one for _, one in mixed))


def entry(rng: np.random.Generator, kind: str, style: str, *, missing: bool) -> Any:
    """Return an entry of a declared type: tame, tied, or nasty; None where it is missing."""
    if missing and rng.random() < 0.15:
        return None
    if kind in ("text", "category"):
        return str(rng.choice(TEXTS)) if style == "nasty" else str(rng.choice(["a", "b", "c"]))
    if kind == "bool":
        return bool(rng.integers(2))
    if kind == "decimal":
        return Decimal(int(rng.choice([0, 1, 500, 333, 14_000, -1, 10**14]))) / 1000
    if kind == "object":
        return OBJECTS[rng.integers(len(OBJECTS) if style == "nasty" else 6)]
    if kind in INTS:
        info = np.iinfo(kind)
        if style == "nasty":
            odd = [info.min, info.max, 0, 1, 2, 14, min(info.max, 2**53 + 1), min(info.max, 16_777_217)]
            return int(odd[rng.integers(len(odd))])
        return int(rng.integers(0, 3 if style == "ties" else 31))
    if style == "nasty":
        return float(REALS[rng.integers(len(REALS))])
    return float(rng.integers(0, 4) / 2) if style == "ties" else float(rng.random() * 1.5)


def invent(
    rng: np.random.Generator, numbers: Any, labels: Any, *, text: bool, one_type: bool, people: bool
) -> Study:
    """Return a study of 24 to 60 people whose columns have some of the declared types given."""
    n = int(rng.integers(24, 61))
    types: dict[str, str] = {"id": "text" if text else "int64"}
    levels: dict[str, tuple[Any, ...]] = {}
    common = str(rng.choice(numbers))
    for name in ("g", "s"):
        types[name] = common if one_type else str(rng.choice(labels))
        levels[name] = _levels(rng, types[name])
    types["y"] = common if one_type else str(rng.choice(labels))
    for place in range(int(rng.integers(1, 5))):
        types[f"v{place}"] = common if one_type else str(rng.choice(numbers))
    if text and rng.random() < 0.3:
        types["t"], levels["t"] = "text", ("a", "1")[: int(rng.integers(1, 3))]
    people_rows = _Rows(rng, types, levels, complete=rng.random() < 0.4)
    identified = people and not one_type and rng.random() < 0.4
    reduce = [None, "first", "mean", "any"][rng.integers(4)] if identified else None
    several = reduce is not None and rng.random() < 0.6
    owner = [person for person in range(n) for _ in range(int(rng.integers(1, 4)) if several else 1)]
    if several:
        owner = [owner[i] for i in rng.permutation(len(owner))]
    rows = tuple(people_rows.row(one) for one in owner)
    return Study(types, rows, tuple(owner), levels, reduce, identified)


class _Rows:
    """How the columns of a study are filled: each in a style of its own."""

    def __init__(self, rng: np.random.Generator, types: Any, levels: Any, *, complete: bool) -> None:
        self.rng, self.types, self.levels = rng, types, levels
        self.complete = complete  # nobody misses anything: the first who does may change a type
        known = ["tame", "ties", "constant", "nasty", *([] if complete else ["missing"])]
        self.styles = {name: str(rng.choice(known)) for name in types}
        self.fixed = {name: entry(rng, kind, "nasty", missing=False) for name, kind in types.items()}

    def row(self, person: int) -> dict[str, Any]:
        """Return a row of somebody."""
        found: dict[str, Any] = {"id": f"p{person}" if self.types["id"] == "text" else person}
        found |= {"g": self.levels["g"][person % 2], "s": self.levels["s"][person // 2 % 2]}
        return found | {name: self._entry(name) for name in self.types if name not in found}

    def _entry(self, name: str) -> Any:
        style = self.styles[name]
        if style == "missing" and name != "y":
            return None
        found = entry(self.rng, self.types[name], style, missing=not self.complete)
        found = self.fixed[name] if style == "constant" else found
        return 0 if self.complete and is_missing(found) else found


def _levels(rng: np.random.Generator, kind: str) -> tuple[Any, Any]:
    if kind in ("text", "category"):
        pairs = [("a", "b"), ("0", "1"), ("1", "2"), ("yes", "no"), ("01", "1"), ("2020-01-01", "x")]
        return pairs[rng.integers(len(pairs))]
    if kind == "bool":
        return (False, True)
    first = int(rng.integers(2))
    return (first, first + 1) if kind in (*INTS, "decimal", "object") else (float(first), first + 1.0)
