"""`discreet bench topk`: private top-k against its non-private floor and its peers, ratios from one run."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.lab.bench.timing import interleaved, verdict
from discreet.report.text_table import table
from discreet.selection.joint.joint import MOST
from discreet.selection.top_k import top_k

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.typing import TopK

SIZES = (10_000, 100_000, 1_000_000)
COUNTS = (1, 10, 100, 1000)
_EPSILON, _DELTA = 1.0, 1e-6
# Peers are run where their own cost, which grows like m (diffprivlib: m*k), leaves the run a few minutes.
_OPENDP_MOST = 1_000_000
_DIFFPRIVLIB_MOST = 1_000_000
_PEEL_MOST = 2_000_000
_TURNS = 3_000_000  # scores that each of the fast jobs looks at: 300 turns at the smallest size


@dataclass(frozen=True, slots=True)
class Row:
    """Times of each job over the floor's at one size; None where it was skipped."""

    m: int
    k: int
    joint: float | None
    gumbel: float
    oneshot: float
    peel: float | None
    numpy: float
    opendp: float | None
    diffprivlib: float | None


def run(sizes: Sequence[int] = SIZES, counts: Sequence[int] = COUNTS, seed: int = 1) -> Iterator[Row]:
    """Time every job on the same scores: standard normal, with k of them raised by 6."""
    rng = np.random.default_rng(seed)
    for m in sizes:
        for k in counts:
            x = rng.standard_normal(m)
            x[rng.choice(m, k, replace=False)] += 6.0
            yield _row(x, k)


def _row(x: NDArray[np.float64], k: int) -> Row:
    m = x.size

    def float_gumbel() -> object:
        noisy = x + np.random.default_rng().gumbel(size=m)
        return np.argpartition(noisy, m - k)[m - k :]

    taking_turns = {
        "floor": lambda: np.argpartition(x, m - k)[m - k :],
        "gumbel": _ours(x, k, "gumbel"),
        "oneshot": _ours(x, k, "oneshot"),
        "numpy": float_gumbel,
    }
    least = interleaved(taking_turns, max(9, _TURNS // m))
    floor = least["floor"].wall
    return Row(
        m,
        k,
        joint=_least(_ours(x, k, "joint"), 5) / floor if k <= MOST else None,
        gumbel=least["gumbel"].wall / floor,
        oneshot=least["oneshot"].wall / floor,
        peel=_least(_ours(x, k, "peel"), 3) / floor if m * k <= _PEEL_MOST else None,
        numpy=least["numpy"].wall / floor,
        opendp=_once(_opendp(x, k), m * max(k, 100) <= 100 * _OPENDP_MOST or k == 1000, floor),
        diffprivlib=_once(_diffprivlib(x, k), m * k <= _DIFFPRIVLIB_MOST, floor),
    )


def _ours(x: NDArray[np.float64], k: int, method: TopK) -> Callable[[], object]:
    """Return our top-k at a sensitivity where the noise is comparable to the scores, already calibrated."""

    def job() -> object:
        return top_k(x, k, sensitivity=0.01, epsilon=_EPSILON, delta=_DELTA, method=method, largest=True)

    job()  # calibration is public and cached
    return job


def _once(job: Callable[[], object] | None, affordable: bool, floor: float) -> float | None:
    """Time a slow peer, once: seconds of a processor, which other work on the machine does not add to."""
    return None if job is None or not affordable else _least(job, 1) / floor


def _least(job: Callable[[], object], turns: int) -> float:
    return interleaved({"job": job}, turns)["job"].processor


def _opendp(x: NDArray[np.float64], k: int) -> Callable[[], object] | None:
    """Return OpenDP's noisy top-k under zCDP, as it is called from Python."""
    try:
        dp: Any = import_module("opendp.prelude")
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    measurement = dp.m.make_noisy_top_k(*space, dp.zero_concentrated_divergence(), k=k, scale=1.0)
    scores = x.tolist()
    return lambda: measurement(scores)


def _diffprivlib(x: NDArray[np.float64], k: int) -> Callable[[], object] | None:
    """Return peeling with diffprivlib's exponential mechanism: a new mechanism for what is left, k times."""
    try:
        mechanism: Any = import_module("diffprivlib.mechanisms").Exponential
    except ImportError:
        return None

    def job() -> object:
        left = x.tolist()
        chosen: list[int] = []
        for _ in range(k):
            index = int(mechanism(epsilon=_EPSILON, sensitivity=0.01, utility=left).randomise())
            chosen.append(index)
            left.pop(index)
        return chosen

    return job


def peak_arrays(m: int = 1_000_000, k: int = 1000) -> dict[str, float]:
    """Return peak memory of one call beyond the scores, in float64 arrays of size m."""
    x = np.random.default_rng(1).standard_normal(m)
    peaks: dict[str, float] = {}
    for method in ("gumbel", "oneshot"):
        job = _ours(x, k, method)
        tracemalloc.start()
        job()
        peaks[method] = tracemalloc.get_traced_memory()[1] / x.nbytes
        tracemalloc.stop()
    return peaks


def in_words(rows: Sequence[Row]) -> str:
    """Return the table of ratios and whether the targets are met."""
    header = ["m", "k", "joint", "gumbel", "oneshot", "peel", "numpy Gumbel", "OpenDP zCDP", "diffprivlib"]
    body = [
        [f"{r.m:,}", f"{r.k:,}"]
        + [_cell(v) for v in (r.joint, r.gumbel, r.oneshot, r.peel, r.numpy, r.opendp, r.diffprivlib)]
        for r in rows
    ]
    lines = [
        "Time over that of np.argpartition on the same scores (not private), same run; -: skipped, too slow.",
        "The smallest times: the floor, gumbel, oneshot and numpy take turns, others are run a few times,",
        "peers once. joint is the default where delta = 0 and k is at most 24.",
        "",
        table(header, body),
        "",
    ]
    small = [max(row.gumbel, row.oneshot) for row in rows if row.m == SIZES[0]]
    if small:
        lines.append(verdict(max(small) <= 10, f"at m = 10,000 at most 10x the floor ({max(small):.1f}x)"))
    last = rows[-1]
    if (last.m, last.k) == (SIZES[-1], COUNTS[-1]):
        lines.append(verdict(last.gumbel <= 4, f"gumbel at most 4x the floor ({last.gumbel:.1f}x)"))
        lines.append(verdict(last.oneshot <= 10, f"oneshot at most 10x the floor ({last.oneshot:.1f}x)"))
        if last.opendp is not None:
            ratio = last.opendp / last.gumbel
            lines.append(verdict(ratio >= 1000, f"gumbel 1,000x faster than OpenDP zCDP ({ratio:,.0f}x)"))
        for method, arrays in peak_arrays().items():
            lines.append(verdict(arrays <= 3, f"{method} within 3 arrays of size m ({arrays:.2f})"))
    return "\n".join(lines)


def _cell(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:,.1f}x"
