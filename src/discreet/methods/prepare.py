"""How a release is made ready: by the method that is asked for, from scores or from everyone's rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.compared import compared
from discreet.evidence.core.people import People
from discreet.evidence.core.sharded import Sharded
from discreet.methods.method import loaded
from discreet.methods.registry import METHODS

if TYPE_CHECKING:
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Ready
    from discreet.methods.parameters import Parameters


def route(asked: Parameters, data: People | Evidence | Sharded) -> tuple[Parameters, str]:
    """Return what was asked with the method settled by public numbers, and why that one, if it was chosen."""
    chooser = METHODS[asked.method].route
    return loaded(chooser)(asked, data) if chooser else (asked, "")


def prepare(data: People | Evidence | Sharded, asked: Parameters) -> Ready:
    """Settle everything public about a release from `data`; nothing is drawn yet."""
    asked, _ = route(asked, data)
    method = METHODS[asked.method]
    if asked.k is not None:
        check.whole(asked.k, "k", 1, len(data))
    if isinstance(data, People):
        if method.of_people:
            return loaded(method.of_people)(data, asked)
        data = compared(data)
    if data.null.law == "exponential" and data.null.ceiling < -math.log(asked.q) and asked.cutoffs != "paper":
        raise InputError("nu is above q: no p-value that counts could be a discovery; take nu just below q/m")
    if not method.of_scores:
        raise InputError(
            f'method "{method.name}" measures people afresh: use `discover` with Compare, or method "all"'
        )
    if isinstance(data, Sharded) and not method.of_shards:
        raise InputError(f'method "{method.name}" needs all scores in one place: use "aware"')
    return loaded(method.of_scores)(data, asked)
