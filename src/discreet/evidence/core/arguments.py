"""The public arguments of tests: what each name may hold, checked and stored as plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

from discreet import check
from discreet.alternative import ALTERNATIVES, Alternative
from discreet.docstrings import Text
from discreet.errors import InputError
from discreet.evidence.core.certificate import ADJACENCIES
from discreet.typing import Protect

if TYPE_CHECKING:
    from discreet.typing import Levels

TAILS = ("safe", "normal")
PROVABLE = ("safe", "proved", "normal")
MOST = 37.0
"""Scores end here: beyond it a normal tail is no longer a normal float."""
_MOST_PEOPLE = 2**53  # from here on floats do not tell two counts apart
_LEAST_SHARE = 1e-9  # no study of 2**53 people could tell a smaller share from 0


def settle(test: Any, but: tuple[str, ...] = ()) -> None:
    """Check every argument of a test by its name, and store plain numbers, text and tuples.

    An argument that is None by default may be None; those in `but` were checked before.
    """
    for field in fields(test):
        value, rule = getattr(test, field.name), _RULES.get(field.name)
        if field.name == "levels" and getattr(test, "groups", 2) > 2:
            rule = several_levels
        if rule is None or field.name in but or (value is None and field.default is None):
            continue
        object.__setattr__(test, field.name, rule(value, field.name))
    if hasattr(test, "tail"):
        check.choice(test.tail, "tail", getattr(test, "tails", TAILS))


def check_protect(protect: Any) -> None:
    """Refuse what is neither "everything" nor "columns"."""
    check.choice(protect, "protect", get_args(Protect))


def only_replace(adjacency: str, why: str) -> None:
    """Refuse add-remove where it contradicts what the test holds public."""
    if adjacency != "replace":
        raise InputError(f'adjacency must be "replace" for this test: {why}')


def sharp_from(adjacency: str, least: int | None) -> None:
    """Refuse an adjacency without what it needs."""
    if adjacency == "add-remove":
        if least is None:
            raise InputError('adjacency "add-remove" keeps the number of people private: give `least`')
    elif least is not None:
        raise InputError('least is for adjacency "add-remove": leave it out, the number of people is public')


def alternative_of(value: object) -> Alternative:
    """Return in which direction to look."""
    return cast("Alternative", check.choice(value, "alternative", ALTERNATIVES))


def share(value: object, name: str, of: str = "the width") -> float:
    """Return a share of a width, or of the smaller of two parts: above 0, at most one half."""
    number = check.real(value, name)
    if not _LEAST_SHARE <= number <= 0.5:
        raise InputError(
            f"{name} is a share of {of}, at least {_LEAST_SHARE:g} and at most 0.5; got {number:g}"
        )
    return number


def pair(bounds: object, name: str = "bounds") -> tuple[float, float]:
    """Return (low, high), finite, low < high."""
    both = check.entries(bounds, f"{name}, a pair (low, high),")
    if len(both) != 2:
        raise InputError(f"{name} must be a pair (low, high); got {len(both)} values")
    low, high = check.real(both[0], name), check.real(both[1], name)
    if not math.isfinite(high - low):
        raise InputError(f"{name} must be a pair (low, high) whose width is a finite number")
    if not low < high:
        raise InputError(f"{name} must be a pair (low, high) with low < high; got ({low:g}, {high:g})")
    return low, high


def by_column(rule: Callable[[Any, str], Any], value: object, name: str) -> Any:
    """Return one value for all columns, or a dictionary from column to value, each of them checked."""
    if not isinstance(value, Mapping):
        return rule(value, name)
    pairs = check.items(cast("Mapping[Any, Any]", value), name)
    columns = {check.text(key, f"a column of {name}"): entry for key, entry in pairs}
    return {key: rule(entry, f"{name}[{key!r}]") for key, entry in columns.items()}


def two_levels(value: object, name: str) -> tuple[Any, ...]:
    """Return the two public levels of a column."""
    levels = check.levels(value, name)
    if len(levels) != 2:
        raise InputError(f"{name} must hold 2 values; got {len(levels)}")
    return levels


def several_levels(value: object, name: str) -> tuple[Any, ...]:
    """Return the public values of a column, of which there must be two at least."""
    levels = check.levels(value, name)
    if len(levels) < 2:
        raise InputError(f"{name} must hold two values or more: the groups to compare")
    return levels


def check_strata(strata: Levels) -> None:
    """Refuse a stratified comparison without a stratum."""
    if not strata:
        raise InputError("strata must hold at least 1 value: those of `stratum`, which are public")


def _ceiling(value: object, name: str) -> float:
    number = check.real(value, name)
    if not 1 <= number <= MOST:
        raise InputError(f"{name} must lie between 1 and {MOST:g}; got {number:g}")
    return number


TEXTS = {
    "group": Text("str", "The column that says who is in which group."),
    "levels": Text(
        "(first, second)",
        "The two values of `group` to compare; people with any other are left out. If nobody names them, 0 "
        "and 1, but text files and worksheets of Excel do not say what a column holds: there they are named.",
    ),
    "alternative": Text(
        '{"two-sided", "greater", "less"}',
        "What to look for: any difference (default), larger values in the second group, or smaller ones.",
    ),
    "protect": Text(
        '{"everything", "columns"}',
        '"everything" (default): the group of a person is protected like all else. "columns": who is in '
        "which group is public.",
    ),
    "ceiling": Text(
        "float, optional",
        "Scores above it count as it; between 1 and 37. If None, a third of the largest z that so many "
        "people can reach, but at least 8 and at most 20.",
    ),
    "adjacency": Text(
        '{"replace"}',
        "Neighbouring tables differ in one person's row; the number of people is public.",
    ),
}
"""What arguments that many tests share mean, for their docstrings."""
HELP: dict[str, str] = {
    "group": "The column of groups.",
    "levels": "The two groups; 0 and 1 if absent (of phenotypes 1 and 2). Others are left out.",
    "bounds": "The range of every column; values outside are clipped.",
    "null": "The null value.",
    "alternative": "two-sided (if absent), greater or less.",
    "sd": "Known bound on the standard deviation, as a share of the bounds' width; at most 0.5.",
    "floor": "Floor of an estimated one; also a share.",
    "stratum": "The column of strata.",
    "strata": "A stratum; repeat for several.",
    "partner": "The column to correlate with.",
    "partner_bounds": "Its range.",
    "trait": "The column of the trait; phenotype if absent.",
    "eta": "p-values: one person's factor e^eta.",
    "nu": "p-values: the smallest that counts.",
    "column": "p-values: the column they are in.",
    "names": "p-values: the column of names.",
    "maf_floor": "Smallest allele frequency the test is sharp at; 0.2 if absent, less with very many people.",
    "case_floor": "The same for the share of cases; one half if absent, less with very many people.",
    "sd_floor": "The same for the standard deviation of a trait, as a share of its bounds' width.",
    "protect": "everything, or columns if groups are public; of genotypes both, or genotypes alone.",
    "adjust": "Adjust for it: age=17,90 (bounds) or sex=female,male (levels); repeat for several.",
    "affected": "tdt: the phenotype of affected children; 2 if absent.",
    "ceiling": "Scores above it count as it.",
    "tail": "safe (if absent) or normal; of two-by-two, allelic and trend also proved.",
    "adjacency": "replace (if absent) or add-remove, where the test has it.",
    "least": "With add-remove: the number of people from which on the test is sharp.",
    "blocks": "vote: how many blocks of people.",
    "level": "vote: the level at which a block votes.",
    "reads": "vote: a column to hand over; repeat for several.",
}
"""What arguments mean, in a line for the command line; of others the docstring of their test says it."""
_RULES: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("group", "stratum", "trait", "partner", "column", "names", "within"), check.text),
    **dict.fromkeys(("sd", "floor", "sd_floor"), share),
    **dict.fromkeys(("maf_floor", "case_floor"), partial(share, of="alleles or people")),
    "bounds": partial(by_column, pair),
    "partner_bounds": pair,
    "null": partial(by_column, check.real),
    "levels": two_levels,
    "strata": check.levels,
    "levels_within": check.levels,
    "alternative": lambda value, _: alternative_of(value),
    "ceiling": _ceiling,
    "tail": check.text,
    "adjacency": lambda value, name: check.choice(value, name, ADJACENCIES),
    "least": lambda value, name: check.whole(value, name, 2, _MOST_PEOPLE),
    "blocks": lambda value, name: check.whole(value, name, 2, 10**6),
    "level": check.level,
    "eta": check.positive,
    "nu": check.level,
}
