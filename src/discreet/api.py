"""From data to a release: `discover` and its second half, `release`. The only module that sees all stages."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.data.source import open_source
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.protocol import check_test, is_recognisable
from discreet.gather import gathered
from discreet.measure import measuring
from discreet.methods.method import Parameters, in_silence
from discreet.methods.parameters import TEXTS
from discreet.methods.registry import METHODS
from discreet.request import about_data, about_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.data.tables.person import Person
    from discreet.evidence.core.protocol import Test
    from discreet.privacy.ledger.ledger import LedgerLike
    from discreet.report.release import Release
    from discreet.typing import (
        ArrayLike,
        Columns,
        Cutoffs,
        Dependence,
        Engine,
        Guarantee,
        MethodName,
        SchedulerLike,
        TableLike,
    )


@documented(TEXTS)
def discover(
    data: TableLike,
    test: Test,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: MethodName = "auto",
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
    ledger: LedgerLike | None = None,
    dataset: str | None = None,
    release_id: str | None = None,
) -> Release:
    """Test every hypothesis in a table of people and release the discoveries: `measure`, then `release`.

    All public parameters and the ledger's budget are checked before any row is read. The budget is charged
    once, whichever engine does the counting: after the data have been counted, before any noise is drawn.

    Parameters
    ----------
    {...}

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
    A person's contribution to the scores depends on that person's own rows and on public quantities only
    (docs/proofs/reading.md, docs/proofs/sources.md); the proof page of each test bounds how far one person
    can move them. `release` states what is promised of the discoveries.

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
    check.engine(engine, scheduler)
    check_test(test)
    asked = _parameters(locals())
    if release_id is not None and not all(map(is_recognisable, (test, columns, person))):
        raise InputError(
            "release_id needs a test and columns that can be written down, to know them again: name the "
            "function to vote with in a module, give columns and levels as lists, or leave release_id out"
        )
    source = open_source(data)
    test = source.completed(test)
    which = {"columns": columns, "person": person}
    request = about_data(source, test, asked, **which, ledger=ledger, dataset=dataset, release_id=release_id)
    request.refuse_early()
    stored = request.stored()
    if stored is not None:
        return stored
    with ExitStack() as stack:
        if "IPython" in sys.modules:
            from discreet.progress import notebook_bar

            stack.enter_context(notebook_bar("testing", None))
        observed = None
        if engine == "local" and METHODS[asked.method].asks_people:
            observed = gathered(source, test, **which, panel=asked.method == "auto", stream=True)
        if observed is not None:
            request = request.choosing(observed)
        chosen = METHODS[request.asked.method]
        if observed is not None and (chosen.asks_people or test.needs_rows):
            source.let_go()
        else:
            # Scores may stay on the cluster if the method can work on one block at a time.
            where = {"engine": engine, "scheduler": scheduler}
            gather = asked.values or not chosen.of_shards
            evidence = measuring(source, test, **which, **where, gather=gather, look=True)
            observed = stack.enter_context(evidence)
        request = request.choosing(observed).of_people(observed)
        ready = METHODS[request.asked.method].ready(request.asked, observed)
        with request.paying(ready.events) as payment:
            if payment.is_new:
                with in_silence():
                    payment.keep(ready.draw())
    return payment.release


@documented(TEXTS)
def release(
    evidence: Evidence,
    *,
    q: float,
    epsilon: float,
    delta: float,
    method: MethodName = "auto",
    guarantee: Guarantee | None = None,
    dependence: Dependence | None = None,
    k: int | None = None,
    cutoffs: Cutoffs | None = None,
    expect: float | None = None,
    values: bool = False,
    ledger: LedgerLike | None = None,
    dataset: str | None = None,
    release_id: str | None = None,
) -> Release:
    """Release the discoveries in `evidence` under (epsilon, delta)-differential privacy with FDR control.

    Parameters
    ----------
    evidence : Evidence
        Scores with a null law and a certificate, from `measure`, `Evidence.from_p` or `Evidence.from_z`.
    {...}

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
    Privacy holds for the neighbours that the certificate of the evidence names, provided that what the
    certificate declares is true. `Release.fdr` states the false discovery rate that is promised, and under
    which assumptions. Proofs:
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
    >>> evidence = discreet.Evidence.from_z(scores, sensitivity=0.005, adjacency="replace")
    >>> release = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6)
    >>> sorted(release.discoveries)
    ['diet', 'sleep']
    """
    asked = _parameters(locals())
    check.made(
        evidence,
        Evidence,
        "evidence must come from `measure`, `Evidence.from_p` or `from_z`; for a table use `discover`",
    )
    request = about_evidence(evidence, asked, ledger=ledger, dataset=dataset, release_id=release_id)
    stored = request.stored()
    if stored is not None:
        return stored
    request = request.choosing(evidence).of_people(evidence)
    ready = METHODS[request.asked.method].ready(request.asked, evidence)
    with request.paying(ready.events) as payment:
        if payment.is_new:
            with in_silence():
                payment.keep(ready.draw())
    return payment.release


@documented(TEXTS)
def private_bh(
    p: ArrayLike,
    *,
    eta: float,
    nu: float,
    q: float,
    epsilon: float,
    delta: float,
    method: MethodName = "auto",
    guarantee: Guarantee | None = None,
    dependence: Dependence | None = None,
    k: int | None = None,
    cutoffs: Cutoffs | None = None,
    expect: float | None = None,
    values: bool = False,
    ledger: LedgerLike | None = None,
    dataset: str | None = None,
    release_id: str | None = None,
) -> Release:
    """Release the discoveries among p-values of which one person changes each by a factor of at most e^eta.

    This is the input of the paper: p-values that are (eta, nu)-sensitive. You declare eta and nu.

    Parameters
    ----------
    p : array-like, shape (m,)
        p-values in [0, 1], or a mapping from name to p-value; no NaN: set missing p-values to 1 yourself.
    eta : float
        Your promise: one person changes every log max(p_i, nu) by at most eta > 0.
    nu : float
        p-values below nu count as nu. Must lie between 0 and 1; just below q/m is best.
    {...}

    Returns
    -------
    Release
        The discoveries, what they cost in privacy and what is promised about false ones.

    Raises
    ------
    InputError
        An argument is out of range, or would do nothing with this method. Nothing was spent.
    BudgetError
        The release would cost more than its data set has left. Nothing was spent.

    Notes
    -----
    The privacy guarantee rests on eta, which cannot be checked here; for normal scores
    `truncated_sensitivity` computes it. Proofs: docs/proofs/log-p.md, docs/proofs/algorithm-4.md; for "aware"
    docs/proofs/aware-fdr.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definition 4.1,
    Algorithm 4 and Theorem 6, as corrected in docs/errata.md.

    Examples
    --------
    >>> import discreet
    >>> p = {"height": 1e-9, "diet": 2e-8, "luck": 0.6, "age": 0.2}
    >>> release = discreet.private_bh(p, eta=1e-4, nu=1e-10, q=0.1, epsilon=1, delta=1e-6)
    >>> sorted(release.discoveries)
    ['diet', 'height']
    """
    options = {name: value for name, value in locals().items() if name not in {"p", "eta", "nu"}}
    return release(Evidence.from_p(p, eta=eta, nu=nu), **options)


def _parameters(given: Mapping[str, Any]) -> Parameters:
    """Pick the options of a release from all arguments of a public function, and check them."""
    return Parameters(**{option.name: given[option.name] for option in fields(Parameters)})
