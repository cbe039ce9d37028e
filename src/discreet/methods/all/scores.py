"""Tell all for scores of any test, or declared ones: noise on each, p-values from their null law with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, owens_t

from discreet.classical.step_up import adaptive_bh, step_up_positions
from discreet.methods.all.budget import schedule
from discreet.methods.all.sums import check_noise, with_noise
from discreet.methods.method import Ready, expected
from discreet.methods.scores import INDEPENDENT, doubts, independent_nulls, promised, record, score_name
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, Told, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Null
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.all.budget import Stages
    from discreet.methods.method import Parameters
    from discreet.privacy.events import Event
    from discreet.report.release import Release

TWO_SIDED = {"folded normal", "chi"}
"""Laws of scores that are not positively dependent even where the statistics behind them are."""
_QUIET = 0.1  # where noise adds this little to the variance of a score, one stage will do
_MANY = 100_000
_FINE = 20  # 2**20 steps to one sensitivity: the rounding of a million scores adds a thousandth to the noise
_FAR = 9.0  # deviations of noise beyond which its chance is added
_CELLS = 1024
_FEW = 32  # cells of what a multiple of a normal tail leaves out near 0
_GRID = 2**20
_TILE = 2**14  # scores worked on at a time
_DEEP, _HIGH = (
    -30.0,
    700.0,
)  # normal tails from there on, and powers of e up to there, are floats of full precision
_WIDE = 52  # scores are at most 2**52 steps: whole numbers of them are exact


def ready_scores(evidence: Evidence, asked: Parameters) -> Ready:
    """Tell every score with Gaussian noise, those that show something again, then decide by BH.

    Guarantee: Gaussian(mu) with the largest mu inside (epsilon, delta), for one person moves all scores
    together by at most the certificate's norm, sqrt(m) sensitivity unless it says less. False discoveries:
    docs/proofs/all-fdr.md.
    """
    rho, m = gaussian_budget(asked.epsilon, asked.delta), len(evidence)
    proved = asked.guarantee == "proved"
    signals = expected(asked.expect, m)
    # After one stage BH is proved for positively dependent one-sided scores too: a proof keeps that.
    later = () if proved and evidence.null.law not in TWO_SIDED else stages_for(evidence, rho, signals)
    check_stages(evidence, m, rho, later)
    events, fdr = gaussian_events([rho]), _promise(asked, evidence.null, staged=bool(later))
    procedure = "BH" if proved else "adaptive BH"

    def draw() -> Release:
        scores = measured_scores(evidence, np.arange(m), rho, later)
        places = step_up_positions(scores.p, asked.q) if proved else adaptive_bh(scores.p, asked.q)
        return scores.released("noise on every score", evidence, asked, events, fdr, places, procedure)

    return Ready(events, fdr, draw)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores with noise, its deviation in each, and their p-values, 1 if dropped on the way. Public.

    `indices` are the places of these hypotheses among all.
    """

    indices: NDArray[np.int64]
    sums: NDArray[np.float64]
    deviation: NDArray[np.float64]
    p: NDArray[np.float64]

    def released(
        self,
        method: str,
        evidence: Evidence,
        asked: Parameters,
        events: tuple[Event, ...],
        fdr: FdrPromise,
        places: NDArray[np.int64],
        procedure: str,
    ) -> Release:
        """Return the record, where the scores at `places` are the discoveries."""
        strongest = places[np.argsort(-self.sums[places], kind="stable")].astype(np.int64)
        made = record(
            method,
            evidence,
            asked.q,
            self.indices[strongest],
            promised(asked, events, evidence.certificate),
            fdr,
            {"guarantee": str(asked.guarantee), "certificate": str(evidence.certificate)},
            Values(score_name(evidence), self.sums[strongest], self.deviation[strongest])
            if asked.values
            else None,
        )
        of_p = evidence.null.law == "exponential"  # a p-value estimates nothing: the noise is all its error
        error = self.deviation if of_p else np.hypot(1.0, self.deviation)
        count = self.indices.size
        whole = count == len(evidence)
        names = (
            evidence.names if whole else tuple(str(evidence.names[place]) for place in self.indices.tolist())
        )
        words, degrees = (score_name(evidence),) * count, np.full(count, math.inf)
        record_of_all = Told(self.indices, names, words, self.sums, error, degrees, self.p, procedure)
        return replace(made, told=record_of_all)


