"""From evidence to a release: selection, decision, record. The only module that sees all stages."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check
from discreet.decide import aware, cutoffs
from discreet.errors import InputError
from discreet.evidence.evidence import Evidence
from discreet.measure import measure
from discreet.noise.laws import GUMBEL
from discreet.privacy.calibrate import smallest_scale
from discreet.privacy.events import ZCDP
from discreet.privacy.promise import Privacy
from discreet.report.release import FdrPromise, Release
from discreet.select import count
from discreet.select.contest import largest
from discreet.select.top_k import top_k
from discreet.select.values import lattice_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.data.person import Person
    from discreet.evidence.accumulate import Test
    from discreet.evidence.null import Null
    from discreet.privacy.events import Event

METHODS = ("aware", "peel", "oneshot")
_SEARCH_SHARE = {"proved": 0.25, "calibrated": 0.2}
_MISS = 0.01
_FIRST_K = 16


def release(
    evidence: Evidence,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: str = "aware",
    guarantee: str = "proved",
    dependence: str = "positive",
    k: int | None = None,
    cutoff: str = "plain",
) -> Release:
    """Release the discoveries in `evidence` under (epsilon, delta)-differential privacy with FDR control.

    Parameters
    ----------
    evidence : Evidence
        Scores with a null law and a certificate, from `measure`, `Evidence.from_p` or `Evidence.from_z`.
    q : float
        The false discovery rate to allow.
    epsilon, delta : float
        The privacy budget.
    method : {"aware", "peel", "oneshot"}
        "aware": noise-aware BH; needs no k, and FDR <= q is proved. "peel": the paper's Algorithm 4.
        "oneshot": its fast form.
    guarantee : {"proved", "calibrated"}
        "aware" only. "calibrated" finds more and its FDR is verified by simulation alone.
    dependence : {"positive", "any"}
        "aware" and "proved" only. "positive": scores of nulls independent, or positively dependent (PRDS).
        "any": no assumption, at a price.
    k : int, optional
        "peel" and "oneshot": the most discoveries to look for; by doubling from 16 when absent, which splits
        the budget over as many rounds as m allows.
    cutoff : {"plain", "paper", "conservative"}
        "peel" and "oneshot": which cutoffs; the release states the FDR level each earns.
    """
    q, epsilon, delta = check.level(q, "q"), check.positive(epsilon, "epsilon"), check.delta(delta)
    method = check.choice(method, "method", METHODS)
    guarantee = check.choice(guarantee, "guarantee", ("proved", "calibrated"))
    dependence = check.choice(dependence, "dependence", ("positive", "any"))
    cutoff = check.choice(cutoff, "cutoff", cutoffs.KINDS)
    m = len(evidence)
    if k is not None:
        k = check.whole(k, "k", 1, m)
    if delta > 0.01:
        warnings.warn(
            f"delta = {delta:g} may expose one person in {1 / delta:.0f}: take it far below 1/people",
            stacklevel=2,
        )
    if method == "aware":
        return _aware(evidence, q, epsilon, delta, guarantee, dependence)
    return _paper(evidence, q, epsilon, delta, method, k, cutoff)


def discover(
    data: Any,
    test: Test,
    *,
    q: float,
    epsilon: float,
    delta: float,
    person: str | Person | None = None,
    columns: Any = None,
    **options: Any,
) -> Release:
    """Test every hypothesis in a table of people and release the discoveries: `measure`, then `release`.

    Public parameters are checked before a byte of data is read. `person`, `columns`: as in `measure`; all
    else as in `release`.
    """
    check.level(q, "q")
    check.positive(epsilon, "epsilon")
    check.delta(delta)
    check.choice(options.get("method", "aware"), "method", METHODS)
    evidence = measure(data, test, person=person, columns=columns)
    return release(evidence, q=q, epsilon=epsilon, delta=delta, **options)


def private_bh(
    p: Any,
    *,
    eta: float,
    nu: float,
    q: float,
    epsilon: float,
    delta: float,
    k: int | None = None,
    method: str = "aware",
    **options: Any,
) -> Release:
    """Release discoveries from p-values that one person moves by a factor e^eta at most, truncated at nu.

    The paper's input: p-values that are (eta, nu)-sensitive, eta > 0 and 0 < nu < 1 declared by you.
    Everything else as in `release`.
    """
    return release(
        Evidence.from_p(p, eta=eta, nu=nu), q=q, epsilon=epsilon, delta=delta, k=k, method=method, **options
    )


@lru_cache(maxsize=256)
def _rho(epsilon: float, delta: float) -> float:
    """Return a zCDP budget that is (epsilon, delta)-DP, rounded down."""
    inverse = smallest_scale(lambda u: (ZCDP(1 / u),), epsilon=epsilon, delta=delta, start=50.0)
    return 1 / inverse


def _split(rho: float, guarantee: str) -> tuple[float, float]:
    """Return what the search for the count may spend, and what is left for the selection."""
    search = _SEARCH_SHARE[guarantee] * rho
    return search, (rho - search) * (1 - 2.0**-50)


@dataclass(frozen=True, slots=True, eq=False)
class _Public:
    """All of an aware release that does not depend on the data."""

    plan: aware.Aware
    shape: aware.Shape
    sigma_steps: float
    step: float


@lru_cache(maxsize=128)
def _public(
    null: Null, m: int, q: float, sup: float, spread: float, rho: float, guarantee: str, dependence: str
) -> _Public:
    """Return the public constants of an aware release; they take up to a second, so they are kept."""
    search, select = _split(rho, guarantee)
    # On the lattice of steps sup/STEPS the spread is at most this.
    width = min(2.0, (math.ceil(spread / sup * count.STEPS) + 1) / count.STEPS) * sup
    unit = width / math.sqrt(8 * select) * (1 + 2.0**-40)
    lattice = lattice_for(sup)
    shape = aware.shape(null, m, q, unit, sup / math.sqrt(2 * search))
    # One step more than the sensitivity pays for the rounding of the sums that are compared.
    sigma_steps = (lattice.sup + 1) * math.sqrt(shape.depth / (2 * search)) * (1 + 2.0**-40)
    sigma = sigma_steps * lattice.step
    if guarantee == "proved":
        plan = aware.proved(null, m, q, shape, unit, sigma, lattice.step, dependence)
    else:
        plan = aware.calibrated(null, m, q, shape, unit, sigma)
    return _Public(plan, shape, sigma_steps, lattice.step)


def _aware(
    evidence: Evidence, q: float, epsilon: float, delta: float, guarantee: str, dependence: str
) -> Release:
    """Count privately, then select that many; docs/proofs/aware-privacy.md and aware-fdr.md."""
    if delta == 0:
        raise InputError('delta must be above 0 for method "aware": its noise is Gaussian; try 1e-6')
    certificate = evidence.certificate
    rho = _rho(epsilon, delta)
    public = _public(
        evidence.null, len(evidence), q, certificate.sup, certificate.spread, rho, guarantee, dependence
    )
    plan, shape, sup = public.plan, public.shape, certificate.sup
    steps = count.to_steps(evidence.score, sup)
    rounded = count.rounded(steps, sup)
    found = count.search(
        rounded,
        plan.counts,
        plan.scale,
        plan.level,
        depth=shape.depth,
        sigma_steps=public.sigma_steps,
        step=public.step,
        beta=shape.beta if guarantee == "proved" else None,
    )
    indices = np.zeros(0, dtype=np.int64)
    if found >= 0:
        indices = largest(steps * rounded.step, float(plan.scale[found]), int(plan.counts[found]), GUMBEL)
    privacy = Privacy(epsilon, delta, tuple(map(ZCDP, _split(rho, guarantee))), certificate.adjacency)
    parameters = {"guarantee": guarantee, "dependence": dependence, "certificate": str(certificate)}
    fdr = _aware_promise(q, proved=guarantee == "proved", dependence=dependence)
    return _record("noise-aware BH", evidence, q, indices, privacy, fdr, parameters)


def _aware_promise(q: float, *, proved: bool, dependence: str) -> FdrPromise:
    if not proved:
        words = "the null scores are independent or nearly so, as in the simulations"
        return FdrPromise(q, "simulated", words, "discreet bench power")
    words = (
        "null scores have the stated law or are smaller, whatever their dependence"
        if dependence == "any"
        else "null scores have the stated law or are smaller, and are independent of one another and of the "
        "rest, or positively dependent (PRDS); columns measured on the same people are rarely independent"
    )
    return FdrPromise(q, "proved", words, "docs/proofs/aware-fdr.md")


def _paper(
    evidence: Evidence, q: float, epsilon: float, delta: float, method: str, k: int | None, cutoff: str
) -> Release:
    """Run Algorithm 4, or its fast form, once with k or with k doubling until it is not used up."""
    m, certificate = len(evidence), evidence.certificate
    sizes = [k] if k is not None else _doubling(m)
    share = 1 / len(sizes)
    events: list[Event] = []
    indices = np.zeros(0, dtype=np.int64)
    worst = 0.0
    for size in sizes:
        chosen = top_k(
            evidence.score,
            size,
            sensitivity=certificate.sup,
            spread=certificate.spread,
            epsilon=epsilon * share,
            delta=delta * share,
            method=method,
            largest=True,
            values=True,
        )
        events.extend(chosen.privacy.events)
        scale = float(chosen.value_scale or 0.0)
        line = cutoffs.cutoffs(evidence.null, m, size, q, scale, cutoff, _MISS)
        worst = max(worst, line.fdr)
        kept = cutoffs.step_down_scores(np.asarray(chosen.values), line.score)
        indices = chosen.indices[kept]
        if indices.size < size:
            break
    privacy = Privacy(epsilon, delta, tuple(events), certificate.adjacency)
    parameters = {"k": k, "cutoff": cutoff, "certificate": str(certificate)}
    return _record(f"the paper's {method}", evidence, q, indices, privacy, _paper_promise(worst), parameters)


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


def _record(
    method: str,
    evidence: Evidence,
    q: float,
    indices: NDArray[np.int64],
    privacy: Privacy,
    fdr: FdrPromise,
    parameters: Mapping[str, object],
) -> Release:
    names = tuple(str(evidence.names[int(i)]) for i in indices)
    return Release(method, len(evidence), q, indices, names, True, privacy, fdr, parameters)
