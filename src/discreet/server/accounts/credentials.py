"""Sessions, API tokens and one-time links: random words, of which the server keeps hashes alone."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from discreet import check
from discreet.errors import InputError
from discreet.server import audit, records
from discreet.server.accounts.people import Account, find
from discreet.server.store.tables import account, credential

if TYPE_CHECKING:
    from discreet.server.records import Change
    from discreet.server.store import Connection

SCOPES = ("read", "ask")
"""What a token may be limited to: looking, and asking questions that are charged."""
_LONGEST_DAYS, _MOST_TOKENS = 3660, 100


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who sends a request, and what this way of coming in allows."""

    account: Account
    scopes: tuple[str, ...]
    csrf: str = ""


def session(db: Connection, owner: str, seconds: float) -> str:
    """Open a session for somebody who proved who they are; return its secret word."""
    secret, made = _issue(db, owner, "session", seconds)
    audit.append(db, "session", owner, owner, made)
    return secret


def token(db: Connection, owner: str, label: str, scopes: tuple[str, ...], days: float) -> str:
    """Make an API token and write it down in the log; return it, for this once."""
    if not label or not label.isprintable():
        raise InputError("give the token a label, to know it by")
    if not scopes:
        raise InputError("scopes must name at least one of read, ask")
    for scope in scopes:
        check.choice(scope, "scopes", SCOPES)
    check.between(days, "days", 0.0, _LONGEST_DAYS)
    if len(tokens(db, owner)) >= _MOST_TOKENS:
        raise InputError(f"{owner!r} has {_MOST_TOKENS} tokens already: end some of them first")
    secret, made = _issue(db, owner, "token", 86400.0 * days, label=label[:100], scopes=scopes)
    audit.append(db, "token", owner, owner, made, days=days)
    return secret


def invite(db: Connection, actor: str, owner: str, hours: float = 72.0) -> str:
    """Make a one-time link by which the owner of an account chooses a password; earlier ones end."""
    find(db, owner, lock=True)
    earlier = select(credential.c.hash).where(
        credential.c.account == owner, credential.c.kind == "invite", credential.c.revoked.is_(None)
    )
    ended = [_end(db, hashed) for hashed in db.execute(earlier).scalars().all()]
    secret, made = _issue(db, owner, "invite", 3600 * hours)
    audit.append(db, "invite", owner, actor, *ended, made)
    return secret


def visitor(db: Connection, secret: str, kind: str) -> Visitor | None:
    """Return who holds this credential, if it is good now."""
    row = _row(db, secret, kind)
    if row is None:
        return None
    scopes = tuple(row.scopes.split())
    return Visitor(Account(row.name, row.role, row.team), scopes, row.csrf)


def owner_of_link(db: Connection, secret: str) -> Account | None:
    """Return whose one-time link this is; nobody else uses it until the transaction ends.

    The password that is set in the same transaction ends it, with all other credentials.
    """
    row = _row(db, secret, "invite")
    if row is None:
        return None
    owner = find(db, row.name, lock=True)
    return None if _row(db, secret, "invite") is None else owner  # used in the meantime


def revoke(db: Connection, secret: str) -> None:
    """End a session."""
    row = _row(db, secret, "session")
    if row is not None:
        audit.append(db, "logout", row.name, row.name, _end(db, row.hash))


def tokens(db: Connection, owner: str) -> list[Any]:
    """Return the API tokens of an account that still work."""
    good = (credential.c.revoked.is_(None), credential.c.expires > time.time())
    asked = select(credential).where(credential.c.account == owner, credential.c.kind == "token", *good)
    return list(db.execute(asked.order_by(credential.c.created)))


def revoke_token(db: Connection, owner: str, hashed: str) -> None:
    """End an API token of an account."""
    if hashed in {each.hash for each in tokens(db, owner)}:
        audit.append(db, "token-revoked", owner, owner, _end(db, hashed))


def _issue(
    db: Connection,
    owner: str,
    kind: str,
    seconds: float,
    *,
    label: str = "",
    scopes: tuple[str, ...] = SCOPES,
) -> tuple[str, Change]:
    """Make a credential; return the secret word, which is stored nowhere, and what the log must hold."""
    secret, now = f"{kind}-{secrets.token_urlsafe(32)}", time.time()
    made = records.add(
        db,
        "credential",
        hash=_hash(secret),
        kind=kind,
        account=owner,
        label=label,
        scopes=" ".join(scopes),
        csrf=secrets.token_urlsafe(32),
        created=now,
        expires=now + seconds,
    )
    return secret, made


def _end(db: Connection, hashed: str) -> Change:
    return records.change(db, "credential", hashed, revoked=time.time())


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
