"""Accounts: made by custodians, with one role each; locked for a while after failed logins."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import select, update

from discreet import check
from discreet.errors import InputError
from discreet.server import audit, records
from discreet.server.store.tables import account, credential

if TYPE_CHECKING:
    from discreet.server.config import Config
    from discreet.server.records import Change
    from discreet.server.store import Connection, Store

ROLES = ("custodian", "analyst", "auditor")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}", re.ASCII)
_SHORTEST, _LONGEST = 10, 200  # characters of a password
_at_once = threading.BoundedSemaphore(4)  # each takes its memory: strangers must not fill all of it


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may log in."""

    name: str
    role: str
    team: str = ""

    @property
    def holders(self) -> tuple[str, ...]:
        """The shares of a budget that this account may draw on, the most personal first."""
        team = (f"team:{self.team}",) if self.team else ()
        return (f"analyst:{self.name}", *team, "everyone")


def create(
    db: Connection, actor: str, name: str, role: str, team: str = "", subject: str | None = None
) -> Account:
    """Add an account without a password: its owner sets one by a one-time link, or logs in by OIDC."""
    check_name(name, "name")
    check.choice(role, "role", ROLES)
    if team:
        check_name(team, "team")
    if db.execute(select(account.c.name).where(account.c.name == name)).first() is not None:
        raise InputError(f"there is an account {name!r} already; choose another name")
    made = records.add(db, "account", name=name, role=role, team=team, subject=subject, state="active")
    audit.append(db, "account", name, actor, made, role=role, team=team, oidc=subject is not None)
    return Account(name, role, team)


def find(db: Connection, name: str, *, lock: bool = False) -> Account:
    """Return an account that is in use; with `lock`, nobody else changes it until the transaction ends."""
    asked = select(account).where(account.c.name == name, account.c.state == "active")
    row = db.execute(asked.with_for_update() if lock else asked).first()
    if row is None:
        raise InputError(f"there is no account {name!r}")
    return Account(row.name, row.role, row.team)


def listed(db: Connection) -> list[Any]:
    """Return all accounts, by name."""
    return list(db.execute(select(account).order_by(account.c.name)))


def change(db: Connection, actor: str, name: str, role: str, team: str = "") -> Account:
    """Give an account another role or team: it counts from its next request on."""
    check.choice(role, "role", ROLES)
    if team:
        check_name(team, "team")
    _keep_a_custodian(db, name if role != "custodian" else "")
    find(db, name, lock=True)
    made = records.change(db, "account", name, role=role, team=team)
    audit.append(db, "role", name, actor, made)
    return Account(name, role, team)


def hashed(password: str, config: Config) -> str:
    """Return what is stored of a password; slow by design, so do it before a transaction."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise InputError(f"a password must have {_SHORTEST} to {_LONGEST} characters")
    with _at_once:
        return _hasher(config.password_memory_mb).hash(password)


def set_password(db: Connection, actor: str, name: str, stored: str) -> None:
    """Give an account a password, by its hash; its sessions, API tokens and one-time links end."""
    find(db, name, lock=True)
    made = records.change(db, "account", name, password=stored, failures=0, locked_until=0.0)
    audit.append(db, "password", name, actor, made, *_end_credentials(db, name))


def end_sessions(db: Connection, actor: str, name: str) -> None:
    """End all sessions, API tokens and one-time links of an account; its password stays."""
    find(db, name, lock=True)
    audit.append(db, "ended", name, actor, *_end_credentials(db, name))


def disable(db: Connection, actor: str, name: str) -> None:
    """Close an account: no login, no session, no token of it works any more. Its releases stay."""
    _keep_a_custodian(db, name)
    find(db, name, lock=True)
    made = records.change(db, "account", name, state="disabled")
    audit.append(db, "disable", name, actor, made, *_end_credentials(db, name))


def log_in(store: Store, config: Config, name: str, password: str) -> Account | None:
    """Return the account whose password this is; None otherwise, after the same work in every case.

    After `logins_before_lock` failures in a row nobody gets in for `lock_minutes`, not even with the right
    password.
    """
    with store.reading() as db:
        asked = select(account).where(account.c.name == (name if _NAME.fullmatch(name) else ""))
        row = db.execute(asked).first()
    stored = row.password if row is not None and row.password else _decoy(config.password_memory_mb)
    right = _matches(stored, password[:_LONGEST])
    now = time.time()
    usable = row is not None and bool(row.password) and row.state == "active"
    with store.writing() as db:
        if row is None:
            audit.append(db, "login-failed", "unknown", "nobody")
            return None
        fresh = db.execute(select(account).where(account.c.name == row.name).with_for_update()).one()
        if fresh.locked_until > now:
            audit.append(db, "login-locked", row.name, row.name)
            return None
        if not (right and usable and fresh.password == row.password):
            failures = int(fresh.failures) + 1
            locks = failures >= config.logins_before_lock
            until = now + 60 * config.lock_minutes if locks else 0.0
            db.execute(
                update(account)
                .where(account.c.name == row.name)
                .values(failures=0 if locks else failures, locked_until=until)
            )
            audit.append(db, "login-failed", row.name, row.name, locked=locks)
            return None
        db.execute(update(account).where(account.c.name == row.name).values(failures=0, locked_until=0.0))
        audit.append(db, "login", row.name, row.name)
        return Account(row.name, row.role, row.team)


def check_name(value: object, name: str) -> str:
    """Refuse a name that is not short and plain."""
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise InputError(
            f"{name} must be 1 to 64 letters, digits or . _ @ + -, and begin with one of the first"
        )
    return value


def _keep_a_custodian(db: Connection, leaving: str) -> None:
    """Refuse to leave nobody in charge; all custodians are locked, so that two cannot send each other off."""
    asked = select(account.c.name).where(account.c.role == "custodian", account.c.state == "active")
    custodians = db.execute(asked.order_by(account.c.name).with_for_update()).scalars().all()
    if list(custodians) == [leaving]:
        raise InputError(f"{leaving!r} is the only custodian: make somebody else one first")


def _end_credentials(db: Connection, name: str) -> list[Change]:
    good = (credential.c.account == name, credential.c.revoked.is_(None))
    asked = select(credential.c.hash).where(*good).order_by(credential.c.hash).with_for_update()
    now = time.time()
    return [
        records.change(db, "credential", hash_, revoked=now) for hash_ in db.execute(asked).scalars().all()
    ]


def _matches(stored: str, password: str) -> bool:
    try:
        with _at_once:
            return PasswordHasher().verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


def _hasher(memory_mb: int) -> PasswordHasher:
    return PasswordHasher(memory_cost=1024 * memory_mb)


@cache
def _decoy(memory_mb: int) -> str:
    """Return a hash of a password that nobody has, so that unknown names take as long."""
    from secrets import token_hex

    return _hasher(memory_mb).hash(token_hex(16))
