"""`discreet bench fdr`: noise-aware BH against scipy's non-private procedure on the same p-values."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.lab.bench.timing import interleaved, verdict
from discreet.methods.aware import public_constants
from discreet.pipeline import private_bh
from discreet.report.text_table import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (100_000, 1_000_000, 10_000_000)


def in_words(sizes: tuple[int, ...] = SIZES) -> str:
    """Return ratios of times in one run, first-call cost and memory, and the targets."""
    from scipy.stats import false_discovery_control

    rows: list[list[str]] = []
    lines: list[str] = []
    for m in sizes:
        p = _study(m)
        for eta in (1e-3, 1e-2):
            jobs = {
                "first": lambda p=p, eta=eta: _first(p, eta),
                "ours": lambda p=p, eta=eta: _private(p, eta),
                "theirs": lambda p=p: false_discovery_control(p),
            }
            first, ours, theirs = (cost.wall for cost in interleaved(jobs, 5).values())
            tracemalloc.start()
            _private(p, eta)
            peak = tracemalloc.get_traced_memory()[1] / p.nbytes
            tracemalloc.stop()
            rows.append(
                [f"{m:,}", f"{eta:g}", f"{ours / theirs:.2f}", f"{first - ours:.2f} s", f"{peak:.1f}"]
            )
            if m >= 1_000_000:
                lines.append(verdict(ours <= theirs, f"m = {m:,}, eta = {eta:g}: no slower than scipy"))
                lines.append(verdict(peak <= 4, f"m = {m:,}, eta = {eta:g}: at most 4 arrays of size m"))
            lines.append(verdict(first - ours <= 1, f"m = {m:,}, eta = {eta:g}: first call at most 1 s more"))
    header = ["m", "eta", "time over scipy's", "first call costs more by", "peak arrays of size m"]
    return "\n".join([table(header, rows), "", *lines])


def _study(m: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    p = rng.random(m)
    p[: m // 1000] = ndtr(rng.standard_normal(m // 1000) - 4)
    return p


def _first(p: NDArray[np.float64], eta: float) -> object:
    """Run with parameters never seen: nothing public is kept from before."""
    public_constants.cache_clear()
    return _private(p, eta)


def _private(p: NDArray[np.float64], eta: float) -> object:
    return private_bh(p, eta=eta, nu=0.05 / p.size, q=0.1, epsilon=0.5, delta=1e-3)
