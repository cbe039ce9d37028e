"""Tests by name, for the command line, plan files and the record of a release."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import check
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.evidence.core.accumulate import Test

TESTS = {
    "compare": "Compare",
    "mean": "Mean",
    "proportion": "Proportion",
    "two-groups": "TwoGroups",
    "two-by-two": "TwoByTwo",
    "trend": "Trend",
    "allelic": "Allelic",
    "genotypic": "Genotypic",
    "score": "Score",
    "rank-sum": "RankSum",
    "signed-rank": "SignedRank",
    "sign": "Sign",
    "correlation": "Correlation",
    "stratified": "Stratified",
    "vote": "Vote",
    "p-values": "PValues",
}


def kind_named(name: str) -> type[Any]:
    """Return the class of the test called `name`; only its own module is loaded."""
    public = importlib.import_module("discreet")
    return getattr(public, TESTS[check.choice(name, "test", tuple(TESTS))])


def test_named(name: str, options: Mapping[str, Any]) -> Test:
    """Return the test called `name`, made with `options`; what it does not take or still needs is refused."""
    kind = kind_named(name)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    strange = [option for option in options if option not in fields]
    if strange:
        raise InputError(f"test {name!r} does not take {strange[0]!r}; it takes {', '.join(fields)}")
    needed = [
        field.name
        for field in fields.values()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    absent = [option for option in needed if options.get(option) is None]
    if absent:
        raise InputError(f"test {name!r} needs {absent[0]!r}")
    return kind(**{option: _settled(option, value) for option, value in options.items()})


def _settled(option: str, value: Any) -> Any:
    """Return a value as tests expect it: lists become tuples, a function is found by its name."""
    if option == "test":
        return _function(value)
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _function(value: Any) -> Any:
    """Return a function given as "package.module:name"."""
    if callable(value):
        return value
    module, _, name = str(value).partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise InputError(
            f'the function to vote with must be given as "package.module:name"; got {value!r}'
        ) from None


def described(test: Test) -> dict[str, Any]:
    """Return a test's name and public arguments as plain values: what a ledger and a report say of it."""
    kind = type(test)
    ours = kind.__module__.startswith("discreet.")
    name = next((name for name, one in TESTS.items() if ours and one == kind.__name__), kind.__name__)
    if not dataclasses.is_dataclass(test):
        return {"name": name}
    shown = {
        field.name: plain(getattr(test, field.name))
        for field in dataclasses.fields(test)
        # The default alternative was another before: a record says which was meant.
        if field.name == "alternative" or plain(getattr(test, field.name)) != plain(field.default)
    }
    return {"name": name, **shown}


def plain(value: Any) -> Any:
    """Return `value` as JSON can hold it; functions by name, keys never."""
    if isinstance(value, bytes):
        return "a key, not shown"
    if isinstance(value, (np.generic, np.ndarray)):
        # A float that is wider than Python's stays what it is.
        held: Any = cast("Any", value).tolist()
        return str(cast("Any", held)) if isinstance(held, np.generic) else plain(held)
    if callable(value):
        return f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', 'function')}"
    if isinstance(value, Mapping):
        pairs = check.items(cast("Mapping[Any, Any]", value), "a mapping of columns")
        return {str(plain(key)): plain(one) for key, one in pairs}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in cast("list[Any]", value)]
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    message = f"a {check.kind_of(value)} cannot be written down: give text, numbers or lists"
    return check.attempt(lambda: str(value), message)


def recognised(value: Any) -> bool:
    """Say whether `plain`, or `described`, tells a test or its arguments apart from all others; keys aside.

    Functions without a name of their own (lambdas, closures, partial ones) and tests that are no data classes
    are not told apart.
    """
    if isinstance(value, (str, bytes, int, float, type(None), np.generic, np.ndarray)):
        return True
    if callable(value):
        name = str(getattr(value, "__qualname__", ""))
        home = sys.modules.get(str(getattr(value, "__module__", "")))
        return bool(name) and getattr(home, name, None) is value
    if isinstance(value, Mapping):
        return all(map(recognised, cast("Mapping[Any, Any]", value).values()))
    if isinstance(value, (tuple, list)):
        return all(map(recognised, cast("list[Any]", value)))
    if not dataclasses.is_dataclass(value):
        return False
    return all(recognised(getattr(value, field.name)) for field in dataclasses.fields(value))
