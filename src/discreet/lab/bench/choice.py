"""`discreet bench auto --choice`: what choosing a method takes, beside the release that was chosen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evidence.core.evidence import Evidence
from discreet.lab.bench.contenders import unbounded
from discreet.lab.bench.kinds import KINDS, simulate
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.timing import verdict
from discreet.methods.auto.belief import states_of
from discreet.methods.auto.method import choose
from discreet.methods.method import Parameters
from discreet.methods.registry import METHODS
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.evidence.core.people import People
    from discreet.report.release import Release

SCORES = (40, 500, 5_000, 20_000, 200_000)
TABLES = (30, 100, 500, 5_000)
_PEOPLE = 2_000
_REAL, _MEAN, _SENSITIVITY, _APART = 0.02, 6.0, 0.04, 0.3
_MOST = 0.3  # seconds
_REPEATS = 5


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds of processor time: of releases by default, and of those that they chose, asked for by name."""

    what: str
    default: float
    named: float
    choice: float


def run(tick: Callable[[int], None]) -> list[Taken]:
    """Return what choosing takes the first time: nothing is kept of an earlier choice."""
    rows: list[Taken] = []
    for m in SCORES:
        rng = np.random.default_rng(m)
        z = rng.standard_normal(m) + np.where(np.arange(m) < _REAL * m, _MEAN, 0.0)
        evidence = Evidence.from_z(z, sensitivity=_SENSITIVITY, adjacency="replace")
        rows.append(_taken(f"{m:,} scores", evidence))
        tick(1)
    for m in TABLES:
        rng = np.random.default_rng(m)
        shift = np.full(max(1, round(_REAL * m)), _APART)
        people = simulate(KINDS["uniform"], _PEOPLE, m, shift, "columns", rng)
        rows.append(_taken(f"{m:,} columns, {_PEOPLE:,} people", unbounded(people)))
        tick(1)
    return rows


def _taken(what: str, data: Evidence | People) -> Taken:
    """Return medians over some releases, each beside the one it chose, and of what choosing adds to that."""
    seconds: list[tuple[float, float]] = []
    for _ in range(_REPEATS):
        choose.cache_clear()
        states_of.cache_clear()
        default, made = _released(data)
        count = 0 if made.told is None else len(made.told)
        chosen: dict[str, Any] = {"method": "all"} if count == len(data) else {"method": "focus", "k": count}
        seconds.append((default, _released(data, **chosen)[0]))
    default, named = np.median(seconds, axis=0)
    choice = np.median([max(first - second, 0.0) for first, second in seconds])
    return Taken(what, float(default), float(named), float(choice))


def _released(data: Evidence | People, **options: Any) -> tuple[float, Release]:
    start = time.process_time()
    asked = Parameters(q=Q, epsilon=1.0, delta=DELTA, **options)
    asked, _ = METHODS[asked.method].settle(asked, data)
    made = METHODS[asked.method].ready(asked, data).draw()
    return time.process_time() - start, made


def in_words(rows: list[Taken]) -> str:
    """Return the table, and whether the choice is soon made everywhere."""
    cells = [[row.what, f"{row.default:.3f}", f"{row.named:.3f}", f"{row.choice:.3f}"] for row in rows]
    title = f"Seconds of processor time, medians of {_REPEATS} releases; epsilon = 1, delta = {DELTA:g}"
    worst = max(rows, key=lambda row: row.choice)
    words = f"the choice takes less than {_MOST:g} s: {worst.choice:.3f} s of {worst.what}, where it is most"
    header = ["", "release by default", "what it chose, by name", "the choice"]
    return "\n".join([title, "", table(header, cells), "", verdict(worst.choice < _MOST, words)])
