"""Coming in: a password, a one-time link, or another party's word (OpenID Connect)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from discreet.errors import InputError
from discreet.server.accounts import credentials, people
from discreet.server.http.render import page
from discreet.server.http.session import (
    check_form,
    config_of,
    cookie_name,
    form_page,
    set_cookie,
    store_of,
    visitor,
)

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request

    from discreet.server.accounts.credentials import Visitor
    from discreet.server.accounts.people import Account
    from discreet.server.config import Config

_WRONG = "That name and password do not match, or too many attempts failed: wait a while, then try again."


async def login(request: Request) -> Response:
    """Show the form, or check what it holds."""
    config = config_of(request)
    if request.method == "GET":
        return page("login.html", None, words="", oidc=bool(config.oidc_issuer))
    form = await request.form()
    check_form(request, None, form)
    name, password = str(form.get("name", "")), str(form.get("password", ""))
    account = await run_in_threadpool(people.log_in, store_of(request), config, name, password)
    if account is None:
        return page("login.html", None, 401, words=_WRONG, oidc=bool(config.oidc_issuer))
    return await run_in_threadpool(enter, request, account)


def enter(request: Request, account: Account) -> Response:
    """Open a session for somebody who proved who they are."""
    config = config_of(request)
    with store_of(request).writing() as db:
        secret = credentials.session(db, account.name, 3600 * config.session_hours)
    response = RedirectResponse("/", 303)
    set_cookie(response, config, secret)
    return response


def logout(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """End the session."""
    del who, form
    config = config_of(request)
    with store_of(request).writing() as db:
        credentials.revoke(db, request.cookies.get(cookie_name(config), ""))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(cookie_name(config), path="/")
    return response


async def invite(request: Request) -> Response:
    """Let the holder of a one-time link choose a password."""
    secret = request.path_params["secret"]
    if request.method == "GET":
        return await run_in_threadpool(_invited, request, secret, "")
    form = await request.form()
    check_form(request, None, form)
    first, second = str(form.get("password", "")), str(form.get("again", ""))
    if first != second:
        return await run_in_threadpool(_invited, request, secret, "The two passwords are not the same.")
    return await run_in_threadpool(_choose, request, secret, first)


def _invited(request: Request, secret: str, words: str) -> Response:
    with store_of(request).reading() as db:
        guest = credentials.visitor(db, secret, "invite")
    if guest is None:
        old = "This link was used, or is too old. Ask a custodian for a new one."
        return page("message.html", visitor(request), 404, title="No longer valid", words=old)
    return page("invite.html", None, 400 if words else 200, name=guest.account.name, words=words)


def _choose(request: Request, secret: str, password: str) -> Response:
    with store_of(request).reading() as db:
        known = credentials.visitor(db, secret, "invite")
    if known is None:  # nobody makes us hash passwords for nothing
        return _invited(request, secret, "")
    try:
        stored = people.hashed(password, config_of(request))
        with store_of(request).writing() as db:
            account = credentials.owner_of_link(db, secret)
            if account is not None:
                people.set_password(db, account.name, account.name, stored)
    except InputError as refusal:
        return _invited(request, secret, str(refusal))
    if account is None:
        return _invited(request, secret, "")
    return enter(request, account)


def password(request: Request, who: Visitor, form: dict[str, str]) -> Response:
    """Change one's own password; all sessions and tokens end but the one that is opened now."""
    if request.method == "GET":
        return page("password.html", who, words="")
    config, name, new = config_of(request), who.account.name, form.get("password", "")
    if new != form.get("again"):
        return page("password.html", who, 400, words="The two new passwords are not the same.")
    if people.log_in(store_of(request), config, name, form.get("old", "")) is None:
        return page("password.html", who, 400, words=_WRONG)
    try:
        stored = people.hashed(new, config)
    except InputError as refusal:
        return page("password.html", who, 400, words=str(refusal))
    with store_of(request).writing() as db:
        people.set_password(db, name, name, stored)
    return enter(request, who.account)


def middleware(config: Config) -> list[Middleware]:
    """Return what the way in by OpenID Connect needs around it, if it is set up."""
    if not config.oidc_issuer:
        return []
    from discreet.server.http import oidc

    return [oidc.between(config)]


def prepare(app: Starlette, config: Config) -> None:
    """Add the way in by OpenID Connect, if it is set up."""
    if config.oidc_issuer:
        from discreet.server.http import oidc

        oidc.prepare(app, config)


routes = [
    Route("/login", login, methods=["GET", "POST"]),
    Route("/logout", form_page(logout), methods=["POST"]),
    Route("/password", form_page(password), methods=["GET", "POST"]),
    Route("/invite/{secret}", invite, methods=["GET", "POST"]),
]
