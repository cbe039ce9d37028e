"""Every table of the server. What is private about people is in none of them."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

schema = MetaData()

head = Table(
    "head",
    schema,
    Column("id", Integer, primary_key=True),
    Column("seed", String(64), nullable=False),
    Column("position", Integer, nullable=False),
    Column("hash", String(64), nullable=False),
)
"""One row: where the audit log starts and where it ends."""

audit = Table(
    "audit",
    schema,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(40), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("time", String(40), nullable=False),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
)
"""The hash chain of everything that was done."""

account = Table(
    "account",
    schema,
    Column("name", String(100), primary_key=True),
    Column("role", String(20), nullable=False),
    Column("team", String(100), nullable=False, default=""),
    Column("password", Text),
    Column("subject", String(400), unique=True),
    Column("state", String(20), nullable=False),
    Column("failures", Integer, nullable=False, default=0),
    Column("locked_until", Float, nullable=False, default=0.0),
)
"""Who may log in: `password` an argon2 hash, `subject` the issuer's name for them."""

credential = Table(
    "credential",
    schema,
    Column("hash", String(64), primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("account", String(100), ForeignKey("account.name"), nullable=False, index=True),
    Column("label", String(100), nullable=False, default=""),
    Column("scopes", String(100), nullable=False, default=""),
    Column("csrf", String(64), nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("revoked", Float),
)
"""Sessions, API tokens and one-time links, all known by a hash of what their owner holds."""

dataset = Table(
    "dataset",
    schema,
    Column("name", String(100), primary_key=True),
    Column("source", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Column("version", Integer, nullable=False),
    Column("created", Float, nullable=False),
    Column("since", Float, nullable=False, default=0.0, server_default="0"),
)
"""What the custodian registered; `source`, JSON, says where the data lie and is for custodians alone.

A `state` that a failure brought about holds from `since` on: the slot at which the failure is seen.
"""

metadata = Table(
    "metadata",
    schema,
    Column("dataset", String(100), ForeignKey("dataset.name"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("author", String(100), nullable=False),
    Column("time", Float, nullable=False),
)
"""What is public about a data set, in all its versions."""

purse = Table(
    "purse",
    schema,
    Column("dataset", String(100), ForeignKey("dataset.name"), primary_key=True),
    Column("holder", String(120), primary_key=True),
    Column("state", Text, nullable=False),
)
"""A total and what is charged to it: of the whole data set (holder ""), of an analyst or a team."""

job = Table(
    "job",
    schema,
    Column("id", String(32), primary_key=True),
    Column("kind", String(10), nullable=False),
    Column("dataset", String(100), ForeignKey("dataset.name"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("account", String(100), ForeignKey("account.name"), nullable=False),
    Column("request_id", String(100), nullable=False),
    Column("holder", String(120), nullable=False),
    Column("question", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("cost", Text, nullable=False),
    Column("standing", Text, nullable=False, default=""),
    Column("state", String(20), nullable=False),
    Column("submitted", Float, nullable=False),
    Column("visible", Float),
    Column("started", Float),
    Column("reading", Float),
    Column("worker", String(100), nullable=False, default=""),
    Column("lease", Float, nullable=False, default=0.0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("draws", Integer, nullable=False, default=0),
    Column("message", Text, nullable=False, default=""),
    Column("detail", Text, nullable=False, default=""),
    Column("reviewer", String(100), nullable=False, default=""),
    Column("reason", Text, nullable=False, default=""),
    Column("result", Text),
    Column("settled", String(64), nullable=False, default=""),
    UniqueConstraint("account", "request_id"),
    Index("job_by_state", "state", "submitted"),
    Index("job_by_dataset", "dataset", "digest"),
)
"""What analysts asked for. `message` may be shown to them, `detail` is for custodians alone.

`reading` is when an attempt began to read data; before that it works on invented people.
"""

rate = Table(
    "rate",
    schema,
    Column("visitor", String(64), primary_key=True),
    Column("minute", Integer, primary_key=True),
    Column("count", Integer, nullable=False),
)
"""How many requests each visitor, known by a hash, made in a minute, to all servers together."""
