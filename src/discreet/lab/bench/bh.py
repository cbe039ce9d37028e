"""`discreet bench bh`: step-up and step-down against statsmodels and scipy, ratios from one run."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from discreet.classical.step_down import step_down
from discreet.classical.step_up import step_up
from discreet.errors import missing_extra
from discreet.lab.bench.timing import median_seconds, verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

SIZES = (10_000, 1_000_000, 10_000_000)
SHARES = (0.0, 0.01, 0.1)
_Q = 0.1
_TARGET = 20.0


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds of each job at one size and share of signals."""

    m: int
    share: float
    step_up: float
    step_up_indices: float
    step_down: float
    statsmodels: float
    scipy: float

    @property
    def slowest_ratio(self) -> float:
        """How many times faster `step_up` is than the faster peer."""
        return min(self.statsmodels, self.scipy) / self.step_up


def run(sizes: Sequence[int] = SIZES, shares: Sequence[float] = SHARES, seed: int = 1) -> Iterator[Row]:
    """Time every job on the same p-values; peers reject the same set or the run stops."""
    try:
        peer: Callable[..., Any] = import_module("statsmodels.stats.multitest").multipletests
    except ImportError:
        raise missing_extra("bench", "the comparison with statsmodels") from None
    from scipy.stats import false_discovery_control

    rng = np.random.default_rng(seed)
    for m in sizes:
        for share in shares:
            p = _study(rng, m, share)
            _same_set(p, peer(p, _Q, method="fdr_bh")[0])
            yield Row(
                m,
                share,
                step_up=median_seconds(lambda p=p: step_up(p, _Q)),
                step_up_indices=median_seconds(lambda p=p: step_up(p, _Q).indices),
                step_down=median_seconds(lambda p=p: step_down(p, _Q)),
                statsmodels=median_seconds(lambda p=p: peer(p, _Q, method="fdr_bh")),
                scipy=median_seconds(lambda p=p: false_discovery_control(p) <= _Q),
            )


def _study(rng: np.random.Generator, m: int, share: float) -> NDArray[np.float64]:
    z = rng.standard_normal(m)
    z[: round(m * share)] += 4.0
    rng.shuffle(z)  # signals in one run of positions would flatter whoever scans
    return ndtr(-z)


def _same_set(p: NDArray[np.float64], theirs: NDArray[np.bool_]) -> None:
    if not np.array_equal(step_up(p, _Q).mask, theirs):
        raise RuntimeError("step_up and statsmodels reject different sets: the ratio would mean nothing")


def in_words(rows: Sequence[Row]) -> str:
    """Return the table of ratios and whether the targets are met."""
    header = ["m", "signals", "statsmodels/step_up", "scipy/step_up"]
    header += ["statsmodels/indices", "scipy/indices", "statsmodels/step_down", "scipy/step_down"]
    body = [
        [
            f"{row.m:,}",
            f"{row.share:.0%}",
            *(
                f"{peer / ours:.1f}x"
                for ours in (row.step_up, row.step_up_indices, row.step_down)
                for peer in (row.statsmodels, row.scipy)
            ),
        ]
        for row in rows
    ]
    lines = ["How many times faster than each peer, same p-values, same run", "", table(header, body), ""]
    large = [row.slowest_ratio for row in rows if row.m == max(SIZES)]
    small = [row.slowest_ratio for row in rows if row.m == min(SIZES)]
    if large:
        lines.append(
            verdict(min(large) >= _TARGET, f"20x at m = 10^7 (least ratio of step_up {min(large):.1f}x)")
        )
    if small:
        lines.append(
            verdict(min(small) >= 1, f"never slower at m = 10^4 (least ratio of step_up {min(small):.1f}x)")
        )
    return "\n".join(lines)
