"""Invented studies with known truth, and what each method finds in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.alternative import toward
from discreet.classical.step_up import step_up_positions
from discreet.evidence.core.evidence import Evidence, Numbered
from discreet.methods.aware.method import public_constants
from discreet.methods.registry import METHODS as PRIVATE
from discreet.privacy.curves import gaussian_budget
from discreet.selection.scales import oneshot_plan, peel_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Certificate, Null
    from discreet.methods.method import Parameters
    from discreet.planner.invent import Setting

METHODS = {
    "bh": "no privacy, BH",
    "auto": "the default",
    "all": "noise on all",
    "proved": "noise on all, proved",
    "focus": "select, then measure",
    "aware": "aware, proved",
    "calibrated": "aware, calibrated",
    "mirror": "mirror",
    "peel": "peel",
    "oneshot": "oneshot",
}


@dataclass(frozen=True, slots=True)
class Study:
    """The public parameters of a study to be invented. The first columns have the effects, the others none.

    `asked` holds what each method is asked for. The same seed invents the same people's luck whatever n,
    epsilon and the effects are (common random numbers), so comparisons between plans are sharper than each
    plan by itself. The noise of a release has no seed.
    """

    setting: Setting
    n: int
    m: int
    asked: Mapping[str, Parameters]
    effects: tuple[float, ...]
    k: int
    repetitions: int
    seed: int

    def run(self, method: str) -> Rates:
        """Return what `method` finds in each of the invented studies."""
        studies = [(self._score(chosen), level) for chosen, level in self._chosen(method)]
        scores = np.array([score for score, _ in studies], dtype=np.float64)
        return Rates(scores[:, 0], scores[:, 1:], max(level for _, level in studies))

    def seen(self) -> tuple[Certificate, Null]:
        """Return how far one person can move a score of this study, and the null law of the scores."""
        evidence = self.setting.evidence(np.zeros(1), self.n)
        return evidence.certificate, evidence.null

    def certificate(self) -> str:
        """Return how far one person can move a score, in words."""
        return str(self.seen()[0])

    @property
    def z_per_effect(self) -> float:
        """How fast the mean z score rises with the effect, at the smallest effect."""
        least = min(self.effects)
        return float(self.setting.mean(np.array([least]), self.n)[0]) / least

    def noise_on_z(self, method: str) -> float | None:
        """Return the noise in the selection of as many as there are effects, on the scale of a textbook z."""
        noise = self._noise(method)
        if noise is None:
            return None
        # How fast the test's score rises with the textbook z, where discoveries begin.
        score = self.setting.evidence(np.array([4.0, 5.0]), self.n).score
        return noise / max(float(score[1] - score[0]), 1e-3)

    def _noise(self, method: str) -> float | None:
        """Return the standard deviation of the noise in the selection of as many as there are effects."""
        certificate, null = self.seen()
        sensitivity, spread, asked = certificate.sensitivity, certificate.spread, self.asked[method]
        if method in {"aware", "calibrated"}:
            public = public_constants(
                null,
                self.m,
                asked.q,
                sensitivity,
                spread,
                gaussian_budget(asked.epsilon, asked.delta),
                str(asked.guarantee),
                asked.dependence or "positive",
            ).plan
            at = int(np.argmin(np.abs(public.counts - len(self.effects))))
            return float(public.scale[at]) * math.pi / math.sqrt(6)
        if method in {"peel", "oneshot"}:
            public = (self.k, asked.epsilon, asked.delta, spread, sensitivity, True)
            planned = peel_plan(*public) if method == "peel" else oneshot_plan(*public, self.m)
            return planned.scale * math.sqrt(2)
        return None

    def _scores(self) -> NDArray[np.float64]:
        """Return the z scores of every invented study, shape (repetitions, m)."""
        z = np.random.default_rng(self.seed).standard_normal((self.repetitions, self.m))
        z[:, : len(self.effects)] += self.setting.mean(np.array(self.effects), self.n)
        return -z if self.setting.alternative == "less" else z

    def _chosen(self, method: str) -> Iterator[tuple[NDArray[np.int64], float]]:
        """Yield what is reported of each study, and the false discovery rate promised."""
        z = self._scores()
        if method == "bh":
            alternative = self.setting.alternative
            sides = 2 if alternative == "two-sided" else 1
            for row in z:
                p = sides * np.asarray(scipy.special.ndtr(-toward(row, alternative)), dtype=np.float64)
                yield step_up_positions(p, self.asked[method].q), self.asked[method].q
            return
        # All studies as one wide table: the test's own constants are then computed once.
        wide = self.setting.evidence(z.ravel(), self.n)
        scores = wide.score.reshape(z.shape)
        signed = None if wide.signed is None else wide.signed.reshape(z.shape)
        names = Numbered(self.m)
        for i in range(self.repetitions):
            sign = None if signed is None else signed[i]
            evidence = Evidence(names, scores[i], wide.null, wide.certificate, sign)
            asked = self.asked[method]
            asked, _ = PRIVATE[self.asked[method].method].settle(self.asked[method], evidence)
            released = PRIVATE[asked.method].ready(asked, evidence).draw()
            yield released.indices, released.fdr.level

    def _score(self, chosen: NDArray[np.int64]) -> list[float]:
        """Return how many are false, then for each effect column whether it was found."""
        hit = np.zeros(len(self.effects))
        true = chosen[chosen < len(self.effects)]
        hit[true] = 1
        return [chosen.size - true.size, *hit]


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """What came of the invented studies.

    False discoveries, shape (studies,); hits, (studies, effects); the false discovery rate promised.
    """

    false: NDArray[np.float64]
    hit: NDArray[np.float64]
    promised: float

    @property
    def power(self) -> float:
        """The share of real effects found."""
        return float(self.hit.mean())

    @property
    def error(self) -> float:
        """The standard error of the power: studies are independent, columns of one study are not."""
        each = self.hit.mean(axis=1)
        return float(each.std(ddof=1)) / math.sqrt(each.size) if each.size > 1 else math.inf

    @property
    def usual(self) -> tuple[float, float]:
        """Between which shares of the real effects eight of ten studies found."""
        low, high = np.quantile(self.hit.mean(axis=1), (0.1, 0.9))
        return float(low), float(high)
