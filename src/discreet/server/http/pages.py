"""What everybody sees: data sets, questions, answers, their own tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from discreet import check
from discreet.errors import InputError
from discreet.report.page import page as report_page
from discreet.report.save import to_text
from discreet.server.accounts import credentials
from discreet.server.datasets import registry
from discreet.server.http import openapi
from discreet.server.http.render import page
from discreet.server.http.session import config_of, form_page, required, store_of
from discreet.server.jobs import view

if TYPE_CHECKING:
    from starlette.requests import Request

_DAYS = 90.0
_NOTHING = "'none'"


def home(request: Request) -> Response:
    """List data sets and one's own questions."""
    who = required(request)
    with store_of(request).reading() as db:
        datasets = [registry.find(db, name) for name in registry.open_to(db, who.account)]
        asked = view.mine(db, config_of(request), who.account, 20)
        waiting = view.waiting(db) if who.account.role == "custodian" else []
    return page("home.html", who, datasets=datasets, jobs=asked, waiting=waiting)


def dataset(request: Request) -> Response:
    """Show what is public about a data set, what is left, what was released, and a form to ask."""
    who = required(request)
    version = asked_version(request)
    with store_of(request).reading() as db:
        found = registry.seen_by(db, who.account, request.path_params["name"], version)
        left = view.about_budget(db, who.account, found.name)
        before = asked_before(request)
        released, older = view.releases(db, config_of(request), who.account, found.name, before)
    shown: dict[str, Any] = {"found": found, "left": left, "old": version is not None}
    shown |= {"releases": released, "older": older}
    return page("dataset.html", who, **shown, form={}, words="")


def asked_version(request: Request) -> int | None:
    """Return the version of the metadata that is asked for; None for the newest."""
    text = request.query_params.get("version")
    if text is None:
        return None
    return check.whole(int(text) if text.isdecimal() and len(text) < 9 else 0, "version")


def asked_before(request: Request) -> float | None:
    """Return the time before which releases were asked for that a list begins with; None for the newest."""
    try:
        return None if "before" not in request.query_params else float(request.query_params["before"])
    except ValueError:
        raise InputError("before must be a time: what `older` said") from None


def job(request: Request) -> Response:
    """Show a question: how far it is, or its answer."""
    who = required(request)
    config = config_of(request)
    with store_of(request).reading() as db:
        shown = view.visible_job(db, config, who.account, request.path_params["id"])
        answered = shown["state"] == "answered"
        words = ""
        if answered and shown["kind"] == "plan":
            words = json.loads(view.answer(db, who.account, shown["id"]))["words"]
        elif answered:
            words = str(view.release(db, who.account, shown["id"]))
    response = page("job.html", who, job=shown, words=words, question=json.dumps(shown["question"], indent=2))
    if shown["state"] == "working":  # without a script, the browser looks again when an answer may come
        response.headers["Refresh"] = str(max(1, round(shown["look_again_in"] + 0.5)))
    return response


def report(request: Request) -> Response:
    """Show the report of a release: a page that needs nothing from outside, alone in its box."""
    who = required(request)
    with store_of(request).reading() as db:
        made = view.release(db, who.account, request.path_params["id"])
    text = report_page(made)
    return HTMLResponse(text, headers={"Content-Security-Policy": _policy(text)})


def download(request: Request) -> Response:
    """Hand out a release as JSON or CSV."""
    who = required(request)
    with store_of(request).reading() as db:
        made = view.release(db, who.account, request.path_params["id"])
    as_csv = request.url.path.endswith(".csv")
    name = f"release.{'csv' if as_csv else 'json'}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if as_csv:
        return Response(to_text(made), media_type="text/csv", headers=headers)
    return Response(made.to_json(indent=2), media_type="application/json", headers=headers)


def tokens(request: Request, who: credentials.Visitor, form: dict[str, str]) -> Response:
    """List one's tokens; make one, or end one."""
    made = ""
    with store_of(request).writing() as db:
        if "end" in form:
            credentials.revoke_token(db, who.account.name, form["end"])
        elif form:
            scopes = tuple(scope for scope in credentials.SCOPES if scope in form)
            made = credentials.token(db, who.account.name, form.get("label", ""), scopes, _DAYS)
        mine = credentials.tokens(db, who.account.name)
    if "end" in form:
        return RedirectResponse("/tokens", 303)
    return page("tokens.html", who, tokens=mine, made=made, days=int(_DAYS), site=config_of(request).site)


def interface(request: Request) -> Response:
    """Describe the HTTP interface for people."""
    who = required(request)
    return page("api.html", who, document=openapi.document(), site=config_of(request).site)


def _policy(text: str) -> str:
    """Return the policy of a report: its own style and script, by their hashes, and nothing else."""
    kinds = {kind: re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL) for kind in ("style", "script")}
    style, script = (" ".join(f"'sha256-{_hash(each)}'" for each in texts) for texts in kinds.values())
    return (
        f"default-src 'none'; style-src {style or _NOTHING}; script-src {script or _NOTHING}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


routes = [
    Route("/", home),
    Route("/datasets/{name}", dataset),
    Route("/jobs/{id}", job),
    Route("/jobs/{id}/report", report),
    Route("/jobs/{id}/release.json", download),
    Route("/jobs/{id}/release.csv", download),
    Route("/tokens", form_page(tokens), methods=["GET", "POST"]),
    Route("/api", interface),
]
