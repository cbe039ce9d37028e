"""`discreet bench people --raw`: how many people each contender needs, from raw data of every kind."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet import check
from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.kinds import KINDS, N0, POWER, noncentrality, simulate, sizes
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.rates import Rates, controlled
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.typing import Protect

ALL = tuple(KINDS)
NAMES = ("us", "us, proved", "by hand")
LABELS: dict[str, Protect] = {"public": "columns", "protected": "everything"}
_LARGE, _FEW = 5_000, ("uniform", "yes/no .1")  # so many columns are simulated for these kinds alone
_FIRST, _LAST = -4, 12  # half doublings of n0 between which the number of people is sought
_ENTRIES = 500_000_000  # at most so many in one table: 2 GB
_WEAK = {"yes/no .01": {100: (2.3, 2.7), 500: (3.0, 4.0)}, "alleles": {500: (4.0, 4.0)}}
_TARGETS = {30: (1.3, 1.3), 100: (1.5, 1.8), 500: (2.2, 2.6), 5_000: (5.0, 6.5)}
_RARE_TARGET = 3.0  # of 5,000 columns, 1% of them signals
_SINGLE = ("all", "focus", "aware")  # the methods that "us" chooses from
_BEHIND = 0.05  # of power, by which the choice may be behind the best of them
_PROTECTED = 1.5  # times as many people may be needed where labels are protected


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: what columns are like, how many, which share are signals, and what is promised."""

    kind: str
    m: int
    share: float
    epsilon: float = 1.0
    labels: str = "public"

    def __str__(self) -> str:
        return f"{self.kind}, m = {self.m:,}, {self.share:.0%} signals, {self.labels} labels"

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
    people: int | None = None,
    workers: int = 2,
) -> dict[Cell, Result]:
    """Return what each contender needs in each setting, or reaches with so many `people`.

    Figures stand on about so many simulated `signals`.
    """
    results: dict[Cell, Result] = {}
    work = partial(contest, signals=signals, names=tuple(names), people=people)
    large = [cell for cell in settings if cell.m >= _LARGE]
    small = [cell for cell in settings if cell.m < _LARGE]
    for some, processes in ((large, 1), (small, workers)):  # two large tables may not fit in memory
        if some:
            with ProcessPoolExecutor(processes) as pool:
                for cell, result in zip(some, pool.map(work, some), strict=True):
                    results[cell] = result
                    tick(1)
    return {cell: results[cell] for cell in settings}


def contest(cell: Cell, signals: int, names: Sequence[str], people: int | None = None) -> Result:
    """Return how many people each contender needs for the power of BH without privacy at n0.

    Given a number of `people`, return the rates of each with them instead.
    """
    studies = max(2, -(-signals // cell.signals))
    plain = rates(cell, "not private", people or N0, 4 * studies)
    results = {"not private": Needed(1.0, plain)}
    if people is not None:
        return results | {name: Needed(None, rates(cell, name, people, studies)) for name in names}
    last = min(_LAST, int(2 * np.log2(_ENTRIES / cell.m / N0)))
    for name in names:
        results[name] = needed(lambda n, name=name: rates(cell, name, n, studies), plain.power, last)
    return results


def rates(cell: Cell, name: str, n: int, studies: int) -> Rates:
    """Return power and FDR of a contender on studies of n people; the same studies for all contenders."""
    kind = KINDS[cell.kind]
    effect = noncentrality(cell.m, cell.signals) / np.sqrt(kind.information(N0))

    def study(seed: int) -> NDArray[np.int64]:
        rng = np.random.default_rng([seed, cell.m])
        shift = effect * sizes(cell.signals, rng)
        people = simulate(kind, n, cell.m, shift, LABELS[cell.labels], rng)
        return CONTENDERS[name](people, cell.epsilon, rng)

    return Rates.of(map(study, range(studies)), cell.signals)


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


def in_words(results: dict[Cell, Result], people: int | None = None) -> str:
    """Return the table of people ratios, or of power with so many `people`, and which targets are met."""
    plain, *names = next(iter(results.values()))
    shown = _ratio if people is None else _power
    rows = [
        [cell.kind, f"{cell.m:,}", f"{cell.share:.0%}", f"{cell.epsilon:g}", cell.labels]
        + [f"{_power(result[plain])} ({result[plain].rates.fdr:.3f})"]
        + [f"{shown(result[name])} ({result[name].rates.fdr:.3f})" for name in names]
        for cell, result in results.items()
    ]
    what = f"People as a multiple of {N0:,}" if people is None else f"Power with {people:,} people"
    where = f" at the power of BH without privacy there, about {POWER:g}" if people is None else ""
    title = f"{what} (realised FDR){where}; q = {Q:g}, delta = {DELTA:g}"
    header = ["columns", "m", "signals", "epsilon", "labels", f"{plain}*", *names]
    note = f"* its power (realised FDR) with {people or N0:,} people."
    verdicts = _few_enough(results) if people is None else _chosen_well(results)
    return "\n".join([title, "", table(header, rows), "", note, "", *verdicts, *_controlled(results)])


def _ratio(result: Needed) -> str:
    return "too many" if result.ratio is None else f"{result.ratio:.2f}"


def _power(result: Needed) -> str:
    return f"{result.rates.power:.2f}"


def _few_enough(results: dict[Cell, Result]) -> list[str]:
    """Return where we need few enough people by default."""
    return [
        verdict((us.ratio or np.inf) <= cell.target, f"{cell}: {_ratio(us)}, at most {cell.target:.3g}")
        for cell, result in results.items()
        for us in [result.get("us")]
        if us is not None and cell.target is not None
    ]


def _chosen_well(results: dict[Cell, Result]) -> list[str]:
    """Return where the method that was chosen is nearly as good as the best of them."""
    lines: list[str] = []
    for cell, result in results.items():
        single = {name: result[name].rates.power for name in _SINGLE if name in result}
        if single and "us" in result:
            best = max(single, key=lambda name: single[name])
            behind = single[best] - result["us"].rates.power
            words = f"{cell}: {behind:.2f} of power behind {best}, the best method, at most {_BEHIND:g}"
            lines.append(verdict(behind <= _BEHIND, words))
    return lines


def _controlled(results: dict[Cell, Result]) -> list[str]:
    """Return whose false discovery rate is at most q everywhere, as far as the studies can tell."""
    names = next(iter(results.values()))
    return [controlled((result[name].rates for result in results.values()), f"of {name} ") for name in names]
