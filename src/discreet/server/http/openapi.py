"""The HTTP interface described for programs: OpenAPI 3.1, built from the library's own schemas."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from importlib.resources import files
from typing import Any, get_args, get_origin

from discreet import typing as aliases
from discreet.methods.method import Parameters
from discreet.server.datasets.metadata import GENETIC, OFFERED
from discreet.version import __version__

_TEXT = {"type": "string"}
_MORE = "About how many more releases like this one your share and the total allow."
_COUNTED = ("version", "epsilon", "delta")
_SAID = {
    "before": "Older ones: what `older` said in the answer before.",
    "version": "An earlier version of the metadata.",
    "epsilon": "Count in budget.more how many more releases with this epsilon fit.",
    "delta": "Their delta; 1e-6 if absent.",
}
_KINDS: dict[Any, dict[str, Any]] = {
    float: {"type": "number"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: _TEXT,
}


def document() -> dict[str, Any]:
    """Return the whole description."""
    job = {"$ref": "#/components/schemas/Job"}
    release = {"$ref": "#/components/schemas/Release"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "discreet, the custodian's server",
            "version": __version__,
            "description": "Analysts ask, nobody sees a row. Answers are given on a public time grid.",
        },
        "security": [{"token": []}],
        "paths": {
            "/api/v1": {"get": _operation("What is here", {"type": "object"}, name=False)},
            "/api/v1/openapi.json": {"get": _operation("This description", {"type": "object"})},
            "/api/v1/datasets": {"get": _operation("Data sets open to you", {"type": "object"})},
            "/api/v1/datasets/{name}": {
                "get": {
                    **_operation("What is public about one, and the budget left", {"type": "object"}, "name"),
                    "parameters": [_parameter("name", "path"), *map(_parameter, _COUNTED)],
                }
            },
            "/api/v1/datasets/{name}/releases": {
                "get": {
                    **_operation("Its releases that you may see, newest first", {"type": "object"}, "name"),
                    "parameters": [_parameter("name", "path"), _parameter("before")],
                }
            },
            **{
                f"/api/v1/datasets/{{name}}/{kind}": {"post": _posted(words, job)}
                for kind, words in (
                    ("plan", "What a release would find, from public numbers; reads no data"),
                    ("try", "The same question on invented data; reads no data"),
                    ("ask", "Ask: held against the budget now, charged before anything is drawn"),
                )
            },
            "/api/v1/jobs": {"get": _operation("Your questions", {"type": "object"})},
            "/api/v1/jobs/{id}": {"get": _operation("One question and its state", job, "id")},
            "/api/v1/jobs/{id}/answer": {"get": _operation("Its answer: a release", release, "id")},
            "/api/v1/jobs/{id}/answer.csv": {
                "get": _operation("Its discoveries as CSV", _TEXT, "id", "text/csv")
            },
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Question": question(), "Job": _job(), "Release": _release(), "Error": _error()},
        },
    }


def question() -> dict[str, Any]:
    """Return the schema of a question: a plan file's words without any path."""
    hints = typing.get_type_hints(Parameters, localns=vars(aliases))
    asked = {field.name: _schema(hints[field.name]) for field in dataclasses.fields(Parameters)}
    test = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"enum": [*OFFERED, *GENETIC, "vote"]}},
    }
    return {
        "type": "object",
        "required": ["test"],
        "additionalProperties": False,
        "properties": {
            "test": test,
            "columns": {"type": ["array", "string"], "items": _TEXT},
            **asked,
            "request_id": {"type": "string", "description": "The same id is the same question, asked once."},
            "version": {"type": "integer", "description": "Refuse it under other metadata than these."},
            "again": {"type": "boolean", "description": "Pay once more for a question answered before."},
        },
    }


def _schema(hint: object) -> dict[str, Any]:
    if get_origin(hint) is types.UnionType or get_origin(hint) is typing.Union:
        return {"anyOf": [_schema(each) for each in get_args(hint) if each is not type(None)]}
    if get_origin(hint) is typing.Literal:
        return {"enum": list(get_args(hint))}
    return dict(_KINDS[hint])


def _release() -> dict[str, Any]:
    return json.loads((files("discreet.report") / "release.schema.json").read_text("utf-8"))


def _job() -> dict[str, Any]:
    texts = ("id", "kind", "dataset", "account", "request_id", "message", "reason")
    states = ["working", "answered", "awaiting approval", "rejected", "refused", "failed"]
    number = {"type": ["number", "null"]}
    numbers = {"version": {"type": "integer"}, "submitted": {"type": "number"}, "answered": number}
    return {
        "type": "object",
        "properties": {
            **dict.fromkeys(texts, _TEXT),
            **numbers,
            "state": {"enum": states},
            "question": {"type": "object"},
            "look_again_in": number,
            "more_like_this": {"type": ["integer", "null"], "description": _MORE},
        },
    }


def _error() -> dict[str, Any]:
    return {"type": "object", "properties": {"error": _TEXT, "kind": _TEXT}}


def _operation(
    words: str, answer: dict[str, Any], name: str | bool = "", media: str = "application/json"
) -> dict[str, Any]:
    made: dict[str, Any] = {"summary": words, "responses": _responses("200", answer, media)}
    if name:
        made["parameters"] = [_parameter(str(name), "path")]
    return made


def _parameter(name: str, place: str = "query") -> dict[str, Any]:
    made = {"name": name, "in": place, "required": place == "path", "schema": _TEXT}
    return {**made, **({"description": _SAID[name]} if name in _SAID else {})}


def _posted(words: str, answer: dict[str, Any]) -> dict[str, Any]:
    question = {"schema": {"$ref": "#/components/schemas/Question"}}
    body = {"required": True, "content": {"application/json": question, "application/toml": question}}
    made = _operation(words, answer, "name")
    return {**made, "requestBody": body, "responses": _responses("202", answer, "application/json")}


def _responses(status: str, answer: dict[str, Any], media: str) -> dict[str, Any]:
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    refusals = {"400": "cannot be asked", "401": "no token", "403": "not allowed", "404": "not there"}
    refusals |= {"409": "the budget does not allow it", "429": "too often", "503": "try again"}
    described = {code: {"description": words, "content": refusal} for code, words in refusals.items()}
    return {status: {"description": "done", "content": {media: {"schema": answer}}}, **described}
