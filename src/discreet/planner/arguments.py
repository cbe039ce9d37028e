"""The arguments of `plan`, checked and made into the study that is to be invented."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.data.tables.columns import hypotheses_of
from discreet.errors import InputError
from discreet.evidence.compare import Compare
from discreet.evidence.core.arguments import share as in_half
from discreet.methods.method import Parameters
from discreet.methods.registry import METHODS as PRIVATE
from discreet.planner.cohort import Cohort, Column
from discreet.planner.invent import Setting
from discreet.planner.shapes import AWAY, PLACED, SHAPES
from discreet.planner.study import METHODS

if TYPE_CHECKING:
    from discreet.alternative import Alternative
    from discreet.methods.method import Method
    from discreet.typing import MethodName

OF_TABLES: tuple[str, ...] = ("bh", "auto", "all", "proved", "focus", "aware", "calibrated")
"""The methods that a comparison of two groups can be planned with."""
OF_ADJUSTED: tuple[str, ...] = ("bh", "auto", "all")
"""Those of an adjusted comparison."""
OF_SCORES: tuple[str, ...] = ("bh", "auto", "all", "aware", "calibrated", "mirror", "peel", "oneshot")
"""The methods that tests with scores can be planned with."""
_SHOWN: dict[tuple[str, ...], tuple[str, ...]] = {
    OF_TABLES: ("bh", "auto", "proved", "aware"),
    OF_ADJUSTED: ("bh", "auto"),
    OF_SCORES: OF_SCORES,
}
_HALF = 0.5
_LARGEST = 1e6  # an effect, in standard deviations


def effect_sizes(effects: Any) -> tuple[float, ...]:
    """Return the effects as a tuple; one number stands for itself."""
    several = check.entries(effects, "effects") if isinstance(effects, Iterable) else [effects]
    sizes = tuple(check.between(check.positive(size, "effects"), "effects", 0, _LARGEST) for size in several)
    if not sizes:
        raise InputError("effects must hold at least one effect size, such as 0.1")
    return sizes


def number_of_signals(signals: int | None, m: int, kinds: int) -> int:
    """Return how many hypotheses are false; each effect size gets at least one."""
    if kinds > m:
        raise InputError(f"effects must hold at most m = {m} sizes; got {kinds}")
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


def hypotheses_in(columns: tuple[Column, ...], test: Any) -> int:
    """Return how many hypotheses the columns make, in all subgroups together."""
    return sum(column.hypotheses for column in columns) * max(1, len(getattr(test, "levels_within", ())))


def _column(name: Any, levels: Any, bounds: Any) -> Column:
    """Return one column, numbers if it has no levels."""
    if levels is None:
        return Column(bounded=name in bounds if isinstance(bounds, Mapping) else bounds is not None)
    count, other = hypotheses_of(check.levels(levels, f"columns: {name!r}"))
    return Column(count, answers=True, other=other)


def cohort_of(
    test: Any,
    columns: tuple[Column, ...],
    m: int,
    share: float | None,
    sd: float | None,
    missing: float | None,
    rate: float | None,
    shape: str | None,
    centre: float | None,
) -> Cohort:
    """Return the people to invent for a comparison of two groups; m numbers if no columns are said."""
    asked: Compare = Compare(group="group") if test is None else test
    subgroups = max(1, len(asked.levels_within))
    if not columns and m % subgroups:
        raise InputError(
            f"m must be a multiple of {subgroups}: every column makes a hypothesis in each subgroup"
        )
    columns = columns or (Column(bounded=asked.bounds is not None),) * (m // subgroups)
    if rate is not None and not any(column.answers for column in columns):
        raise InputError("rate is about answers, and no column has levels: leave it out")
    if sd is not None and not any(column.bounded for column in columns):
        raise InputError("sd would do nothing without numbers that have bounds: leave it out")
    if shape is not None and all(column.answers for column in columns):
        raise InputError("shape is about numbers, and all columns have levels: leave it out")
    free = any(not column.answers and not column.bounded for column in columns)
    law = "normal" if shape is None else check.choice(shape, "shape", tuple(SHAPES))
    if centre is not None and not (free and law in PLACED):
        raise InputError(
            "centre says where numbers without bounds lie, and would do nothing here: leave it out (skewed "
            "numbers and counts begin at 0)"
        )
    return Cohort(
        asked,
        columns,
        _HALF if share is None else check.between(share, "share", 0.001, 0.999),
        None if sd is None else in_half(sd, "sd"),
        0.0 if missing is None else check.between(missing, "missing", 0.0, 0.99),
        None if rate is None else check.between(rate, "rate", 0.0001, 0.9999),
        law,
        AWAY if centre is None else check.between(centre, "centre", -_LARGEST, _LARGEST),
    )


def refuse_unused(options: Mapping[str, Any], where: str) -> None:
    """Refuse options that would do nothing."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} would do nothing {where}: leave it out")


def setting_of(
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


def methods_to_try(
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
