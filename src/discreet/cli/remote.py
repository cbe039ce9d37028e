"""`discreet discover --server`: the same options, put to somebody else's data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.cli.plan_file import TABLE, read_words
from discreet.errors import InputError
from discreet.server.client import connect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.report.release import Release
    from discreet.server.client import Remote

_THEIRS = ("data", "person", "reduce", "ledger", "engine", "scheduler", *TABLE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a custodian's server, in a plan file's words."""

    remote: Remote
    words: Mapping[str, Any]

    def release(self) -> Release:
        """Ask, and wait for the answer."""
        return self.remote.ask(self.words)

    def outlook(self) -> str:
        """Return what it would find, for nothing."""
        asked = {name: value for name, value in self.words.items() if name != "request_id"}
        return self.remote.outlook(asked)

    def room(self) -> str:
        """Return, in plain units, what is left."""
        more = self.remote.more(self.words.get("epsilon", 1.0), self.words.get("delta", 1e-6))
        return f"Your share has room for about {more} more release{'' if more == 1 else 's'} like this one."


def question(
    server: str, token: str | None, plan: Mapping[str, object], given: Mapping[str, object]
) -> Asked:
    """Return what the options and the plan file ask of a custodian's server; nothing is sent yet."""
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
    return Asked(remote, {"test": options, **words})
