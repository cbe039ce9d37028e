"""One text for each parameter that several public functions share: docstrings are completed from a table."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType

T = TypeVar("T")
_WIDTH = 110
_PLACEHOLDER = re.compile(r"^(?P<indent> *)\{(?P<name>\w+|\.\.\.)\}$", re.MULTILINE)
_MENTIONED = re.compile(r"^ *\{?(\w+)(?: : |\}$)", re.MULTILINE)


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
    """Return a decorator that writes the parameters of a docstring that it leaves out.

    A line `{name}` stands for the entry of that name, and a line `{...}` for those of all parameters that are
    not mentioned otherwise, in the order of the table. `help`, Sphinx and the tests see the whole docstring.
    """

    def fill(thing: T) -> T:
        if thing.__doc__ is not None:  # python -OO strips them
            thing.__doc__ = _filled(thing.__doc__, _parameters(thing), texts)
        return thing

    return fill


def _parameters(thing: object) -> tuple[str, ...]:
    """Return the parameters of a function, or of what makes a class; `inspect` would slow down the import."""
    code = cast("FunctionType", thing.__init__ if isinstance(thing, type) else thing).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _filled(doc: str, parameters: tuple[str, ...], texts: Mapping[str, Text]) -> str:
    mentioned = set(_MENTIONED.findall(doc))
    others = [name for name in texts if name in parameters and name not in mentioned]

    def entries(line: re.Match[str]) -> str:
        names = others if line["name"] == "..." else [line["name"]]
        return "\n".join(texts[name].block(name, line["indent"]) for name in names)

    return _PLACEHOLDER.sub(entries, doc)
