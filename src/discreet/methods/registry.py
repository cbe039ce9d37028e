"""The methods by name, and how a release is made ready by the one that is asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.compared import compared
from discreet.evidence.core.people import People
from discreet.evidence.core.sharded import Sharded
from discreet.methods.all.method import ALL
from discreet.methods.auto.method import AUTO
from discreet.methods.aware.method import AWARE
from discreet.methods.focus.method import FOCUS
from discreet.methods.mirror.method import MIRROR
from discreet.methods.paper.method import ONESHOT, PEEL

if TYPE_CHECKING:
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Method, Ready
    from discreet.methods.parameters import Parameters

METHODS: dict[str, Method] = {
    method.name: method for method in (AUTO, AWARE, ALL, FOCUS, PEEL, ONESHOT, MIRROR)
}
"""Every method there is. To add one: a folder with its `Method`, a line here, a word in `MethodName`."""


def route(asked: Parameters, data: People | Evidence | Sharded) -> tuple[Parameters, str]:
    """Return what was asked with the method settled by public numbers, and why that one, if it was chosen."""
    choose = METHODS[asked.method].route
    return (asked, "") if choose is None else choose(asked, data)


def prepare(data: People | Evidence | Sharded, asked: Parameters) -> Ready:
    """Settle everything public about a release from `data`; nothing is drawn yet."""
    asked, _ = route(asked, data)
    method = METHODS[asked.method]
    if asked.k is not None:
        check.whole(asked.k, "k", 1, len(data))
    if isinstance(data, People):
        if method.of_people is not None:
            return method.of_people(data, asked)
        data = compared(data)
    if data.null.law == "exponential" and data.null.ceiling < -math.log(asked.q) and asked.cutoffs != "paper":
        raise InputError("nu is above q: no p-value that counts could be a discovery; take nu just below q/m")
    if method.of_scores is None:
        raise InputError(
            f'method "{method.name}" measures people afresh: use `discover` with Compare, or method "all"'
        )
    if isinstance(data, Sharded) and not method.of_shards:
        raise InputError(f'method "{method.name}" needs all scores in one place: use "aware"')
    return method.of_scores(data, asked)
