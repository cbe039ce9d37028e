"""Two neighbouring tables side by side: the sums of each step, after the same answers to all steps before.

Privacy must hold whatever was told before, so the answers fed to both tables may be anything: the truth, a
little noise, or numbers far outside of what could be true.
"""

from __future__ import annotations

import math
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.methods.all import sums
from discreet.methods.all.record import Noisy
from discreet.methods.all.rows import FINE
from discreet.methods.focus import method as focus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOM = 1 + 1e-12
MAIN = ("sums", "contrast", "squares", "weights")
PROVED = ("proved sums", "proved squares", "proved uneven")
STYLES = ("noise", "noise", "truth", "wild", "zero", "more", "less")


@dataclass(frozen=True)
class Step:
    """What one step was asked to tell, on which terms, and what it answered."""

    name: str
    total: np.ndarray
    terms: tuple[float, ...]
    answer: Any

    def moved(self, other: Step) -> float:
        """Return how far apart the exact sums are, as a share of what they may be."""
        apart = np.array([int(a) - int(b) for a, b in zip(self.total.flat, other.total.flat, strict=True)])
        return float(np.linalg.norm(apart.astype(np.float64))) / max(self.terms[0], 1.0)


@dataclass
class Record:
    """The steps of one draw, answered in some style or as another draw was."""

    rng: np.random.Generator
    style: str
    before: Record | None = None
    steps: list[Step] = field(default_factory=list)

    def tell(self, total: Any, sensitivity: float, rho: float, unit: float = 1.0) -> Noisy:
        """Stand in for `with_noise`."""
        exact = np.asarray(total)
        with np.errstate(all="ignore"):
            assert np.array_equal(exact.astype(np.int64), exact), "sums are not whole numbers of 64 bits"
        if self.before is None:
            deviation = max(sensitivity, 1.0) / math.sqrt(2 * rho)
            sums = np.round(answered(self.rng, self.style, exact.astype(np.float64), deviation))
            answer = Noisy(sums * unit, deviation * unit)
        else:
            answer = self.before.steps[len(self.steps)].answer
        where = sys._getframe(1).f_code.co_name
        if where == "measure":
            where = self._measured(sys._getframe(1).f_globals["__name__"], unit)
        if where == "staged" and unit == 1 / FINE:
            where = "sums of a stage"
        self.steps.append(Step(where, exact, (sensitivity, rho, unit), answer))
        return answer

    def _measured(self, module: str, unit: float) -> str:
        """Return what is measured: known by its unit, and contrasts by the sums that come before them."""
        if "proved" in module:
            return PROVED[sum(step.name in PROVED for step in self.steps) % len(PROVED)]
        known = {1 / FINE: "sums", 1 / FINE**2: "squares"}
        return known.get(unit, "contrast" if self.steps[-1].name == "sums" else "weights")

    def choose(self, evidence: Any, count: int, rho: float) -> np.ndarray:
        """Stand in for `select_largest`."""
        certificate = evidence.certificate
        if self.before is None:
            answer = self.rng.permutation(len(evidence))[:count]
        else:
            answer = self.before.steps[len(self.steps)].answer
        terms = (certificate.sensitivity, certificate.spread, rho, float(count))
        self.steps.append(Chosen("select", evidence.score, terms, answer))
        return answer

    @property
    def spent(self) -> float:
        """How much of the budget the steps have spent."""
        return math.fsum(step.terms[-2] if isinstance(step, Chosen) else step.terms[1] for step in self.steps)


class Chosen(Step):
    """The same of a selection by scores."""

    def moved(self, other: Step) -> float:
        """Return how far scores are apart, as a share of what the certificate says."""
        apart = self.total - other.total
        spread = max(apart.max(), 0.0) - min(apart.min(), 0.0)
        return float(max(np.abs(apart).max() / self.terms[0], spread / self.terms[1])) / (1 + 1e-9)


def answered(rng: np.random.Generator, style: str, exact: np.ndarray, deviation: float) -> np.ndarray:
    """Return what a step tells: anything that noise could make of it, and more."""
    if style == "mixed":
        style = str(rng.choice(STYLES))
    normal = rng.normal(size=exact.shape)
    if style == "wild":
        return exact + normal * deviation * 10.0 ** rng.uniform(-2, 6)
    if style in ("more", "less"):
        return exact + np.abs(normal) * deviation * (1e3 if style == "more" else -1e3)
    return {"truth": exact, "zero": np.zeros(exact.shape), "noise": exact + deviation * normal}[style]


@contextmanager
def standing_in(record: Record) -> Iterator[None]:
    """Answer in the place of `with_noise` wherever the methods call it, and of the selection."""
    real = {"with_noise": sums.with_noise, "select_largest": focus.select_largest}
    places = [
        (module, name)
        for key, module in list(sys.modules.items())
        for name in real
        if key.startswith("discreet.methods") and getattr(module, name, None) is real[name]
    ]
    for module, name in places:
        setattr(module, name, record.tell if name == "with_noise" else record.choose)
    try:
        yield
    finally:
        for module, name in places:
            setattr(module, name, real[name])


def ratios(
    draw: Callable[[Any], Any], table: Any, neighbours: Iterable[Any], rng: np.random.Generator, style: str
) -> dict[str, float]:
    """Return by step how far the sums of neighbours are apart at most, as a share of what is claimed."""
    first = Record(rng, style)
    with standing_in(first):
        one = draw(table)
    found: dict[str, float] = {}
    for neighbour in neighbours:
        second = Record(rng, style, first)
        with standing_in(second):
            two = draw(neighbour)
        assert len(first.steps) == len(second.steps), "how many steps there are depends on the data"
        for before, after in zip(first.steps, second.steps, strict=True):
            assert before.terms == after.terms, "the terms of a step depend on the data"
            assert before.total.shape == after.total.shape, "the shape of a step depends on the data"
            found[before.name] = max(found.get(before.name, 0.0), before.moved(after))
        assert one.to_json() == two.to_json(), "what is released depends on more than what was told"
    return found
