"""Null columns drawn where they matter: people's laws tilted towards what a test looks for, and weighed back.

A column is drawn from one of several laws, under which what a person of kind k holds has the chance
p(x) exp(a_k s(x)) / M_k: s is what tests look at (a value, an answer, the excess of an event over its
hazard), and the exponents move its contrast between kinds by 1 .. 7 standard deviations, in each direction.
The weight of a column is its chance under p over that under the mixture, so that weighted shares are unbiased
whatever the test does: a level of 1e-6 takes thousands of columns in place of billions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.evidence.core.invented import NullCase

    Floats = NDArray[np.float64]

_STEPS = np.arange(1.0, 8.0)  # standard deviations
_PLAIN = 0.1  # of the columns come from the null law itself: no weight is above 1 over that
_PLANE, _SPACE = 16, 300  # directions tried in two and in more dimensions
_LEAST = 0.05  # of the hazard is left, where it is tilted
_STRATA = "s"
_ASIDE = ("covariate",)


@dataclass(frozen=True, slots=True, eq=False)
class Tilts:
    """The laws of a mixture: exponents (laws, kinds, values or 1), logs of what normalises them, chances."""

    case: NullCase
    exponents: Floats
    log_moments: Floats
    chances: Floats

    @classmethod
    def of(cls, case: NullCase) -> Tilts:
        """Return the mixture for a case: all directions in which its labels, and its answers, may differ."""
        unit = directions(case)
        tilted = (_STEPS[:, None, None, None] * unit).reshape(-1, *unit.shape[1:])
        exponents = np.concatenate([np.zeros((1, *unit.shape[1:])), tilted])
        if case.censored is not None:
            exponents = exponents[np.all(1 + (1 - case.censored) * exponents > _LEAST, axis=(1, 2))]
        chances = np.full(len(exponents), (1 - _PLAIN) / (len(exponents) - 1))
        chances[0] = _PLAIN
        return cls(case, exponents, _log_moments(case, exponents), chances)

    def counts(self, columns: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
        """Return how many people of each kind hold each value, (columns, kinds, values), and weights."""
        every: list[NDArray[np.int64]] = []
        for law, some in enumerate(rng.multinomial(columns, self.chances)):
            chance = _chances(self.case) * np.exp(self.exponents[law])
            drawn = [
                rng.multinomial(size, p / p.sum(), size=some)
                for size, p in zip(self.case.sizes, chance, strict=True)
            ]
            every.append(np.stack(drawn, axis=1))
        counts = np.concatenate(every)
        return counts, self._weights(counts)

    def people(
        self, columns: int, wide: int, rng: np.random.Generator
    ) -> Iterator[tuple[Floats, NDArray[np.bool_], Floats]]:
        """Yield everyone's values without ties, who had an event, (people, some columns), and weights."""
        for law, some in enumerate(rng.multinomial(columns, self.chances)):
            for first in range(0, int(some), wide):
                values, events = self._drawn(law, min(wide, int(some) - first), rng)
                yield values, events, self._weights(self._sums(values, events))

    def _drawn(self, law: int, columns: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
        shape = self.case.people, columns
        tilt = np.repeat(self.exponents[law, :, 0], self.case.sizes)[:, None]
        if self.case.censored is None:
            tilt = np.where(np.abs(tilt) < 1e-9, 1e-9, tilt)
            part = np.log1p(rng.random(shape) * np.expm1(tilt)) / tilt
            return part - 0.5, np.ones(shape, dtype=np.bool_)
        seen = 1 - self.case.censored
        chance = seen * np.exp(tilt) / (1 - seen + seen * np.exp(tilt))
        return rng.standard_exponential(shape) / (1 + seen * tilt), rng.random(shape) < chance

    def _sums(self, values: Floats, events: NDArray[np.bool_]) -> Floats:
        """Return the sums of s over the people of each kind, (columns, kinds)."""
        s = values if self.case.censored is None else events - (1 - self.case.censored) * values
        return np.add.reduceat(s, np.cumsum([0, *self.case.sizes[:-1]]), axis=0).T

    def _weights(self, sums: NDArray[np.float64] | NDArray[np.int64]) -> Floats:
        """Return the chances of columns over those in the mixture, from sums of s or counts of values."""
        flat = self.exponents.reshape(len(self.exponents), -1)
        ratio = sums.reshape(len(sums), -1) @ flat.T - self.log_moments + np.log(self.chances)
        return np.exp(-logsumexp(ratio, axis=1))


def directions(case: NullCase) -> Floats:
    """Return contrasts of kinds, and of answers that have no order, of standard deviation 1 in a column.

    Shape (directions, kinds, values), or (directions, kinds, 1) without ties.
    """
    sides = _contrasts(case)
    if case.law is None:
        variance = 1 / 12 if case.censored is None else 1 - case.censored
        answers = np.full((1, 1), 1 / np.sqrt(variance))
    elif case.unordered:
        answers = _orthonormal(np.eye(len(case.law)), _chances(case))
    else:
        answers = _orthonormal(np.array([list(case.law)], dtype=np.float64), _chances(case))
    basis = np.einsum("dk,ev->dekv", sides, answers).reshape(-1, sides.shape[1], answers.shape[1])
    return np.asarray(np.tensordot(_around(len(basis)), basis, axes=1), dtype=np.float64)


def _contrasts(case: NullCase) -> Floats:
    """Return orthonormal contrasts of the kinds, inside strata: one, or all where groups have no order."""
    sizes = np.array(case.sizes, dtype=np.float64)
    labels = {name: np.asarray(kinds, dtype=np.float64) for name, kinds in case.labels.items()}
    strata = labels.pop(_STRATA, np.zeros(sizes.size))
    tested = [label for name, label in labels.items() if name not in _ASIDE]
    if not tested:
        return np.full((1, sizes.size), 1 / np.sqrt(sizes.sum()))
    if case.crossed:
        return _orthonormal(
            (np.sign(strata - 0.5) * np.sign(tested[0] - 0.5) / sizes)[None], sizes, centre=False
        )
    raw = np.eye(sizes.size) if case.test.groups > 2 else tested[0][None]
    inside = strata[:, None] == np.unique(strata)
    means = (raw * sizes) @ inside / (sizes @ inside)
    return _orthonormal(raw - means @ inside.T, sizes, centre=False)


def _orthonormal(raw: Floats, weight: Floats, *, centre: bool = True) -> Floats:
    """Return a basis of what the rows of `raw` span, less their means, orthonormal with these weights."""
    centred = raw - (raw @ weight / weight.sum())[:, None] if centre else raw
    _, length, basis = np.linalg.svd(centred * np.sqrt(weight), full_matrices=False)
    kept = length > 1e-9 * length[0]
    return basis[kept] / np.sqrt(weight)


def _around(dimensions: int) -> Floats:
    """Return unit vectors on all sides, (directions, dimensions)."""
    if dimensions == 1:
        return np.array([[1.0], [-1.0]])
    if dimensions == 2:
        angle = 2 * np.pi * np.arange(_PLANE) / _PLANE
        return np.column_stack([np.cos(angle), np.sin(angle)])
    ways = np.random.default_rng(3).standard_normal((_SPACE, dimensions))
    return ways / np.linalg.norm(ways, axis=1, keepdims=True)


def _chances(case: NullCase) -> Floats:
    return np.array([] if case.law is None else list(case.law.values()), dtype=np.float64)


def _log_moments(case: NullCase, exponents: Floats) -> Floats:
    """Return the logs of what laws are normalised by, (laws,)."""
    if case.law is not None:
        each = np.log(np.exp(exponents) @ _chances(case))
    elif case.censored is None:
        half = np.maximum(np.abs(exponents[:, :, 0]) / 2, 1e-9)
        each = np.log(np.sinh(half) / half)
    else:
        tilt, seen = exponents[:, :, 0], 1 - case.censored
        each = np.log(1 - seen + seen * np.exp(tilt)) - np.log1p(seen * tilt)
    return each @ np.array(case.sizes, dtype=np.float64)
