"""Reading a release back from JSON: every field is checked, anything odd is an InputError."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import numpy as np

from discreet import check
from discreet.errors import InputError
from discreet.privacy import events
from discreet.privacy.events import Privacy
from discreet.report.budget import BudgetLine
from discreet.report.estimates import NUMBERS, Told
from discreet.report.fdr import FdrPromise
from discreet.report.record import FORMAT, VERSION, to_dict
from discreet.report.release import Release
from discreet.report.table import KINDS
from discreet.report.values import Values

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
    release = _release(record)
    try:
        to_dict(release)
    except RecursionError:
        raise InputError("parameters in the release are nested too deeply") from None
    return release


def _release(record: dict[str, Any]) -> Release:
    listed = [
        _object(discovery, "a discovery", ["name", "index", "value", "noise"])
        for discovery in _typed(record["discoveries"], "discoveries", list)
    ]
    m = check.whole(record["m"], "m", 1, _MOST)
    indices = [check.whole(discovery["index"], "index", 0, m - 1) for discovery in listed]
    if len(set(indices)) < len(indices):
        raise InputError("the release lists an index twice")
    return Release(
        method=_typed(record["method"], "method", str),
        m=m,
        q=check.level(_real(record["q"], "q"), "q"),
        indices=np.asarray(indices, dtype=np.int64),
        discoveries=tuple(_typed(discovery["name"], "name", str) for discovery in listed),
        ordered=_typed(record["ordered"], "ordered", bool),
        privacy=_privacy(record["privacy"]),
        fdr=_fdr(record["fdr"]),
        parameters=_typed(record["parameters"], "parameters", dict),
        values=_values(record["values"], listed),
        frame=None if record["frame"] is None else check.choice(record["frame"], "frame", KINDS),
        budget=_budget(record["budget"]),
        version=_typed(record["discreet_version"], "discreet_version", str),
        told=_estimates(record.get("told"), m),
    )


def _privacy(x: Any) -> Privacy:
    words = ["neighbours", "public", "assumption"]
    fields = _object(x, "privacy", ["epsilon", "delta", *words, "events"])
    spent = tuple(_event(event) for event in _typed(fields["events"], "events", list))
    epsilon = _real(fields["epsilon"], "epsilon", null=math.inf)
    delta = _real(fields["delta"], "delta")
    return Privacy(epsilon, delta, spent, *(_typed(fields[name], name, str) for name in words))


def _event(x: Any) -> events.Event:
    fields = cast("dict[str, Any]", _typed(x, "an event", dict))
    return events.from_dict(
        {name: value if name in {"kind", "count"} else _real(value, name) for name, value in fields.items()}
    )


def _fdr(x: Any) -> FdrPromise:
    names = ["guarantee", "assumption", "source", "scope"]
    fields = _object(x, "fdr", ["level", *names])
    words = [_typed(fields[name], name, str) for name in names]
    check.choice(words[0], "guarantee", ("proved", "simulated", "none"))
    return FdrPromise(_amount(fields["level"], "level", null=math.inf), *words)


def _values(x: Any, listed: list[dict[str, Any]]) -> Values | None:
    pairs = [(discovery["value"], discovery["noise"]) for discovery in listed]
    if x is None:
        if any(pair != (None, None) for pair in pairs):
            raise InputError("the release has a value or a noise that values does not describe")
        return None
    name = _typed(_object(x, "values", ["name"])["name"], "name", str)
    noisy = [_real(value, "value", null=math.nan) for value, _ in pairs]
    noise = [_amount(sd, "noise", null=math.inf) for _, sd in pairs]
    return Values(name, np.asarray(noisy, dtype=np.float64), np.asarray(noise, dtype=np.float64))


def _estimates(x: Any, m: int) -> Told | None:
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
        question=np.asarray([check.whole(one, "question", 0, m - 1) for one in lists["question"]], np.int64)
        if "question" in lists
        else None,
        **numbers,
    )


def _budget(x: Any) -> BudgetLine | None:
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


def _real(x: Any, name: str, null: float | None = None) -> float:
    if x is None and null is not None:
        return null
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        raise InputError(f"{name} in the release must be a number; got {type(x).__name__}")
    return check.real(x, name)


def _amount(x: Any, name: str, null: float) -> float:
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


def _typed(x: Any, name: str, kind: type) -> Any:
    if not isinstance(x, kind):
        raise InputError(f"{name} in the release must be {_WORDS[kind]}; got {type(x).__name__}")
    return x
