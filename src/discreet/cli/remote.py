"""`discreet discover --server`: the same options, put to somebody else's data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from discreet.cli.plan_file import TABLE, read_words
from discreet.errors import InputError
from discreet.server.client import connect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.report.release import Release

_THEIRS = ("data", "person", "reduce", "ledger", "engine", "scheduler", *TABLE)


def ask(server: str, token: str | None, plan: Mapping[str, Any], given: Mapping[str, Any]) -> Release:
    """Ask a custodian's server what the options and the plan file say, and wait for the answer."""
    token = token or os.environ.get("DISCREET_TOKEN")
    if token is None:
        raise InputError("say who you are: --token, or DISCREET_TOKEN in the environment")
    options, words = read_words(plan, given)
    for name in _THEIRS:
        if name in words:
            raise InputError(f"{name} is for the custodian to say: leave it out with --server")
    if "dataset" not in words:
        raise InputError("say which data set of the server to ask: --dataset")
    remote = connect(server, token=token).dataset(str(words.pop("dataset")))
    if "release_id" in words:
        words["request_id"] = words.pop("release_id")
    return remote.ask({"test": options, **words})
