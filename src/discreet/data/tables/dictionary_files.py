"""Dictionaries in files: a plain CSV, REDCap's, a Frictionless Table Schema, the labels of an SPSS file.

A dictionary is public: what separates its entries may be looked up in it, and messages may quote it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from discreet.data.tables.dictionary import variables_of
from discreet.errors import InputError, missing_extra

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.data.tables.dictionary import Dictionary

_KINDS = {
    "number": ("number", "numeric", "integer", "int", "float", "double", "decimal", "real", "scale", "year"),
    "yes/no": ("yes/no", "yesno", "boolean", "bool", "binary", "logical", "truefalse"),
    "answers": ("answers", "answer", "category", "categorical", "factor", "nominal", "ordinal", "choice"),
    "text": ("text", "string", "notes", "free text"),
    "date": ("date", "datetime", "time", "yearmonth", "duration"),
    "identifier": ("identifier", "id", "key"),
}
_WORDS = {word: kind for kind, words in _KINDS.items() for word in words}
_COLUMNS = {
    "name": ("name", "variable", "column", "field"),
    "type": ("type", "kind"),
    "label": ("label", "description", "title", "question"),
    "levels": ("levels", "values", "answers", "choices", "codes"),
    "low": ("low", "min", "minimum"),
    "high": ("high", "max", "maximum"),
    "missing": ("missing", "missing values", "na"),
}
_REDCAP = "Variable / Field Name"


def read_dictionary(path: Path) -> Dictionary:
    """Return the dictionary in a file, by its ending."""
    from discreet.data.tables.labelled import ENDINGS, open_labelled

    name = path.name.lower()
    if name.endswith(tuple(ENDINGS)):
        return open_labelled(path).dictionary
    try:
        text = _text_of(path.read_bytes())
    except OSError:
        raise InputError(f"{path}: the dictionary cannot be opened") from None
    except ValueError:
        raise InputError(f"{path}: the dictionary is not UTF-8 text: save it as UTF-8") from None
    if name.endswith((".json", ".yaml", ".yml")):
        return _frictionless(path, _parsed(path, text))
    if name.endswith((".csv", ".tsv", ".txt")):
        rows = _rows(path, text)
        return _redcap(path, rows) if _REDCAP in rows[0] else _plain(path, rows)
    raise InputError(
        f"{path}: a dictionary is a .csv, .json or .yaml file, or a file of SPSS, Stata or SAS with labels"
    )


def _text_of(content: bytes) -> str:
    """Return what a dictionary says: in UTF-8, else in Windows' encoding: it is public, so one may guess."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise
        text = content.decode("cp1252")
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as in any text file


def _rows(path: Path, text: str) -> list[dict[str, str]]:
    """Return the lines of a CSV file by the names in its header, whichever mark separates them."""
    head = text.partition("\n")[0]
    mark = max(",;\t", key=head.count)
    try:
        rows = list(csv.DictReader(io.StringIO(text), delimiter=mark, restval=""))
    except csv.Error:
        raise InputError(f"{path}: the dictionary is not readable as CSV text") from None
    if not rows:
        raise InputError(f"{path}: the dictionary has no line below its header")
    return [{str(name): _text(entry) for name, entry in row.items()} for row in rows]


def _plain(path: Path, rows: list[dict[str, str]]) -> Dictionary:
    """Return the dictionary of a CSV file with our own columns."""
    known = {name.strip().lower(): name for name in rows[0]}
    headings = {
        ours: next((known[word] for word in words if word in known), "") for ours, words in _COLUMNS.items()
    }
    if not headings["name"]:
        raise InputError(
            f"{path}: the header of a dictionary has a column called name, and may have type, label, levels, "
            "low, high and missing"
        )
    records: list[dict[str, Any]] = []
    for row in rows:
        entry = {ours: row.get(theirs, "") for ours, theirs in headings.items()}
        if not entry["name"]:
            continue
        pairs = [part.partition("=") for part in _parts(entry["levels"])]
        levels, answers = [pair[0].strip() for pair in pairs], [pair[2].strip() for pair in pairs]
        kind = _kind(entry["type"], path, entry["name"]) if entry["type"] else "answers" if levels else None
        records.append(
            {
                "name": entry["name"],
                "kind": kind,
                "label": entry["label"],
                **_levels(kind, levels, answers),
                "bounds": _bounds(entry["low"], entry["high"], path, entry["name"]),
                "missing": tuple(_parts(entry["missing"])),
            }
        )
    return variables_of(records, str(path))


def _levels(kind: object, levels: list[Any], answers: list[str]) -> dict[str, tuple[Any, ...]]:
    """Return levels and what they are in words; yes/no is 0 and 1 unless it says otherwise."""
    if kind == "yes/no" and not levels:
        return {"levels": (0, 1), "answers": ("no", "yes")}
    return {"levels": tuple(levels), "answers": tuple(answers)} if kind in {"answers", "yes/no"} else {}


