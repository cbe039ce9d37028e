"""Which columns of a table are tested, and which levels of them.

They are chosen by name, by pattern, by type, and categorical ones by declared levels.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import check
from discreet.block import codes
from discreet.data.tables.column import (
    Chosen,
    Column,
    declare,
    which_two,
    which_two_groups,
    with_levels,
)
from discreet.errors import InputError, missing_extra, no_column, perhaps

if TYPE_CHECKING:
    from collections.abc import Iterable


_TYPES = {bool: "bool", int: "int", float: "float"}
NUMBERS = ("bool", "int", "float", "object")  # objects are read one by one, and must be numbers
_PAIRS = "yes/no y/n true/false t/f 1/0 ja/nein j/n oui/non sí/no si/no sim/não ja/nej"
_YES_OF: dict[frozenset[str], str] = {
    frozenset(pair.split("/")): pair.split("/")[0] for pair in _PAIRS.split()
}
LABELLED = (("group", "levels"), ("stratum", "strata"), ("within", "levels_within"))
"""What tests call the columns that say which group somebody is in, and their levels."""
_PANDAS_ROWS = "__index_level_0__"
_SHOWN = 10  # levels in a message
# Whole names by which registers, hospitals and surveys call the number of a person or of a record.
_IDENTIFIERS = frozenset(
    (
        *("seqn", "caseid", "casenum", "hhid", "hhidpn", "iid", "fid", "eid", "pid", "sid", "subjid"),
        *("usubjid", "respid", "nhsnumber", "serial", "rownames", "rownum", "rowid", "recordnum", "idnum"),
    )
)
_LAST_WORDS = frozenset(("id", "ids", "uid", "uuid", "guid", "nbr", "nr", "identifier", "mrn", "ssn", "idno"))
_FIRST_WORDS = frozenset(("id",))
_OCCASIONS = frozenset(
    ("encounter", "visit", "admission", "episode", "stay", "event", "claim", "sample", "order")
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")


def choose(columns: Sequence[Column], wanted: Any, reserved: Sequence[str]) -> tuple[Chosen, ...]:
    """Return the columns to test, in the table's order unless named one by one.

    `wanted` is None (every number or yes/no column, and answers with levels that the table declares), a type
    (bool, int, float), a mapping from name to levels (None: numbers, or as the table declares), or names,
    patterns with * or ?, and "name=level,level". Yes and no (y and n, true and false, 1 and 0, ja and nein,
    oui and non, ...) make one hypothesis;
    of other levels given here, two and more, those not declared go to "other", silently. `reserved` are the
    group, stratum and person columns: never tested.
    """
    free = offered(columns, reserved)
    picked: list[tuple[Column, tuple[Any, ...] | None]]
    if wanted is None:
        picked = [(column, None) for column in free if is_testable(column)]
    elif isinstance(wanted, type):
        if wanted not in _TYPES:
            raise InputError("columns as a type must be bool, int or float")
        if not all(column.declared for column in free):
            raise InputError(
                "columns as a type: in pandas one missing value can change a column's; name the columns, or "
                "give a pattern"
            )
        kind = _TYPES[wanted]
        picked = [(column, None) for column in free if column.kind == kind and column.levels is None]
    else:
        picked = _by_name(columns, wanted, reserved)
    if not picked:
        raise InputError("columns selects nothing to test: numbers, yes/no, or text with declared levels")
    chosen = [_with_levels(column, levels) for column, levels in picked]
    final = iter(unique(name for choice in chosen for name in choice.names))
    return tuple(replace(choice, names=tuple(next(final) for _ in choice.names)) for choice in chosen)


def is_testable(column: Column) -> bool:
    """Say whether a column can be tested as it is declared: numbers, or answers whose levels are known."""
    return column.kind in NUMBERS or column.levels is not None


def offered(columns: Sequence[Column], reserved: Sequence[str]) -> list[Column]:
    """Return the columns that need not be named to be tested: neither identifiers nor row numbers."""
    rows = row_numbers(columns)
    return [
        column
        for column in columns
        if column.name not in reserved and column not in rows and not names_people(column)
    ]


def row_numbers(columns: Sequence[Column]) -> list[Column]:
    """Return the row numbers of pandas and R: first and without a name in CSV; named by pandas in Parquet."""
    first = [column for column in columns[:1] if not column.name]
    return [*first, *(column for column in columns if column.name == _PANDAS_ROWS)]


def names_people(column: Column) -> bool:
    """Say whether a column is an identifier, by what is declared of it or by its name."""
    if column.identifier is not None:
        return column.identifier
    return column.levels is None and is_identifier(column.name)


def identifiers(columns: Iterable[Column]) -> list[str]:
    """Return the names of identifiers, those of people before those of what happened to them: visits, say."""
    names = [column.name for column in columns if names_people(column)]
    return sorted(names, key=lambda name: any(word.lower() in _OCCASIONS for word in _WORD.findall(name)))


def is_identifier(name: str) -> bool:
    """Say whether a column is an identifier by habit: id, ID, patientId, patient_nbr, SEQN, record_id.

    Its values are never looked at, so nobody can change the answer. Such a column is tested when it is named,
    and not otherwise.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return False
    return "".join(words) in _IDENTIFIERS or words[-1] in _LAST_WORDS or words[0] in _FIRST_WORDS


