"""From evidence to a release: selection, decision, record. The only module that sees all stages."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.compared import compared
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.people import People
from discreet.evidence.core.question import question
from discreet.evidence.core.registry import described, is_recognisable, plain
from discreet.evidence.core.sharded import Sharded
from discreet.gather import gathered
from discreet.measure import check_engine, check_test, measuring
from discreet.methods.aware.method import ready_aware
from discreet.methods.common import Ready
from discreet.methods.route import route
from discreet.parameters import Frame, Parameters
from discreet.request import about, about_evidence
from discreet.spending import spending

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.data.tables.person import Person
    from discreet.evidence.core.protocol import Test
    from discreet.parameters import Cutoffs, Dependence, Engine, Guarantee, Method
    from discreet.report.release import Release
    from discreet.spending import Purse, Spending
    from discreet.typing import ArrayLike, Columns, SchedulerLike, TableLike

_LAX = 10.0  # an epsilon beyond this is warned about


def release(
    evidence: Evidence,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: Method = "auto",
    guarantee: Guarantee | None = None,
    dependence: Dependence | None = None,
    k: int | None = None,
    cutoffs: Cutoffs | None = None,
    expect: float | None = None,
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
        The false discovery rate to allow, strictly between 0 and 1.
    epsilon : float
        The privacy budget: no outcome becomes more than e^epsilon times as likely by one person's data.
    delta : float
        The probability, at most, with which that may fail; far below 1/people. "aware" and "mirror" need
        delta > 0.
    method : {"auto", "aware", "all", "peel", "oneshot", "mirror"}
        "auto" (default): "aware" or "all", whichever finds more in invented studies of so many hypotheses;
        the record of the release says which and why. "aware": noise-aware BH; needs no k, and FDR <= q is
        proved. "all": Gaussian noise on every score, then BH; best for few hypotheses, many of them real.
        "peel": the paper's Algorithm 4. "oneshot": its fast form. "mirror": one-sided z scores from
        `Evidence.from_z` only; FDR <= q exactly when null scores are symmetric and their signs independent.
    guarantee : {"proved", "calibrated", "approximate"}, optional
        "aware": "proved" (if None) or "calibrated", which finds more; its FDR is verified by simulation
        alone. "all": "approximate" (if None), by adaptive BH, or "proved", by BH.
    dependence : {"positive", "any"}, optional
        "aware" and "proved" only. If None, "positive": scores of true nulls are independent or positively
        dependent (PRDS). "any" assumes nothing and finds less.
    k : int, optional
        "peel" and "oneshot": the most discoveries to look for. If None, tries k = 16, 32, ...; each round is
        charged. "mirror": how many scores to look at. If None, chosen privately.
    cutoffs : {"plain", "paper", "conservative"}, optional
        "peel" and "oneshot" only: which cutoffs to use. If None, "plain". The release states the FDR level
        that each earns.
    expect : float, optional
        "auto" and "all": how many hypotheses you expect to be real, as a share below 1 or as a number;
        public. If None, twice the square root of all. It helps to choose the method, and changes no promise.
    values : bool
        Also release one noisy number for each discovery: its effect where the test has one (a difference of
        means, of rates, ...), else its score. "aware" spends a fifth of the budget on them; the other methods
        have them already. Effects of discoveries look larger than they are, since the large were chosen.
    ledger : path or Ledger, optional
        A file that keeps the budget (`discreet budget create`). A release that would exceed the total of
        `dataset` is refused; charge and result are on disk before the release is returned.
    dataset : str, optional
        The data set's name in the ledger; required with `ledger`.
    release_id : str, optional
        A name for this release in the ledger. Asked again with the same parameters, of the same data, the
        stored result is returned and nothing is spent; with others it is refused. Files are known by name and
        columns, other tables by their columns, functions by module and name; the key of `Vote` is not
        compared.

    Returns
    -------
    Release
        The discoveries, what they cost in privacy and what is promised about false ones; in words when
        printed.

    Raises
    ------
    InputError
        An argument is out of range, or would do nothing with this method. Nothing was spent.
    BudgetError
        The release would cost more than its data set has left. Nothing was spent.

    Notes
    -----
    Privacy holds for the neighbours named by the evidence's certificate, and if what it declares is true.
    The false discovery rate that is promised, and under which assumption, is `Release.fdr`. Proofs:
    docs/proofs/aware-privacy.md and docs/proofs/aware-fdr.md for "aware", docs/proofs/all-privacy.md and
    docs/proofs/all-fdr.md for "all", docs/proofs/algorithm-4.md for "peel" and "oneshot",
    docs/proofs/mirror.md for "mirror".

    References
    ----------
    - Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Algorithm 4 and
      Theorem 6, as corrected in docs/errata.md.
    - Benjamini & Hochberg (1995), Controlling the False Discovery Rate, JRSS B 57(1).
    - Barber & Candes (2015), Controlling the False Discovery Rate via Knockoffs, Annals of Statistics 43(5):
      the rule behind "mirror".
    - `Release.cite` lists the references behind one release.

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
        expect=expect,
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
    evidence: Evidence | Sharded | People,
    asked: Parameters,
    purse: Spending | None,
    described: Mapping[str, object] | None = None,
    frame: str | None = None,
) -> Release:
    """Settle, pay for, draw and describe a release."""
    gathered = isinstance(evidence, People)
    asked, why = route(asked, evidence)
    described = {**(described or {}), **_reason(why)}
    _warn(asked, evidence.rows if gathered else evidence.certificate.people)
    settled = ready_people(evidence, asked) if gathered else ready(evidence, asked)

    def draw() -> Release:
        made = settled.draw()
        return replace(made, parameters={**described, **made.parameters}, frame=frame)

    if purse is None:
        return draw()
    return purse.spend(Ready(settled.events, draw), "replace" if gathered else evidence.certificate.adjacency)


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


def ready_people(people: People, asked: Parameters) -> Ready:
    """Settle everything public about a release that asks the data several times; nothing is drawn yet."""
    asked, _ = route(asked, people)
    if asked.k is not None:
        check.whole(asked.k, "k", 1, len(people))
    if asked.method not in {"all", "focus"}:
        return ready(compared(people), asked)
    if asked.method == "focus":
        from discreet.methods.focus.method import ready_focus

        return ready_focus(people, asked)
    from discreet.methods.all.method import ready_all

    return ready_all(people, asked)


def ready(evidence: Evidence | Sharded, asked: Parameters) -> Ready:
    """Settle everything public about a release of `evidence`; nothing is drawn yet."""
    asked, _ = route(asked, evidence)
    if asked.k is not None:
        check.whole(asked.k, "k", 1, len(evidence))
    null = evidence.null
    if null.law == "exponential" and null.ceiling < -math.log(asked.q) and asked.cutoffs != "paper":
        raise InputError("nu is above q: no p-value that counts could be a discovery; take nu just below q/m")
    if asked.method == "aware":
        return ready_aware(evidence, asked)
    if asked.method == "focus":
        raise InputError(
            'method "focus" measures people afresh: use `discover` with Compare, or method "all"'
        )
    if isinstance(evidence, Sharded):
        raise InputError(f'method "{asked.method}" needs all scores in one place: use "aware"')
    if asked.method == "all":
        from discreet.methods.all.scores import ready_scores

        return ready_scores(evidence, asked)
    if asked.method == "mirror":
        from discreet.methods.mirror.method import ready_mirror

        return ready_mirror(evidence, asked)
    from discreet.methods.paper.method import ready_paper

    return ready_paper(evidence, asked)


def discover(
    data: TableLike,
    test: Test,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: Method = "auto",
    guarantee: Guarantee | None = None,
    dependence: Dependence | None = None,
    k: int | None = None,
    cutoffs: Cutoffs | None = None,
    expect: float | None = None,
    values: bool = False,
    person: str | Person | None = None,
    columns: Columns | None = None,
    engine: Engine = "local",
    scheduler: SchedulerLike = None,
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
        A row for each person, a column for each measure; or PLINK files. Formats: see `measure`.
    test : Mean, Proportion, TwoGroups, ...
        What to test, with its public arguments.
    q : float
        The false discovery rate to allow, strictly between 0 and 1.
    epsilon, delta : float
        The privacy budget of this release.
    method : {"auto", "all", "focus", "aware", "peel", "oneshot", "mirror"}
        "auto" (default): the one that finds the most in invented studies of so many people and hypotheses.
        For comparisons of two groups: "all", every statistic with noise and nothing assumed of the columns,
        or "focus", the most promising ones selected privately and measured afresh. Others: see `release`.
        "mirror" needs z scores of your own, which a test does not give.
    guarantee : {"proved", "calibrated", "approximate"}, optional
        "aware": "proved" (if None) or "calibrated"; "all": "approximate" (if None) or "proved"; "focus":
        "approximate".
    dependence : {"positive", "any"}, optional
        "aware" and "proved" only: what is assumed about scores of true nulls. If None, "positive".
    k : int, optional
        "peel" and "oneshot": the most discoveries to look for. If None, tries k = 16, 32, ...; each round is
        charged. "focus": how many hypotheses to measure. If None, twice as many as expected to be real.
    cutoffs : {"plain", "paper", "conservative"}, optional
        "peel" and "oneshot" only. If None, "plain".
    expect : float, optional
        "auto", "all" and "focus": how many hypotheses you expect to be real, as a share below 1 or as a
        number; public. If None, twice the square root of all.
    values : bool
        Also release a noisy effect, or score, for each discovery; "all" and "focus" do so anyway, with
        standard errors and intervals (`Release.estimates`).
    person : str or Person, optional
        The column that says whose row it is, where people have several. If None, each row is a person.
    columns : str, type, sequence or mapping, optional
        What to test: names, a pattern, a type, or a mapping from column to levels. If None, all numbers; see
        `measure`.
    engine : {"local", "dask"}
        Where to count: in this process, or on a Dask cluster.
    scheduler : str or distributed.Client, optional
        "dask" only: the cluster. If None, the current client, or a cluster of this machine for this call.
    ledger : path or Ledger, optional
        A file that keeps the budget of `dataset`, and refuses to overspend it.
    dataset : str, optional
        The data set's name in the ledger; required with `ledger`.
    release_id : str, optional
        A name for this release in the ledger: asked again, it is returned and nothing is spent; see
        `release`.

    Returns
    -------
    Release
        The discoveries, what they cost in privacy and what is promised about false ones; in words when
        printed.

    Raises
    ------
    InputError
        An argument or the data cannot be used as they are. Nothing was spent.
    BudgetError
        The release would cost more than its data set has left. Nothing was spent.

    Notes
    -----
    What a person adds to the scores is a function of that person's own rows and of public things
    (docs/proofs/reading.md, docs/proofs/sources.md); how far it moves them is on the proof page of the test.
    What is promised of the release is said in `release`.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803. `Release.cite` lists the
    references behind one release.

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
        expect=expect,
        values=values,
    )
    if release_id is not None and not all(map(is_recognisable, (test, columns, person))):
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
    told["question"] = question(test)
    if engine == "local" and asked.method in {"auto", "all", "focus"}:
        people = gathered(data, test, person=person, columns=columns)
        if people is not None:
            asked, why = route(asked, people)
            if asked.method != "aware" or test.needs_rows:
                return _make(people, asked, purse, {**told, **_reason(why)}, _frame(data))
            told |= _reason(why)
    # Scores may stay on a cluster where a method needs no more than their blocks can give.
    gather = asked.method not in {"auto", "aware"} or asked.values
    where = {"engine": engine, "scheduler": scheduler}
    with measuring(data, test, person=person, columns=columns, **where, gather=gather) as evidence:
        return _make(evidence, asked, purse, told, _frame(data))


def _reason(why: str) -> dict[str, str]:
    """Return why a method was chosen, as the record of a release says it; nothing where it was asked for."""
    return {"chosen": why} if why else {}


def _frame(data: TableLike) -> str | None:
    """Return which data frames the caller uses, so that results come back in the same."""
    library = type(data).__module__.partition(".")[0]
    return library if library in get_args(Frame) else None


def private_bh(
    p: ArrayLike,
    *,
    eta: float,
    nu: float,
    q: float,
    epsilon: float,
    delta: float,
    method: Method = "auto",
    guarantee: Guarantee | None = None,
    dependence: Dependence | None = None,
    k: int | None = None,
    cutoffs: Cutoffs | None = None,
    expect: float | None = None,
    values: bool = False,
    ledger: Purse = None,
    dataset: str | None = None,
    release_id: str | None = None,
) -> Release:
    """Release discoveries from p-values that one person moves by a factor e^eta at most, truncated at nu.

    The paper's input: p-values that are (eta, nu)-sensitive, with eta and nu declared by you.

    Parameters
    ----------
    p : array-like, shape (m,)
        p-values in [0, 1], or a mapping from name to p-value; no NaN: set missing p-values to 1 yourself.
    eta : float
        Your promise: one person moves every log max(p_i, nu) by at most eta > 0.
    nu : float
        p-values under nu count as nu; 0 < nu < 1, and best just below q/m.
    q : float
        The false discovery rate to allow, strictly between 0 and 1.
    epsilon, delta : float
        The privacy budget of this release.
    method : {"auto", "aware", "all", "peel", "oneshot", "mirror"}
        How to choose the discoveries; see `release`. "mirror" needs signed z scores and refuses p-values.
    guarantee : {"proved", "calibrated", "approximate"}, optional
        "aware": "proved" (if None) or "calibrated"; "all": "approximate" (if None) or "proved".
    dependence : {"positive", "any"}, optional
        "aware" and "proved" only: what is assumed about p-values of true nulls. If None, "positive".
    k : int, optional
        "peel" and "oneshot": the most discoveries to look for. If None, tries k = 16, 32, ...; each round is
        charged.
    cutoffs : {"plain", "paper", "conservative"}, optional
        "peel" and "oneshot" only. If None, "plain".
    expect : float, optional
        "auto" and "all": how many hypotheses you expect to be real; see `release`.
    values : bool
        Also release a noisy -log p for each discovery.
    ledger, dataset, release_id : optional
        Where the budget is kept, and under which names; see `release`.

    Returns
    -------
    Release
        The discoveries, what they cost in privacy and what is promised about false ones.

    Notes
    -----
    The promise of privacy stands on eta: nothing checks it. `truncated_sensitivity` computes it for normal
    scores. Proofs: docs/proofs/log-p.md, docs/proofs/algorithm-4.md; for "aware" docs/proofs/aware-fdr.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definition 4.1,
    Algorithm 4 and Theorem 6, as corrected in docs/errata.md.

    Examples
    --------
    >>> import discreet
    >>> p = {"height": 1e-9, "diet": 2e-8, "luck": 0.6, "age": 0.2}
    >>> found = discreet.private_bh(p, eta=1e-4, nu=1e-10, q=0.1, epsilon=1, delta=1e-6)
    >>> sorted(found.discoveries)
    ['diet', 'height']
    """
    return release(
        Evidence.from_p(p, eta=eta, nu=nu),
        q=q,
        epsilon=epsilon,
        delta=delta,
        method=method,
        guarantee=guarantee,
        dependence=dependence,
        k=k,
        cutoffs=cutoffs,
        expect=expect,
        values=values,
        ledger=ledger,
        dataset=dataset,
        release_id=release_id,
    )
