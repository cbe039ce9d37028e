"""`plan`: the expected power of each method before any budget is spent."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.compare import Compare
from discreet.evidence.core.arguments import alternative_of
from discreet.methods.method import refuse_idle
from discreet.methods.parameters import TEXTS
from discreet.planner.arguments import (
    OF_ADJUSTED,
    OF_SCORES,
    OF_TABLES,
    cohort_of,
    columns_of,
    correlated,
    effect_sizes,
    hypotheses_in,
    methods_to_try,
    number_of_signals,
    parameters_of,
    private_method,
    refuse_unused,
    setting_of,
    with_signals,
)
from discreet.planner.cohort import Cohort
from discreet.planner.comparison import Comparison, stand_in
from discreet.planner.outlook import if_otherwise, outlook, power_by_people, searched
from discreet.planner.record import Outlook, Plan
from discreet.planner.study import Study
from discreet.progress import notebook_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from discreet.alternative import Alternative
    from discreet.evidence.core.protocol import Test
    from discreet.typing import Cutoffs, Dependence, Planned, Shape

_EFFECTS = (0.05, 0.1, 0.2)
_QUICK, _USUAL, _SEARCH = 20, 40, 12  # invented studies
_TABLES = (24, 30, 5)  # the same, of whole tables
_UNSAID = 12  # for each thing that nobody said
_LEAST, _LEAST_LARGE = 6, 3  # studies, and of tables that take a second or more each
_ALL_SCORES, _ALL_ENTRIES = 3_000_000, 6_000_000  # of all invented studies of one figure, about
_TARGET = 0.8
_MOST_SCORES = 10**8  # of all invented studies together: a gigabyte
_CHEAP_FIRST = ("calibrated", "bh", "mirror", "oneshot", "peel", "auto", "all", "focus", "proved", "aware")
_MOST_PEOPLE = 10**8  # of a comparison


@documented(TEXTS)
def plan(
    n: int = 50_000,
    m: int | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    q: float = 0.1,
    effects: float | Sequence[float] = _EFFECTS,
    signals: int | str | Sequence[str] | None = None,
    test: Test | None = None,
    sensitivity: float | None = None,
    alternative: Alternative | None = None,
    sd: float | None = None,
    share: float | None = None,
    columns: Mapping[str, Sequence[object] | None] | None = None,
    missing: float | None = None,
    rate: float | None = None,
    shape: Shape | None = None,
    centre: float | None = None,
    correlation: float | None = None,
    assume: Mapping[str, Mapping[str, object]] | None = None,
    methods: Planned | Iterable[Planned] | None = None,
    k: int | None = None,
    dependence: Dependence | None = None,
    cutoffs: Cutoffs | None = None,
    target: float | None = None,
    quick: bool = False,
    curve: bool = False,
    repetitions: int | None = None,
    seed: int = 1,
    tick: Callable[[int], None] | None = None,
) -> Plan:
    """Say what a release would find, and what it would take to find more. Reads no data, spends nothing.

    Studies with known truth are invented, and the real methods release from them: whole tables for
    comparisons of two groups, scores by the test's own code for other tests. All figures are averages over
    invented studies and carry the simulation error they state.

    Parameters
    ----------
    n : int
        How many people.
    m : int, optional
        How many hypotheses. If None, those of `columns`, else 500.
    {epsilon}
    {delta}
    {q}
    effects : float or sequence of float
        How large the real effects are: differences between two groups, or distances from the null value, in
        standard deviations of the column; for `Correlation`, the correlation itself.
    signals : int, or names, optional
        How many hypotheses are really false, shared equally among `effects`; which of them is drawn at random
        in each invented study. Or which: columns, and "work=private" for an answer. If None, a tenth of m.
    test : Compare, Mean, ..., optional
        What `discover` will be given; its column names do not matter. If None, `Compare`.
    sensitivity : float, optional
        Instead of a test: how far one person moves your own z scores, at n people.
    alternative : {"two-sided", "greater", "less"}, optional
        With `sensitivity`: the direction your z scores are looked at in, "two-sided" when absent. The mirror
        needs one side. A test says so itself.
    sd : float, optional
        Standard deviation of the columns as a share of the width of their bounds. If None, what the test
        declares, else the largest possible, 0.5: columns that vary less than the test allows for lose power.
    share : float, optional
        The second group's share of the people. If None, one half.
    columns : mapping from str to levels or None, optional
        `Compare` only: the columns as `discover` takes them, None for numbers, a list of levels for answers.
        If None, m numbers.
    missing : float, optional
        `Compare` only: the share of entries that are missing. If None, 0.
    rate : float, optional
        `Compare` with answers only: how frequent the first level of each column is. Of those who did not give
        it the same part gives the second, and so on, if it is that frequent; else the others are equally
        frequent. If None, all levels are, and yes is as frequent as no. Nobody gives an answer that is not
        among the levels, unless `assume` leaves room for it.
    shape : {"normal", "skewed", "heavy-tailed", "uniform", "counts", "mostly-zero", "ratings"}, optional
        `Compare` only: how the numbers are spread. It matters because what lies far out is drawn in: the same
        difference in standard deviations is found more easily where numbers are skewed, as incomes are. A
        difference in counts is that some people have one more, and in ratings from 1 to 5 that some choose
        the next step. If None, normal, and the plan also says what would be found if they were skewed.
    centre : float, optional
        `Compare` only: the mean of the numbers in their standard deviations. Where numbers lie is learned
        within the budget if they have no bounds, which is the dearer the further from 0 they are: blood
        pressures lie at about 8, heights at 17. If None, 4, as ages do. Each column is in units of its own;
        where people are too few to learn where each of them lies, the plan also says what would be found if
        all were on one scale.
    correlation : float, optional
        `Compare` only: how strongly any two columns correlate, before their numbers are skewed, rounded or
        made into answers. It matters because the rows of some people are then far longer than those of most:
        less is found in wide tables, and of rare answers. If None, 0.2, as health and survey tables do on
        average, and the plan also says what would be found if columns were independent.
    assume : mapping from column to mapping, optional
        `Compare` with `columns` only: what is assumed of single columns, where it is not the same for all:
        "missing"; "rate", of the first answer or a list of the rates of all answers; "shape", "centre" and
        "sd". Take it from the code book, the literature or an earlier study, never from the data.
    methods : str or sequence of str, optional
        Among "bh" (no privacy, the textbook test), "auto" (what `discover` does by default), "all", "proved"
        ("all" with guarantee="proved"), "focus", "aware", "calibrated", "mirror", "peel" and "oneshot". If
        None, those that apply.
    k : int, optional
        For "peel", "oneshot" and "mirror". If None, twice `signals`, and chosen privately by "mirror".
    {dependence}
    {cutoffs}
    target : float, optional
        The power that people, epsilon and effect are searched for. If None, 0.8.
    quick : bool
        Only the power, without the searches.
    curve : bool
        Also the power at a tenth to ten times n, for `Plan.plot`.
    repetitions : int, optional
        How many studies to invent for each figure. If None, 40, or 20 when `quick`, and 12 for each step of a
        search; 30, 24 and 5 of whole tables; fewer where they are large.
    seed : int
        Seeds the invented people. The noise of a release has no seed.
    tick : callable, optional
        Called with 1 after each step, for a progress bar.

    Returns
    -------
    Plan
        What each method would find and what it would take to find more; in words when printed.

    Raises
    ------
    InputError
        No study can be invented for this test, or an option would do nothing.

    Notes
    -----
    Nothing here depends on data, so nothing is spent; and a plan promises nothing: real effects may differ.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Theorem 3 is
    about the power of "peel".

    Examples
    --------
    >>> import discreet
    >>> few = discreet.plan(2_000, 100, effects=0.5, signals=10, methods="calibrated", quick=True)
    >>> few.signals, few.outlooks[0].method
    (10, 'calibrated')
    """
    tables = sensitivity is None and (test is None or isinstance(test, Compare))
    n = check.whole(n, "n", 20, _MOST_PEOPLE if tables else 10**9)
    asked_columns = with_signals(columns_of(columns, m, test, tables=tables), signals)
    if asked_columns:
        m = hypotheses_in(asked_columns, test)
    m = check.whole(500 if m is None else m, "m", 1, 10**8)
    quick, curve = check.flag(quick, "quick"), check.flag(curve, "curve")
    if alternative is not None and sensitivity is None:
        raise InputError("alternative is for z scores of your own (sensitivity): give it to the test")
    looks = alternative_of("two-sided" if alternative is None else alternative)
    offered = OF_TABLES if getattr(test, "adjust", None) is None else OF_ADJUSTED
    chosen, notes = methods_to_try(
        methods,
        offered if tables else OF_SCORES,
        signed=sensitivity is not None and looks != "two-sided",
    )
    options = {"dependence": dependence, "cutoffs": cutoffs, "k": k}
    refuse_idle(options, [private_method(method) for method in chosen if method != "bh"])
    if target is not None and quick:
        raise InputError("target is what is searched for, and quick searches for nothing: leave one out")
    target = _TARGET if target is None else check.level(target, "target")
    sizes = effect_sizes(effects)
    signals = number_of_signals(signals, m, len(sizes), asked_columns, test)
    budget = {"q": q, "epsilon": epsilon, "delta": delta}
    asked = {method: parameters_of(method, options, m, signals, budget) for method in chosen}
    k = min(m, 2 * signals) if k is None else check.whole(k, "k", 1, m)
    everywhere = {"missing": missing, "rate": rate, "shape": shape, "centre": centre}
    if tables:
        setting = cohort_of(test, asked_columns, m, share, {**everywhere, "sd": sd}, assume)
        setting = correlated(setting, correlation)
        signals = min(signals, setting.real_places.size)
    else:
        refuse_unused({**everywhere, "correlation": correlation, "assume": assume}, "for this test")
        setting = setting_of(test, sensitivity, looks, n, share, sd)
    many, few = _studies(repetitions, n, m, tables=tables, quick=quick)
    seed = check.whole(seed, "seed", 0, 2**128)
    if tick is not None and not callable(tick):
        raise InputError("tick must be a function of one number, called at each step")
    each = tuple(float(size) for size in np.resize(np.array(sizes), signals))
    made = (n, m, asked, each, k, many, seed)
    study = Comparison(setting, *made) if isinstance(setting, Cohort) else Study(setting, *made)

    # A table takes its time: what people ask for is the default.
    sought = [method for method in chosen if not tables or method in {"bh", "auto"} or len(chosen) <= 2]
    outlooks: dict[str, Outlook] = {}
    with notebook_bar("planning", len(chosen) + (0 if quick else len(sought))) as bar:
        tell = tick or bar
        for method in chosen:
            outlooks[method] = outlook(study, method, sizes)
            tell(1)
        trial = replace(study, repetitions=few)
        # The cheap method first: where it passes the target is a good start for the dear one.
        for method in () if quick else sorted(sought, key=_CHEAP_FIRST.index):
            outlooks[method] = searched(
                trial, outlooks[method], target, outlooks.get("calibrated"), outlooks.get("bh")
            )
            tell(1)
        otherwise = if_otherwise(replace(study, repetitions=min(many, _UNSAID)), chosen)
    return Plan(
        n=n,
        m=m,
        q=float(q),
        epsilon=float(epsilon),
        delta=float(delta),
        effects=sizes,
        signals=signals,
        k=k,
        unit=setting.unit,
        assumed=setting.assumed,
        certificate=study.certificate(),
        target=target,
        repetitions=many,
        outlooks=tuple(outlooks[method] for method in chosen),
        otherwise=otherwise,
        curve=power_by_people(study, chosen) if curve else (),
        notes=notes,
    )


def _studies(repetitions: int | None, n: int, m: int, *, tables: bool, quick: bool) -> tuple[int, int]:
    """Return how many studies to invent for a figure, and for each question of a search."""
    if repetitions is not None:
        many = check.whole(repetitions, "repetitions", 2, max(6, _MOST_SCORES // m))
        return many, many
    fast, usual, search = _TABLES if tables else (_QUICK, _USUAL, _SEARCH)
    entries = math.prod(stand_in(n, m))
    most = _ALL_ENTRIES // entries if tables else _ALL_SCORES // m
    least = _LEAST_LARGE if tables and entries > _ALL_ENTRIES else _LEAST
    return max(least, min(fast if quick else usual, most)), max(min(least, search), min(search, most))
