"""`discreet bench people --raw`: how many people each contender needs, from raw data of every kind."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet import check
from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.kinds import KINDS, N0, POWER, noncentrality, simulate, sizes
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.parameters import Protect

ALL = tuple(KINDS)
NAMES = ("us", "us, proved", "by hand")
LABELS: dict[str, Protect] = {"public": "columns", "protected": "everything"}
_LARGE, _FEW = 5_000, ("uniform", "yes/no .1")  # so many columns are simulated for these kinds alone
_FIRST, _LAST = -4, 12  # half doublings of n0 between which the number of people is sought
_ENTRIES = 500_000_000  # at most so many in one table: 2 GB
_WEAK = {"yes/no .01": {100: (2.3, 2.7), 500: (3.0, 4.0)}, "alleles": {500: (4.0, 4.0)}}
_TARGETS = {30: (1.3, 1.3), 100: (1.5, 1.8), 500: (2.2, 2.6), 5_000: (5.0, 6.5)}
_RARE_TARGET = 3.0  # of 5,000 columns, 1% of them signals
_PROTECTED = 1.5  # times as many people may be needed where labels are protected


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: what columns are like, how many, which share are signals, and what is promised."""

    kind: str
    m: int
    share: float
    epsilon: float = 1.0
    labels: str = "public"

    @property
    def signals(self) -> int:
        """How many columns differ between the groups, at least one."""
        return max(1, round(self.share * self.m))

    @property
    def target(self) -> float | None:
        """How many times the people without privacy we may need, if that was set."""
        pair = _WEAK.get(self.kind, {}).get(self.m) or _TARGETS.get(self.m)
        if pair is None or self.epsilon != 1:
            return None
        ratio = pair[self.share > 0.25] if self.share >= 0.05 else _RARE_TARGET
        return ratio * (_PROTECTED if self.labels == "protected" else 1)


@dataclass(frozen=True, slots=True)
class Rates:
    """Means over studies: power, false discovery proportion, and the standard error of the latter."""

    power: float
    fdr: float
    error: float


@dataclass(frozen=True, slots=True)
class Needed:
    """How many people a contender needs, as a multiple of n0, with its rates there; None if too many."""

    ratio: float | None
    rates: Rates


Result = dict[str, Needed]


def cells(
    kinds: Sequence[str] = ALL,
    hypotheses: Sequence[int] = tuple(_TARGETS),
    epsilons: Sequence[float] = (1.0,),
    labels: Sequence[str] = tuple(LABELS),
) -> list[Cell]:
    """Return the settings; very many columns only of few kinds and with public labels."""
    chosen: list[Cell] = []
    for kind, m, epsilon, label in product(kinds, hypotheses, epsilons, labels):
        check.choice(kind, "kind", ALL)
        check.choice(label, "labels", tuple(LABELS))
        large = m >= _LARGE
        if not large or (kind in _FEW and label == "public"):
            shares = (0.01, 0.05, 0.5) if large else (0.05, 0.5)
            chosen += [Cell(kind, m, share, epsilon, label) for share in shares]
    return chosen


QUICK = [Cell("uniform", 30, 0.5), Cell("yes/no .1", 30, 0.5)]


def run(
    settings: Sequence[Cell],
    tick: Callable[[int], None],
    signals: int = 400,
    names: Sequence[str] = NAMES,
    workers: int = 2,
) -> dict[Cell, Result]:
    """Return what each contender needs in each setting, judged by about so many simulated signals."""
    found: dict[Cell, Result] = {}
    large = [cell for cell in settings if cell.m >= _LARGE]
    small = [cell for cell in settings if cell.m < _LARGE]
    for some, processes in ((large, 1), (small, workers)):  # two large tables may not fit in memory
        if some:
            with ProcessPoolExecutor(processes) as pool:
                results = pool.map(contest, some, [signals] * len(some), [tuple(names)] * len(some))
                for cell, result in zip(some, results, strict=True):
                    found[cell] = result
                    tick(1)
    return {cell: found[cell] for cell in settings}


