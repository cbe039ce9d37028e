"""Asking on pages: a form becomes a question, its cost is shown, and only then it is asked."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from discreet.errors import BudgetError, DiscreetError, InputError
from discreet.server import toml
from discreet.server.datasets import question as questions
from discreet.server.datasets import registry
from discreet.server.http.render import page
from discreet.server.http.session import config_of, form_page, store_of
from discreet.server.jobs import accept, view
from discreet.server.jobs.grid import grid_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from discreet.server.accounts.credentials import Visitor

_LONGEST_NUMBER = 9
_NUMBERS = ("q", "epsilon", "delta", "expect", "null")
_OF_TEST = ("group", "alternative", "partner", "stratum", "event", "within", "null", "levels", "adjust")
_WORDS = ("method", "guarantee", *(name for name in _OF_TEST if name not in {"null", "levels", "adjust"}))


def ask(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """Take the form of a data set's page."""
    store, config, name = store_of(request), config_of(request), request.path_params["name"]
    action = form.get("action", "")
    kind = {"plan": "plan", "try": "try", "ask": "ask"}.get(action, "cost")
    with store.reading() as db:
        entry = registry.seen_by(db, who.account, name)
    try:
        body = words_of(form)
        asked = questions.read(body, entry.about)
        if kind == "cost":
            return _cost(request, who, entry, form, asked)
        # The id travels with the form, so that a button pressed twice asks once.
        chosen = form.get("request_id") if kind == "ask" else None
        options: dict[str, Any] = {"request_id": chosen, "again": form.get("again") == "yes"}
        seen = form.get("version", "")  # what was shown with the cost is what is asked
        if kind == "ask" and seen.isdecimal() and len(seen) < _LONGEST_NUMBER:
            options["version"] = int(seen)
        made = accept.submit(store, config, who.account, name, body, kind=kind, **options)
    except (InputError, BudgetError, accept.QueueError) as refusal:
        return _again(request, who, entry, form, refusal)
    return RedirectResponse(f"/jobs/{made}", 303)


def _cost(
    request: Request,
    who: Visitor,
    found: registry.DataSet,
    form: dict[str, str],
    asked: questions.Question,
) -> Response:
    """Show what the question costs and what would be left, before it is asked."""
    with store_of(request).reading() as db:
        left = view.about_budget(db, who.account, found.name)
        more = view.more_like(db, who.account, found.name, asked.cost)
    form = {name: value for name, value in form.items() if name not in {"csrf", "action"}}
    form |= {"request_id": uuid.uuid4().hex, "version": str(found.version)}
    grid = grid_of(config_of(request))
    return page("confirm.html", who, found=found, left=left, more=more, asked=asked, form=form, grid=grid)


def _again(
    request: Request, who: Visitor, found: registry.DataSet, form: dict[str, str], refusal: DiscreetError
) -> Response:
    """Show the form once more, as it was filled in, and what is wrong with it."""
    with store_of(request).reading() as db:
        left = view.about_budget(db, who.account, found.name)
        released, older = view.releases(db, config_of(request), who.account, found.name)
    shown = {"found": found, "left": left, "releases": released, "older": older}
    shown |= {"form": form, "words": str(refusal)}
    status = 409 if isinstance(refusal, BudgetError) else 400
    return page("dataset.html", who, status, **shown)


def words_of(form: dict[str, str]) -> dict[str, Any]:
    """Return the question that a form puts, in a plan file's words; a whole plan wins over the fields."""
    text = form.get("plan", "").strip()
    if text:
        return toml.read(text, "the plan")
    body: dict[str, Any] = {}
    for name in _NUMBERS:
        if form.get(name, "").strip():
            body[name] = _number(form[name], name)
    body |= {name: form[name].strip() for name in _WORDS if form.get(name, "").strip()}
    for name in ("levels", "adjust", "columns"):
        parts = [part.strip() for part in form.get(name, "").replace("\n", ",").split(",") if part.strip()]
        if parts:
            body[name] = [_level(part) for part in parts] if name == "levels" else parts
    if form.get("values") == "yes":
        body["values"] = True
    test = {"name": form.get("test", ""), **{name: body.pop(name) for name in _OF_TEST if name in body}}
    return {**body, "test": test}


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} must be a number") from None


def _level(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text


routes = [Route("/datasets/{name}/ask", form_page(ask), methods=["POST"])]
