"""`discreet bench people`: power against the number of people, from z scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from discreet.api import release
from discreet.classical.step_up import step_up_positions
from discreet.evidence.core.evidence import Evidence
from discreet.lab.bench.rates import power_and_fdp
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

M, SIGNALS, Q, EPSILON, DELTA, K = 20_000, 50, 0.1, 1.0, 1e-6, 100
PEOPLE = (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
METHODS = ("aware, proved", "aware, calibrated", "mirror", "peel", "oneshot")
TARGETS = {10_000: (0.80, 0.90), 30_000: (0.94, 0.97)}
_SLOW = {"peel": 5}

Rates = dict[tuple[int, str], list[tuple[float, float]]]


def run(repetitions: int, tick: Callable[[int], None]) -> Rates:
    """Return power and FDP of every method at every n, one list entry for each study."""
    rates: Rates = {}
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(M)
        z[:SIGNALS] = rng.uniform(5, 20, SIGNALS)
        rates.setdefault((0, "BH"), []).append(power_and_fdp(step_up_positions(ndtr(-z), Q), SIGNALS))
        for n in PEOPLE:
            evidence = Evidence.from_z(
                z, sensitivity=2 / np.sqrt(n), adjacency="replace", alternative="greater"
            )
            for method in METHODS:
                if seed % _SLOW.get(method, 1) == 0:
                    places = _private(evidence, method)
                    rates.setdefault((n, method), []).append(power_and_fdp(places, SIGNALS))
            tick(1)
    return rates


def _private(evidence: Evidence, method: str) -> NDArray[np.int64]:
    name, _, guarantee = method.partition(", ")
    asked: dict[str, Any] = {"guarantee": guarantee} if guarantee else {"method": name, "k": K}
    return release(evidence, q=Q, epsilon=EPSILON, delta=DELTA, **asked).indices


def in_words(rates: Rates) -> str:
    """Return the table, the people each method needs for 90% of BH's power, and the targets."""
    mean = {key: np.mean(values, axis=0) for key, values in rates.items()}
    base = float(mean[0, "BH"][0])
    rows = [
        [f"{n:,}", *(f"{mean[n, method][1]:.3f}/{mean[n, method][0]:.3f}" for method in METHODS)]
        for n in PEOPLE
    ]
    needed = {method: _needed([float(mean[n, method][0]) / base for n in PEOPLE]) for method in METHODS}
    title = (
        f"FDR/power, m = {M:,}, {SIGNALS} signals z ~ U(5, 20), sensitivity 2/sqrt(n), "
        f"epsilon = {EPSILON:g}, delta = {DELTA:g}, q = {Q:g}; "
        f"BH without privacy {mean[0, 'BH'][1]:.3f}/{base:.3f}"
    )
    lines = [
        title,
        "",
        table(["people", *METHODS], rows),
        "",
        "People for 90% of BH's power, by interpolation:",
    ]
    for method, n in needed.items():
        ratio = (
            f"{n / needed['aware, proved']:,.1f} times the proved mode's"
            if n
            else f"more than {PEOPLE[-1]:,}"
        )
        lines.append(f"  {method}: {n:,.0f} ({ratio})" if n else f"  {method}: {ratio}")
    for n, targets in TARGETS.items():
        for method, target in zip(METHODS[:2], targets, strict=True):
            power = float(mean[n, method][0])
            lines.append(
                verdict(power >= target, f"{method} at n = {n:,}: power {power:.3f}, at least {target:g}")
            )
    share = float(mean[1_000_000, "aware, proved"][0]) / base
    lines.append(verdict(share >= 0.99, f"proved at n = 1,000,000: {share:.3f} of BH's power, at least .99"))
    return "\n".join(lines)


def _needed(shares: list[float]) -> float:
    """Return where the share of BH's power crosses 0.9, linearly in log n; 0 if it never does."""
    for i, share in enumerate(shares):
        if share >= 0.9:
            if i == 0:
                return float(PEOPLE[0])
            weight = (0.9 - shares[i - 1]) / (share - shares[i - 1])
            return float(PEOPLE[i - 1] * (PEOPLE[i] / PEOPLE[i - 1]) ** weight)
    return 0.0