def stages_for(evidence: Evidence, rho: float, signals: int, count: int | None = None) -> Stages:
    """Return the later stages for `count` of the scores: none where one stage adds little noise.

    Nor where there are very many scores, for the time it would take.
    """
    count = len(evidence) if count is None else count
    noise = _moved(evidence, count, _step(evidence)) * _step(evidence) / math.sqrt(2 * rho)
    return schedule(min(signals, count), count) if noise**2 > _QUIET and count <= _MANY else ()


def check_stages(evidence: Evidence, count: int, rho: float, later: Stages) -> None:
    """Refuse, before anything is spent, stages whose noise cannot be drawn."""
    step = _step(evidence)
    smallest = min((share for _, share in later), default=1.0)
    least = _moved(evidence, 1, step) / math.sqrt(2 * rho)
    check_noise(least, _moved(evidence, count, step) / math.sqrt(2 * rho * min(smallest, _first(later))))


def measured_scores(
    evidence: Evidence, indices: NDArray[np.int64], rho: float, later: Stages, *, wider: float = 1.0
) -> Scores:
    """Return the scores at these places with noise; before a later stage those that show nothing are dropped.

    The noise of a stage depends on how many scores are left, and which are left on each one's own p-value so
    far: docs/proofs/all-fdr.md, 4. P-values allow for null scores so many times as wide as their law.

    Guarantee: Gaussian(sqrt(2 rho)), as parts of it for the stages.
    """
    step, null, signed = _step(evidence), evidence.null, evidence.signed
    scores = evidence.score if signed is None else signed
    exact = np.floor((scores if indices.size == scores.size else scores[indices]) / step)
    sums, deviation, variance = np.zeros(indices.size), np.zeros(indices.size), math.inf
    p, active = np.ones(indices.size), np.ones(indices.size, dtype=np.bool_)
    for least, share in ((0.0, _first(later)), *later):
        active &= p <= 2 * ndtr(-least)
        p = np.ones(indices.size)
        count = int(np.count_nonzero(active))
        if count == 0:
            break
        places = active if count < active.size else slice(None)  # all of them need no copy
        noisy = with_noise(exact[places], _moved(evidence, count, step), rho * share, step)
        fresh = float(noisy.deviation) ** 2
        # All that are left have the same noise.
        trust = 1 / (1 + fresh / variance)
        variance = fresh * trust
        sums[places] += trust * (noisy.sums - sums[places])
        deviation[places] = math.sqrt(variance)
        t, noise = sums[places] / wider, math.sqrt(variance) / wider
        if signed is None:
            p[places] = noisy_tail(t, noise, null)
        elif null.law in TWO_SIDED:
            p[places] = 2 * ndtr(-np.abs(t) / math.hypot(1.0, noise))
        else:
            p[places] = ndtr(-t / math.hypot(1.0, noise))
    return Scores(indices, sums, deviation, p)


def _first(later: Stages) -> float:
    """Return the share of the first stage: what is left, rounded down."""
    return (1 - sum(share for _, share in later)) * (1 - 2.0**-45) if later else 1.0


def _step(evidence: Evidence) -> float:
    """Return the step that scores are rounded down to, a power of two."""
    fine = math.frexp(evidence.certificate.sensitivity)[1] - 1 - _FINE
    return 2.0 ** max(fine, math.frexp(evidence.null.ceiling)[1] - _WIDE)


def _moved(evidence: Evidence, count: int, step: float) -> float:
    """Return how far one person moves `count` of the scores together, in steps."""
    certificate = evidence.certificate
    each = math.sqrt(count) * math.ceil(certificate.sensitivity / step)
    return each if certificate.norm is None else min(each, certificate.norm / step + math.sqrt(count))


