"""From evidence to a release: selection, decision, record. The only module that sees all stages."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.sharded import Sharded
from discreet.measure import check_engine, check_test, measuring
from discreet.methods.aware.method import ready_aware
from discreet.methods.common import Ready
from discreet.named import described, plain, recognised
from discreet.parameters import Parameters
from discreet.request import about, about_evidence
from discreet.spending import spending

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.data.tables.person import Person
    from discreet.evidence.core.accumulate import Test
    from discreet.report.release import Release
    from discreet.spending import Purse, Spending

FRAMES = ("pandas", "polars", "pyarrow")
_LAX = 10.0  # an epsilon beyond this is warned about


def release(
    evidence: Evidence,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: str = "aware",
    guarantee: str | None = None,
    dependence: str | None = None,
    k: int | None = None,
    cutoffs: str | None = None,
    values: bool = False,
    ledger: Purse = None,
    dataset: str | None = None,
    release_id: str | None = None,
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
    guarantee : {"proved", "calibrated"}, optional
        "aware" only; "proved" when absent. "calibrated" finds more and its FDR is verified by simulation
        alone.
    dependence : {"positive", "any"}, optional
        "aware" and "proved" only. "positive", when absent: scores of nulls independent, or positively
        dependent (PRDS). "any": no assumption, at a price.
    k : int, optional
        "peel" and "oneshot": the most discoveries to look for; by doubling from 16 when absent, which splits
        the budget over as many rounds as m allows. "mirror": how many to look at; chosen privately if absent.
    cutoffs : {"plain", "paper", "conservative"}, optional
        "peel" and "oneshot": which cutoffs, "plain" when absent; the release states the FDR level each earns.
    values : bool
        Also release one noisy number for each discovery: its effect where the test has one (a difference of
        means, of rates, ...), else its score. "aware" pays a fifth of the budget for them; the other methods
        have them already. Effects of discoveries look larger than they are, since the large were chosen.
    ledger : path or Ledger, optional
        A file that keeps the budget (`discreet budget create`): what would exceed the total of `dataset` is
        refused, and charge and result are on disk before the release is returned.
    dataset : str, optional
        The data set's name in the ledger.
    release_id : str, optional
        A name for this release: asked again with the same parameters, of the same data, the stored result is
        returned and nothing is spent; with others it is refused. Files are known by name and columns, other
        tables by their columns, functions by module and name; the key of `Vote` is not compared.

    Examples
    --------
    >>> import discreet
    >>> scores = {"diet": 12.0, "sleep": 11.0, "luck": 0.3, "age": 0.8}
    >>> evidence = discreet.Evidence.from_z(scores, sup=0.005, adjacency="replace")
    >>> found = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6)
    >>> sorted(found.discoveries)
    ['diet', 'sleep']
    """
    asked = Parameters(
        q=q,
        epsilon=epsilon,
        delta=delta,
        method=method,
        guarantee=guarantee,
        dependence=dependence,
        k=k,
        cutoffs=cutoffs,
        values=values,
    )
    check.made(
        evidence,
        Evidence,
        "evidence must come from `measure`, `Evidence.from_p` or `from_z`; for a table use `discover`",
    )
    told = {} if ledger is None else about_evidence(evidence)
    purse = spending(ledger, dataset, release_id, {**told, **asked.to_dict()})
    kept = None if purse is None else purse.stored()
    return _make(evidence, asked, purse) if kept is None else kept


def _make(
    evidence: Evidence | Sharded,
    asked: Parameters,
    purse: Spending | None,
    described: Mapping[str, object] | None = None,
    frame: str | None = None,
) -> Release:
    """Settle, pay for, draw and describe a release."""
    _warn(asked, evidence.certificate.people)
    settled = ready(evidence, asked)

    def draw() -> Release:
        made = settled.draw()
        return replace(made, parameters={**(described or {}), **made.parameters}, frame=frame)

    if purse is None:
        return draw()
    return purse.spend(Ready(settled.events, draw), evidence.certificate.adjacency)


def _warn(asked: Parameters, people: int | None) -> None:
    """Say so when a budget is hardly a promise; for whoever called `release` or `discover`."""
    if asked.epsilon > _LAX:
        warnings.warn(
            f"epsilon = {asked.epsilon:g} hardly protects anyone: one person's data may change the odds of "
            f"an outcome e^{asked.epsilon:g}-fold; 1 is usual, 3 is lax",
            stacklevel=4,
        )
    if asked.delta > (0.01 if people is None else min(0.01, 1 / max(people, 1))):
        of_all = "" if people is None else f", and there are {people:,}"
        warnings.warn(
            f"delta = {asked.delta:g} may expose one person in {1 / asked.delta:.0f}{of_all}: take it far "
            "below 1/people",
            stacklevel=4,
        )


