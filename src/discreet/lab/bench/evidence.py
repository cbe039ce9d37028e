"""`discreet bench evidence`: measuring from Parquet against polars' grouped means and scipy's column loop."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import missing_extra
from discreet.evidence.two_groups import TwoGroups
from discreet.lab.bench.timing import median_seconds, verdict
from discreet.measure import measure
from discreet.report.text_table import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GROUP = "treated"
_LOOPED = 10  # columns of the loop that are timed; the others take as long
_ROWS = 100_000  # rows written at a time
_MEMORY = """
import sys
import discreet
discreet.measure(sys.argv[1], discreet.TwoGroups(group="treated", bounds=(0, 1)))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds of each job on one file, and the peak megabytes of a process that measures it."""

    people: int
    columns: int
    ours: float
    polars: float
    scipy: float
    statsmodels: float
    megabytes: float
    half_megabytes: float


def run(people: int = 1_000_000, columns: int = 500, seed: int = 1) -> Result:
    """Time the same comparison of two groups in every column, from the same Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        path, half = Path(folder) / "people.parquet", Path(folder) / "half.parquet"
        _write(path, people, columns, seed)
        _write(half, people // 2, columns, seed)
        test = TwoGroups(group=_GROUP, bounds=(0, 1))
        scipy, statsmodels = _loops(path, columns)
        polars = _module("polars")

        def floor() -> Any:
            grouped = polars.scan_parquet(path).group_by(_GROUP).agg(polars.all().mean())
            return grouped.collect(engine="streaming")

        return Result(
            people,
            columns,
            ours=median_seconds(lambda: measure(path, test), least=5),
            polars=median_seconds(floor, least=5),
            scipy=scipy,
            statsmodels=statsmodels,
            megabytes=_peak(path),
            half_megabytes=_peak(half),
        )


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise missing_extra("bench", f"the comparison with {name}") from None


def _write(path: Path, people: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrow, parquet = _module("pyarrow"), _module("pyarrow.parquet")
    fields = [(_GROUP, arrow.int8()), *((f"x{i}", arrow.float32()) for i in range(columns))]
    with parquet.ParquetWriter(path, arrow.schema(fields), compression="NONE", use_dictionary=False) as out:
        for first in range(0, people, _ROWS):
            rows = min(_ROWS, people - first)
            group = rng.integers(0, 2, rows).astype(np.int8)
            values = [rng.random(rows, dtype=np.float32) for _ in range(columns)]
            out.write_table(arrow.table([group, *values], schema=arrow.schema(fields)))


def _loops(path: Path, columns: int) -> tuple[float, float]:
    """Return the seconds of reading and testing column by column, from the first few columns."""
    from scipy.stats import ttest_ind

    parquet = _module("pyarrow.parquet")
    peer: Any = _module("statsmodels.stats.weightstats").ttest_ind
    group: NDArray[Any] = parquet.read_table(path, columns=[_GROUP])[_GROUP].to_numpy()
    inside = group == 1
    few = min(_LOOPED, columns)
    taken: list[float] = []
    for test in (ttest_ind, peer):
        start = time.perf_counter()
        for i in range(few):
            column = parquet.read_table(path, columns=[f"x{i}"])[f"x{i}"].to_numpy()
            test(column[inside], column[~inside])
        taken.append((time.perf_counter() - start) / few * columns)
    return taken[0], taken[1]


def _peak(path: Path) -> float:
    command = [sys.executable, "-c", _MEMORY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 (our own script)
    return int(done.stdout) / 1024


def in_words(result: Result) -> str:
    """Return the ratios, and whether each target is met."""
    rows = [
        ["discreet.measure, two groups", "1.0"],
        ["polars, grouped means (not private)", f"{result.polars / result.ours:.2f}"],
        ["scipy, column by column", f"{result.scipy / result.ours:.1f}"],
        ["statsmodels, column by column", f"{result.statsmodels / result.ours:.1f}"],
    ]
    size = f"{result.people:,} people x {result.columns} float32 columns, one Parquet file, one run"
    return "\n".join(
        [
            size,
            table(["job", "time over ours"], rows),
            (
                f"Loops are timed on {_LOOPED} columns. Peak memory {result.megabytes:,.0f} MB; "
                f"on half the people {result.half_megabytes:,.0f} MB."
            ),
            verdict(result.ours <= 2 * result.polars, "within 2x of polars' grouped means"),
            verdict(result.scipy >= 20 * result.ours, "20x faster than scipy column by column"),
            verdict(result.megabytes < 1500, "peak memory under 1,500 MB"),
            verdict(result.megabytes < 1.25 * result.half_megabytes, "memory flat in the number of people"),
        ]
    )
