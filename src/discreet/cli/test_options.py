"""The options of `discreet discover` that are arguments of tests, as the registry lists them.

`python -m discreet.lab.listings` writes the list to test_options.json, so that no test is loaded to read a
command line. Arguments of tests that other packages register are given by --option name=value.
"""

from __future__ import annotations

import inspect
import json
from functools import wraps
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

TEST = "The test: public arguments"
GENES = "PLINK files"
_TYPES: dict[str, Any] = {
    "text": str | None,
    "number": float | None,
    "whole number": int | None,
    "two texts": tuple[str, str] | None,
    "two numbers": tuple[float, float] | None,
    "texts": list[str],
}


def with_test_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the public arguments of all tests too, and leaves them in its context."""
    listed: dict[str, dict[str, str]] = json.loads(
        files("discreet.cli").joinpath("test_options.json").read_text("utf-8")
    )
    signature, hints = inspect.signature(command), get_type_hints(command)

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{name: value for name, value in given.items() if name in signature.parameters})

    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=typer.Option(
                [] if option["takes"] == "texts" else None,
                help=option["help"],
                rich_help_panel=GENES if option["genotypes"] else TEST,
            ),
            annotation=_TYPES[option["takes"]],
        )
        for name, option in listed.items()
    ]
    own = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
    ]
    run.__signature__ = signature.replace(parameters=[*own, *more])  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {**hints, **{parameter.name: parameter.annotation for parameter in more}}
    return run
