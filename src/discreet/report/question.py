"""What was asked of every column, in words, from the public arguments of the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from discreet.alternative import ALTERNATIVES, in_todays_words
from discreet.report.markup import shown

# What each test compares.
_TESTS = {
    "compare": "Differences between two groups",
    "mean": "Means",
    "proportion": "Shares of yes",
    "two-groups": "Differences of means",
    "two-by-two": "Differences of shares of yes",
    "stratified": "Differences of means within strata",
    "rank-sum": "Differences by rank",
    "signed-rank": "Signed ranks",
    "sign": "Signs",
    "correlation": "Correlations",
    "allelic": "Allele frequencies of cases against controls",
    "trend": "Genotypes of cases against controls, by trend",
    "genotypic": "Genotypes of cases against controls",
    "score": "A trait against genotypes",
    "vote": "Votes of blocks of people",
    "p-values": "p-values computed elsewhere",
}
_WORDS = {"two-sided": "two-sided", "greater": "one-sided (greater)", "less": "one-sided (less)"}
_NAMED = {
    "partner": "with",
    "trait": "trait",
    "null": "against",
    "stratum": "by",
    "within": "within each",
    "test": "with",
}


def question(parameters: Mapping[str, object]) -> str:
    """Return the question behind a release, or nothing where the record does not hold it."""
    given = parameters.get("test")
    if not isinstance(given, Mapping):
        return ""
    test = in_todays_words(cast("Mapping[str, Any]", given))
    name = str(test.get("name"))
    if name not in _TESTS:
        return ""
    parts = [_TESTS[name], *_group(test)]
    parts += [f"{word} {_short(test[key])}" for key, word in _NAMED.items() if test.get(key) is not None]
    if test.get("alternative") in ALTERNATIVES:
        parts.append(_WORDS[test["alternative"]])
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
