"""Settings: `server.toml` in the home folder; an environment variable DISCREET_SERVER_NAME overrides each."""

from __future__ import annotations

import dataclasses
import os
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import InputError, perhaps

if TYPE_CHECKING:
    from pathlib import Path

FILE = "server.toml"
_PREFIX = "DISCREET_SERVER_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How one server runs; each name is a line of `server.toml`, explained there."""

    home: Path
    address: str = "127.0.0.1"
    port: int = 8765
    public_url: str = ""
    trusted_proxies: str = ""
    database: str = ""
    workers: int = 1
    trial_workers: int = 1
    job_seconds: float = 600.0
    trial_seconds: float = 120.0
    job_memory_mb: int = 8192
    first_answer_seconds: float = 2.0
    answers: str = "doubling"
    pause_on_failure: bool = True
    queue_per_account: int = 20
    trials_per_day: int = 500
    request_bytes: int = 262_144
    requests_per_minute: int = 300
    password_memory_mb: int = 64
    logins_before_lock: int = 5
    lock_minutes: float = 15.0
    session_hours: float = 12.0
    heads: str = ""
    tls_certificate: str = ""
    tls_key: str = ""
    oidc_issuer: str = ""
    oidc_client: str = ""
    oidc_secret: str = dataclasses.field(default="", repr=False)
    oidc_role: str = ""
    metrics_token: str = dataclasses.field(default="", repr=False)

    def __post_init__(self) -> None:
        check.whole(self.port, "port", 0, 65535)
        check.whole(self.workers, "workers", 0, 1000)
        check.whole(self.trial_workers, "trial_workers", 0, 1000)
        check.whole(self.password_memory_mb, "password_memory_mb", 1, 4096)
        check.choice(self.answers, "answers", ("doubling", "fixed"))
        for name in ("job_seconds", "trial_seconds", "first_answer_seconds", "lock_minutes", "session_hours"):
            check.positive(getattr(self, name), name)
        for name in (
            "job_memory_mb",
            "request_bytes",
            "requests_per_minute",
            "logins_before_lock",
            "trials_per_day",
        ):
            check.whole(getattr(self, name), name)
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise InputError("TLS needs both files: give tls_certificate and tls_key")
        check.choice(self.oidc_role or "analyst", "oidc_role", ("analyst", "auditor"))

    @property
    def url(self) -> str:
        """The address of the database."""
        return self.database or f"sqlite:///{self.home / 'server.db'}"

    @property
    def site(self) -> str:
        """The address that people type."""
        if self.public_url:
            return self.public_url.rstrip("/")
        return f"{'https' if self.tls_certificate else 'http'}://{self.address}:{self.port}"

    @property
    def heads_file(self) -> Path:
        """Where the newest hashes of the audit log are kept: elsewhere if that is set, else in the home."""
        return self.home / (self.heads or "heads.txt")

    @property
    def is_secure(self) -> bool:
        """Whether cookies may insist on an encrypted line."""
        return self.site.startswith("https://")


def read(home: Path, **given: Any) -> Config:
    """Return the settings of a home folder; what is given here wins, then the environment, then the file."""
    home = home.absolute()
    try:
        written = tomllib.loads((home / FILE).read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{home} is no server's home: make one with `discreet serve init {home}`") from None
    except ValueError as error:
        raise InputError(f"{home / FILE} is not TOML: {error}") from None
    known = {field.name: field for field in dataclasses.fields(Config) if field.name != "home"}
    for name in written:
        if name not in known:
            raise InputError(f"{home / FILE} has {name!r}, which is no setting{perhaps(name, known)}")
    for name, field in known.items():
        text = os.environ.get(_PREFIX + name.upper())
        if text is not None:
            written[name] = _typed(name, text, field.default)
    chosen = {**written, **{name: value for name, value in given.items() if value is not None}}
    for name, value in chosen.items():
        if not _fits(value, known[name].default):
            raise InputError(f"{name} must be a {type(known[name].default).__name__}: see {home / FILE}")
    return Config(home=home, **chosen)


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, type(default))


def environment(config: Config) -> dict[str, str]:
    """Return the settings that workers need as environment variables: what was given to the server wins."""
    names = (
        "database",
        "job_seconds",
        "trial_seconds",
        "job_memory_mb",
        "first_answer_seconds",
        "answers",
        "pause_on_failure",
    )
    return {_PREFIX + name.upper(): str(getattr(config, name)) for name in names}


def _typed(name: str, text: str, default: Any) -> Any:
    """Return the text of an environment variable as the kind of value that the setting has."""
    try:
        if isinstance(default, bool):
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return type(default)(text)
    except (KeyError, ValueError):
        raise InputError(f"{_PREFIX}{name.upper()} cannot be {text!r}") from None


TEMPLATE = """\
# The custodian's server. Lines that begin with # show what holds anyway; remove the # to change it.
# Each can also be set in the environment: DISCREET_SERVER_PORT=9000, for instance.

# Where it listens, and what people type to reach it (behind a proxy, say).
# address = "127.0.0.1"
# port = 8765
# public_url = "https://data.example.org"
# Addresses of proxies whose word counts for where a visitor comes from; without, all visitors behind one
# share what one address may send.
# trusted_proxies = "127.0.0.1"

# Everything but the data: one SQLite file here, or PostgreSQL for more than one process or machine.
# database = "postgresql://user:password@host/name"

# Jobs run in processes that are killed when they take too long or too much. Plans and trials on invented
# people have workers of their own: nobody's question waits for them. A question is rehearsed on invented
# people for trial_seconds at most, then data are read for job_seconds at most.
# workers = 1
# trial_workers = 1
# job_seconds = 600.0
# trial_seconds = 120.0
# job_memory_mb = 8192

# When answers are given after a request: at 2, 4, 8, 16, ... seconds ("doubling"), so that their time tells
# little, or always after the longest time that a question may take ("fixed"), so that it tells nothing.
# first_answer_seconds = 2.0
# answers = "doubling"
# A failure while data are read, or a job on them that takes too long, stops further questions to that data
# set until you resume it. What fails on invented people never does.
# pause_on_failure = true

# What one person may ask of the server.
# queue_per_account = 20
# trials_per_day = 500
# request_bytes = 262144
# requests_per_minute = 300
# logins_before_lock = 5
# lock_minutes = 15.0
# password_memory_mb = 64
# session_hours = 12.0

# The file that the newest hash of the audit log is added to, within a second of each change: a server whose
# database is an old copy notices, at its start and while it runs, and refuses. Keep it on another disk or
# machine, where it is not put back together with the database.
# heads = "heads.txt"

# An encrypted line, where no proxy provides it; files are looked for in this folder.
# tls_certificate = "certificate.pem"
# tls_key = "key.pem"

# Log in by OpenID Connect; people unknown so far get this role, or are refused if it is empty.
# oidc_issuer = "https://login.example.org"
# oidc_client = "discreet"
# oidc_secret = ""
# oidc_role = "analyst"

# Who may read /metrics without an account: Prometheus, with this bearer token.
# metrics_token = ""
"""
