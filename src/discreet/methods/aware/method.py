"""Noise-aware BH: choose privately how many to report, then select that many.

Proofs: docs/proofs/aware-privacy.md, docs/proofs/aware-fdr.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.sharded import Sharded
from discreet.methods.aware import count
from discreet.methods.aware import cutoffs as aware
from discreet.methods.aware.shortfall import LEAST_BETA, MOST
from discreet.methods.method import Ready
from discreet.methods.scores import INDEPENDENT, doubts, promised, record
from discreet.methods.values import VALUES_SHARE, value_plan
from discreet.noise.laws import GUMBEL
from discreet.privacy.curves import effective, gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise
from discreet.selection.contest.contest import best, check_scale, contenders, ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Null
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.aware.shortfall import Steps
    from discreet.methods.method import Parameters
    from discreet.noise.laws import Law
    from discreet.report.release import Release
    from discreet.selection.contest.drawn import Drawn

# The largest score, in units of the noise scale: selection clips at 2**40, and the proof needs some margin.
_FINEST = 2.0**34
SEARCH_SHARE = {"proved": 0.22, "calibrated": 0.18}


def _split(rho: float, guarantee: str) -> tuple[float, float]:
    """Split rho into what the search for the count spends and what is left for the selection."""
    search = SEARCH_SHARE[guarantee] * rho
    return search, (rho - search) * (1 - 2.0**-50)


@dataclass(frozen=True, slots=True, eq=False)
class Public:
    """The constants of a release that do not depend on the data."""

    plan: aware.Aware
    shape: aware.Shape
    sigma_steps: float
    step: float


@lru_cache(maxsize=128)
def public_constants(
    null: Null,
    m: int,
    q: float,
    sensitivity: float,
    spread: float,
    rho: float,
    guarantee: str,
    dependence: str,
) -> Public:
    """Return the public constants of a release. They take up to a second to compute, so they are cached."""
    search, select = _split(rho, guarantee)
    check_scale(sensitivity)
    if null.ceiling * count.STEPS / sensitivity > count.MOST_STEPS:
        raise InputError(
            f"the sensitivity {sensitivity:g} is too small for scores up to {null.ceiling:g}: give more"
        )
    if m > MOST:
        raise InputError(
            f"noise-aware BH takes up to {MOST:,} hypotheses; there are {m:,}: test fewer at once"
        )
    unit = min(spread, 2 * sensitivity) / math.sqrt(8 * select) * (1 + 2.0**-40)
    if null.ceiling / unit > _FINEST:
        raise InputError(
            "epsilon is too large for these scores: the noise would be lost in rounding; give less"
        )
    for most in (1, m):
        check_scale(unit * math.sqrt(float(effective(most))))
    step = count.step_of(sensitivity)

    def scale(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return unit * np.sqrt(effective(counts))

    shape = aware.shape(null, m, q, scale, sensitivity / math.sqrt(2 * search))
    if shape.beta < LEAST_BETA:
        raise InputError(f"q = {q:g} is too small for noise-aware BH: give 1e-9 or more")
    sigma_steps = count.STEPS * math.sqrt(shape.depth / (2 * search)) * (1 + 2.0**-40)
    sigma = sigma_steps * step
    if guarantee == "proved":
        plan = aware.proved(null, m, q, shape, sigma, step, dependence)
    else:
        plan = aware.calibrated(null, m, q, shape, sigma)
    count.check_steps(sigma_steps, plan.scale, plan.level, step)
    return Public(plan, shape, sigma_steps, step)


def private_count(scores: Steps, public: Public, *, proved: bool) -> int:
    """Search privately for the count; return its position among the candidates, or -1 for none."""
    plan = public.plan
    return count.search(
        scores,
        plan.counts,
        plan.scale,
        plan.level,
        depth=public.shape.depth,
        sigma_steps=public.sigma_steps,
        step=public.step,
        beta=public.shape.beta if proved else None,
    )


def _counted(score: NDArray[np.float64], _: int, sensitivity: float, ceiling: float) -> Steps:
    """Return a block of scores in whole steps, in ascending order."""
    return count.in_steps(score, sensitivity, ceiling)


def _contend(score: NDArray[np.float64], first: int, scale: float, k: int, law: Law) -> Drawn:
    """Draw the noise of a block of scores; return those that may be among the best k."""
    return contenders(score, scale, k, law, first)


def ready_aware(evidence: Evidence | Sharded, asked: Parameters) -> Ready:
    """Settle the public constants; the draw searches for the count, then selects that many.

    Guarantee: Gaussian events for the search, the selection and, if asked for, the values, which together
    are (epsilon, delta)-DP (docs/proofs/aware-privacy.md). FDR: docs/proofs/aware-fdr.md.
    """
    certificate, guarantee = evidence.certificate, str(asked.guarantee)
    whole = gaussian_budget(asked.epsilon, asked.delta)
    rho = whole * (1 - VALUES_SHARE) if asked.values else whole
    public = public_constants(
        evidence.null,
        len(evidence),
        asked.q,
        certificate.sensitivity,
        certificate.spread,
        rho,
        guarantee,
        asked.dependence or "positive",
    )
    plan, sensitivity, proved = public.plan, certificate.sensitivity, guarantee == "proved"
    spent = _split(rho, guarantee)
    last = None
    if asked.values:
        if isinstance(evidence, Sharded):
            raise InputError("values need all scores in one place: leave them out")
        last = value_plan(evidence, (whole - rho) * (1 - 2.0**-50), int(plan.counts[-1]))
        spent = (*spent, last.rho)
    events, fdr = gaussian_events(spent), _promise(asked, evidence.null)

    def draw() -> Release:
        counted = partial(_counted, sensitivity=sensitivity, ceiling=evidence.null.ceiling)
        place = private_count(evidence.reduce(counted, count.merged), public, proved=proved)
        indices = np.zeros(0, dtype=np.int64)
        if place >= 0:
            scale, k = float(plan.scale[place]), int(plan.counts[place])
            contend = partial(_contend, scale=scale, k=k, law=GUMBEL)
            drawn = evidence.reduce(contend, partial(best, scale=scale, k=k, law=GUMBEL))
            indices = ranked(drawn, scale, k, GUMBEL)
        values = None if last is None or isinstance(evidence, Sharded) else last.draw(evidence, indices)
        privacy = promised(asked, events, certificate)
        parameters = {"guarantee": guarantee, "certificate": str(certificate)}
        if asked.dependence is not None:
            parameters["dependence"] = asked.dependence
        return record("noise-aware BH", evidence, asked.q, indices, privacy, fdr, parameters, values)

    return Ready(events, fdr, draw)


def _promise(asked: Parameters, null: Null) -> FdrPromise:
    if asked.guarantee != "proved":
        words = "the null scores are independent or nearly so, as in the simulations"
        return FdrPromise(asked.q, "simulated", words, "discreet bench power")
    unproved, scope = doubts(null)
    law = f"null scores have the stated law or are smaller{unproved}"
    if asked.dependence == "any":
        words = f"{law}, whatever their dependence"
    else:
        words = (
            f"{law}, and are independent of one another and of the rest, or positively dependent; "
            "columns measured on the same people are rarely independent"
        )
        if null.law in {"folded normal", "chi"}:
            words += ", and scores of two-sided tests that are not are rarely positively dependent"
            scope = INDEPENDENT + scope
    return FdrPromise(asked.q, "proved", words, "docs/proofs/aware-fdr.md", scope)
