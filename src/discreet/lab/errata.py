"""The numbers behind the errata: each place where the paper does not hold as printed, reproduced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from discreet.classical.bounds import fdr_bound
from discreet.lab import outcomes
from discreet.lab.words import printed_constants
from discreet.noise.laws import LAPLACE
from discreet.privacy.account import account
from discreet.privacy.events import Pure
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Finding:
    """One number: which erratum, what was computed, what the paper's text implies, what comes out."""

    number: int
    what: str
    printed: str
    found: float


def findings() -> Iterator[Finding]:
    """Yield every number, computed now."""
    yield from _noisy_min()
    yield from _peeling()
    yield from _closeness()
    yield from _oneshot()
    yield from _cutoffs()
    yield from _constants()


def in_words(rows: Sequence[Finding]) -> str:
    """Return the findings as one table."""
    cells = [[f"{row.number}. {row.what}", row.printed, f"{row.found:.4g}"] for row in rows]
    return table(["erratum", "as printed", "found"], cells)


def _noisy_min() -> Iterator[Finding]:
    """Lap(2/eps) for the index and for a fresh value: the index costs 2/b, the value 1/b."""
    index, value = _index_loss(2.0), 1 / 2.0
    event = "loss of {index 0, value <= x_0}, x = (4,0,..,0) -> (5,-1,..,-1), m = 10, eps = 1"
    yield Finding(1, event, "1", index + value)
    yield Finding(1, "  of which the index", "", index)
    yield Finding(1, "  the same with Lap(3/eps)", "1", _index_loss(3.0) + 1 / 3)


def _index_loss(scale: float, m: int = 10) -> float:
    x = np.array([-4.0, *[0.0] * (m - 1)])
    y = x + np.array([-1.0, *[1.0] * (m - 1)])
    return math.log(outcomes.laplace_index(x, scale)[(0,)] / outcomes.laplace_index(y, scale)[(0,)])


def _peeling() -> Iterator[Finding]:
    """Account for the printed scale sqrt(k log(1/delta))/eps, index and value."""
    k, epsilon, delta = 100, 1.0, 1e-6
    scale = math.sqrt(k * math.log(1 / delta)) / epsilon
    events = [Pure(2 / scale, k), Pure(1 / scale, k)]
    rho = sum(event.count * event.epsilon * math.tanh(event.epsilon / 2) for event in events)
    what = "epsilon by advanced composition (Lemma 2.5) of k = 100 rounds of 3/b, delta = 1e-6, eps = 1"
    yield Finding(2, what, "1", _advanced(3 / scale, k, delta))
    yield Finding(2, "  tight zCDP's epsilon", "1", _zcdp_epsilon(rho, delta))
    yield Finding(
        2,
        "  exact composition of the events (no analysis of events can do better)",
        "1",
        account(events, delta=delta),
    )
    yield Finding(
        2,
        "delta that the k fresh values alone need at eps = 1",
        "1e-06",
        laplace_delta(1 / scale, k, epsilon),
    )
    for eps in (0.5, 1.0, 2.0):
        wide = math.sqrt(10 * k * math.log(1 / delta)) / eps
        spent = account([Pure(2 / wide, k), Pure(1 / wide, k)], delta=delta)
        yield Finding(
            2, f"epsilon at the 2021 scale sqrt(10 k log(1/delta))/eps, eps = {eps:g}", f"{eps:g}", spent
        )


def _advanced(each: float, k: int, delta: float) -> float:
    """Return the paper's advanced composition of k rounds: sqrt(2k ln(1/delta)) e + k e (exp(e) - 1)/2."""
    return math.sqrt(2 * k * math.log(1 / delta)) * each + k * each * math.expm1(each) / 2


def _zcdp_epsilon(rho: float, delta: float) -> float:
    orders = 1 + np.exp(np.linspace(-6, 8, 20_000))
    return float(
        np.min(
            orders * rho
            + np.log1p(-1 / orders) * orders / (orders - 1)
            - np.log(delta * (orders - 1)) / (orders - 1)
        )
    )


def laplace_delta(shift: float, k: int, epsilon: float, cells: int = 4000) -> float:
    """Return delta(epsilon) of k Laplace values, one person moving each by `shift` scales, rounded down.

    The privacy loss of one value is rounded down to a grid of shift/cells, so the result is a lower bound.
    """
    step = shift / cells
    # Loss is `shift` with P = 1/2, -shift with e^-shift/2, and between with density exp((l - shift)/2)/4.
    edges = np.linspace(-shift, shift, 2 * cells + 1)
    mass = np.zeros(2 * cells + 1)
    mass[:-1] = 0.5 * np.diff(np.exp((edges - shift) / 2))
    mass[0] += 0.5 * math.exp(-shift)
    mass[-1] += 0.5
    size = 1 << math.ceil(math.log2(k * 2 * cells + 1))
    total = np.maximum(np.fft.irfft(np.fft.rfft(mass, size) ** k, size), 0.0)[: k * 2 * cells + 1]
    losses = (np.arange(total.size) - k * cells) * step
    over = losses > epsilon
    return float((total[over] * -np.expm1(epsilon - losses[over])).sum())


