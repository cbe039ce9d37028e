"""`plan`: the expected power of each method before any budget is spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import check
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.compare import Compare
from discreet.evidence.core.arguments import alternative_of
from discreet.evidence.core.arguments import share as in_half
from discreet.methods.options import TEXTS
from discreet.methods.parameters import Parameters, refuse_idle
from discreet.methods.registry import METHODS as PRIVATE
from discreet.planner.invent import Setting
from discreet.planner.outlook import outlook, power_by_people, searched
from discreet.planner.people import Cohort, Comparison
from discreet.planner.record import Outlook, Plan
from discreet.planner.study import METHODS, Study
from discreet.progress import notebook_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.alternative import Alternative
    from discreet.evidence.core.protocol import Test
    from discreet.methods.method import Method
    from discreet.typing import Cutoffs, Dependence, MethodName, Planned

_EFFECTS = (0.05, 0.1, 0.2)
_QUICK, _USUAL, _SEARCH = 20, 40, 12  # invented studies
_TABLES = (8, 12, 5)  # the same, of whole tables
_TARGET, _HALF = 0.8, 0.5
_LARGEST = 1e6  # an effect, in standard deviations
_MOST_SCORES = 10**8  # of all invented studies together: a gigabyte
_CHEAP_FIRST = ("calibrated", "bh", "mirror", "oneshot", "peel", "auto", "all", "focus", "proved", "aware")
_OF_TABLES: tuple[str, ...] = ("bh", "auto", "all", "proved", "focus", "aware", "calibrated")
_OF_SCORES: tuple[str, ...] = ("bh", "auto", "all", "aware", "calibrated", "mirror", "peel", "oneshot")
_SHOWN: dict[tuple[str, ...], tuple[str, ...]] = {
    _OF_TABLES: ("bh", "auto", "proved", "aware"),
    _OF_SCORES: _OF_SCORES,
}
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
    signals: int | None = None,
    test: Test | None = None,
    sensitivity: float | None = None,
    alternative: Alternative | None = None,
    sd: float | None = None,
    share: float | None = None,
    columns: Mapping[str, Sequence[object] | None] | None = None,
    missing: float | None = None,
    rate: float | None = None,
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
    signals : int, optional
        How many hypotheses are really false, shared equally among `effects`. If None, a tenth of m.
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
        `Compare` with answers only: how frequent the first level of each column is. If None, all levels are
        equally frequent, and yes is as frequent as no.
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
        search (fewer for millions of hypotheses).
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
    kinds = _columns(columns, m, tables=tables)
    m = sum(size for size, _ in kinds) if kinds else check.whole(500 if m is None else m, "m", 1, 10**8)
    quick, curve = check.flag(quick, "quick"), check.flag(curve, "curve")
    if alternative is not None and sensitivity is None:
        raise InputError("alternative is for z scores of your own (sensitivity): give it to the test")
    looks = alternative_of("two-sided" if alternative is None else alternative)
    chosen, notes = _methods(
        methods,
        _OF_TABLES if tables else _OF_SCORES,
        signed=sensitivity is not None and looks != "two-sided",
    )
    options = {"dependence": dependence, "cutoffs": cutoffs, "k": k}
    refuse_idle(options, [_private(method) for method in chosen if method != "bh"])
    if target is not None and quick:
        raise InputError("target is what is searched for, and quick searches for nothing: leave one out")
    target = _TARGET if target is None else check.level(target, "target")
    sizes = _sizes(effects)
    signals = _signals(signals, m, len(sizes))
    budget = {"q": q, "epsilon": epsilon, "delta": delta}
    asked = {method: _asked(method, options, m, signals, budget) for method in chosen}
    k = min(m, 2 * signals) if k is None else check.whole(k, "k", 1, m)
    cohort = _cohort(test, kinds or ((1, False),) * m, share, sd, missing, rate) if tables else None
    if not tables:
        refuse({"missing": missing, "rate": rate}, "for this test")
    setting = _setting(test, sensitivity, looks, n, share, sd) if cohort is None else cohort
    fast, usual, search = (_QUICK, _USUAL, _SEARCH) if cohort is None else _TABLES
    few = max(min(6, search), min(search, 3_000_000 // m))  # each question of a search
    many = max(6, min(fast if quick else usual, 3_000_000 // m))
    if repetitions is not None:
        few = many = check.whole(repetitions, "repetitions", 2, max(6, _MOST_SCORES // m))
    seed = check.whole(seed, "seed", 0, 2**128)
    if tick is not None and not callable(tick):
        raise InputError("tick must be a function of one number, called at each step")
    each = tuple(float(size) for size in np.resize(np.array(sizes), signals))
    made = (n, m, asked, each, k, many, seed)
    study = Study(setting, *made) if isinstance(setting, Setting) else Comparison(setting, *made)

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
        curve=power_by_people(study, chosen) if curve else (),
        notes=notes,
    )


def _sizes(effects: Any) -> tuple[float, ...]:
    """Return the effects as a tuple; one number stands for itself."""
    several = check.entries(effects, "effects") if isinstance(effects, Iterable) else [effects]
    sizes = tuple(check.between(check.positive(size, "effects"), "effects", 0, _LARGEST) for size in several)
    if not sizes:
        raise InputError("effects must hold at least one effect size, such as 0.1")
    return sizes


def _signals(signals: int | None, m: int, kinds: int) -> int:
    """Return how many hypotheses are false; each effect size gets at least one."""
    if kinds > m:
        raise InputError(f"effects must hold at most m = {m} sizes; got {kinds}")
    return max(kinds, m // 10) if signals is None else check.whole(signals, "signals", kinds, m)


def _asked(method: str, options: dict[str, Any], m: int, signals: int, budget: dict[str, Any]) -> Parameters:
    """Return what `method` would be asked for, with those of the options that it takes."""
    if method == "bh":
        return Parameters(**budget)
    private, guarantee = _private(method)
    taken = {option: options[option] for option in private.takes(guarantee) if option in options}
    if method in {"peel", "oneshot"} and taken["k"] is None:
        taken["k"] = min(m, 2 * signals)
    if guarantee is not None:
        taken["guarantee"] = guarantee
    return Parameters(**budget, method=cast("MethodName", private.name), **taken)


def _private(method: str) -> tuple[Method, str | None]:
    """Return the method of a release that is planned under this name, and the guarantee it is asked for."""
    named = {"calibrated": "aware", "proved": "all"}.get(method)
    return (PRIVATE[method], None) if named is None else (PRIVATE[named], method)


def _columns(columns: Any, m: int | None, *, tables: bool) -> tuple[tuple[int, bool], ...]:
    """Return how many hypotheses each column makes, and whether they are answers."""
    if columns is None:
        return ()
    if not tables:
        raise InputError("columns is for Compare: other tests look at every column in the same way")
    if not isinstance(columns, Mapping):
        raise InputError("columns must be a mapping from names to levels, with None for numbers")
    given = check.items(cast("Mapping[Any, Any]", columns), "columns")
    kinds: tuple[tuple[int, bool], ...] = tuple(
        (1, False) if levels is None else (len(check.levels(levels, f"columns: {name!r}")), True)
        for name, levels in given
    )
    if not kinds:
        raise InputError("columns must name at least one column")
    if m is not None and m != sum(size for size, _ in kinds):
        raise InputError("m and columns say different numbers of hypotheses: leave m out")
    return kinds


def _cohort(
    test: Any,
    kinds: tuple[tuple[int, bool], ...],
    share: float | None,
    sd: float | None,
    missing: float | None,
    rate: float | None,
) -> Cohort:
    """Return the people to invent for a comparison of two groups."""
    asked: Compare = Compare(group="group") if test is None else test
    answers = tuple(said for _, said in kinds)
    if rate is not None and not any(answers):
        raise InputError("rate is about answers, and no column has levels: leave it out")
    if sd is not None and (asked.bounds is None or all(answers)):
        raise InputError("sd would do nothing without numbers that have bounds: leave it out")
    return Cohort(
        asked,
        tuple(size for size, _ in kinds),
        answers,
        _HALF if share is None else check.between(share, "share", 0.001, 0.999),
        None if sd is None else in_half(sd, "sd"),
        0.0 if missing is None else check.between(missing, "missing", 0.0, 0.99),
        None if rate is None else check.between(rate, "rate", 0.0001, 0.9999),
    )


def refuse(options: Mapping[str, Any], where: str) -> None:
    """Refuse options that would do nothing."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} would do nothing {where}: leave it out")


