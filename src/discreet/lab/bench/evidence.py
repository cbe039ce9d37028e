"""`discreet bench evidence`: measuring from Parquet against polars' grouped means and scipy's column loop."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from scipy.stats import ttest_ind

from discreet import gather
from discreet.api import discover
from discreet.errors import missing_extra
from discreet.evidence.compare import Compare
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.protocol import Test
from discreet.evidence.two_groups import TwoGroups
from discreet.lab.bench.timing import Cost, interleaved, verdict
from discreet.measure import measure
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.block import Block

_GROUP = "treated"
_LOOPED = 10  # columns of the loop that are timed; the others take as long
_ROWS = 100_000  # rows written at a time
_OURS = "discreet.measure, two groups"
_FLOORED = "the same, deviation estimated"
_POLARS = "polars, grouped means (not private)"
_SCIPY = "scipy's t test, column by column"
_STATSMODELS = "statsmodels' t test, column by column"
_READING = "reading every column, nothing else"
_ALL = "discover, method all: rows held, clipped, told with noise"
_STREAMED = "the same, rows read again from the file, not held"
_PROTECTED = "the same, groups protected too (Compare)"
_WITHIN = 1.2  # of the time of measure
_MEMORY = """
import sys
import discreet
from discreet import gather
test = discreet.TwoGroups(group="treated", bounds=(0, 1))
if sys.argv[2] == "streamed":
    gather.memory = lambda: 0.0
if sys.argv[2] != "measure":
    discreet.discover(sys.argv[1], test, q=0.1, epsilon=1.0, delta=1e-6, method="all")
else:
    discreet.measure(sys.argv[1], test)