def _closeness() -> Iterator[Finding]:
    """|G(z') - G(z)| <= 2 |z' - z| G(z)(1 - G(z)), G the Laplace distribution function."""

    def g(z: float) -> float:
        return float(LAPLACE.sf(np.array(-z)))

    def worst(gap: float) -> float:
        return max(abs(g(z + gap) - g(z)) / (2 * gap * g(z) * (1 - g(z))) for z in np.linspace(-4, 2, 1201))

    yield Finding(3, "|G(0) - G(-1)|, to be at most the next line", "", g(0.0) - g(-1.0))
    yield Finding(3, "2 G(-1)(1 - G(-1))", "", 2 * g(-1.0) * (1 - g(-1.0)))
    limit = float(brentq(lambda gap: worst(gap) - 1, 0.5, 1.0, xtol=1e-6))
    yield Finding(3, "the lemma holds for |z' - z| up to", "1", limit)
    yield Finding(3, "which lambda >= 2/that ensures", "", 2 / limit)
    yield Finding(
        3,
        "largest ratio over |z' - z| <= 1 with a factor e^|z' - z| allowed",
        "1",
        max(worst(d) / math.exp(d) for d in np.linspace(0.01, 1, 100)),
    )


def _oneshot() -> Iterator[Finding]:
    """Pure k*spread/eps against 8 sensitivity sqrt(k log(m/delta))/eps: where the second becomes smaller."""
    log_term = math.log(1e5 / 1e-6)
    for spread in (2.0, 1.0):
        # k w = 8 sqrt(k log(m/delta))
        k = 64 * log_term / spread**2
        yield Finding(
            4,
            f"k/log(m/delta) beyond which the sqrt form wins, spread = {spread:g} sensitivity",
            "",
            k / log_term,
        )


def _cutoffs() -> Iterator[Finding]:
    """Part (b) bounds the true x of the selected, not the noisy y it is applied to."""
    for gap, name in ((0.0, "all x equal"), (0.9, "m - k of the x higher by 0.9 b log m")):
        what = f"share of runs with some y_j > x_(j) + b log m, m = 4000, k = 300, {name}"
        yield Finding(5, what, "o(1)", missed_accuracy(400, gap=gap))


def missed_accuracy(runs: int, seed: int = 1, m: int = 4000, k: int = 300, gap: float = 0.9) -> float:
    """Return how often a peeled noisy value exceeds x_(j) + b log m (item 5, with b = 1).

    k values are 0 and the others `gap` log m; each round takes the least of the rest under fresh Lap(1) noise
    and reports it with fresh Lap(1) noise.
    """
    rng = np.random.default_rng(seed)
    allowed = math.log(m)
    missed = 0
    for _ in range(runs):
        zeros, others = k, m - k  # items of one kind are interchangeable: only how many are left matters
        exceeded = False
        for _ in range(k):  # x_(j) = 0 for every j <= k
            takes_zero = _least(rng, zeros) < gap * allowed + _least(rng, others)
            zeros, others = (zeros - 1, others) if takes_zero else (zeros, others - 1)
            exceeded |= (0.0 if takes_zero else gap * allowed) + rng.laplace() > allowed
        missed += exceeded
    return missed / runs


def _least(rng: np.random.Generator, count: int) -> float:
    """Draw the minimum of `count` standard Laplace variables by inverting its distribution function."""
    if count == 0:
        return math.inf
    below = -math.expm1(math.log(rng.random()) / count)  # P(Lap <= minimum), uniform in law
    return math.log(2 * below) if below < 0.5 else -math.log(2 * (1 - below))


def _constants() -> Iterator[Finding]:
    """C < 3 from the printed proof, and by the law of the last crossing."""
    fdr_2, fdr = printed_constants()
    yield Finding(6, "C of FDR_2 that the printed proof gives", "< 3", fdr_2)
    yield Finding(6, "C of FDR that the printed proof gives", "< 3", fdr)
    q = 1e-6
    for k in (2, 3, 10):
        yield Finding(
            6, f"exact C_{k}: FDR_{k}/q as q -> 0", "< 3" if k == 2 else "", float(fdr_bound(q, k)) / q
        )
    for q in (0.05, 0.1, 0.2):
        yield Finding(
            6,
            f"FDR of every adaptive procedure, q = {q:g}",
            f"{q * math.log(1 / q) + 3 * q:.3f}",
            float(fdr_bound(q)),
        )
