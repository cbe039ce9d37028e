"""The table of discoveries on a page: names, direction in words, numbers in the column's own units."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, cast

from discreet.report import words
from discreet.report.asked import compared
from discreet.report.markup import printable, tag
from discreet.report.table import columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from discreet.report.release import Release

MOST_ROWS = 5000
_CUT = re.compile(r", cut to (-?[\d.]+(?:e[+-]?\d+)?) to (-?[\d.]+(?:e[+-]?\d+)?)")
HELD = "Numbers beyond an end of the range that they are held in count as that end: nobody weighs too much."
_MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: its title, a cell for each discovery, its look: "n" for numbers, "index" for the least."""

    title: str
    cells: Sequence[Element]
    look: str = "n"


def rows(release: Release, most: int = MOST_ROWS) -> Element:
    """Return the table, cut after so many rows."""
    table = _columns(release)
    whole = zip(*(column.cells for column in table), strict=True)
    body = [tag("tr", *cells) for cells in islice(whole, most)]
    head = tag("tr", *map(_head, table))
    return tag(
        "div",
        tag("table", tag("thead", head), tag("tbody", *body), id="rows"),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label="Table of discoveries",
    )


def directions(release: Release) -> list[str] | None:
    """Return on which side each discovery lies for the second group, in words; None where nothing tells."""
    values = release.values
    if compared(release) is None:
        return None
    if release.told is not None:
        told = columns(release)
        kinds, sizes = told["effect"], told["estimate"]
    elif values is not None and values.name.startswith("difference"):
        kinds, sizes = [values.name] * len(release), values.noisy.tolist()
    else:
        return None
    return [_direction(kind, size) for kind, size in zip(kinds, sizes, strict=True)]


def effect_in_words(kind: str) -> str:
    """Return what was estimated, with the range in which numbers are compared."""
    return _CUT.sub(r", numbers held between \1 and \2", kind)


def held(release: Release) -> str:
    """Return what it means that numbers are held in a range, where those of a discovery are; else nothing."""
    kinds = () if release.told is None else columns(release)["effect"]
    return HELD if any(_CUT.search(kind) for kind in kinds) else ""


def _direction(kind: str, size: float) -> str:
    if not size:
        return "equal"
    if math.isnan(size):
        return "not known"
    if kind.startswith("difference of rates"):
        return "more often" if size > 0 else "less often"
    return "higher" if size > 0 else "lower"


def _columns(release: Release) -> list[_Column]:
    table, groups = columns(release), compared(release)
    made: list[_Column] = []
    if release.ordered:
        look = "n" if release.told is None else "n index"  # on a phone there is no room for all of them
        cells = [_number(f"{rank:,}", rank, look) for rank in _some(table["rank"])]
        made.append(_Column("Rank", cells, look))
    kinds = ([tag("small", printable(effect_in_words(kind), 160))] for kind in table.get("effect", ()))
    small = kinds if release.told is not None else repeat([])
    names = zip(_some(table["hypothesis"]), small, strict=False)
    cells = [
        tag("td", tag("bdi", printable(name)), *_label(release, name), *kind, class_="name")
        for name, kind in names
    ]
    made.append(_Column("Hypothesis", cells, "text"))
    if release.told is None:
        made.append(
            _Column("Index", [_least(f"{index:,}", index) for index in _some(table["index"])], "n index")
        )
    sides = directions(release)
    if sides is not None and groups is not None:
        made.append(
            _Column(f"If {groups.whom}", [tag("td", side, class_="side") for side in _some(sides)], "text")
        )
    if release.told is not None:
        made += _estimates(table)
    elif release.values is not None:
        made += _values(table, printable(release.values.name, 40))
    return made


def _label(release: Release, name: str) -> list[Element]:
    """Return what a hypothesis is in words, where a data dictionary said it."""
    labels = release.parameters.get("labels")
    label = cast("Mapping[str, Any]", labels).get(name) if isinstance(labels, Mapping) else None
    return [tag("small", printable(str(label), 160))] if label else []


def _estimates(table: dict[str, list[Any]]) -> list[_Column]:
    digits = [_digits(error) for error in _some(table["standard_error"])]
    numbers = zip(table["estimate"], table["low"], table["high"], digits, strict=False)
    estimate = [
        tag(
            "td",
            _plain(size, places),
            tag("small", f"{_plain(low, places)} to {_plain(high, places)}"),
            data_v=repr(size),
            class_="n",
        )
        for size, low, high, places in numbers
    ]
    made = [_Column("Estimate, interval", estimate)]
    standardised = _some(table.get("standardised", ()))
    if any(map(math.isfinite, standardised)):
        sizes = [_least("-" if math.isnan(size) else _plain(size, 2), size) for size in standardised]
        made.append(_Column("In SDs", sizes, "n index"))
    return [
        *made,
        _Column("p", [_least(p_in_words(p), p) for p in _some(table["p_value"])], "n index"),
    ]


def _values(table: dict[str, list[Any]], name: str) -> list[_Column]:
    noise = table["noise_sd"]
    digits = list(map(_digits, _some(noise)))
    cells = [_number(_plain(x, places), x) for x, places in zip(table["value"], digits, strict=False)]
    made = [_Column(name, cells)]
    # One noise for all is said once, below the table; noises that differ have their own column.
    if len(set(map(words.short, noise))) > 1:
        each = [_number(_plain(x, places), x) for x, places in zip(noise, digits, strict=False)]
        made.append(_Column("Noise sd", each))
    return made


def _some(cells: Sequence[object]) -> list[Any]:
    return list(islice(cells, MOST_ROWS))


def _head(column: _Column) -> Element:
    if column.look == "text":
        return tag("th", column.title, scope="col", data_kind="text")
    order = {"aria_sort": "ascending"} if column.title == "Rank" else {}
    return tag("th", column.title, scope="col", data_kind="number", class_=column.look, **order)


def _number(text: str, value: float, look: str = "n") -> Element:
    return tag("td", text, data_v=repr(value), class_=look)


def p_in_words(p: float) -> str:
    """Return a p-value in two digits; one that is below all numbers is no 0."""
    return f"{p:.2g}".replace("e-0", "e-") if p > 0 else "< 1e-300"


def _least(text: str, value: float) -> Element:
    return _number(text, value, "n index")


def _digits(noise: float) -> int:
    """Return how many decimals show two digits of the noise."""
    return min(12, max(0, 1 - math.floor(math.log10(noise)))) if 0 < noise < math.inf else 4


def _plain(number: float, digits: int) -> str:
    return f"{number:,.{digits}f}".replace("-", _MINUS)