from discreet.lab.bench.timing import most_memory
print(most_memory())
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What each job on one file costs, and the peak megabytes of a process that measures it, or tells all.

    Telling all holds the entries, or where memory is small reads them again: `streamed`, of all and of half.
    """

    people: int
    columns: int
    costs: dict[str, Cost]
    megabytes: float
    half_megabytes: float
    all_megabytes: float
    streamed: tuple[float, float]


def run(people: int = 1_000_000, columns: int = 500, seed: int = 1, repeats: int = 5) -> Result:
    """Time the same comparison of two groups in every column, from the same Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        path, half = Path(folder) / "people.parquet", Path(folder) / "half.parquet"
        write(path, people, columns, seed)
        write(half, people // 2, columns, seed)
        few = min(_LOOPED, columns)
        whole: dict[str, Callable[[], object]] = {
            _OURS: lambda: measure(path, TwoGroups(group=_GROUP, bounds=(0, 1))),
            _FLOORED: lambda: measure(path, TwoGroups(group=_GROUP, bounds=(0, 1), floor=0.1)),
            _ALL: lambda: _all_measured(path, TwoGroups(group=_GROUP, bounds=(0, 1))),
            _STREAMED: lambda: _all_measured(path, TwoGroups(group=_GROUP, bounds=(0, 1)), memory=0.0),
            _PROTECTED: lambda: _all_measured(path, Compare(group=_GROUP, levels=(0, 1))),
            _POLARS: lambda: _grouped_means(path),
            _READING: lambda: measure(path, _Touch()),
        }
        peer = _module("statsmodels.stats.weightstats").ttest_ind
        parts: dict[str, Callable[[], object]] = {
            _SCIPY: lambda: _loop(path, few, ttest_ind),
            _STATSMODELS: lambda: _loop(path, few, peer),
        }
        costs = interleaved(whole | parts, repeats)
        scaled = {name: costs[name].times(columns / few) if name in parts else costs[name] for name in costs}
        peaks = (_peak(path, "measure"), _peak(half, "measure"), _peak(path, "all"))
        streamed = _peak(path, "streamed"), _peak(half, "streamed")
        return Result(people, columns, scaled, *peaks, streamed)


def _all_measured(path: Path, test: Test, memory: float | None = None) -> object:
    """Release all contrasts; as on a machine of so much memory, if that is given."""
    with patch.object(gather, "memory", lambda: memory) if memory is not None else nullcontext():
        return discover(path, test, q=0.1, epsilon=1.0, delta=1e-6, method="all")


@dataclass(frozen=True, slots=True)
class _Touch(Test):
    """A test that reads all columns the way every test does, and counts nothing: the floor of our reader."""

    @property
    def labels(self) -> tuple[str, ...]:
        return (_GROUP,)

    def start(self, names: Sequence[str]) -> Any:  # noqa: ARG002 (the name is part of the protocol)
        return self

    def update(self, block: Block) -> None:
        for _ in block.columns:
            pass

    def merge(self, other: object) -> None:
        pass

    def finish(self) -> Evidence:
        return Evidence.from_z([0.0], sensitivity=1.0, adjacency="replace")


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise missing_extra("bench", f"the comparison with {name}") from None


def _grouped_means(path: Path) -> Any:
    polars = _module("polars")
    return polars.scan_parquet(path).group_by(_GROUP).agg(polars.all().mean()).collect(engine="streaming")


def write(path: Path, people: int, columns: int, seed: int = 1) -> None:
    """Write a Parquet file of uniform float32 columns x0, x1, ... and a column of groups, "treated"."""
    rng = np.random.default_rng(seed)
    arrow, parquet = _module("pyarrow"), _module("pyarrow.parquet")
    fields = [(_GROUP, arrow.int8()), *((f"x{i}", arrow.float32()) for i in range(columns))]
    with parquet.ParquetWriter(path, arrow.schema(fields), compression="NONE", use_dictionary=False) as out:
        for first in range(0, people, _ROWS):
            rows = min(_ROWS, people - first)
            group = rng.integers(0, 2, rows).astype(np.int8)
            values = [rng.random(rows, dtype=np.float32) for _ in range(columns)]
            out.write_table(arrow.table([group, *values], schema=arrow.schema(fields)))


def _loop(path: Path, few: int, test: Any) -> None:
    """Read and test the first few columns one by one, from a file opened once: a loop as fast as it gets."""
    file = _module("pyarrow.parquet").ParquetFile(path)
    inside = file.read(columns=[_GROUP])[_GROUP].to_numpy() == 1
    for i in range(few):
        column = file.read(columns=[f"x{i}"])[f"x{i}"].to_numpy()
        test(column[inside], column[~inside])


def _peak(path: Path, job: str) -> float:
    command = [sys.executable, "-c", _MEMORY, str(path), job]
    done = subprocess.run(command, capture_output=True, encoding="ascii", check=True)  # noqa: S603 (ours)
    return float(done.stdout) / 2**20


def _all_ratio(result: Result, clock: str) -> float:
    return getattr(result.costs[_ALL], clock) / getattr(result.costs[_OURS], clock)


def _bytes_an_entry(result: Result) -> float:
    return result.all_megabytes * 2**20 / (result.people * result.columns)


def in_words(result: Result) -> str:
    """Return the ratios, and whether each target is met."""
    ours = result.costs[_OURS]
    rows = [
        [name, f"{cost.wall / ours.wall:.2f}", f"{cost.processor / ours.processor:.2f}"]
        for name, cost in result.costs.items()
    ]
    most = [result.costs[name].wall / result.costs[_READING].wall for name in (_SCIPY, _STATSMODELS)]
    return "\n".join(
        [
            f"{result.people:,} people x {result.columns} float32 columns, one Parquet file, one run",
            table(["job", "time over ours", "processor time over ours"], rows),
            (
                f"Best of interleaved repeats. Loops are timed on {_LOOPED} columns and read them from a "
                f"file opened once. If counting cost nothing, reading alone would be {most[0]:.0f} times "
                f"faster than scipy's loop and {most[1]:.0f} times faster than statsmodels'. Peak memory "
                f"{result.megabytes:,.0f} MB; on half the people {result.half_megabytes:,.0f} MB. "
                f"Telling all holds every entry, at most {gather.LARGEST:,} of a file, and what fits a "
                f"quarter of the memory in double precision: {result.all_megabytes:,.0f} MB, "
                f"{_bytes_an_entry(result):.1f} bytes an entry. Beyond that entries stay in the file: "
                f"{result.streamed[0]:,.0f} MB; on half the people {result.streamed[1]:,.0f} MB."
            ),
            verdict(_all_ratio(result, "wall") <= _WITHIN, f"all within {_WITHIN:g} of measure on the clock"),
            verdict(
                _all_ratio(result, "processor") <= _WITHIN, f"all within {_WITHIN:g} of measure by processor"
            ),
            verdict(ours.wall <= 2 * result.costs[_POLARS].wall, "within 2x of polars' grouped means"),
            verdict(result.costs[_SCIPY].wall >= 20 * ours.wall, "20x faster than scipy column by column"),
            verdict(
                result.costs[_STATSMODELS].wall >= 20 * ours.wall,
                "20x faster than statsmodels column by column",
            ),
            verdict(result.megabytes < 1500, "peak memory under 1,500 MB"),
            verdict(result.megabytes < 1.25 * result.half_megabytes, "memory flat in the number of people"),
            verdict(
                result.streamed[0] < 1.25 * result.streamed[1],
                "that of telling all, where entries stay in the file, flat as well",
            ),
        ]
    )
