"""The paper's Algorithm 4 and its fast form, with k given or doubling (docs/errata.md, 5)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.decide import cutoffs
from discreet.methods.common import record
from discreet.privacy.promise import Privacy
from discreet.report.release import FdrPromise, Release
from discreet.select import plans
from discreet.select.top_k import top_k
from discreet.select.values import laplace_noise

if TYPE_CHECKING:
    from discreet.evidence.certificate import Certificate
    from discreet.evidence.evidence import Evidence
    from discreet.privacy.events import Event

_MISS = 0.01
_FIRST_K = 16


def release_paper(
    evidence: Evidence, q: float, epsilon: float, delta: float, method: str, k: int | None, kind: str
) -> Release:
    """Run Algorithm 4, or its fast form, once with k or with k doubling until it is not used up."""
    m, certificate = len(evidence), evidence.certificate
    sizes = [k] if k is not None else _doubling(m)
    share = 1 / len(sizes)
    budget = (epsilon * share, delta * share)
    scales = [_value_scale(method, size, budget, certificate, m) for size in sizes]
    lines = [
        cutoffs.cutoffs(evidence.null, m, size, q, scale, kind, _MISS)
        for size, scale in zip(sizes, scales, strict=True)
    ]
    events: list[Event] = []
    indices = np.zeros(0, dtype=np.int64)
    for size, line in zip(sizes, lines, strict=True):
        chosen = top_k(
            evidence.score,
            size,
            sensitivity=certificate.sup,
            spread=certificate.spread,
            epsilon=budget[0],
            delta=budget[1],
            method=method,
            largest=True,
            values=True,
        )
        events.extend(chosen.privacy.events)
        kept = cutoffs.step_down_scores(np.asarray(chosen.values), line.score)
        indices = chosen.indices[kept]
        if indices.size < size:
            break
    # Which round is the last depends on the data, so the promise is that of the worst one.
    worst = max(line.fdr for line in lines)
    privacy = Privacy(epsilon, delta, tuple(events), certificate.adjacency)
    parameters = {"k": k, "cutoffs": kind, "certificate": str(certificate)}
    return record(f"the paper's {method}", evidence, q, indices, privacy, _paper_promise(worst), parameters)


def _value_scale(
    method: str, size: int, budget: tuple[float, float], certificate: Certificate, m: int
) -> float:
    """Return the noise scale of the values that `top_k` will release, before it does."""
    public = (size, *budget, certificate.spread, certificate.sup, True)
    plan = plans.peel_plan(*public) if method == "peel" else plans.oneshot_plan(*public, m)
    return laplace_noise(certificate.sup, float(plan.value_epsilon or math.inf)).scale


def _doubling(m: int) -> list[int]:
    """Return 16, 32, ..., m: the sizes the doubling trick may need."""
    sizes = [min(m, _FIRST_K)]
    while sizes[-1] < m:
        sizes.append(min(m, 2 * sizes[-1]))
    return sizes


def _paper_promise(level: float) -> FdrPromise:
    words = "the true nulls' p-values are independent of one another and super-uniform"
    if level >= 1:
        return FdrPromise(math.inf, "none", "the noise is too large for these cutoffs", "docs/errata.md, 5")
    return FdrPromise(level, "proved", words, "Theorem 6 (c) as corrected, docs/errata.md, 5")