def _by_name(
    columns: Sequence[Column], wanted: Any, reserved: Sequence[str]
) -> list[tuple[Column, tuple[Any, ...] | None]]:
    known = {column.name: column for column in columns}
    pairs: list[tuple[str, Any]]
    if isinstance(wanted, Mapping):
        given = check.items(cast("Mapping[Any, Any]", wanted), "columns")
        pairs = list(
            zip(check.words([name for name, _ in given], "columns"), [of for _, of in given], strict=True)
        )
    elif isinstance(wanted, Sequence):
        entries = [wanted] if isinstance(wanted, str) else check.words(wanted, "columns")
        free = offered(columns, reserved)
        excluded = {entry if entry in known else with_levels(entry, known)[0] for entry in entries}
        # A pattern stands for the columns that are not named beside it.
        free = [column for column in free if column.name not in excluded]
        pairs = [pair for entry in entries for pair in _meant(entry, known, free)]
    else:
        raise InputError("columns must be names, a pattern, a type, or a mapping from name to levels")
    picked: list[tuple[Column, tuple[Any, ...] | None]] = []
    for name, levels in pairs:
        if name not in known:
            raise no_column("columns: the table", name, known)
        if name in reserved:
            raise InputError(
                f"columns: {name!r} is the group, stratum, partner, covariate or person column, not tested"
            )
        column = known[name]
        if levels is None and not is_testable(column):
            raise InputError(
                f"column {name!r} holds text or dates where numbers are expected (missing is empty, NA, NaN "
                f"or n/a); {declare(name)}"
            )
        if isinstance(levels, (str, set, frozenset)):
            raise InputError(f"columns: the levels of {name!r} need an order: give a list, ['yes', 'no']")
        given = None if levels is None else check.levels(levels, f"columns: the levels of {name!r}")
        picked.append((column, None if given is None else _in_codes(column, given)))
    return picked


def _meant(entry: str, known: Mapping[str, Column], free: Sequence[Column]) -> list[tuple[str, Any]]:
    """Return what an entry of a list stands for: a column, one with levels, or the numbers of a pattern."""
    if entry in known:
        return [(entry, None)]
    name, levels = with_levels(entry, known)
    if name in known:
        return [(name, levels)]
    matching = [column for column in free if fnmatchcase(column.name, entry)]
    numbers = [column.name for column in matching if is_testable(column)]
    if matching and not numbers:
        raise InputError(
            f"columns: {entry!r} matches only text (columns: {len(matching)}); {declare(matching[0].name)}"
        )
    return [(name, None) for name in numbers or [entry]]


def hypotheses_of(name: str, levels: Sequence[object]) -> tuple[tuple[str, ...], bool]:
    """Return the hypotheses that levels given for a column make, and if the last is about all other ones."""
    chosen = _with_levels(Column(name, "text"), tuple(levels))
    return chosen.names, len(chosen.names) > 1 and not chosen.closed


def codes_of(asked: Sequence[object], levels: Sequence[object], answers: Sequence[str]) -> tuple[Any, ...]:
    """Return levels as the table has them: a word that is no level but the label of one is that level.

    A label that two levels have is no way to name one; what is neither stays, and is refused in its turn.
    """
    own = codes(np.array([*asked, None], dtype=object)[:-1], levels)
    words = [answer.strip() for answer in answers]
    return tuple(
        levels[words.index(level.strip())]
        if place < 0 and isinstance(level, str) and words.count(level.strip()) == 1
        else level
        for level, place in zip(asked, own.tolist(), strict=True)
    )


def _in_codes(column: Column, asked: Sequence[object]) -> tuple[Any, ...]:
    """Return the levels that are asked of a column, as it has them."""
    return codes_of(asked, column.levels or (), column.answers) if column.answers else tuple(asked)


def _place_of_yes(levels: Sequence[object]) -> int | None:
    """Return where yes is among yes and no (true and false, 1 and 0); None of other levels."""
    words = [str(level).strip().casefold() for level in levels]
    return words.index(_YES_OF[frozenset(words)]) if frozenset(words) in _YES_OF else None


def _with_levels(column: Column, levels: tuple[object, ...] | None) -> Chosen:
    name = column.name or "column"
    if levels is None:
        return Chosen(column, None, (name,)) if column.levels is None else _declared(name, column)
    if not levels:
        raise InputError(f"columns: the levels of {name!r} must be at least one")
    yes = _place_of_yes(levels)
    if yes is not None:
        return _declared(name, replace(column, levels=levels, yes=yes))
    # Of one level, "other" would be the same question asked backwards, and of yes and no, no would be.
    more = ("other",) if len(levels) > 1 else ()
    places = (*range(len(levels)), -1)[: len(levels) + len(more)]
    return Chosen(column, levels, tuple(f"{name}={level}" for level in (*levels, *more)), places)


