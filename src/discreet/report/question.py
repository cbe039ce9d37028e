"""What was asked of every column, in words, from the public arguments of the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from discreet.report.markup import shown

# What each test compares, and how many sides it looks at when its record does not say.
_TESTS: dict[str, tuple[str, int | None]] = {
    "mean": ("Means", 1),
    "proportion": ("Shares of yes", 1),
    "two-groups": ("Differences of means", 1),
    "two-by-two": ("Differences of shares of yes", 1),
    "stratified": ("Differences of means within strata", 1),
    "rank-sum": ("Differences by rank", 1),
    "signed-rank": ("Signed ranks", 1),
    "sign": ("Signs", 1),
    "correlation": ("Correlations", 1),
    "allelic": ("Allele frequencies of cases against controls", 2),
    "trend": ("Genotypes of cases against controls, by trend", 2),
    "genotypic": ("Genotypes of cases against controls", None),
    "score": ("A trait against genotypes", 2),
    "vote": ("Votes of blocks of people", None),
    "p-values": ("p-values computed elsewhere", None),
}
_NAMED = {"partner": "with", "trait": "trait", "null": "against", "stratum": "by", "test": "with"}


def question(parameters: Mapping[str, object]) -> str:
    """Return the question behind a release, or nothing where the record does not hold it."""
    given = parameters.get("test")
    if not isinstance(given, Mapping):
        return ""
    test = cast("Mapping[str, Any]", given)
    name = str(test.get("name"))
    if name not in _TESTS:
        return ""
    what, sides = _TESTS[name]
    parts = [what, *_group(test)]
    parts += [f"{word} {_short(test[key])}" for key, word in _NAMED.items() if test.get(key) is not None]
    if sides is not None:
        parts.append("two-sided" if test.get("sides", sides) == 2 else "one-sided")
    return ", ".join(parts + _bounds(test))


def _group(test: Mapping[str, Any]) -> list[str]:
    if test.get("group") is None:
        return []
    levels = test.get("levels", (0, 1))
    if not isinstance(levels, (list, tuple)) or len(cast("list[Any]", levels)) != 2:
        return [_short(test["group"])]
    first, second = cast("list[Any]", levels)
    return [f"{_short(test['group'])} {_short(second)} against {_short(first)}"]


def _bounds(test: Mapping[str, Any]) -> list[str]:
    bounds = test.get("bounds")
    if bounds is None:
        return []
    if isinstance(bounds, (list, tuple)) and len(cast("list[Any]", bounds)) == 2:
        low, high = cast("list[Any]", bounds)
        return [f"bounds {_short(low)} to {_short(high)}"]
    return ["bounds by column"]


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return "a value for each column"
    return shown(f"{value:g}" if isinstance(value, float) else str(value), 40)
