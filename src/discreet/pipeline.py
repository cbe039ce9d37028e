"""From evidence to a release: selection, decision, record. The only module that sees all stages."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.decide.cutoffs import KINDS
from discreet.errors import InputError
from discreet.evidence.evidence import Evidence
from discreet.measure import measure
from discreet.methods.aware import release_aware
from discreet.methods.mirror import release_mirror
from discreet.methods.paper import release_paper

if TYPE_CHECKING:
    from discreet.data.person import Person
    from discreet.evidence.accumulate import Test
    from discreet.report.release import Release

METHODS = ("aware", "peel", "oneshot", "mirror")


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
    cutoffs: str = "plain",
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
    method : {"aware", "peel", "oneshot", "mirror"}
        "aware": noise-aware BH; needs no k, and FDR <= q is proved. "peel": the paper's Algorithm 4.
        "oneshot": its fast form. "mirror": one-sided z scores from `Evidence.from_z` only; FDR <= q exactly
        when null scores are symmetric and their signs independent.
    guarantee : {"proved", "calibrated"}
        "aware" only. "calibrated" finds more and its FDR is verified by simulation alone.
    dependence : {"positive", "any"}
        "aware" and "proved" only. "positive": scores of nulls independent, or positively dependent (PRDS).
        "any": no assumption, at a price.
    k : int, optional
        "peel" and "oneshot": the most discoveries to look for; by doubling from 16 when absent, which splits
        the budget over as many rounds as m allows. "mirror": how many to look at; chosen privately if absent.
    cutoffs : {"plain", "paper", "conservative"}
        "peel" and "oneshot": which cutoffs; the release states the FDR level each earns.
    """
    _check(q, epsilon, delta, method, guarantee, dependence, k, cutoffs)
    if k is not None:
        check.whole(k, "k", 1, len(evidence))
    if delta > 0.01:
        warnings.warn(
            f"delta = {delta:g} may expose one person in {1 / delta:.0f}: take it far below 1/people",
            stacklevel=2,
        )
    if method == "aware":
        return release_aware(evidence, q, epsilon, delta, guarantee, dependence)
    if method == "mirror":
        return release_mirror(evidence, q, epsilon, delta, k)
    return release_paper(evidence, q, epsilon, delta, method, k, cutoffs)


def _check(
    q: float,
    epsilon: float,
    delta: float,
    method: str,
    guarantee: str,
    dependence: str,
    k: int | None,
    cutoffs: str,
) -> None:
    """Refuse public parameters that no release can have; needs no data."""
    check.level(q, "q")
    check.positive(epsilon, "epsilon")
    check.delta(delta)
    check.choice(method, "method", METHODS)
    check.choice(guarantee, "guarantee", ("proved", "calibrated"))
    check.choice(dependence, "dependence", ("positive", "any"))
    check.choice(cutoffs, "cutoffs", KINDS)
    if k is not None:
        check.whole(k, "k")
    if delta == 0 and method in {"aware", "mirror"}:
        raise InputError(f'delta must be above 0 for method "{method}": its noise is Gaussian; try 1e-6')


def discover(
    data: Any,
    test: Test,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: str = "aware",
    guarantee: str = "proved",
    dependence: str = "positive",
    k: int | None = None,
    cutoffs: str = "plain",
    person: str | Person | None = None,
    columns: Any = None,
) -> Release:
    """Test every hypothesis in a table of people and release the discoveries: `measure`, then `release`.

    Public parameters are checked before a byte of data is read. `person`, `columns`: as in `measure`; all
    else as in `release`.
    """
    _check(q, epsilon, delta, method, guarantee, dependence, k, cutoffs)
    evidence = measure(data, test, person=person, columns=columns)
    return release(
        evidence,
        q=q,
        epsilon=epsilon,
        delta=delta,
        method=method,
        guarantee=guarantee,
        dependence=dependence,
        k=k,
        cutoffs=cutoffs,
    )


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
