"""The JSON interface: the same questions as a plan file's, the same answers as a release's own JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from discreet.errors import InputError
from discreet.report.save import to_text
from discreet.server import toml
from discreet.server.datasets import question as questions
from discreet.server.datasets import registry
from discreet.server.http import openapi
from discreet.server.http.pages import asked_before, asked_version
from discreet.server.http.session import bearer, config_of, store_of
from discreet.server.jobs import accept, view
from discreet.version import __version__

if TYPE_CHECKING:
    from starlette.requests import Request

    from discreet.privacy.events import Gaussian
    from discreet.server.accounts.credentials import Visitor

_OWN = ("request_id", "again", "version")


def about(_: Request) -> Response:
    """Say what is here."""
    return JSONResponse({"server": "discreet", "version": __version__, "openapi": "/api/v1/openapi.json"})


def datasets(request: Request) -> Response:
    """List the data sets that the caller may see."""
    who = bearer(request, "read")
    with store_of(request).reading() as db:
        listed = [registry.find(db, name) for name in registry.open_to(db, who.account)]
    rows = [{"name": each.name, "title": each.about.title, "state": each.state} for each in listed]
    return JSONResponse({"datasets": rows})


def dataset(request: Request) -> Response:
    """Show what is public about a data set, and the budget left; as a number of releases if asked for."""
    who = bearer(request, "read")
    cost = _cost(request)
    with store_of(request).reading() as db:
        known = registry.seen_by(db, who.account, request.path_params["name"], asked_version(request))
        left = view.about_budget(db, who.account, known.name)
        if cost is not None:
            left["more"] = view.more_like(db, who.account, known.name, cost)
    shown = {"name": known.name, "version": known.version, "state": known.state}
    return JSONResponse({**shown, "metadata": known.about.to_dict(), "budget": left})


def _cost(request: Request) -> Gaussian | None:
    """Return the cost of a release like those that are counted: ?epsilon=0.5&delta=1e-6."""
    asked = {name: request.query_params.get(name) for name in ("epsilon", "delta")}
    if asked["epsilon"] is None:
        return None
    try:
        epsilon, delta = float(asked["epsilon"]), float(asked["delta"] or questions.DEFAULTS["delta"])
    except ValueError:
        raise InputError("epsilon and delta must be numbers") from None
    return questions.cost_of(epsilon, delta)


def releases(request: Request) -> Response:
    """List the releases of a data set that the caller may see, some at a time."""
    who = bearer(request, "read")
    name, before = request.path_params["name"], asked_before(request)
    with store_of(request).reading() as db:
        page, older = view.releases(db, config_of(request), who.account, name, before)
    return JSONResponse({"releases": page, "older": older})


async def ask(request: Request) -> Response:
    """Accept a question: /plan and /try read no data, /ask is charged."""
    kind = request.url.path.rsplit("/", 1)[-1]
    who = await run_in_threadpool(bearer, request, "ask" if kind == "ask" else "read")
    return await run_in_threadpool(_accept, request, who, kind, await request.body())


def _accept(request: Request, who: Visitor, kind: str, text: bytes) -> Response:
    body = _words(text, request.headers.get("content-type", ""))
    options = {name: body.pop(name) for name in _OWN if name in body}
    store, config = store_of(request), config_of(request)
    made = accept.submit(
        store,
        config,
        who.account,
        request.path_params["name"],
        body,
        kind=kind,
        request_id=options.get("request_id"),
        again=options.get("again") is True,
        version=options.get("version"),
    )
    with store.reading() as db:
        shown = view.visible_job(db, config, who.account, made)
    return JSONResponse(shown, 202)


def jobs(request: Request) -> Response:
    """List the caller's own questions."""
    who = bearer(request, "read")
    with store_of(request).reading() as db:
        return JSONResponse({"jobs": view.mine(db, config_of(request), who.account)})


def job(request: Request) -> Response:
    """Show one question; `look_again_in` says in how many seconds its answer may come."""
    who = bearer(request, "read")
    with store_of(request).reading() as db:
        return JSONResponse(view.visible_job(db, config_of(request), who.account, request.path_params["id"]))


def answer(request: Request) -> Response:
    """Return the answer: a release as JSON, or a plan."""
    who = bearer(request, "read")
    with store_of(request).reading() as db:
        kind = view.visible_job(db, config_of(request), who.account, request.path_params["id"])["kind"]
        if kind == "plan":
            return Response(view.answer(db, who.account, request.path_params["id"]), media_type=_JSON)
        made = view.release(db, who.account, request.path_params["id"])
    return Response(made.to_json(), media_type=_JSON)


def table(request: Request) -> Response:
    """Return the discoveries of a release as CSV."""
    who = bearer(request, "read")
    with store_of(request).reading() as db:
        made = view.release(db, who.account, request.path_params["id"])
    return Response(to_text(made), media_type="text/csv")


def description(_: Request) -> Response:
    """Describe all of this as OpenAPI."""
    return JSONResponse(openapi.document())


_JSON = "application/json"


def _words(text: bytes, kind: str) -> dict[str, Any]:
    """Return a body of JSON or TOML as plain values."""
    if "toml" in kind:
        return toml.read(text.decode(errors="replace"), "the body")
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("the body must be JSON, or TOML with the content type application/toml") from None
    if not isinstance(body, dict):
        raise InputError("the body must be a table: test, columns, q, epsilon, delta, ...")
    return cast("dict[str, Any]", body)


routes = [
    Route("/api/v1", about),
    Route("/api/v1/openapi.json", description),
    Route("/api/v1/datasets", datasets),
    Route("/api/v1/datasets/{name}", dataset),
    Route("/api/v1/datasets/{name}/releases", releases),
    *(Route(f"/api/v1/datasets/{{name}}/{kind}", ask, methods=["POST"]) for kind in ("plan", "try", "ask")),
    Route("/api/v1/jobs", jobs),
    Route("/api/v1/jobs/{id}", job),
    Route("/api/v1/jobs/{id}/answer", answer),
    Route("/api/v1/jobs/{id}/answer.csv", table),
]