def _declared(name: str, column: Column) -> Chosen:
    """Return a column with all the levels there are; of two, one tells all."""
    levels = column.levels or ()
    places = [column.yes] if len(levels) == 2 else range(len(levels))
    plain = tuple(map(str, levels)) in {("0", "1"), ("False", "True")}  # a yes/no column by its own name
    names = [name if plain else f"{name}={levels[place]}" for place in places]
    return Chosen(column, levels, tuple(names), tuple(places), closed=True)


def asked_levels(test: object, columns: object) -> dict[str, tuple[Any, ...]]:
    """Return the levels that a test and a choice of columns name, by column."""
    levels_of: dict[str, tuple[Any, ...]] = {}
    for column, levels in LABELLED:
        name = getattr(test, column, None)
        if isinstance(name, str):
            given = getattr(test, levels, ())
            levels_of[name] = given if isinstance(given, tuple) else tuple(given)
    adjust: Any = getattr(test, "adjust", None)
    if isinstance(adjust, Mapping):  # two numbers are bounds, and levels that are numbers are given as text
        pairs = cast("Mapping[str, tuple[Any, ...]]", adjust).items()
        levels_of |= {name: levels for name, levels in pairs if any(isinstance(of, str) for of in levels)}
    if isinstance(columns, Mapping):
        for name, levels in check.items(cast("Mapping[Any, Any]", columns), "columns"):
            if isinstance(name, str) and isinstance(levels, (list, tuple)):
                levels_of[name] = tuple(cast("Sequence[Any]", levels))
        return levels_of
    entries: Any = [columns] if isinstance(columns, str) else columns
    for entry in cast("Sequence[Any]", entries) if isinstance(entries, (list, tuple)) else ():
        if isinstance(entry, str) and "=" in entry:
            name, levels = with_levels(entry)
            levels_of[name] = tuple(levels)
    return levels_of


def declared_levels(column: Column) -> tuple[Any, ...] | None:
    """Return the levels that a column's type declares, which are public like its name; None of most.

    Declared are polars' Enum, also where polars wrote it into the schema of Arrow or of a Parquet file, the
    value labels of SPSS and Stata, a data dictionary, and the two values of a yes/no column. Categories of
    pandas, polars' Categorical and the dictionaries of files hold what occurs in the data: they declare
    nothing, and no message lists them.
    """
    return (False, True) if column.levels is None and column.kind == "bool" else column.levels


def check_levels(columns: Sequence[Column], asked: Mapping[str, Sequence[object]]) -> None:
    """Refuse a level that the type of its column does not have; near misses are named.

    Of text whose levels are not declared, numbers are refused: they are what a test takes if nobody says.
    """
    for column in columns:
        known = declared_levels(column)
        if column.name not in asked:
            continue
        levels = _in_codes(column, asked[column.name])
        if known is None:
            words = any(isinstance(level, str) for level in levels)
            if isinstance(asked[column.name], check.Unnamed) and not column.typed:
                raise InputError(which_two_groups(column.name))
            if column.kind == "text" and column.declared and levels and not words:
                raise InputError(
                    f"column {column.name!r} is text: give the values that are meant, --levels A B, or "
                    'levels=("A", "B") in Python; they are 0 and 1 if absent'
                )
            continue
        own = np.empty(len(known), dtype=object)
        own[:] = known
        present = set(codes(own, levels).tolist())
        for place, level in enumerate(levels):
            if place not in present:
                words = [str(own_level) for own_level in known]
                more = ", ..." if len(words) > _SHOWN else ""
                answers = [f" ({answer})" if answer else "" for answer in column.answers] or [""] * len(words)
                listed = [f"{word!r}{answer}" for word, answer in zip(words, answers, strict=True)]
                near = perhaps(str(level), [*words, *filter(None, column.answers)])
                two = "" if any(isinstance(level, str) for level in levels) else which_two(words)
                raise InputError(
                    f"column {column.name!r} has no level {level!r}{near}; its type "
                    f"has {', '.join(listed[:_SHOWN])}{more}{two}"
                )


def unique(names: Iterable[object]) -> tuple[str, ...]:
    """Return names as text, a repeated one followed by (2), (3), ..."""
    seen: set[str] = set()
    result: list[str] = []
    for raw in names:
        base = name = str(raw)
        count = 1
        while name in seen:
            count += 1
            name = f"{base} ({count})"
        seen.add(name)
        result.append(name)
    return tuple(result)


def arrow(module: str = "pyarrow") -> Any:
    """Return pyarrow or a part of it, loaded only when a file is read."""
    try:
        return sys.modules.get(module) or import_module(module)  # asked for with every column
    except ImportError:
        raise missing_extra("files", "Reading CSV and Parquet files") from None
