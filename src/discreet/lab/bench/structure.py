"""`discreet bench gwas --structure`: population structure, adjusted for with privacy and without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from discreet.api import discover
from discreet.classical.step_up import step_up_positions
from discreet.evidence.carriers import Carriers
from discreet.evidence.score import Score
from discreet.lab.bench.rates import Alarms, few_alarms, mean_alarms, power_and_fdp
from discreet.measure import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ALPHA, Q = 0.01, 0.1
MOST = 1.5
"""Times alpha."""
COMPONENTS = (2, 10)
_CAUSAL = 0.05  # of the variants
_DRIFT = 0.06  # deviation of an allele's frequency over populations
_EFFECT = 0.12  # deviations of a trait for each allele; log odds of a case, twice that
_OURS = "Score, adjusted"
_ADJUSTED = (_OURS, "Carriers, adjusted, public", "Carriers, adjusted, protected")


@dataclass(frozen=True, slots=True, eq=False)
class _Study:
    """Genotypes and a phenotype that follow the same principal components."""

    genotypes: NDArray[np.float64]
    components: NDArray[np.float64]
    trait: NDArray[np.float64]
    cases: bool

    @property
    def table(self) -> NDArray[np.float64]:
        """Genotypes, then components, then the phenotype."""
        return np.column_stack([self.genotypes, self.components, self.trait])

    def judged(self, test: Any, *, scores: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the p-values that a test gives, and what is discovered with it."""
        variants = [str(place) for place in range(self.genotypes.shape[1])]
        made = discover(self.table, test, q=Q, epsilon=1.0, delta=1e-6, columns=variants)
        if not scores:
            assert made.told is not None  # noqa: S101  every p-value is released
            return made.told.p_value, made.indices
        evidence = measure(self.table, test, columns=variants)
        return evidence.null.survival(evidence.score), made.indices

    def by_regression(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return p-values of each genotype beside all components, and what BH discovers; without privacy."""
        design = np.column_stack([np.ones(len(self.trait)), self.components])
        basis = np.linalg.qr(design)[0]
        trait = self.trait - basis @ (basis.T @ self.trait)
        rest = self.genotypes - basis @ (basis.T @ self.genotypes)
        r = trait @ rest / np.sqrt((trait @ trait) * np.sum(rest * rest, axis=0))
        degrees = len(trait) - design.shape[1] - 1
        p = 2 * np.asarray(stdtr(degrees, -np.abs(r) * np.sqrt(degrees / (1 - r * r))), dtype=np.float64)
        return p, step_up_positions(p, Q)


def _study(people: int, variants: int, components: int, rng: np.random.Generator, *, cases: bool) -> _Study:
    """Return a study in which components move every frequency and, as strongly as all else, the phenotype."""
    z = rng.normal(size=(people, components))
    load = rng.normal(size=(components, variants))
    load *= _DRIFT / np.linalg.norm(load, axis=0)
    frequency = np.clip(rng.uniform(0.15, 0.5, variants) + z @ load, 0.01, 0.99)
    genotypes = np.asarray(rng.binomial(2, frequency), dtype=np.float64)
    lean = z.sum(axis=1) / np.sqrt(components)
    effect = _EFFECT * (genotypes - 2 * frequency)[:, : round(_CAUSAL * variants)].sum(axis=1)
    if cases:
        odds = 1.5 * lean + 2 * effect
        return _Study(genotypes, z, (rng.random(people) < 1 / (1 + np.exp(-odds))) + 1.0, cases)
    return _Study(genotypes, z, lean + effect + rng.normal(size=people), cases)


def _ways(study: _Study) -> dict[str, Callable[[], tuple[NDArray[np.float64], NDArray[np.int64]]]]:
    variants, components = study.genotypes.shape[1], study.components.shape[1]
    names = [str(variants + place) for place in range(components)]
    phenotype = str(variants + components)
    bounds = (1.0, 2.0) if study.cases else (-6.0, 6.0)
    score = Score(trait=phenotype, bounds=bounds, protect="genotypes", adjust=names)
    alone = Score(trait=phenotype, bounds=bounds, protect="genotypes")
    ways = {
        _OURS: lambda: study.judged(score, scores=True),
        "Score, not adjusted": lambda: study.judged(alone, scores=True),
        "regression, not private": study.by_regression,
    }
    if study.cases:
        adjust = dict.fromkeys(names, (-4.0, 4.0))
        public = Carriers(group=phenotype, protect="genotypes", adjust=adjust)
        protected = Carriers(group=phenotype, adjust=adjust)
        ways[_ADJUSTED[1]] = lambda: study.judged(public, scores=False)
        ways[_ADJUSTED[2]] = lambda: study.judged(protected, scores=False)
    return ways


def run(people: int, variants: int, studies: int, seed: int = 1) -> list[Alarms]:
    """Return false alarms and power of every way, traits and cases, with each number of components."""
    rows: list[Alarms] = []
    real = round(_CAUSAL * variants)
    for place, components in enumerate(COMPONENTS):
        for cases in (False, True):
            seen: dict[str, list[tuple[float, float, float]]] = {}
            for number in range(studies):
                rng = np.random.default_rng([seed, place, int(cases), number])
                for way, judge in _ways(_study(people, variants, components, rng, cases=cases)).items():
                    p, found = judge()
                    power, false = power_and_fdp(found, real)
                    seen.setdefault(way, []).append((float(np.mean(p[real:] <= ALPHA)), false, power))
            setting = f"{components} components, {'cases' if cases else 'a trait'}"
            rows += mean_alarms(setting, seen)
    return rows


def in_words(rows: list[Alarms], people: int, variants: int, studies: int) -> str:
    """Return the table, and whether false alarms stay below the target."""
    share = f"one in {1 / _CAUSAL:.0f} causal; epsilon = 1, q = {Q:g}"
    lines = [f"{people:,} people; {studies} studies of {variants:,} variants, {share}"]
    lines += [row.in_words(ALPHA, (24, 30)) for row in rows]
    ours = [row for row in rows if row.way in _ADJUSTED]
    return "\n".join([*lines, few_alarms(ours, ALPHA, MOST, variants * studies)])
