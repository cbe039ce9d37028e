"""One text for each parameter that several public functions share: docstrings are filled in from a table."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")
_WIDTH = 110


class Text(NamedTuple):
    """What a parameter is: its type as numpydoc writes it, and what it does."""

    type: str
    words: str

    def block(self, name: str, indent: str) -> str:
        """Return the numpydoc entry of the parameter."""
        inner = indent + "    "
        words = textwrap.fill(
            self.words, _WIDTH, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False
        )
        return f"{indent}{name} : {self.type}\n{words}"


def documented(texts: Mapping[str, Text]) -> Callable[[T], T]:
    """Return a decorator that puts the entry of `name` where a docstring has a line `{name}`.

    `help`, Sphinx and the tests see the whole docstring. A name that the table lacks is an error at import.
    """

    def fill(thing: T) -> T:
        if thing.__doc__ is not None:  # python -OO strips them
            thing.__doc__ = "\n".join(_filled(line, texts) for line in thing.__doc__.split("\n"))
        return thing

    return fill


def _filled(line: str, texts: Mapping[str, Text]) -> str:
    held = line.strip()
    if not (held.startswith("{") and held.endswith("}") and held[1:-1].isidentifier()):
        return line
    name = held[1:-1]
    return texts[name].block(name, line[: len(line) - len(line.lstrip())])
