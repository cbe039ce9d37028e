"""The paper's Algorithm 4 and its fast form, with k given or doubling (docs/proofs/algorithm-4.md)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.method import Ready
from discreet.methods.paper import cutoffs
from discreet.methods.scores import INDEPENDENT, doubts, promised, record, score_name
from discreet.report.parts import FdrPromise, Values
from discreet.selection.scales import oneshot_plan, peel_plan
from discreet.selection.top_k import top_k
from discreet.selection.values import laplace_noise

if TYPE_CHECKING:
    from discreet.evidence.core.certificate import Certificate, Null
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Parameters
    from discreet.report.release import Release
    from discreet.selection.scales import NoisePlan
    from discreet.typing import TopK

_MISS = 0.01
_FIRST_K = 16


def ready_paper(evidence: Evidence, asked: Parameters) -> Ready:
    """Run Algorithm 4, or its fast form, once with k or with k doubling until it is not used up.

    Every round that doubling may need is charged, whether or not it is reached.
    """
    m, certificate = len(evidence), evidence.certificate
    method: TopK = "peel" if asked.method == "peel" else "oneshot"
    sizes = [asked.k] if asked.k is not None else _doubling(m)
    share = 1 / len(sizes)
    budget = (asked.epsilon * share, asked.delta * share)
    plans = [_plan(method, size, budget, certificate, m) for size in sizes]
    noises = [laplace_noise(certificate.sensitivity, float(plan.value_epsilon or math.inf)) for plan in plans]
    scales = [noise.scale for noise in noises]
    lines = [
        cutoffs.cutoffs(evidence.null, m, size, asked.q, scale, str(asked.cutoffs), _MISS, plan.scale)
        for size, scale, plan in zip(sizes, scales, plans, strict=True)
    ]
    events = tuple(event for plan in plans for event in plan.events)
    # Which round is the last depends on the data, so the promise is that of the worst one. On the lattice a
    # miss is likelier than its bound for continuous noise by the last factor.
    likelier = _MISS * max(math.tanh(0.5 / float(noise.spread)) for noise in noises)
    fdr = _promise(max(line.fdr for line in lines) + likelier, evidence.null)

    def draw() -> Release:
        indices, noisy, noise = np.zeros(0, dtype=np.int64), np.zeros(0), 0.0
        for size, line, scale in zip(sizes, lines, scales, strict=True):
            chosen = top_k(
                evidence.score,
                size,
                sensitivity=certificate.sensitivity,
                spread=certificate.spread,
                epsilon=budget[0],
                delta=budget[1],
                method=method,
                largest=True,
                values=True,
            )
            scores = np.asarray(chosen.values)
            kept = cutoffs.step_down_scores(scores, line.score)
            indices, noisy, noise = chosen.indices[kept], scores[kept], scale * math.sqrt(2)
            if indices.size < size:
                break
        values = Values(score_name(evidence), noisy, np.full(indices.size, noise)) if asked.values else None
        privacy = promised(asked, events, certificate)
        parameters = {"k": asked.k, "cutoffs": asked.cutoffs, "certificate": str(certificate)}
        name = f"the paper's {method}"
        return record(name, evidence, asked.q, indices, privacy, fdr, parameters, values)

    return Ready(events, fdr, draw)


def _plan(method: str, size: int, budget: tuple[float, float], certificate: Certificate, m: int) -> NoisePlan:
    """Return the plan that `top_k` will follow, before it does."""
    public = (size, *budget, certificate.spread, certificate.sensitivity, True)
    return peel_plan(*public) if method == "peel" else oneshot_plan(*public, m)


def _doubling(m: int) -> list[int]:
    """Return 16, 32, ..., m: the sizes the doubling trick may need."""
    sizes = [min(m, _FIRST_K)]
    while sizes[-1] < m:
        sizes.append(min(m, 2 * sizes[-1]))
    return sizes


def _promise(level: float, null: Null) -> FdrPromise:
    unproved, scope = doubts(null)
    words = f"the true nulls' p-values are independent of one another and super-uniform{unproved}"
    if level >= 1:
        return FdrPromise(math.inf, "none", "the noise is too large for these cutoffs", "docs/errata.md, 5")
    source = "Theorem 6 (c) as corrected, docs/errata.md, 5"
    return FdrPromise(level, "proved", words, source, INDEPENDENT + scope)
