"""`discreet bench people --genetic`: how many people cases against controls need, by allele frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from discreet.api import release
from discreet.classical.step_up import step_up_positions
from discreet.evidence.allelic import Allelic
from discreet.evidence.carriers import Carriers
from discreet.evidence.core.association import lesser_share
from discreet.lab.bench.kinds import N0, POWER, noncentrality, sizes
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.rates import Rates, controlled
from discreet.lab.bench.raw import Needed, needed
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

PEOPLE = 3_000  # for whom BH without privacy has the power sought
FREQUENCIES = (0.05, 0.1, 0.2, 0.4)
SIGNALS = 10
_LAST = 14  # half doublings of the number of people after which the search ends
# With an earlier rule's floors one person moved z by a sixteenth, however many people there were.
_STEP, _RARE, _FEW_CASES = 1 / 16, 0.05, 0.1
TARGETS = {"us": (7.1, 5.2, 4.3, 4.7), "phenotype public": (4.3, 3.0, 2.4, 2.7)}


@dataclass(frozen=True, slots=True)
class Cell:
    """Cases and controls, half each: the frequency of the effect allele, how many variants, and epsilon."""

    frequency: float
    m: int
    epsilon: float = 1.0


QUICK = Cell(0.2, 2_000)


def cells(epsilons: Sequence[float] = (1.0,)) -> list[Cell]:
    """Return the settings: a genome scan at each frequency."""
    return [Cell(frequency, 100_000, epsilon) for epsilon in epsilons for frequency in FREQUENCIES]


Result = dict[str, Needed]


def earlier(n: int) -> Allelic:
    """Return the allelic test with the floors that it took unasked before there was a cap."""
    variance = float(np.clip((2 / _STEP) ** 2 / (n / 2), _FEW_CASES * (1 - _FEW_CASES), 0.25))
    rare = max(_RARE, lesser_share((2 / _STEP) ** 2 / (2 * n * variance)))
    return Allelic(maf_floor=rare, case_floor=lesser_share(variance))


CONTENDERS: dict[str, Callable[[int], Any]] = {
    "us": lambda _: Carriers(),
    "us, proved tail": lambda _: Carriers(tail="proved"),
    "phenotype public": lambda _: Carriers(protect="genotypes"),
    "allelic": lambda _: Allelic(),
    "allelic, phenotype public": lambda _: Allelic(protect="genotypes"),
    "earlier floors": earlier,
}


def drawn(cell: Cell, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many controls and cases carry 0, 1 and 2 alleles, (2, 3, m), and everyone in each group."""
    p = cell.frequency
    strength = noncentrality(cell.m, SIGNALS) * np.sqrt(2 * p * (1 - p) / PEOPLE)
    difference = np.zeros(cell.m)
    difference[:SIGNALS] = strength * sizes(SIGNALS, rng)
    members = np.array([n - n // 2, n // 2])
    counts = np.zeros((2, 3, cell.m), dtype=np.int64)
    for group, side in enumerate((-0.5, 0.5)):
        rate = np.clip(p + side * difference, 0.0, 1.0)
        counts[group, 2] = rng.binomial(members[group], rate**2)
        counts[group, 1] = rng.binomial(members[group] - counts[group, 2], 2 * rate / (1 + rate))
        counts[group, 0] = members[group] - counts[group, 1:].sum(axis=0)
    return counts, members


def not_private(counts: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the discoveries of BH on trend tests without privacy."""
    dose = counts[:, 1] + 2 * counts[:, 2]
    n = members.sum()
    total, square = dose.sum(axis=0), (counts[:, 1] + 4 * counts[:, 2]).sum(axis=0)
    share = members[1] / n
    variance = share * (1 - share) * (square - total * total / n)
    z: NDArray[np.float64] = (dose[1] - share * total) / np.sqrt(np.maximum(variance, 1e-9))
    p = np.asarray(2 * ndtr(-np.abs(z)), dtype=np.float64)
    return step_up_positions(p, Q)


def found(name: str, cell: Cell, counts: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the discoveries of a contender."""
    if name == "not private":
        return not_private(counts, members)
    totals = CONTENDERS[name](int(members.sum())).start(range(cell.m))
    totals.counts[0, :, :3] = counts
    totals.members[0], totals.slots[0] = members, members.sum()
    return release(totals.finish(), q=Q, epsilon=cell.epsilon, delta=DELTA).indices


def rates(cell: Cell, name: str, n: int, studies: int) -> Rates:
    """Return power and FDR of a contender on studies of n people; the same studies for all contenders."""
    drawn_studies = (drawn(cell, n, np.random.default_rng([seed, n])) for seed in range(studies))
    return Rates.of((found(name, cell, *study) for study in drawn_studies), SIGNALS)


def run(
    cells: Sequence[Cell],
    tick: Callable[[int], None],
    signals: int = 400,
    names: Sequence[str] = tuple(CONTENDERS),
) -> dict[Cell, Result]:
    """Return how many people each contender needs in each cell, from about so many simulated `signals`."""
    studies = max(2, -(-signals // SIGNALS))
    results: dict[Cell, Result] = {}
    for cell in cells:
        plain = rates(cell, "not private", PEOPLE, 4 * studies)
        results[cell] = {"not private": Needed(1.0, plain)}
        for name in names:
            # The search goes by multiples of N0 people.
            def at(n: int, cell: Cell = cell, name: str = name) -> Rates:
                return rates(cell, name, round(n * PEOPLE / N0), studies)

            results[cell][name] = needed(at, plain.power, _LAST)
            tick(1)
    return results


def in_words(results: dict[Cell, Result]) -> str:
    """Return the table of people ratios, and which targets are met."""
    _, *names = next(iter(results.values()))
    rows = [
        [f"{cell.frequency:g}", f"{cell.m:,}", f"{cell.epsilon:g}"]
        + [f"{result['not private'].rates.power:.2f} ({result['not private'].rates.fdr:.3f})"]
        + [f"{_ratio(result[name])} ({result[name].rates.fdr:.3f})" for name in names]
        for cell, result in results.items()
    ]
    title = (
        f"People as a multiple of {PEOPLE:,} (realised FDR) at the power of BH on trend tests without "
        f"privacy there, about {POWER:g}; half cases, {SIGNALS} signals, q = {Q:g}, delta = {DELTA:g}"
    )
    header = ["frequency", "variants", "epsilon", "not private*", *names]
    lines = [title, "", table(header, rows), "", f"* its power (realised FDR) with {PEOPLE:,} people.", ""]
    for name, targets in TARGETS.items():
        for cell, result in results.items():
            if name in result and cell.m == 100_000 and cell.epsilon == 1 and cell.frequency in FREQUENCIES:
                target, ratio = targets[FREQUENCIES.index(cell.frequency)], result[name].ratio
                words = f"{name}, frequency {cell.frequency:g}: {_ratio(result[name])}, at most {target:g}"
                lines.append(verdict((ratio or np.inf) <= target, words))
    lines.append(controlled(met.rates for result in results.values() for met in result.values()))
    return "\n".join(lines)


def _ratio(result: Needed) -> str:
    return "too many" if result.ratio is None else f"{result.ratio:.2f}"
