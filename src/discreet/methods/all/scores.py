"""Tell all for scores of any test, or declared ones: noise on each, p-values from their null law with it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr, owens_t

from discreet.classical.step_up import adaptive_bh, step_up_positions
from discreet.methods.all.sums import check_noise, with_noise
from discreet.methods.method import INDEPENDENT, Ready, doubts, promised, record, score_name
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, Told, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Null
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

_FINE = 20  # 2**20 steps to one sensitivity: the rounding of a million scores adds a thousandth to the noise
_FAR = 9.0  # deviations of noise beyond which its chance is added
_CELLS = 1024
_GRID = 2**20
_WIDE = 52  # scores are at most 2**52 steps: whole numbers of them are exact


def ready_scores(evidence: Evidence, asked: Parameters) -> Ready:
    """Tell every score with Gaussian noise, then decide by BH; docs/proofs/all-fdr.md.

    Guarantee: Gaussian(mu) with the largest mu inside (epsilon, delta), for one person moves all scores
    together by at most the certificate's norm, sqrt(m) sensitivity unless it says less.
    """
    rho = gaussian_budget(asked.epsilon, asked.delta)
    events, fdr = gaussian_events([rho]), _promise(asked, evidence.null)
    certificate, m = evidence.certificate, len(evidence)
    step = 2.0 ** max(
        math.frexp(certificate.sensitivity)[1] - 1 - _FINE, math.frexp(evidence.null.ceiling)[1] - _WIDE
    )
    each = math.sqrt(m) * math.ceil(certificate.sensitivity / step)
    moved = each if certificate.norm is None else min(each, certificate.norm / step + math.sqrt(m))
    deviation = moved / math.sqrt(2 * rho)
    check_noise(deviation, deviation)
    signed = evidence.signed
    adaptive = asked.guarantee != "proved"

    def draw() -> Release:
        exact = evidence.score if signed is None else signed
        noisy = with_noise(np.floor(exact / step), moved, rho, step)
        if signed is None:
            p = noisy_tail(noisy.sums, float(noisy.deviation), evidence.null)
        else:
            p = np.asarray(ndtr(-noisy.sums / math.hypot(1.0, noisy.deviation)), dtype=np.float64)
        places = adaptive_bh(p, asked.q) if adaptive else step_up_positions(p, asked.q)
        strongest = places[np.argsort(-noisy.sums[places], kind="stable")].astype(np.int64)
        of_p = evidence.null.law == "exponential"  # a p-value estimates nothing: the noise is all its error
        error = np.full(m, noisy.deviation if of_p else math.hypot(1.0, noisy.deviation))
        noise = np.full(strongest.size, noisy.deviation)
        values = Values(score_name(evidence), noisy.sums[strongest], noise)
        made = record(
            "noise on every score",
            evidence,
            asked.q,
            strongest,
            promised(asked, events, certificate),
            fdr,
            {"guarantee": str(asked.guarantee), "certificate": str(certificate)},
            values if asked.values else None,
        )
        words = (score_name(evidence),) * m
        degrees = np.full(m, math.inf)
        procedure = "adaptive BH" if adaptive else "BH"
        told_all = Told(np.arange(m), evidence.names, words, noisy.sums, error, degrees, p, procedure)
        return replace(made, told=told_all)

    return Ready(events, fdr, draw)


def noisy_tail(t: NDArray[np.float64], deviation: float, null: Null) -> NDArray[np.float64]:
    """Return P(X + N >= t), X with the null law and N normal of this deviation: at least that of any null."""
    if null.law == "exponential":
        # P(N >= t) + e^(-t + s^2/2) P(N <= t - s^2): the second part is where X takes over.
        over = -t + deviation**2 / 2 + log_ndtr(t / deviation - deviation)
        return np.minimum(ndtr(-t / deviation) + np.exp(np.minimum(over, 0.0)), 1.0)
    if null.law == "chi":
        return _convolved(t, deviation, null)
    h = t / math.hypot(1.0, deviation)
    # X = max(Z, 0), or |Z|: Z > 0 and Z + N >= t by Owen's T, and otherwise N alone.
    joint = 0.5 * ndtr(-h) + owens_t(h, 1 / deviation)
    if null.law == "folded normal":
        return np.clip(2 * joint, 0.0, 1.0)
    return np.clip(joint + 0.5 * ndtr(-t / deviation), 0.0, 1.0)


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


def _promise(asked: Parameters, null: Null) -> FdrPromise:
    unproved, scope = doubts(null)
    law = f"null scores have the stated law or are smaller{unproved}"
    words = f"{law}, and are independent of one another and of the rest"
    if asked.guarantee == "proved" and null.law not in {"folded normal", "chi"}:
        words += ", or positively dependent"
    return FdrPromise(asked.q, "proved", words, "docs/proofs/all-fdr.md", INDEPENDENT + scope)
