"""Logging in by another party's word: OpenID Connect with PKCE, by Authlib."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import TYPE_CHECKING, Any

from authlib.integrations.starlette_client import OAuth
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.routing import Route

from discreet.server import audit
from discreet.server.accounts import people
from discreet.server.accounts.people import Account
from discreet.server.http.login import enter
from discreet.server.http.session import config_of, store_of
from discreet.server.store.tables import account

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from discreet.server.config import Config

_ODD = re.compile(r"[^A-Za-z0-9._@+-]", re.ASCII)
_LONGEST = 255  # characters of a subject, by the standard
_AWAY = "The login could not be completed there. Try again, or log in with a password."


def between(config: Config) -> Middleware:
    """Return what keeps a short-lived signed cookie for what happens between the two routes."""
    # The same on all servers that share the client's secret; a login does not outlive a restart otherwise.
    key = hashlib.sha256(f"cookie {config.oidc_secret or secrets.token_hex(32)}".encode()).hexdigest()
    return Middleware(
        SessionMiddleware,
        secret_key=key,
        session_cookie="discreet-oidc",
        max_age=600,
        same_site="lax",
        https_only=config.is_secure,
    )


def prepare(app: Starlette, config: Config) -> None:
    """Add the two routes."""
    party: Any = OAuth()
    party.register(
        "issuer",
        server_metadata_url=f"{config.oidc_issuer.rstrip('/')}/.well-known/openid-configuration",
        client_id=config.oidc_client,
        client_secret=config.oidc_secret or None,
        client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
    )
    app.state.issuer = party.issuer
    app.router.routes.extend([Route("/oidc/login", begin), Route("/oidc/back", back)])


async def begin(request: Request) -> Response:
    """Send the browser to the other party."""
    target = f"{config_of(request).site}/oidc/back"
    try:
        return await request.app.state.issuer.authorize_redirect(request, target)
    except Exception:  # noqa: BLE001  (whatever is wrong over there is not ours to explain)
        raise HTTPException(503, _AWAY) from None


async def back(request: Request) -> Response:
    """Take what the browser brings back: checked state, nonce, signature, audience and times."""
    try:
        token = await request.app.state.issuer.authorize_access_token(request)
    except Exception:  # noqa: BLE001  (whatever a stranger sends must not become a fault of ours)
        raise HTTPException(401, _AWAY) from None
    request.session.clear()
    claims: dict[str, Any] = dict(token.get("userinfo") or {})
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST:  # cut off, two could be one
        raise HTTPException(401, _AWAY)
    account = await run_in_threadpool(_account, request, claims)
    if account is None:
        raise HTTPException(403, "You are known there, but have no account here: ask a custodian.")
    return await run_in_threadpool(enter, request, account)


def _account(request: Request, claims: dict[str, Any]) -> Account | None:
    """Return the account of a subject; make one where that is allowed. Names and addresses prove nothing."""
    config = config_of(request)
    subject = f"{config.oidc_issuer} {claims['sub']}"
    with store_of(request).writing() as db:
        row = db.execute(select(account).where(account.c.subject == subject)).first()
        if row is not None:
            kind = "login" if row.state == "active" else "login-failed"
            audit.append(db, kind, row.name, row.name, oidc=True)
            return Account(row.name, row.role, row.team) if row.state == "active" else None
        if not config.oidc_role:
            audit.append(db, "login-failed", "unknown", "nobody", oidc=True)
            return None
        taken = {each.name for each in people.listed(db)}
        wished = _ODD.sub("", str(claims.get("preferred_username") or claims.get("email") or claims["sub"]))
        base = (wished.lstrip("._@+-") or "person")[:50]
        name = next(each for each in (base, *(f"{base}-{n}" for n in range(2, 10**6))) if each not in taken)
        made = people.create(db, "oidc", name, config.oidc_role, subject=subject)
        audit.append(db, "login", name, name, oidc=True)
        return made
