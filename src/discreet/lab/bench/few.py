"""`discreet bench people --few`: power with one to thirty hypotheses and at most 2,000 people."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.kinds import KINDS, simulate, sizes
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.rates import power_and_fdp
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HYPOTHESES, _PEOPLE = (1, 10, 30), (200, 500, 2_000)
NAMES = ("us", "us, bounds", "us, proved", "aware", "by hand", "not private")
_KINDS = ("uniform", "yes/no .5")
_Z = 8.0  # the mean z of a signal without privacy: plain to see
_MARGIN = {10: 0.31, 30: 0.39}  # by which noise-aware BH must be beaten at 2,000 people

SETTINGS = tuple(product(_KINDS, _HYPOTHESES, _PEOPLE))

Key = tuple[str, int, int, str]


def run(
    studies: int,
    epsilon: float,
    tick: Callable[[int], None],
    settings: Sequence[tuple[str, int, int]] = SETTINGS,
) -> dict[Key, tuple[float, float]]:
    """Return power and FDR by kind of column, hypotheses, people and contender; half of them are true."""
    results: dict[Key, tuple[float, float]] = {}
    for kind, m, n in settings:
        signals = (m + 1) // 2
        outcomes: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
        for seed in range(studies):
            rng = np.random.default_rng([seed, m, n])
            shift = _Z / np.sqrt(KINDS[kind].information(n)) * sizes(signals, rng)
            study = simulate(KINDS[kind], n, m, shift, "columns", rng)
            for name in NAMES:
                places = CONTENDERS[name](study, epsilon, rng)
                outcomes[name].append(power_and_fdp(places, signals))
        for name, pairs in outcomes.items():
            power, fdr = np.mean(pairs, axis=0).tolist()
            results[kind, m, n, name] = power, fdr
        tick(1)
    return results


def in_words(results: dict[Key, tuple[float, float]], epsilon: float) -> str:
    """Return power (FDR) of every contender, and whether the targets are met."""
    settings = list(dict.fromkeys(key[:3] for key in results))
    rows = [
        [kind, str(m), f"{n:,}", *("{:.2f} ({:.3f})".format(*results[kind, m, n, name]) for name in NAMES)]
        for kind, m, n in settings
    ]
    title = (
        f"Power (realised FDR) with few hypotheses, half of them true with a mean z of {_Z:g} before noise; "
        f"epsilon = {epsilon:g}, delta = {DELTA:g}, q = {Q:g}, public labels"
    )
    lines = [title, "", table(["columns", "m", "people", *NAMES], rows), ""]
    for kind, m, n in settings:
        if n == _PEOPLE[-1] and m in _MARGIN:
            ahead = results[kind, m, n, "us"][0] - results[kind, m, n, "aware"][0]
            goal = min(_MARGIN[m], 0.99 - results[kind, m, n, "aware"][0])
            words = f"{kind}, m = {m}, n = {n:,}: {ahead:+.2f} of power beside noise-aware BH, at least"
            lines.append(verdict(ahead >= goal, f"{words} {goal:.2f}"))
    return "\n".join(lines)