def ready(evidence: Evidence | Sharded, asked: Parameters) -> Ready:
    """Settle everything public about a release of `evidence`; nothing is drawn yet."""
    if asked.k is not None:
        check.whole(asked.k, "k", 1, len(evidence))
    null = evidence.null
    if null.law == "exponential" and null.ceiling < -math.log(asked.q) and asked.cutoffs != "paper":
        raise InputError("nu is above q: no p-value that counts could be a discovery; take nu just below q/m")
    if asked.method == "aware":
        return ready_aware(evidence, asked)
    if isinstance(evidence, Sharded):
        raise InputError(f'method "{asked.method}" needs all scores in one place: use "aware"')
    if asked.method == "mirror":
        from discreet.methods.mirror.method import ready_mirror

        return ready_mirror(evidence, asked)
    from discreet.methods.paper.method import ready_paper

    return ready_paper(evidence, asked)


def discover(
    data: Any,
    test: Test,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: str = "aware",
    guarantee: str | None = None,
    dependence: str | None = None,
    k: int | None = None,
    cutoffs: str | None = None,
    values: bool = False,
    person: str | Person | None = None,
    columns: Any = None,
    engine: str = "local",
    scheduler: Any = None,
    ledger: Purse = None,
    dataset: str | None = None,
    release_id: str | None = None,
) -> Release:
    """Test every hypothesis in a table of people and release the discoveries: `measure`, then `release`.

    Public parameters and the ledger's budget are checked before a row of data is read. Whatever the engine,
    the budget is charged once, here, when all data has been counted.

    Parameters
    ----------
    data : path, array or table
        A row for each person, a column for each measure; or PLINK files.
    test : Mean, Proportion, TwoGroups, ...
        What to test, with its public arguments.
    person : str or Person, optional
        The column that says whose row it is, where people have several.
    columns : optional
        What to test: names, a pattern, a type, or a mapping from column to levels. All numbers when absent.
    engine, scheduler
        Where to count. These and the above: more in `measure`.
    q, epsilon, delta, method, guarantee, dependence, k, cutoffs, values, ledger, dataset, release_id
        As in `release`.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> yes = np.arange(20_000)[:, None] % 100
    >>> people = yes < np.array([50, 50, 75, 50])  # half say yes to each question, three in four to the third
    >>> r = discreet.discover(people, discreet.Proportion(null=0.5), q=0.1, epsilon=1, delta=1e-6)
    >>> r.discoveries
    ('2',)
    """
    check_engine(engine, scheduler)
    check_test(test)
    asked = Parameters(
        q=q,
        epsilon=epsilon,
        delta=delta,
        method=method,
        guarantee=guarantee,
        dependence=dependence,
        k=k,
        cutoffs=cutoffs,
        values=values,
    )
    if release_id is not None and not all(map(recognised, (test, columns, person))):
        raise InputError(
            "release_id needs a test and columns that can be written down, to know them again: name the "
            "function to vote with in a module, give columns and levels as lists, or leave release_id out"
        )
    of = {"test": described(test), "columns": plain(columns), "person": plain(person)}
    told = {name: value for name, value in of.items() if value is not None}
    purse = spending(ledger, dataset, release_id, {**told, **asked.to_dict()})
    if purse is not None:
        purse = replace(purse, request={**purse.request, "data": about(data, test)})
        purse.early(asked, getattr(test, "adjacency", "replace"))
        kept = purse.stored()
        if kept is not None:
            return kept
    # Scores may stay on a cluster where a method needs no more than their blocks can give.
    gather = asked.method != "aware" or asked.values
    where = {"engine": engine, "scheduler": scheduler}
    with measuring(data, test, person=person, columns=columns, **where, gather=gather) as evidence:
        return _make(evidence, asked, purse, told, _frame(data))


def _frame(data: Any) -> str | None:
    """Return which data frames the caller uses, so that results come back in the same."""
    library = type(data).__module__.partition(".")[0]
    return library if library in FRAMES else None


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

    Examples
    --------
    >>> import discreet
    >>> p = {"height": 1e-9, "diet": 2e-8, "luck": 0.6, "age": 0.2}
    >>> found = discreet.private_bh(p, eta=1e-4, nu=1e-10, q=0.1, epsilon=1, delta=1e-6)
    >>> sorted(found.discoveries)
    ['diet', 'height']
    """
    return release(
        Evidence.from_p(p, eta=eta, nu=nu), q=q, epsilon=epsilon, delta=delta, k=k, method=method, **options
    )
