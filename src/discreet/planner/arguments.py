"""The arguments of `plan`, checked and made into the study that is to be invented."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.data.tables.columns import hypotheses_of
from discreet.errors import InputError, perhaps
from discreet.evidence.compare import Compare
from discreet.methods.method import Parameters
from discreet.methods.registry import METHODS as PRIVATE
from discreet.planner.cohort import Cohort
from discreet.planner.column import Column, assuming, checked
from discreet.planner.invent import Setting
from discreet.planner.shapes import PLACED
from discreet.planner.study import METHODS

if TYPE_CHECKING:
    from discreet.alternative import Alternative
    from discreet.methods.method import Method
    from discreet.typing import MethodName

OF_TABLES: tuple[str, ...] = ("bh", "auto", "all", "proved", "focus", "aware", "calibrated")
"""The methods that a comparison of two groups can be planned with."""
OF_ADJUSTED: tuple[str, ...] = ("bh", "auto", "all")
"""Those of an adjusted comparison."""
OF_SCORES: tuple[str, ...] = (
    "bh", "auto", "all", "focus", "aware", "calibrated", "mirror", "peel", "oneshot",
)  # fmt: skip
"""The methods that tests with scores can be planned with."""
_SHOWN: dict[tuple[str, ...], tuple[str, ...]] = {
    OF_TABLES: ("bh", "auto", "proved", "aware"),
    OF_ADJUSTED: ("bh", "auto"),
    OF_SCORES: tuple(name for name in OF_SCORES if name != "focus"),
}
_HALF = 0.5
_LARGEST = 1e6  # an effect, in standard deviations
_NEAR_ONE = (0.9, 1.1)  # the sum of rates, which people round


def effect_sizes(effects: Any) -> tuple[float, ...]:
    """Return the effects as a tuple; one number stands for itself."""
    several = check.entries(effects, "effects") if isinstance(effects, Iterable) else [effects]
    sizes = tuple(check.between(check.positive(size, "effects"), "effects", 0, _LARGEST) for size in several)
    if not sizes:
        raise InputError("effects must hold at least one effect size, such as 0.1")
    return sizes


def number_of_signals(signals: object, m: int, kinds: int, columns: tuple[Column, ...], test: object) -> int:
    """Return how many hypotheses are false; each effect size gets at least one."""
    if kinds > m:
        raise InputError(f"effects must hold at most m = {m} sizes; got {kinds}")
    if any(column.real for column in columns):
        count = sum(len(column.real) for column in columns) * subgroups_of(test)
        if count < kinds:
            raise InputError(
                f"effects must hold at most as many sizes as there are signals, {count}; got {kinds}"
            )
        return count
    return max(kinds, m // 10) if signals is None else check.whole(signals, "signals", kinds, m)


def parameters_of(
    method: str, options: dict[str, Any], m: int, signals: int, budget: dict[str, Any]
) -> Parameters:
    """Return what `method` would be asked for, with those of the options that it takes."""
    if method == "bh":
        return Parameters(**budget)
    private, guarantee = private_method(method)
    taken = {option: options[option] for option in private.takes(guarantee) if option in options}
    if method in {"peel", "oneshot"} and taken["k"] is None:
        taken["k"] = min(m, 2 * signals)
    if guarantee is not None:
        taken["guarantee"] = guarantee
    return Parameters(**budget, method=cast("MethodName", private.name), **taken)


def private_method(method: str) -> tuple[Method, str | None]:
    """Return the method of a release that is planned under this name, and the guarantee it is asked for."""
    named = {"calibrated": "aware", "proved": "all"}.get(method)
    return (PRIVATE[method], None) if named is None else (PRIVATE[named], method)


def columns_of(columns: Any, m: int | None, test: Any, *, tables: bool) -> tuple[Column, ...]:
    """Return the columns as `discover` reads them; none if they are not said."""
    if columns is None:
        return ()
    if not tables:
        raise InputError("columns is for Compare: other tests look at every column in the same way")
    if isinstance(columns, tuple):
        opened = cast("tuple[Any, ...]", columns)
        if all(isinstance(column, Column) for column in opened):  # of a table that was opened
            return opened
    if not isinstance(columns, Mapping):
        raise InputError("columns must be a mapping from names to levels, with None for numbers")
    given = check.items(cast("Mapping[Any, Any]", columns), "columns")
    chosen = tuple(_column(name, levels, None if test is None else test.bounds) for name, levels in given)
    if not chosen:
        raise InputError("columns must name at least one column")
    hypotheses = hypotheses_in(chosen, test)
    if m is not None and m != hypotheses:
        raise InputError(f"m and columns disagree: the columns make {hypotheses:,} hypotheses; leave m out")
    return chosen


def with_signals(columns: tuple[Column, ...], signals: Any) -> tuple[Column, ...]:
    """Return the columns with those of their hypotheses that are said, by name, to be real."""
    if signals is None or not isinstance(signals, Iterable):
        return columns
    named = [signals] if isinstance(signals, str) else check.entries(signals, "signals")
    places = {column.name: (place, 0) for place, column in enumerate(columns) if column.hypotheses == 1}
    places |= {
        name: (place, of) for place, column in enumerate(columns) for of, name in enumerate(column.names)
    }
    real: dict[int, list[int]] = {}
    for given in named:
        name = check.text(given, "a name in signals")
        if name not in places:
            known = f": no hypothesis of the plan is called {name!r}{perhaps(name, places)}"
            raise InputError(
                f"signals{known if places else ' by name need columns=: say what they are called'}"
            )
        real.setdefault(places[name][0], []).append(places[name][1])
    if not real:
        raise InputError("signals must name at least one hypothesis, or be a number")
    return tuple(
        replace(column, real=tuple(sorted(set(real[place])))) if place in real else column
        for place, column in enumerate(columns)
    )


def subgroups_of(test: object) -> int:
    """Return how many subgroups the groups are compared in."""
    return max(1, len(getattr(test, "levels_within", ())))


def hypotheses_in(columns: tuple[Column, ...], test: object) -> int:
    """Return how many hypotheses the columns make, in all subgroups together."""
    return sum(column.hypotheses for column in columns) * subgroups_of(test)


def _column(name: object, levels: object, bounds: object) -> Column:
    """Return one column, numbers if it has no levels."""
    if levels is None:
        bounded = name in bounds if isinstance(bounds, Mapping) else bounds is not None
        return Column(bounded=bounded, name=str(name), names=(str(name),))
    names, other = hypotheses_of(str(name), check.levels(levels, f"columns: {name!r}"))
    return Column(len(names), answers=True, other=other, name=str(name), names=names)


def cohort_of(
    test: Any,
    columns: tuple[Column, ...],
    m: int,
    share: float | None,
    everywhere: Mapping[str, Any],
    assume: Any,
) -> Cohort:
    """Return the people to invent for a comparison of two groups; m numbers if no columns are said.

    `everywhere` is assumed of every column, and `assume` of those it names.
    """
    asked: Compare = Compare(group="group") if test is None else test
    subgroups = subgroups_of(asked)
    if not columns and m % subgroups:
        raise InputError(
            f"m must be a multiple of {subgroups}: every column makes a hypothesis in each subgroup"
        )
    columns = columns or (Column(bounded=asked.bounds is not None),) * (m // subgroups)
    said = {name: checked(name, value) for name, value in everywhere.items() if value is not None}
    if "rate" in said and not any(column.answers for column in columns):
        raise InputError("rate is about answers, and no column has levels: leave it out")
    if "sd" in said and not any(column.bounded for column in columns):
        raise InputError("sd would do nothing without numbers that have bounds: leave it out")
    if "shape" in said and all(column.answers for column in columns):
        raise InputError("shape is about numbers, and all columns have levels: leave it out")
    free = any(not column.answers and not column.bounded for column in columns)
    if "centre" in said and not (free and said.get("shape", "normal") in PLACED):
        raise InputError(
            "centre says where numbers without bounds lie, and would do nothing here: leave it out (skewed "
            "numbers and counts begin at 0)"
        )
    columns = assuming(assumed_of(columns, assume), said)
    return Cohort(asked, columns, _HALF if share is None else check.between(share, "share", 0.001, 0.999))


def correlated(cohort: Cohort, correlation: float | None) -> Cohort:
    """Return the people whose columns correlate as is said; as is assumed if nothing is."""
    if correlation is None:
        return cohort
    return replace(cohort, together=check.between(correlation, "correlation", 0.0, 0.99), said=True)


def assumed_of(columns: tuple[Column, ...], assume: object) -> tuple[Column, ...]:
    """Return the columns with what is assumed of each by its name."""
    if assume is None:
        return columns
    if not isinstance(assume, Mapping):
        raise InputError('assume must be a mapping from columns to what is assumed: {"ill": {"rate": 0.1}}')
    by_name = {column.name: place for place, column in enumerate(columns) if column.name}
    made = list(columns)
    for name, said in check.items(cast("Mapping[Any, Any]", assume), "assume"):
        if name not in by_name:
            raise InputError(f"assume: no column of the plan is called {name!r}{perhaps(str(name), by_name)}")
        if not isinstance(said, Mapping):
            raise InputError(f'assume: {name!r} must be a mapping, such as {{"missing": 0.2}}')
        column = made[by_name[name]]
        own: dict[str, Any] = {}
        for what, value in check.items(cast("Mapping[Any, Any]", said), f"assume: {name!r}"):
            if what not in column.takes:
                raise InputError(
                    f"assume: {name!r} holds {column.kind}, of which {what!r} cannot be assumed: only "
                    f"{', '.join(column.takes)}"
                )
            own[what] = _rates(column, name, value) if what == "rate" else checked(what, value)
        made[by_name[name]] = replace(column, **own)
    return tuple(made)


def _rates(column: Column, name: str, value: Any) -> float | tuple[float, ...]:
    """Return how frequent the first answer is, or all of them, in the order of the levels."""
    if not isinstance(value, Iterable):
        return cast("float", checked("rate", value))
    rates = tuple(float(checked("rate", rate)) for rate in check.entries(value, "rate"))
    given = column.hypotheses - column.other
    least = 0.0 if column.other else _NEAR_ONE[0]
    if len(rates) != given or (given > 1 and not least < sum(rates) < _NEAR_ONE[1]):
        most = ", and add up to 1" + (" at most" if column.other else "") if given > 1 else ""
        raise InputError(
            f"assume: rate of {name!r} must be {given} number{'s' if given > 1 else ''}, one for each answer "
            f"in order{most}"
        )
    whole = max(sum(rates), 1.0) if column.other else sum(rates)
    return tuple(rate / whole for rate in rates) if given > 1 else rates


def refuse_unused(options: Mapping[str, object], where: str) -> None:
    """Refuse options that would do nothing."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} would do nothing {where}: leave it out")


def setting_of(
    test: object,
    sensitivity: float | None,
    looks: Alternative,
    n: int,
    share: float | None,
    sd: float | None,
) -> Setting:
    """Return the study to invent; what it would not look at is refused."""
    part = _HALF if share is None else check.between(share, "share", 0.001, 0.999)
    varies = None if sd is None else cast("float", checked("sd", sd))
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


def methods_to_try(
    methods: object, offered: tuple[str, ...], *, signed: bool
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
