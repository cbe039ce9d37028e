"""A release as JSON: format "discreet-release", version 2, described by release.schema.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import check
from discreet.privacy import events
from discreet.report.estimates import NUMBERS

if TYPE_CHECKING:
    from discreet.report.estimates import Told
    from discreet.report.release import Release

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
    nothing = [None] * len(release)
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
        "told": None if release.told is None else _estimates(release.told),
    }


def _estimates(told: Told) -> dict[str, Any]:
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


def _plain(x: Any) -> Any:
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
