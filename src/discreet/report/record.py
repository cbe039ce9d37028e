"""A release as JSON, written and read back: what is read is checked field by field."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib.resources import files
from typing import Any, cast

import numpy as np

from discreet import check
from discreet.errors import InputError
from discreet.privacy import events
from discreet.privacy.events import Privacy
from discreet.report.parts import NUMBERS, BudgetLine, FdrPromise, Told, Values, places
from discreet.report.release import Release
from discreet.report.table import KINDS

FORMAT = "discreet-release"
VERSION = 2


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) that every record obeys."""
    return json.loads((files("discreet.report") / "release.schema.json").read_text("utf-8"))


def to_json(release: Release, indent: int | None = None) -> str:
    """Return the record as JSON in plain ASCII; a number JSON cannot hold becomes null."""
    if indent is not None:
        indent = check.whole(indent, "indent", 0, 100)
    return json.dumps(to_dict(release), indent=indent, allow_nan=False)


def to_dict(release: Release) -> dict[str, Any]:
    """Return the record as what JSON can hold."""
    privacy, fdr, values = release.privacy, release.fdr, release.values
    nothing = [None] * len(release.discoveries)
    noisy, noise = (nothing, nothing) if values is None else (values.noisy, values.noise)
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "discreet_version": _text(release.version),
        "method": _text(release.method),
        "m": int(release.m),
        "q": float(release.q),
        "parameters": _plain(release.parameters),
        "ordered": bool(release.ordered),
        "discoveries": [
            {"name": _text(name), "index": int(index), "value": _number(value), "noise": _number(sd)}
            for name, index, value, sd in zip(release.discoveries, release.indices, noisy, noise, strict=True)
        ],
        "values": values and {"name": _text(values.name)},
        "privacy": {
            "epsilon": _number(privacy.epsilon),
            "delta": float(privacy.delta),
            "neighbours": _text(privacy.adjacency),
            "public": _text(privacy.public),
            "assumption": _text(privacy.assumption),
            "events": [events.to_dict(event) for event in privacy.events],
        },
        "fdr": {
            "level": _number(fdr.level),
            "guarantee": fdr.guarantee,
            "assumption": _text(fdr.assumption),
            "source": _text(fdr.source),
            "scope": _text(fdr.scope),
        },
        "frame": release.frame,
        "budget": release.budget and _plain(asdict(release.budget)),
        "told": None if release.told is None else _told_to_dict(release.told),
    }


def _told_to_dict(told: Told) -> dict[str, Any]:
    """Return a list a field: a release may tell of very many hypotheses."""
    return {
        "procedure": told.procedure,
        "indices": told.indices.tolist(),
        "hypotheses": [_text(name) for name in told.hypotheses],
        "effect": [_text(name) for name in told.effect],
        **{name: [_number(x) for x in getattr(told, name).tolist()] for name in NUMBERS},
        **({} if told.question is None else {"question": told.question.tolist()}),
        **({} if told.deviation is None else {"deviation": [_number(x) for x in told.deviation.tolist()]}),
    }


def _number(x: float | None) -> float | None:
    return float(x) if x is not None and math.isfinite(x) else None