def noisy_tail(t: NDArray[np.float64], deviation: float, null: Null) -> NDArray[np.float64]:
    """Return P(X + N >= t), X with the null law and N normal of this deviation: at least that of any null."""
    if null.law == "exponential" and null.multiple == 1:
        p = np.empty(t.size)
        for first in range(0, t.size, _TILE):
            p[first : first + _TILE] = _exponential(t[first : first + _TILE], deviation)
        return p
    if null.law in ("exponential", "chi"):
        return _convolved(t, deviation, null)
    h = t / math.hypot(1.0, deviation)
    # Z > 0 and Z + N >= t, by Owen's T.
    joint = 0.5 * ndtr(-h) + owens_t(h, 1 / deviation)
    # X has so many times the density of Z from `start` on, and is 0 otherwise, when N is alone.
    times = null.multiple * (2 if null.law == "folded normal" else 1)
    start = max(-float(ndtri(1 / times)), 0.0) if times > 1 else 0.0
    if start > 0:
        joint -= _below(t, deviation, start)
    return np.clip(times * joint + max(1 - times / 2, 0.0) * ndtr(-t / deviation), 0.0, 1.0)


def _below(t: NDArray[np.float64], deviation: float, start: float) -> NDArray[np.float64]:
    """Return a little less than P(0 < Z < start, Z + N >= t): in cells of Z, each at its lower end."""
    edges = np.linspace(0.0, start, _FEW + 1)
    held: NDArray[np.float64] = np.zeros(t.size)
    for low, chance in zip(edges[:-1].tolist(), np.diff(ndtr(edges)).tolist(), strict=True):
        held = held + chance * np.asarray(ndtr((low - t) / deviation), dtype=np.float64)
    return held


def _exponential(t: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """Return the same for X with P(X >= x) = e^-x, of some t: they stay in the processor's cache."""
    # P(N >= t) + e^(-t + s^2/2) P(N <= t - s^2): the second part is where X takes over.
    h, over = t / deviation, deviation**2 / 2 - t
    if h.min() - deviation > _DEEP and over.max() < _HIGH:  # both factors are numbers as they are
        second = np.exp(over) * ndtr(h - deviation)
    else:
        second = np.exp(np.minimum(over + log_ndtr(h - deviation), 0.0))
    return np.minimum(ndtr(-h) + second, 1.0)


def _convolved(t: NDArray[np.float64], deviation: float, null: Null) -> NDArray[np.float64]:
    """Return a bound on the same for a law that is known by its tail alone: noise in cells, at their ends."""
    edges = np.linspace(-_FAR, _FAR, _CELLS + 1)
    chance = np.append(np.diff(ndtr(edges)), ndtr(-_FAR))
    chance[0] += ndtr(-_FAR)
    # Scores on a grid, each taken for the one below: its p-value is larger.
    step = deviation / _CELLS * 2
    low = float(t.min())
    places = np.minimum(np.floor((t - low) / step), _GRID).astype(np.int64)
    used, back = np.unique(places, return_inverse=True)
    at = low + used * step
    tail = np.concatenate(
        [
            null.survival(part[:, None] - deviation * edges[1:]) @ chance[:-1]
            for part in np.array_split(at, 1 + at.size * _CELLS // 2**22)
        ]
    )
    return np.minimum(tail + chance[-1], 1.0)[back]


def _promise(asked: Parameters, null: Null, *, staged: bool) -> FdrPromise:
    """Return what is promised: adaptive BH after stages is simulated, the rest proved."""
    words = independent_nulls(null)
    if asked.guarantee != "proved" and staged:
        return FdrPromise(asked.q, "simulated", words, "discreet bench auto")
    if asked.guarantee == "proved" and null.law not in TWO_SIDED:
        words += ", or positively dependent"
    return FdrPromise(asked.q, "proved", words, "docs/proofs/all-fdr.md", INDEPENDENT + doubts(null)[1])