def _setting(
    test: Any,
    sensitivity: float | None,
    looks: Alternative,
    n: int,
    share: float | None,
    sd: float | None,
) -> Setting:
    """Return the study to invent; what it would not look at is refused."""
    part = _HALF if share is None else check.between(share, "share", 0.001, 0.999)
    varies = None if sd is None else in_half(sd, "sd")
    if sensitivity is not None:
        if test is not None:
            raise InputError("test and sensitivity exclude each other: a test knows its own sensitivity")
        setting = Setting(check.positive(sensitivity, "sensitivity"), n, part, varies, looks)
    else:
        setting = Setting(test, n, part, varies)
    for name, value, used in (("share", share, setting.uses_share), ("sd", sd, setting.uses_sd)):
        if value is not None and not used:
            raise InputError(f"{name} would do nothing for this test: leave it out")
    return setting


def _methods(
    methods: Any, offered: tuple[str, ...], *, signed: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the methods to try, in the order of the table, and words on one that does not apply."""
    named = [methods] if isinstance(methods, str) else methods
    given = list(_SHOWN[offered]) if named is None else check.entries(named, "methods")
    wanted = [check.choice(method, "methods", offered) for method in given]
    if not wanted:
        raise InputError(f"methods must name at least one of {', '.join(offered)}")
    notes: tuple[str, ...] = ()
    if "mirror" in wanted and not signed:
        if methods is not None:
            raise InputError(
                'methods: "mirror" needs one-sided z scores of your own: give sensitivity and alternative'
            )
        wanted.remove("mirror")
        notes = (
            "The mirror is left out: it needs one-sided z scores of your own (sensitivity, alternative).",
        )
    return tuple(method for method in METHODS if method in wanted), notes
