"""`discreet bench gwas`: PLINK files against plink1.9 and plink2, in one run, on files made here."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.api import release
from discreet.data.plink.plink import Plink
from discreet.evidence.allelic import Allelic
from discreet.evidence.score import Score
from discreet.lab.bench.timing import Cost, as_installed, verdict
from discreet.lab.cohort import Simulated
from discreet.measure import measure
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

_REPEATS = 5
_LINEAR = ("--no-psam-pheno", "--glm", "allow-no-covars")
_MEMORY = """
import sys
import discreet
discreet.measure(sys.argv[1], discreet.Allelic())
from discreet.lab.bench.timing import most_memory
print(most_memory())
"""


@dataclass(frozen=True, slots=True)
class Size:
    """People, and the variants of the scan, of the whole run, and of the largest file."""

    people: int = 20_000
    scan: int = 50_000
    whole: int = 200_000
    most: int = 400_000


@dataclass(frozen=True, slots=True)
class Result:
    """Costs of every job; None where PLINK is not installed."""

    size: Size
    scan: Cost
    tested: Cost
    scan_plink: Cost | None
    whole: Cost
    whole_plink: Cost | None
    linear: Cost
    linear_plink: Cost | None
    scan_most: Cost
    select: float
    megabytes: tuple[float, float]


def run(size: Size, say: Callable[[str], None]) -> Result:
    """Make the files, run every job by turns, and return the medians."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say("writing files")
        small = Simulated(size.people, size.scan).write(folder / "small.bed")
        say("counting")
        scan, scan_plink = _by_turns(_scan(small), _plink("plink1.9", small, "--assoc", "--allow-no-sex"))
        tested, _ = _by_turns(lambda: measure(small, Allelic()), None)
        say("the linear test")
        linear, linear_plink = _by_turns(
            lambda: measure(Plink(small, pheno=small.with_suffix(".phe")), Score(bounds=(-4, 4))),
            _plink("plink2", small, "--pheno", str(small.with_suffix(".phe")), *_LINEAR),
        )
        first = _peak(small)
        small.unlink()
        say("the whole run")
        large = Simulated(size.people, size.whole).write(folder / "large.bed")
        command = [
            sys.executable,
            "-m",
            "discreet",
            "discover",
            str(large),
            "--test",
            "allelic",
            "--out",
            name,
        ]
        with as_installed() as environment:
            whole, whole_plink = _by_turns(
                lambda: _run(command, environment), _plink("plink1.9", large, "--assoc", "--allow-no-sex")
            )
        select = _selection(large)
        large.unlink()
        say("the largest file")
        most = Simulated(size.people, size.most).write(folder / "most.bed")
        scan_most, _ = _by_turns(_scan(most), None)
        megabytes = first, _peak(most)
    return Result(
        size, scan, tested, scan_plink, whole, whole_plink, linear, linear_plink, scan_most, select, megabytes
    )


def _scan(bed: Path) -> Callable[[], object]:
    """Return the job of reading and counting every genotype of a file whose text files are read already."""
    cohort = Plink(bed).open()
    return lambda: Allelic().start(cohort.names).scan(cohort)


def _plink(program: str, bed: Path, *options: str) -> Callable[[], object] | None:
    """Return a job that runs PLINK on a file, or None where it is not installed."""
    if shutil.which(program) is None:
        return None
    prefix = str(bed.with_suffix(""))
    return lambda: _run([program, "--bfile", prefix, *options, "--out", prefix])


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603 (on our own files)


def _by_turns(ours: Callable[[], object], theirs: Callable[[], object] | None) -> tuple[Cost, Cost | None]:
    """Run two jobs by turns, after one run of each that is not counted: both meet the same machine."""
    taken: list[Cost] = []
    other: list[Cost] = []
    for turn in range(_REPEATS + 1):
        cost = _cost(ours)
        two = None if theirs is None else _cost(theirs)
        if turn:
            taken.append(cost)
            other += [] if two is None else [two]
    return _median(taken), _median(other) if other else None


