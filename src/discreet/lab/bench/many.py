"""`discreet bench scale --hypotheses`: a private selection among scores that never meet in one place."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cluster import Blocks, connected, gathered, run, task
from discreet.engine.work import guarded, public
from discreet.evidence.core.evidence import Evidence, Numbered
from discreet.evidence.core.sharded import Part, Sharded
from discreet.lab.bench.timing import most_memory
from discreet.methods.aware.method import ready_aware
from discreet.methods.method import Parameters

if TYPE_CHECKING:
    from discreet.report.release import Release

_BLOCK = 1_000_000
_SIGNALS = 100  # in each block
_STRENGTH = 12.0
_SUP = 0.005


@dataclass(frozen=True, slots=True)
class Many:
    """What selecting among so many took: seconds on the clock, bytes at the worst moment; what it found."""

    hypotheses: int
    signals: int
    found: int
    true: int
    made: float
    settled: float
    drawn: float
    caller: float
    workers: float


@guarded
def block(number: int, size: int) -> Part:
    """Return a block of scores: nulls, and some signals at its start."""
    z = np.random.default_rng(number).standard_normal(size)
    z[:_SIGNALS] += _STRENGTH
    return Part.of(Evidence.from_z(z, sensitivity=_SUP, adjacency="replace", alternative="greater")).bare()


def select(hypotheses: int) -> Many:
    """Make scores block by block on a cluster of this machine, and release discoveries from them there."""
    firsts = list(range(0, hypotheses, _BLOCK))
    sizes = [min(_BLOCK, hypotheses - first) for first in firsts]
    with connected() as client:
        start = time.perf_counter()
        tasks = [task("make", block, number, size) for number, size in enumerate(sizes)]
        parts = run(client, tasks)
        facts = gathered(client, run(client, [task("public", public, part) for part in parts]))
        made = time.perf_counter()
        held = Blocks(client, parts, firsts)
        evidence = Sharded(Numbered(hypotheses), facts[0].null, facts[0].certificate, held)
        ready = ready_aware(evidence, Parameters(method="aware", q=0.1, epsilon=1.0, delta=1e-6))
        settled = time.perf_counter()
        release: Release = ready.draw()
        drawn = time.perf_counter()
        workers = sum(client.run(most_memory).values())
    places = release.indices % _BLOCK
    return Many(
        hypotheses,
        _SIGNALS * len(firsts),
        len(release),
        int(np.count_nonzero(places < _SIGNALS)),
        made - start,
        settled - made,
        drawn - settled,
        most_memory(),
        workers,
    )


def in_words(many: Many) -> str:
    """Return the figures of one selection."""
    false = many.found - many.true
    return "\n".join(
        [
            f"A release from {many.hypotheses:,} scores in blocks of {_BLOCK:,} on workers of this machine:",
            f"  found                   {many.found:,}, {false:,} of them false; there were {many.signals:,}",
            f"  making the scores       {many.made:.0f} s on the clock",
            f"  public constants        {many.settled:.1f} s",
            f"  counting and selecting  {many.drawn:.0f} s",
            f"  memory, caller          {many.caller / 1e9:.1f} GB at most",
            f"  memory, workers         {many.workers / 1e9:.1f} GB at most, together",
        ]
    )
