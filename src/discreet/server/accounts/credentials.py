"""Sessions, API tokens and one-time links: random words, of which the server keeps hashes alone."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from discreet import check
from discreet.errors import InputError
from discreet.server import audit
from discreet.server.accounts.people import Account
from discreet.server.store.tables import account, credential

if TYPE_CHECKING:
    from discreet.server.store import Connection

SCOPES = ("read", "ask")
"""What a token may be limited to: looking, and asking questions that are charged."""
_LONGEST_DAYS = 3660


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who sends a request, and what this way of coming in allows."""

    account: Account
    scopes: tuple[str, ...]
    csrf: str = ""


def issue(
    db: Connection,
    owner: str,
    kind: str,
    seconds: float,
    *,
    label: str = "",
    scopes: tuple[str, ...] = SCOPES,
) -> tuple[str, str]:
    """Make a credential; return the secret word, which is stored nowhere, and the anti-forgery word."""
    secret, csrf = f"{kind}-{secrets.token_urlsafe(32)}", secrets.token_urlsafe(32)
    now = time.time()
    db.execute(
        insert(credential).values(
            hash=_hash(secret),
            kind=kind,
            account=owner,
            label=label[:100],
            scopes=" ".join(scopes),
            csrf=csrf,
            created=now,
            expires=now + seconds,
        )
    )
    return secret, csrf


def token(db: Connection, owner: str, label: str, scopes: tuple[str, ...], days: float) -> str:
    """Make an API token and write it down in the log; return it, for this once."""
    if not label or not label.isprintable():
        raise InputError("give the token a label, to know it by")
    if not scopes:
        raise InputError("scopes must name at least one of read, ask")
    for scope in scopes:
        check.choice(scope, "scopes", SCOPES)
    check.between(days, "days", 0.0, _LONGEST_DAYS)
    secret, _ = issue(db, owner, "token", 86400.0 * days, label=label, scopes=scopes)
    audit.append(db, "token", owner, owner, label=label[:100], scopes=list(scopes), days=days)
    return secret


def invite(db: Connection, actor: str, owner: str, hours: float = 72.0) -> str:
    """Make a one-time link by which the owner of an account chooses a password; earlier ones end."""
    db.execute(
        update(credential)
        .where(credential.c.account == owner, credential.c.kind == "invite")
        .values(revoked=time.time())
    )
    secret, _ = issue(db, owner, "invite", 3600 * hours)
    audit.append(db, "invite", owner, actor)
    return secret


def visitor(db: Connection, secret: str, kind: str) -> Visitor | None:
    """Return who holds this credential, if it is good now."""
    row = _row(db, secret, kind)
    if row is None:
        return None
    scopes = tuple(row.scopes.split())
    return Visitor(Account(row.name, row.role, row.team), scopes, row.csrf)


def use_up(db: Connection, secret: str) -> Account | None:
    """Return whose one-time link this is, and make sure that it works only now."""
    row = _row(db, secret, "invite")
    if row is None:
        return None
    used = db.execute(
        update(credential)
        .where(credential.c.hash == _hash(secret), credential.c.revoked.is_(None))
        .values(revoked=time.time())
    )
    return Account(row.name, row.role, row.team) if used.rowcount == 1 else None


def revoke(db: Connection, secret: str) -> None:
    """End a session."""
    db.execute(update(credential).where(credential.c.hash == _hash(secret)).values(revoked=time.time()))


def tokens(db: Connection, owner: str) -> list[Any]:
    """Return the API tokens of an account that still work."""
    good = (credential.c.revoked.is_(None), credential.c.expires > time.time())
    asked = select(credential).where(credential.c.account == owner, credential.c.kind == "token", *good)
    return list(db.execute(asked.order_by(credential.c.created)))


def revoke_token(db: Connection, owner: str, hashed: str) -> None:
    """End an API token of an account."""
    mine = (credential.c.account == owner, credential.c.kind == "token", credential.c.hash == hashed)
    if db.execute(update(credential).where(*mine).values(revoked=time.time())).rowcount:
        audit.append(db, "token-revoked", owner, owner)


def _row(db: Connection, secret: str, kind: str) -> Any:
    asked = (
        select(credential, account.c.name, account.c.role, account.c.team)
        .join(account, account.c.name == credential.c.account)
        .where(
            credential.c.hash == _hash(secret),
            credential.c.kind == kind,
            credential.c.revoked.is_(None),
            credential.c.expires > time.time(),
            account.c.state == "active",
        )
    )
    return db.execute(asked).first()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