def _cost(job: Callable[[], object]) -> Cost:
    wall, cpu = time.perf_counter(), _cpu()
    job()
    return Cost(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    """Return processor seconds of this process and of its finished children."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


def _median(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(c.wall for c in costs), statistics.median(c.processor for c in costs))


def _selection(bed: Path) -> float:
    """Return processor seconds of the private selection; public constants are made before."""
    evidence = measure(bed, Allelic())

    def select() -> object:
        return release(evidence, q=0.1, epsilon=1.0, delta=1e-6)

    return _by_turns(select, None)[0].processor


def _peak(bed: Path) -> float:
    command = [sys.executable, "-c", _MEMORY, str(bed)]
    done = subprocess.run(command, capture_output=True, encoding="ascii", check=True)  # noqa: S603 (ours)
    return float(done.stdout) / 2**20


def in_words(result: Result) -> str:
    """Return the ratios, and whether each target is met."""
    size = result.size
    rows = [
        _row(f"scan, {size.scan:,} variants, allelic", "plink1.9 --assoc", result.scan, result.scan_plink),
        _row(f"all tests, {size.scan:,} variants", "plink1.9 --assoc", result.tested, result.scan_plink),
        _row(f"whole run, {size.whole:,} variants", "plink1.9 --assoc", result.whole, result.whole_plink),
        _row(f"quantitative, {size.scan:,} variants", "plink2 --glm", result.linear, result.linear_plink),
    ]
    low, high = result.megabytes
    each = (result.scan_most.processor / size.most) / (result.scan.processor / size.scan)
    lines = [
        f"{size.people:,} people, no missing calls; medians of {_REPEATS} runs by turns, files in the cache.",
        table(["job", "beside", "wall, theirs over ours", "processor, theirs over ours"], rows),
        (
            "The scan reads and counts every genotype, nothing else; all tests are `discreet.measure`, from "
            "files to scores; PLINK's is its whole run. A whole run is `discreet discover FILE --test "
            "allelic --out FOLDER`, start to files written; "
            f"the private selection takes {result.select / result.whole.processor:.1%} of its processor time."
        ),
        (
            f"Peak memory {low:,.0f} MB at {size.scan:,} variants, {high:,.0f} MB at {size.most:,}. "
            f"Time of the scan per variant at {size.most:,} over that at {size.scan:,}: {each:.2f}."
        ),
    ]
    if result.scan_plink is None or result.whole_plink is None:
        lines.append("plink1.9 is not installed: no comparison (Debian: apt-get install plink1.9).")
    else:
        ratio = result.scan_plink.processor / result.scan.processor
        lines.append(verdict(ratio >= 2.5, "processor time of the scan at most 1/2.5 of plink1.9 --assoc"))
        met = result.whole.wall <= 0.8 * result.whole_plink.wall
        lines.append(verdict(met, "whole run at most 0.8 of plink1.9 --assoc on the clock"))
    if result.linear_plink is None:
        lines.append("plink2 is not installed: no comparison (Debian: apt-get install plink2).")
    else:
        met = result.linear_plink.wall >= 3 * result.linear.wall
        lines.append(verdict(met, "quantitative trait 3x faster than plink2 --glm"))
    lines += [
        verdict(result.select < 0.05 * result.whole.processor, "private selection under 5% of the run"),
        verdict(high < 600, "peak memory under 600 MB"),
        verdict(high < 1.5 * low, "memory flat: at most half more on eight times the variants"),
        verdict(0.8 <= each <= 1.2, "time per variant constant within 20%"),
    ]
    return "\n".join(lines)


def _row(job: str, beside: str, ours: Cost, theirs: Cost | None) -> list[str]:
    if theirs is None:
        return [job, beside, "not installed", "not installed"]
    return [job, beside, f"{theirs.wall / ours.wall:.2f}", f"{theirs.processor / ours.processor:.2f}"]