def _text(text: str) -> str:
    """Return `text` with two halves of a character joined, as any reader of JSON would."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _plain(x: object) -> Any:
    """Return a parameter as JSON holds it; what JSON cannot hold becomes words, for nothing may be lost."""
    if isinstance(x, np.generic):
        return _plain(cast("object", x.item()))
    if x is None or isinstance(x, bool):
        return x
    if isinstance(x, int):
        return x if abs(x) < 2**63 else hex(x)
    if isinstance(x, float):
        return x if math.isfinite(x) else str(x)
    if isinstance(x, Mapping):
        return {_text(str(name)): _plain(value) for name, value in cast("Mapping[Any, Any]", x).items()}
    if isinstance(x, (list, tuple)):
        return [_plain(entry) for entry in cast("list[Any]", x)]
    return _text(str(x))


_TOP = [
    *("format", "format_version", "discreet_version", "method", "m", "q", "parameters", "ordered"),
    *("discoveries", "values", "privacy", "fdr", "frame", "budget", "told"),
]
_MOST = 2**63 - 1  # as many hypotheses as an index can tell apart


def from_json(text: str | bytes) -> Release:
    """Return the release behind `text`, or an InputError that says what is wrong with it."""
    try:
        fields = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant)
    except InputError:
        raise
    except (ValueError, TypeError, RecursionError):
        raise InputError("text is not a release in JSON: take the output of Release.to_json") from None
    if not isinstance(fields, dict) or cast("Any", fields).get("format") != FORMAT:
        raise InputError(f'text is JSON, but not a release: "format" must be "{FORMAT}"')
    version = cast("Any", fields).get("format_version")
    if isinstance(version, bool) or version not in range(1, VERSION + 1):
        raise InputError(f'"format_version" must be at most {VERSION}: update discreet to read another')
    # Releases of version 1 told nothing but discoveries.
    record = _object(fields, "the release", _TOP[:-1] if version == 1 else _TOP)
    release = _read_release(record)
    try:
        to_dict(release)
    except RecursionError:
        raise InputError("parameters in the release are nested too deeply") from None
    return release


def _read_release(record: dict[str, Any]) -> Release:
    listed = [
        _object(discovery, "a discovery", ["name", "index", "value", "noise"])
        for discovery in _typed(record["discoveries"], "discoveries", list)
    ]
    m = check.whole(record["m"], "m", 1, _MOST)
    indices = [check.whole(discovery["index"], "index", 0, m - 1) for discovery in listed]
    if len(set(indices)) < len(indices):
        raise InputError("the release lists an index twice")
    names = tuple(_typed(discovery["name"], "name", str) for discovery in listed)
    told = _read_told(record.get("told"), m)
    if told is not None:
        at = places(told, np.asarray(indices, dtype=np.int64)).tolist()
        if tuple(told.hypotheses[place] for place in at) != names:
            raise InputError("told must have every discovery under its name")
    return Release(
        method=_typed(record["method"], "method", str),
        m=m,
        q=check.level(_real(record["q"], "q"), "q"),
        indices=np.asarray(indices, dtype=np.int64),
        discoveries=names,
        ordered=_typed(record["ordered"], "ordered", bool),
        privacy=_read_privacy(record["privacy"]),
        fdr=_read_fdr(record["fdr"]),
        parameters=_typed(record["parameters"], "parameters", dict),
        values=_read_values(record["values"], listed),
        frame=None if record["frame"] is None else check.choice(record["frame"], "frame", KINDS),
        budget=_read_budget(record["budget"]),
        version=_typed(record["discreet_version"], "discreet_version", str),
        told=told,
    )


def _read_privacy(x: object) -> Privacy:
    words = ["neighbours", "public", "assumption"]
    fields = _object(x, "privacy", ["epsilon", "delta", *words, "events"])
    spent = tuple(_read_event(event) for event in _typed(fields["events"], "events", list))
    epsilon = _real(fields["epsilon"], "epsilon", null=math.inf)
    delta = _real(fields["delta"], "delta")
    return Privacy(epsilon, delta, spent, *(_typed(fields[name], name, str) for name in words))


def _read_event(x: object) -> events.Event:
    fields = cast("dict[str, Any]", _typed(x, "an event", dict))
    return events.from_dict(
        {name: value if name in {"kind", "count"} else _real(value, name) for name, value in fields.items()}
    )


def _read_fdr(x: object) -> FdrPromise:
    names = ["guarantee", "assumption", "source", "scope"]
    fields = _object(x, "fdr", ["level", *names])
    words = [_typed(fields[name], name, str) for name in names]
    check.choice(words[0], "guarantee", ("proved", "simulated", "none"))
    return FdrPromise(_amount(fields["level"], "level", null=math.inf), *words)


def _read_values(x: object, listed: list[dict[str, Any]]) -> Values | None:
    pairs = [(discovery["value"], discovery["noise"]) for discovery in listed]
    if x is None:
        if any(pair != (None, None) for pair in pairs):
            raise InputError("the release has a value or a noise that values does not describe")
        return None
    name = _typed(_object(x, "values", ["name"])["name"], "name", str)
    noisy = [_real(value, "value", null=math.nan) for value, _ in pairs]
    noise = [_amount(sd, "noise", null=math.inf) for _, sd in pairs]
    return Values(name, np.asarray(noisy, dtype=np.float64), np.asarray(noise, dtype=np.float64))


def _read_told(x: Any, m: int) -> Told | None:
    if x is None:
        return None
    names = ["procedure", "indices", "hypotheses", "effect", *NUMBERS]
    more = [name for name in ("question", "deviation") if isinstance(x, dict) and name in x]
    fields = _object(x, "told", [*names, *more])
    lists = {name: _typed(fields[name], name, list) for name in fields if name != "procedure"}
    nulls = {"estimate": math.nan, "standard_error": math.nan, "degrees": math.inf, "deviation": math.nan}
    numbers = {
        name: np.asarray([_real(number, name, nulls.get(name)) for number in lists[name]], dtype=np.float64)
        for name in (*NUMBERS, "deviation")
        if name in lists
    }
    return Told(
        indices=np.asarray([check.whole(index, "indices", 0, m - 1) for index in lists["indices"]], np.int64),
        hypotheses=tuple(_typed(name, "hypotheses", str) for name in lists["hypotheses"]),
        effect=tuple(_typed(name, "effect", str) for name in lists["effect"]),
        procedure=_typed(fields["procedure"], "procedure", str),
        question=np.asarray(
            [check.whole(place, "question", 0, m - 1) for place in lists["question"]], np.int64
        )
        if "question" in lists
        else None,
        **numbers,
    )


def _read_budget(x: object) -> BudgetLine | None:
    if x is None:
        return None
    words, numbers = ["data_set", "release", "head"], ["epsilon", "delta", "spent", "next"]
    fields = _object(x, "budget", words + numbers)
    data_set, name, head = (_typed(fields[word], word, str) for word in words)
    epsilon, delta, spent, left = (_real(fields[word], word) for word in numbers)
    return BudgetLine(data_set, epsilon, delta, spent, name, head, left)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise InputError("the release has the same field twice")
    return result


def _refuse_constant(constant: str) -> None:
    raise InputError(f"the release holds {constant}, which is not JSON")


def _real(x: object, name: str, null: float | None = None) -> float:
    if x is None and null is not None:
        return null
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        raise InputError(f"{name} in the release must be a number; got {type(x).__name__}")
    return check.real(x, name)


def _amount(x: object, name: str, null: float) -> float:
    number = _real(x, name, null)
    if number < 0:
        raise InputError(f"{name} must be at least 0; got {number:g}")
    return number


def _object(x: Any, name: str, fields: list[str]) -> dict[str, Any]:
    record = cast("dict[str, Any]", _typed(x, name, dict))
    if lacking := [field for field in fields if field not in record]:
        raise InputError(f"{name} lacks {', '.join(lacking)}")
    if len(record) > len(fields):
        raise InputError(f"{name} has more fields than {', '.join(fields)}")
    return record


_WORDS = {str: "text", bool: "true or false", list: "a list", dict: "an object"}


def _typed(x: object, name: str, kind: type) -> Any:
    if not isinstance(x, kind):
        raise InputError(f"{name} in the release must be {_WORDS[kind]}; got {type(x).__name__}")
    return x


def with_head(release: Release, head: str) -> Release:
    """Return the release with the hash that seals its stored text, which therefore cannot hold it."""
    line = release.budget
    return release if line is None else replace(release, budget=replace(line, head=head))