def contest(cell: Cell, signals: int, names: Sequence[str] = NAMES) -> Result:
    """Return how many people each contender needs for the power of BH without privacy at n0."""
    studies = max(2, -(-signals // cell.signals))
    plain = rates(cell, "not private", N0, 4 * studies)
    last = min(_LAST, int(2 * np.log2(_ENTRIES / cell.m / N0)))
    found = {"not private": Needed(1.0, plain)}
    for name in names:
        found[name] = needed(lambda n, name=name: rates(cell, name, n, studies), plain.power, last)
    return found


def rates(cell: Cell, name: str, n: int, studies: int) -> Rates:
    """Return power and FDR of a contender on studies of n people; the same studies for all contenders."""
    kind = KINDS[cell.kind]
    effect = noncentrality(cell.m, cell.signals) / np.sqrt(kind.information(N0))
    outcomes: list[tuple[float, float]] = []
    discoveries = 1
    for seed in range(studies):
        rng = np.random.default_rng([seed, cell.m])
        shift = effect * sizes(cell.signals, rng)
        people = simulate(kind, n, cell.m, shift, LABELS[cell.labels], rng)
        places = CONTENDERS[name](people, cell.epsilon, rng)
        true = int(np.count_nonzero(places < cell.signals))
        outcomes.append((true / cell.signals, (places.size - true) / max(1, places.size)))
        discoveries += places.size
    power, fdp = np.array(outcomes).T
    # A few studies may agree by chance: the error is no less than if false discoveries came one by one.
    error = max(fdp.std() / np.sqrt(studies), np.sqrt(Q / discoveries))
    return Rates(float(power.mean()), float(fdp.mean()), float(error))


def needed(at: Callable[[int], Rates], power: float, last: int) -> Needed:
    """Return where `power` is reached: between half doublings of n0, by interpolation of its probit."""
    known: dict[int, Rates] = {}

    def below(step: int) -> bool:
        known.setdefault(step, at(round(N0 * 2 ** (step / 2))))
        return known[step].power < power

    low, high = (0, min(last, 2)) if below(0) else (_FIRST, 0)
    while below(high):
        if high == last:
            return Needed(None, known[last])
        low, high = high, min(last, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(middle) else (low, middle)
    less, more = known.get(low, Rates(0.0, 0.0, 0.0)), known[high]
    start, goal, end = ndtri(np.clip([less.power, power, more.power], 0.001, 0.999))
    weight = float((goal - start) / (end - start))
    fdr = (1 - weight) * less.fdr + weight * more.fdr
    return Needed(2 ** ((low + weight) / 2), Rates(power, fdr, max(less.error, more.error)))


def in_words(found: dict[Cell, Result]) -> str:
    """Return the table of people ratios with realised FDR, and which targets are met."""
    plain, *names = next(iter(found.values()))
    rows = [
        [cell.kind, f"{cell.m:,}", f"{cell.share:.0%}", f"{cell.epsilon:g}", cell.labels]
        + [f"{result[plain].rates.power:.2f} ({result[plain].rates.fdr:.3f})"]
        + [f"{_ratio(result[name])} ({result[name].rates.fdr:.3f})" for name in names]
        for cell, result in found.items()
    ]
    title = (
        f"People as a multiple of {N0:,} (realised FDR) at the power of BH without privacy there, about "
        f"{POWER:g}; q = {Q:g}, delta = {DELTA:g}"
    )
    header = ["columns", "m", "signals", "epsilon", "labels", f"{plain}*", *names]
    note = f"* its power (realised FDR) at {N0:,} people."
    return "\n".join([title, "", table(header, rows), "", note, "", *_verdicts(found, names)])


def _ratio(result: Needed) -> str:
    return "too many" if result.ratio is None else f"{result.ratio:.2f}"


def _verdicts(found: dict[Cell, Result], names: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for cell, result in found.items():
        if cell.target is not None and "us" in names:
            words = f"{cell.kind}, m = {cell.m:,}, {cell.share:.0%} signals, {cell.labels} labels"
            met = (result["us"].ratio or np.inf) <= cell.target
            lines.append(verdict(met, f"{words}: {_ratio(result['us'])}, at most {cell.target:.3g}"))
    for name in names:
        worst = max((one[name].rates.fdr - Q) / one[name].rates.error for one in found.values())
        lines.append(verdict(worst <= 4, f"FDR of {name} at most q within 4 standard errors everywhere"))
    return lines
