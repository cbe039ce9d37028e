"""What a test asks of every column, in words for the reader of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from discreet.evidence.core.registry import described

if TYPE_CHECKING:
    from discreet.evidence.core.protocol import Test

_DIRECTIONS = {"two-sided": "two-sided", "greater": "one-sided (greater)", "less": "one-sided (less)"}
_WORDS = {"partner": "with", "trait": "trait", "null": "against", "stratum": "by", "test": "with"}
_LONGEST = 40


def question(test: Test) -> str:
    """Return what was asked: what is compared, of whom, in which direction, within which bounds."""
    given = described(test)
    parts = [test.question]
    if given.get("group") is not None:
        parts.append(_groups(given["group"], getattr(test, "levels", ())))
    words = {**_WORDS, **test.words}
    parts += [f"{word} {_short(given[key])}" for key, word in words.items() if given.get(key) is not None]
    if "alternative" in given:
        parts.append(_DIRECTIONS[given["alternative"]])
    if given.get("bounds") is not None:
        parts.append(_bounds(given["bounds"]))
    return ", ".join(filter(None, parts))


def _groups(group: object, levels: Any) -> str:
    """Return the second group against the first, or all of several."""
    if len(levels) == 2:
        return f"{_short(group)} {_short(levels[1])} against {_short(levels[0])}"
    return " ".join(filter(None, [_short(group), " / ".join(map(_short, levels))]))


def _bounds(bounds: object) -> str:
    if not isinstance(bounds, list):
        return "bounds by column"
    low, high = cast("list[Any]", bounds)
    return f"bounds {_short(low)} to {_short(high)}"


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return "a value for each column"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
