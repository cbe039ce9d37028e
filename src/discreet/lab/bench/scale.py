"""`discreet bench scale`: threads against a Dask cluster of the same machine, and how cost grows."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.api import release
from discreet.block import processors as usable
from discreet.data.plink.plink import Plink
from discreet.engine.cluster import connected
from discreet.engine.partition import PACKED
from discreet.engine.work import concluded, scanned
from discreet.evidence.allelic import Allelic
from discreet.evidence.core.evidence import Evidence, Numbered
from discreet.evidence.two_groups import TwoGroups
from discreet.lab.bench.evidence import write
from discreet.lab.bench.timing import Cost, interleaved
from discreet.lab.cohort import Simulated
from discreet.measure import measure
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.evidence.core.protocol import Test

_REPEATS = 3
_PAPER = (500_000, 10_000_000)  # people and variants of the study worked out on paper
_VARIANTS = (400, 1200)  # of two pieces: their difference is counting, the rest is starting
_IN_A_BYTE = 4  # genotypes
_CANDIDATE = 26  # bytes: place, score and 80 bits of a uniform


@dataclass(frozen=True, slots=True)
class Size:
    """People and variants of the genotypes, people and columns of the table, scores of the selection.

    `biobank` people are in the pieces whose cost is carried over to the study on paper.
    """

    people: int = 40_000
    variants: int = 20_000
    rows: int = 250_000
    columns: int = 100
    scores: int = 4_000_000
    biobank: int = _PAPER[0]


@dataclass(frozen=True, slots=True)
class Result:
    """Costs of each job; processor seconds of selecting among m and 2m scores and of two pieces of a scan."""

    size: Size
    processors: int
    costs: dict[str, Cost]
    select: tuple[float, ...]
    pieces: tuple[float, ...]


def run(size: Size) -> Result:
    """Write files, count them with threads and on a cluster by turns, and time the selection."""
    processors = usable()
    with tempfile.TemporaryDirectory() as name, connected() as client:
        jobs = _jobs(Path(name), size, client)
        for job in jobs.values():  # the first run of each loads modules and fills the file cache
            job()
        costs = interleaved(jobs, _REPEATS)
        pieces = _processor(_pieces(Path(name), size.biobank), 2 * _REPEATS)
    select = _processor({str(m): _selection(m) for m in (size.scores, 2 * size.scores)}, 2 * _REPEATS)
    return Result(size, processors, costs, select, pieces)


def _processor(jobs: dict[str, Callable[[], object]], repeats: int) -> tuple[float, ...]:
    return tuple(cost.processor for cost in interleaved(jobs, repeats).values())


def _pieces(folder: Path, people: int) -> dict[str, Callable[[], object]]:
    """Return what a worker does with a piece of a scan, for two numbers of variants."""
    path = Simulated(people, _VARIANTS[1]).write(folder / "biobank.bed")
    cohort = Plink(path, threads=1).open()

    def piece(variants: int) -> object:
        counts: Any = scanned(Allelic(), cohort, np.arange(variants), Numbered(variants))
        return concluded(counts, True)

    return {str(variants): partial(piece, variants) for variants in _VARIANTS}


def _jobs(folder: Path, size: Size, client: object) -> dict[str, Callable[[], object]]:
    jobs: dict[str, Callable[[], object]] = {}

    def add(what: str, path: Path, test: Test) -> None:
        jobs[f"{what}, threads"] = lambda: measure(path, test)
        jobs[f"{what}, dask"] = lambda: measure(path, test, engine="dask", scheduler=client)

    for what, people, variants in (
        ("genotypes", size.people, size.variants),
        ("genotypes, twice the people", 2 * size.people, size.variants),
        ("genotypes, twice the variants", size.people, 2 * size.variants),
    ):
        add(what, Simulated(people, variants).write(folder / f"{what}.bed"), Allelic())
    for what, rows, columns in (
        ("table", size.rows, size.columns),
        ("table, twice the people", 2 * size.rows, size.columns),
        ("table, twice the columns", size.rows, 2 * size.columns),
    ):
        path = folder / f"{what}.parquet"
        write(path, rows, columns)
        add(what, path, TwoGroups(group="treated", bounds=(0, 1)))
    return jobs


def _selection(scores: int) -> Callable[[], object]:
    """Return a private selection among so many scores, its public constants settled before."""
    z = np.random.default_rng(1).standard_normal(scores)
    z[: scores // 10_000] += 7
    evidence = Evidence.from_z(z, sensitivity=0.005, adjacency="replace", alternative="greater")

    def select() -> object:
        return release(evidence, q=0.1, epsilon=1.0, delta=1e-6)

    select()
    return select


def in_words(result: Result) -> str:
    """Return throughput, growth, and the study on paper."""
    size, costs = result.size, result.costs
    cells = {"genotypes": size.people * size.variants, "table": size.rows * size.columns}
    rows: list[list[str]] = []
    growth: list[list[str]] = []
    for what, values in cells.items():
        threads, dask = costs[f"{what}, threads"], costs[f"{what}, dask"]
        seconds = (threads.wall, dask.wall, threads.processor)
        rates = [f"{values / taken / 1e6:,.0f}" for taken in seconds]
        rows.append([what, *rates, f"{dask.wall / threads.wall:.2f}"])
        for twice in ("people", "variants" if what == "genotypes" else "columns"):
            more, most = (costs[f"{what}, twice the {twice}, {where}"] for where in ("threads", "dask"))
            ratios = more.processor / threads.processor, most.wall / dask.wall
            growth.append([f"{what}, twice the {twice}", *(f"{ratio:.2f}" for ratio in ratios)])
    growth.append(["selection, twice the scores", f"{result.select[1] / result.select[0]:.2f}", ""])
    about = (
        f"{result.processors} processors, one run; {size.people:,} people x {size.variants:,} variants, "
        f"{size.rows:,} people x {size.columns} columns"
    )
    return "\n".join(
        [
            about,
            "",
            table(
                ["million values", "a second, threads", "dask", "a processor-second", "dask / threads"], rows
            ),
            "",
            table(["cost grows by", "processor time, threads", "clock, dask"], growth),
            "",
            *_on_paper(result),
        ]
    )


def _on_paper(result: Result) -> list[str]:
    """Return what a biobank's scan takes at the rates measured here, and what travels."""
    people, variants = _PAPER
    size = result.size
    genotypes = people * variants
    few, many = _VARIANTS
    # Processor time, since other work on this machine lengthens the clock's.
    each = (result.pieces[1] - result.pieces[0]) / ((many - few) * size.biobank)
    start = max(0.0, result.pieces[0] - few * size.biobank * each)
    stored = genotypes / _IN_A_BYTE
    tasks = -(-stored // PACKED)
    hours = (genotypes * each + tasks * start) / 3600
    select = result.select[1] * variants / (2 * size.scores)
    return [
        f"On paper, {people:,} people x {variants:,} variants at these rates:",
        f"  packed genotypes        {stored / 1e12:.2f} TB",
        f"  counting                {hours:.2f} processor-hours, {1e-9 / each:.0f} genotypes a nanosecond",
        f"  reading at 1 GB/s       {stored / 1e9 / 60:.0f} minutes",
        f"  tasks                   {tasks:,.0f}, each {start * 1e3:.0f} ms before it counts",
        f"  scores, if gathered     {8 * variants / 1e6:.0f} MB to one process",
        f"  candidates, if not      at most {_CANDIDATE * variants / 1e6:.0f} MB between workers",
        f"  private selection       {select:.1f} s on one processor",
    ]
