"""`discreet bench fdr`: private procedures against scipy's non-private one on the same p-values."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.api import private_bh
from discreet.lab.bench.timing import interleaved, verdict
from discreet.methods.auto.method import Setting, choose
from discreet.methods.aware.method import public_constants
from discreet.privacy.curves import gaussian_budget
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from discreet.report.release import Release
    from discreet.typing import MethodName

SIZES = (100_000, 1_000_000, 10_000_000)
SIGNALS = (0, 100, 2_000, 50_000, 200_000)
_ETAS = (1e-3, 1e-2)
_MILLION = 1_000_000
_QUIET, _BUSY = 0.5, 1.0  # times scipy's, at most
_CHOSEN = 0.3  # seconds of the choice of a method, at most
_NUMBERS = (1, 10, 100, 1_000, 10_000, 100_000, 200_000, 1_000_000)  # of hypotheses to choose a method for


def in_words(sizes: tuple[int, ...] = SIZES, m: int = _MILLION) -> str:
    """Return ratios of times in one run by size and by signals, first-call cost, memory, and the targets."""
    return "\n\n".join((_by_size(sizes), _by_signals(m), _telling_all(m), _choosing()))


def _by_size(sizes: tuple[int, ...]) -> str:
    from scipy.stats import false_discovery_control

    rows: list[list[str]] = []
    lines: list[str] = []
    for m in sizes:
        p = _study(m, m // 1000)
        for eta in _ETAS:
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
            if m >= _MILLION:
                lines.append(verdict(ours <= theirs, f"m = {m:,}, eta = {eta:g}: no slower than scipy"))
                lines.append(verdict(peak <= 4, f"m = {m:,}, eta = {eta:g}: at most 4 arrays of size m"))
            lines.append(verdict(first - ours <= 1, f"m = {m:,}, eta = {eta:g}: first call at most 1 s more"))
    header = ["m", "eta", "time over scipy's", "first call costs more by", "peak arrays of size m"]
    return "\n".join([table(header, rows), "", *lines])


def _by_signals(m: int) -> str:
    """Return how the ratio depends on what is in the data and on what else the machine does."""
    from scipy.stats import false_discovery_control

    rows: list[list[str]] = []
    met = {"quiet": True, "busy": True}
    for signals in SIGNALS:
        p = _study(m, signals * m // _MILLION)
        for eta in _ETAS:
            discoveries = len(_private(p, eta))
            jobs = {
                "ours": lambda p=p, eta=eta: _private(p, eta),
                "theirs": lambda p=p: false_discovery_control(p),
            }
            ratio: dict[str, float] = {}
            for load in met:
                with _every_core_busy(load == "busy"):
                    ours, theirs = interleaved(jobs, 7).values()
                ratio[load] = ours.wall / theirs.wall
            met = {
                "quiet": met["quiet"] and ratio["quiet"] <= _QUIET,
                "busy": met["busy"] and ratio["busy"] <= _BUSY,
            }
            rows.append(
                [
                    f"{signals:,}",
                    f"{eta:g}",
                    f"{discoveries:,}",
                    f"{ratio['quiet']:.2f}",
                    f"{ratio['busy']:.2f}",
                ]
            )
    header = ["signals", "eta", "found", "time over scipy's", "with every core busy"]
    lines = [
        f"m = {m:,}, by what is in the data and what else the machine does",
        table(header, rows),
        "",
        verdict(met["quiet"], f"at most {_QUIET:g} of scipy's time, however many signals"),
        verdict(met["busy"], f"at most {_BUSY:g} with every core busy"),
    ]
    return "\n".join(lines)


def _telling_all(m: int) -> str:
    """Return how long it takes to tell every score with noise, by what is in the data."""
    from scipy.stats import false_discovery_control

    rows: list[list[str]] = []
    ratios: list[float] = []
    for signals in SIGNALS:
        p = _study(m, signals * m // _MILLION)
        for eta in _ETAS:
            jobs = {
                "ours": lambda p=p, eta=eta: _private(p, eta, "all"),
                "theirs": lambda p=p: false_discovery_control(p),
            }
            ours, theirs = interleaved(jobs, 7).values()
            ratios.append(ours.processor / theirs.processor)
            rows.append([f"{signals:,}", f"{eta:g}", f"{ours.wall / theirs.wall:.2f}", f"{ratios[-1]:.2f}"])
    header = ["signals", "eta", "time over scipy's", "processor time over scipy's"]
    return "\n".join(
        [
            f"m = {m:,}, every score told with noise",
            table(header, rows),
            "",
            verdict(max(ratios) <= 1, "telling all within scipy's processor time, however many signals"),
        ]
    )


def _choosing() -> str:
    """Return how long the choice of a method takes, of scores and of columns, at every number of them."""
    rows: list[list[str]] = []
    slowest = 0.0
    for m in _NUMBERS:
        seconds: list[float] = []
        for spent, among in ((0.0, ("aware", "all", "focus")), (0.25, ("all", "focus", "aware"))):
            rho = gaussian_budget(1.0, 1e-6)
            setting = Setting(m, max(1, m // 20), 0.02, 0.02 * m**0.5, rho, 0.1, spent)
            choose.cache_clear()
            start = time.perf_counter()
            choose(setting, among)
            seconds.append(time.perf_counter() - start)
        slowest = max(slowest, *seconds)
        rows.append([f"{m:,}", *(f"{1000 * taken:.0f} ms" for taken in seconds)])
    header = ["m", "choice for scores", "choice for columns"]
    return "\n".join([table(header, rows), "", verdict(slowest < _CHOSEN, "every choice under 0.3 s")])


@contextmanager
def _every_core_busy(wanted: bool) -> Generator[None]:
    """Keep every core busy with another process meanwhile."""
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)] if wanted else []  # noqa: S603
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def _study(m: int, signals: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    p = rng.random(m)
    p[:signals] = ndtr(rng.standard_normal(signals) - 4)
    rng.shuffle(p)  # signals in one run of positions would flatter whoever scans
    return p


def _first(p: NDArray[np.float64], eta: float) -> object:
    """Run with parameters never seen: nothing public is kept from before."""
    public_constants.cache_clear()
    return _private(p, eta)


def _private(p: NDArray[np.float64], eta: float, method: MethodName = "auto") -> Release:
    return private_bh(p, eta=eta, nu=0.05 / p.size, q=0.1, epsilon=0.5, delta=1e-3, method=method)
