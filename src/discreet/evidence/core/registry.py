"""The tests there are: found by name, made from public arguments, and written down for records.

A test of this library is a file of `evidence` with its name: "two-groups" is the class in two_groups.py that
says so. A test of another package joins by an entry point of the group "discreet.tests", name "module:Class".
Nothing is imported before a test is asked for by its name.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.protocol import Test, is_needed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "discreet.tests"
_HOME = "discreet.evidence"


@cache
def own_names() -> tuple[str, ...]:
    """Return the names of the tests of this library, in the order of the alphabet."""
    folder = importlib.import_module(_HOME).__path__
    files = (module.name for module in pkgutil.iter_modules(folder) if not module.ispkg)
    return tuple(sorted(file.replace("_", "-") for file in files))


def other_names() -> tuple[str, ...]:
    """Return the names of tests that other packages have registered; none of them is loaded."""
    return tuple(sorted({point.name for point in entry_points(group=ENTRY_POINTS)} - {*own_names()}))


def find_test(name: str) -> type[Test]:
    """Return the class of the test called `name`; only its own module is loaded."""
    if name in own_names():
        return _class_in(f"{_HOME}.{name.replace('-', '_')}", name)
    points = [point for point in entry_points(group=ENTRY_POINTS) if point.name == name]
    if not points:
        check.choice(name, "test", (*own_names(), *other_names()))
    if len({point.value for point in points}) > 1:
        packages = " and ".join(sorted({_package(point) for point in points}))
        raise InputError(f"test {name!r} is registered by {packages}: keep only one of them installed")
    return _loaded(points[0])


def own_classes() -> tuple[type[Test], ...]:
    """Return all tests of this library."""
    return tuple(find_test(name) for name in own_names())


def make_test(name: str, options: Mapping[str, object]) -> Test:
    """Return the test called `name`, made with `options`; what it does not take or still needs is refused."""
    kind = find_test(name)
    arguments = kind.arguments()
    strange = [option for option in options if option not in arguments]
    if strange:
        raise InputError(f"test {name!r} does not take {strange[0]!r}; it takes {', '.join(arguments)}")
    absent = [
        option for option, field in arguments.items() if is_needed(field) and options.get(option) is None
    ]
    if absent:
        raise InputError(
            f"test {name!r} needs {absent[0]!r}; what it is: discreet discover --test {name} --help"
        )
    return kind(**{option: _settled(option, value) for option, value in options.items()})


def _class_in(module: str, name: str) -> type[Test]:
    """Return the class of a module that says it is the test called `name`."""
    members = vars(importlib.import_module(module)).values()
    return next(
        member
        for member in members
        if isinstance(member, type) and issubclass(member, Test) and member.__module__ == module
        if member.name == name
    )


def _loaded(point: EntryPoint) -> type[Test]:
    """Return the class an entry point leads to; what cannot be loaded or is no test is refused."""
    package = _package(point)
    try:
        kind = point.load()
    except Exception as error:
        raise InputError(
            f"test {point.name!r} of {package} cannot be loaded ({type(error).__name__}): update {package}, "
            "or choose another test"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Test) and dataclasses.is_dataclass(kind)):
        raise InputError(
            f"test {point.name!r} of {package} is no data class made from Test: tell its authors"
        )
    if kind.name != point.name or not kind.question:
        raise InputError(
            f"test {point.name!r} of {package} must say so itself, name = {point.name!r}, and what its "
            "question is: tell its authors"
        )
    return kind


def is_registered(kind: type[Test]) -> bool:
    """Say whether another package has registered this very class under the name it gives itself."""
    value = f"{kind.__module__}:{kind.__qualname__}"
    return (
        bool(kind.name)
        and kind.name not in own_names()
        and [point.value for point in entry_points(group=ENTRY_POINTS) if point.name == kind.name] == [value]
    )


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module


def _settled(option: str, value: object) -> Any:
    """Return a value as tests expect it: lists become tuples, a function is found by its name."""
    if option == "test":
        return _function(value)
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _function(value: object) -> Any:
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