def _redcap(path: Path, rows: list[dict[str, str]]) -> Dictionary:
    """Return REDCap's data dictionary; a checkbox is a column of 0 and 1 for each choice."""
    records: list[dict[str, Any]] = []
    for place, row in enumerate(rows):
        name, kind = row[_REDCAP], row.get("Field Type", "").lower()
        label = re.sub(r"<[^>]*>", "", row.get("Field Label", "")).strip()
        choices = [part.partition(",") for part in _parts(row.get(_CHOICES, ""))]
        levels, answers = [pair[0].strip() for pair in choices], [pair[2].strip() for pair in choices]
        validation = row.get("Text Validation Type OR Show Slider Number", "").lower()
        if not name or kind in {"descriptive", "file"}:
            continue
        if kind == "checkbox":
            for level, answer in zip(levels, answers, strict=True):
                column = f"{name}___{level.lower().replace('-', '_')}"
                yes = {"kind": "yes/no", **_levels("yes/no", [], [])}
                records.append({"name": column, "label": f"{label}: {answer}", **yes})
            continue
        variable: dict[str, Any] = {"name": name, "label": label}
        if row.get("Identifier?", "").lower() == "y" or place == 0:
            variable["kind"] = "identifier"
        elif kind in {"yesno", "truefalse"}:
            variable |= {"kind": "yes/no", **_levels("yes/no", [], [])}
        elif kind in {"radio", "dropdown"} and levels:
            variable |= {"kind": "answers", **_levels("answers", levels, answers)}
        elif kind in {"calc", "slider"} or validation.startswith(("number", "integer")):
            low, high = row.get("Text Validation Min", ""), row.get("Text Validation Max", "")
            variable |= {"kind": "number", "bounds": _bounds(low, high, path, name)}
        else:
            variable["kind"] = "date" if validation.startswith(("date", "time")) else "text"
        records.append(variable)
    return variables_of(records, str(path))


_CHOICES = "Choices, Calculations, OR Slider Labels"


def _parsed(path: Path, text: str) -> Any:
    """Return what a JSON or YAML file holds."""
    try:
        if path.name.lower().endswith(".json"):
            return json.loads(text)
        return import_module("yaml").safe_load(text)
    except ImportError:
        raise missing_extra("files", "Reading YAML") from None
    except Exception:  # noqa: BLE001 - yaml has errors of its own
        raise InputError(f"{path}: the dictionary is not readable as JSON or YAML") from None


def _frictionless(path: Path, held: object) -> Dictionary:
    """Return a Frictionless Table Schema, alone or in a package of one table."""
    resources = _listed(_mapping(held).get("resources"))
    held = resources[0] if len(resources) == 1 else held
    schema = _mapping(_mapping(held).get("schema", held))
    fields = _listed(schema.get("fields"))
    if not fields or not all(map(_mapping, fields)):
        raise InputError(
            f"{path}: not a Frictionless Table Schema, or one of several tables: give its schema"
        )
    keys = schema.get("primaryKey")
    keys = [keys] if isinstance(keys, str) else _listed(keys)
    absent = _listed(schema.get("missingValues"))
    return variables_of([_field(path, field, keys, absent) for field in fields], str(path))


def _field(path: Path, field: dict[str, Any], keys: list[Any], absent: list[Any]) -> dict[str, Any]:
    """Return one field of a Table Schema."""
    name, rules = str(field.get("name", "")), _mapping(field.get("constraints"))
    pairs = [
        (_mapping(category).get("value", category), str(_mapping(category).get("label", "")))
        for category in _listed(field.get("categories", rules.get("enum")))
    ]
    written = str(field.get("type", "any"))
    kind = None if written == "any" else _kind(written, path, name)
    kind = "identifier" if name in keys else "answers" if pairs and kind != "yes/no" else kind
    label = field.get("title") or field.get("description") or ""
    words = (*_listed(field.get("missingValues")), *absent)
    return {
        "name": name,
        "kind": kind,
        "label": str(label),
        **_levels(kind, [level for level, _ in pairs], [answer for _, answer in pairs]),
        "bounds": _bounds(rules.get("minimum", ""), rules.get("maximum", ""), path, name)
        if kind == "number"
        else None,
        "missing": tuple(word for word in words if word != ""),
    }


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _listed(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _kind(word: str, path: Path, name: str) -> str:
    kind = _WORDS.get(word.strip().lower())
    if kind is None:
        raise InputError(f"{path}: the type of {name!r} is one of {', '.join(_KINDS)}; got {word!r}")
    return kind


def _bounds(low: Any, high: Any, path: Path, name: str) -> tuple[float, float] | None:
    """Return bounds where both are given."""
    if str(low).strip() == "" or str(high).strip() == "":
        return None
    try:
        pair = float(low), float(high)
    except (TypeError, ValueError):
        pair = math.nan, math.nan
    if not all(map(math.isfinite, pair)):
        raise InputError(f"{path}: the bounds of {name!r} must be two numbers")
    return pair


def _parts(text: str) -> list[str]:
    """Return what is separated by bars, or, where there is none, by semicolons."""
    mark = "|" if "|" in text else ";"
    return [part.strip() for part in text.split(mark) if part.strip()]


def _text(entry: object) -> str:
    return entry.strip() if isinstance(entry, str) else ""
