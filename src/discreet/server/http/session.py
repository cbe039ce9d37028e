"""Who sends a request: a cookie on pages, a bearer token for programs; never both."""

from __future__ import annotations

import hmac
from functools import wraps
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from discreet.server.accounts import credentials

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from discreet.server.accounts.credentials import Visitor
    from discreet.server.config import Config
    from discreet.server.store import Store

    Shown = Callable[[Request, Visitor, dict[str, str]], Response]


def store_of(request: Request) -> Store:
    """Return the database of the server that got this request."""
    return cast("Store", request.app.state.store)


def config_of(request: Request) -> Config:
    """Return the settings of the server that got this request."""
    return cast("Config", request.app.state.config)


def visitor(request: Request, *, anyway: bool = False) -> Visitor | None:
    """Return who is logged in on pages, if anybody is; `anyway`, even as an old copy says it."""
    secret = request.cookies.get(cookie_name(config_of(request)))
    if not secret:
        return None
    with store_of(request).reading(anyway=anyway) as db:
        return _known(request, credentials.visitor(db, secret, "session"))


def required(request: Request, *roles: str) -> Visitor:
    """Return who is logged in; send others to the login, and refuse other roles."""
    who = visitor(request)
    if who is None:
        request.state.denied = True
        raise HTTPException(303, headers={"Location": "/login"})
    if roles and who.account.role not in roles:
        raise HTTPException(403, f"This page is for {' and '.join(roles)}s.")
    return who


def bearer(request: Request, scope: str, *roles: str) -> Visitor:
    """Return who holds the token that a program sent, if the token may be used for this."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    who = None
    if kind.lower() == "bearer" and secret:
        with store_of(request).reading() as db:
            who = _known(request, credentials.visitor(db, secret.strip(), "token"))
    if who is None:
        raise HTTPException(401, "send a token that is valid: Authorization: Bearer ...")
    if scope not in who.scopes or (roles and who.account.role not in roles):
        raise HTTPException(403, f"this token may not {scope} here")
    return who


def _known(request: Request, who: Visitor | None) -> Visitor | None:
    """Leave a word with the request about who sent it; one person's requests count as one visitor's.

    However many credentials somebody has: their number is theirs to choose.
    """
    if who is not None and getattr(request.state, "actor", None) is None:
        request.state.actor = who.account.name
        most = config_of(request).requests_per_minute
        if not request.app.state.rates.allows(f"account {who.account.name}", most):
            raise HTTPException(429, "Too many requests: wait a minute.", {"Retry-After": "60"})
    return who


def check_form(request: Request, who: Visitor | None, form: Mapping[str, object]) -> None:
    """Refuse a form that did not come from a page of ours."""
    origin = request.headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")
    site = request.headers.get("sec-fetch-site", "same-origin")
    sent = str(form.get("csrf", ""))
    forged = who is not None and not hmac.compare_digest(sent.encode(), who.csrf.encode())
    if foreign or site not in {"same-origin", "none"} or forged:
        raise HTTPException(
            403, "This form is out of date, or was sent from another site. Load the page again."
        )


def form_page(show: Shown, *roles: str) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that checks who comes and that a form is ours, and hands both on."""

    @wraps(show)
    async def endpoint(request: Request) -> Response:
        who = await run_in_threadpool(required, request, *roles)
        form: dict[str, str] = {}
        if request.method == "POST":
            form = {name: str(value) for name, value in (await request.form()).items()}
            check_form(request, who, form)
        return await run_in_threadpool(show, request, who, form)

    return endpoint


def cookie_name(config: Config) -> str:
    """Return the name of the session cookie; with TLS one that no other host can set."""
    return "__Host-discreet" if config.is_secure else "discreet"


def set_cookie(response: Response, config: Config, secret: str) -> None:
    """Hand the session to the browser, out of reach of scripts and other sites."""
    response.set_cookie(
        cookie_name(config),
        secret,
        max_age=int(3600 * config.session_hours),
        httponly=True,
        samesite="lax",
        secure=config.is_secure,
        path="/",
    )
