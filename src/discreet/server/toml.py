"""TOML from people who may be hostile: short, and without keys that take the parser for ever."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from discreet.errors import InputError

_LONGEST = 65_536
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
# tomllib takes time with the square of the number of parts: minutes for a key of a quarter of a megabyte.
_ENDLESS_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{64}}", re.ASCII)


def read(text: str, what: str, longest: int = _LONGEST) -> dict[str, Any]:
    """Return the table that a text says; `what` it is, for the refusal."""
    if len(text) > longest:
        raise InputError(f"{what} must be at most {longest:,} characters of TOML; JSON may be longer")
    if _ENDLESS_KEY.search(text):
        raise InputError(f"{what} must not have keys of more than 64 parts")
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{what} must be TOML: {str(error)[:200]}") from None
