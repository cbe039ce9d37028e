"""A draft of a data set's metadata: names and declared types, for a custodian to complete. No row is read."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.data.tables.reading import table_source
from discreet.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = """\
# What is public about the data set. Analysts see all of this, and may ask about these columns alone.
title = ""
# How many people there are: public, because neighbours replace one person by another.
people = 0
# Hold every result until a custodian has looked at it.
review = false
# Whether analysts see one another's releases: "shared" or "own".
releases = "shared"
# The column that says whose row it is, if people have several, and how they become one: mean, first, any,
# difference, slope.
# person = "id"
# reduce = "mean"
# Types: "number" (bounds help), "yes/no", "answers" (with levels). public = true: who has which value is no
# secret, and tests that do not protect groups may use it.
"""


def describe(path: Path) -> str:
    """Return the draft for a file: of Parquet with declared types, of CSV all numbers."""
    kinds = _declared(path)
    lines = [_HEAD]
    for name in (column.name for column in table_source(str(path)).columns):
        kind = kinds.get(name, "number")
        lines.append(f"[columns.{json.dumps(name)}]\ntype = {json.dumps(kind)}")
        lines.append("levels = []  # declare them" if kind == "answers" else "")
    return "\n".join(lines)


def _declared(path: Path) -> dict[str, str]:
    if path.suffix != ".parquet":
        return {}
    try:
        parquet: Any = import_module("pyarrow.parquet")
        types: Any = import_module("pyarrow.types")
        schema = parquet.read_schema(path)
    except (ImportError, OSError, ValueError):
        raise InputError(f"{path} cannot be read as Parquet") from None
    found: dict[str, str] = {}
    for name, kind in zip(schema.names, schema.types, strict=True):
        if types.is_boolean(kind):
            found[name] = "yes/no"
        elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
            found[name] = "answers"
    return found
