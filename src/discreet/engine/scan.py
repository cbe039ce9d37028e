"""From data to evidence on a cluster: count pieces, merge them in trees, conclude."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cluster import Blocks, connected, gathered, run, task, tree
from discreet.engine.partition import cut
from discreet.engine.work import Summed, concluded, public
from discreet.errors import InputError
from discreet.evidence.core.sharded import Sharded, joined, law_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.protocol import Test

GATHERED = 10_000_000
"""Up to this many scores come to the caller's process; more stay on the workers, if the method allows."""


@contextmanager
def scan(
    data: object, test: Test, *, person: object, columns: object, scheduler: object, gather: bool
) -> Generator[Evidence | Sharded]:
    """Yield the evidence, counted on a cluster; sharded evidence lasts as long as the block does.

    The same people give the same bits as on one machine: sums are exact and rows are put back in order.
    """
    with connected(scheduler) as client:
        threads = max(1, sum(client.nthreads().values()))
        plan = cut(data, test, person=person, columns=columns, threads=threads)
        if not plan.groups or not plan.groups[0].tasks:
            raise InputError("the data has no rows: there is nothing to test")
        totals = [tree(group.tasks, Summed(group.about)) for group in plan.groups]
        if len(totals) == 1:
            total = gathered(client, run(client, totals))[0]
            yield total.finish()
            return
        # Each block of columns is concluded where it was counted: one score travels, not all its sums.
        keep = not gather and len(plan.names) > GATHERED
        parts = run(client, [task("conclude", concluded, total, keep) for total in totals])
        if not keep:
            yield joined(plan.names, gathered(client, parts), test)
            return
        faces = gathered(client, run(client, [task("public", public, part) for part in parts]))
        null, certificate = law_of(faces, test)
        first = np.cumsum([0, *(len(group.about[1]) for group in plan.groups)])[:-1].tolist()
        yield Sharded(plan.names, null, certificate, Blocks(client, parts, first))
