"""Noisy effects, or scores, of what was discovered: the last share of a budget (docs/proofs/effects.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.scores import score_name
from discreet.report.parts import Values
from discreet.selection.values import gaussian_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence

VALUES_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class ValuePlan:
    """Values of up to `most` discoveries, together Gaussian(sqrt(2 rho)) however many there are."""

    rho: float
    most: int
    sensitivity: float

    def __post_init__(self) -> None:
        # Noise that cannot be drawn is refused before anything is; between the ends it only grows.
        for count in (1, self.most):
            gaussian_noise(self.sensitivity, self.rho / count)

    def draw(self, evidence: Evidence, indices: NDArray[np.int64]) -> Values:
        """Return one noisy number for each of `indices`, the effect where there is one, else the score."""
        effect = evidence.effect
        whole, name = (
            (evidence.score, score_name(evidence)) if effect is None else (effect.share, effect.name)
        )
        unit = np.ones(indices.size) if effect is None else effect.unit[indices]
        if indices.size == 0:
            return Values(name, np.zeros(0), np.zeros(0))
        noise = gaussian_noise(self.sensitivity, self.rho / indices.size)
        noisy = noise.added_to(whole[indices], largest=True)
        return Values(name, noisy * unit, noise.scale * unit)


def value_plan(evidence: Evidence, rho: float, most: int) -> ValuePlan:
    """Return the plan that spends `rho` on the values of at most `most` discoveries of `evidence`."""
    effect = evidence.effect
    return ValuePlan(rho, most, evidence.certificate.sensitivity if effect is None else effect.sensitivity)
