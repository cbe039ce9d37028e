"""The public parameters of one release, checked once, before a byte of data is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

from discreet import check
from discreet.errors import InputError

Method: TypeAlias = Literal["auto", "aware", "all", "focus", "peel", "oneshot", "mirror"]
"""How a release chooses its discoveries."""
Guarantee: TypeAlias = Literal["proved", "calibrated", "approximate"]
"""Whether the FDR is proved, verified by simulation ("aware"), or as good as a t law is near ("all")."""
Dependence: TypeAlias = Literal["positive", "any"]
"""What "aware" assumes about the scores of true nulls."""
Cutoffs: TypeAlias = Literal["plain", "paper", "conservative"]
"""Which cutoffs "peel" and "oneshot" use."""
Engine: TypeAlias = Literal["local", "dask"]
"""Where people are counted."""
Adjacency: TypeAlias = Literal["replace", "add-remove"]
"""Which two tables are neighbours."""
Planned: TypeAlias = Literal["bh", "aware", "calibrated", "mirror", "peel", "oneshot"]
"""What a plan compares: the methods, "aware" under both guarantees, and BH without privacy."""
TopK: TypeAlias = Literal["auto", "joint", "gumbel", "peel", "oneshot"]
"""How `top_k` chooses."""
NoisyMinimum: TypeAlias = Literal["permute-and-flip", "laplace"]
"""Which noise `noisy_min` adds."""
Reduction: TypeAlias = Literal["mean", "first", "any"]
"""How several rows of one person become one."""
Protect: TypeAlias = Literal["everything", "columns"]
"""Whether the group of a person is protected like all else, or public."""
Frame: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""Which library a data frame is made with."""
Procedure: TypeAlias = Literal[
    "bh", "adaptive-bh", "by", "holm", "bonferroni", "weighted-bh", "grouped-bh", "hierarchical-bh"
]
"""What `Release.decide` makes decisions with."""

METHODS: tuple[str, ...] = get_args(Method)
CUTOFFS: tuple[str, ...] = get_args(Cutoffs)
GUARANTEES: tuple[str, ...] = get_args(Guarantee)

TAKES = {
    "aware": ("guarantee", "dependence"),
    "aware, calibrated": ("guarantee",),
    "all": ("guarantee", "expect"),
    "focus": ("guarantee", "k", "expect"),
    "auto": ("guarantee", "dependence", "expect"),
    "peel": ("k", "cutoffs"),
    "oneshot": ("k", "cutoffs"),
    "mirror": ("k",),
}
"""What each method takes beside q, epsilon, delta and values. All else is refused: it would do nothing."""
DEFAULTS = {"guarantee": "proved", "dependence": "positive", "cutoffs": "plain"}
"""What is meant where an option that a method takes is not given."""
GAUSSIAN = ("auto", "aware", "all", "focus", "mirror")
"""Methods whose noise is Gaussian, or as good as: they spend a Gaussian budget, and need delta > 0."""
GUARANTEED = {"aware": ("proved", "calibrated"), "all": ("approximate", "proved"), "focus": ("approximate",)}
"""Which guarantees a method gives, the default first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What was asked for; `discreet.release` explains each. Holds nothing private.

    An option that the method does not take is None, and one that it takes and that was not given has its
    default: the same request is written down the same way.
    """

    q: float
    epsilon: float
    delta: float
    method: Method = "auto"
    guarantee: Guarantee | None = None
    dependence: Dependence | None = None
    k: int | None = None
    cutoffs: Cutoffs | None = None
    values: bool = False
    expect: float | None = None

    def __post_init__(self) -> None:
        check.settle(
            self,
            q=check.level(self.q, "q"),
            epsilon=check.epsilon(self.epsilon),
            delta=check.delta(self.delta),
            method=check.choice(self.method, "method", METHODS),
            values=check.flag(self.values, "values"),
        )
        choices = {"guarantee": GUARANTEES, "dependence": get_args(Dependence), "cutoffs": CUTOFFS}
        for name, among in choices.items():
            if getattr(self, name) is not None:
                check.choice(getattr(self, name), name, among)
        if self.k is not None:
            check.settle(self, k=check.whole(self.k, "k"))
        if self.expect is not None:
            check.settle(self, expect=check.positive(self.expect, "expect"))
        taken = TAKES[self.row]
        refuse_idle({name: getattr(self, name) for name in OPTIONS}, [self.row])
        if self.method in GUARANTEED:
            given = GUARANTEED[self.method]
            if self.guarantee is None:
                check.settle(self, guarantee=given[0])
            check.choice(self.guarantee, f'guarantee of method "{self.method}"', given)
        if self.method != "auto":
            check.settle(self, **{name: DEFAULTS[name] for name in taken if self._lacks(name)})
        if self.delta == 0 and self.method in GAUSSIAN:
            raise InputError(
                f'delta must be above 0 for method "{self.method}": its noise is Gaussian; try 1e-6'
            )

    @property
    def row(self) -> str:
        """The row of `TAKES` that applies."""
        calibrated = self.method in {"auto", "aware"} and self.guarantee == "calibrated"
        return "aware, calibrated" if calibrated else self.method

    def routes(self, offered: tuple[str, ...]) -> tuple[str, ...]:
        """Return which of the methods offered take all options that were given; some must."""
        given = [name for name in OPTIONS if getattr(self, name) is not None and name != "expect"]
        found = tuple(
            method
            for method in offered
            if all(name in TAKES[method] for name in given)
            and self.guarantee in (None, *GUARANTEED[method])
            and not (method == "aware" and self.guarantee == "calibrated" and self.dependence is not None)
        )
        if not found:
            raise InputError(
                f"no method among {', '.join(offered)} takes {' and '.join(given)} as given: name the method"
            )
        return found

    def _lacks(self, name: str) -> bool:
        return name in DEFAULTS and getattr(self, name) is None

    def to_dict(self) -> dict[str, Any]:
        """Return them as a plain dictionary; without `expect` where it was not given, as older ledgers."""
        found = asdict(self)
        if found["expect"] is None:
            del found["expect"]
        return found


OPTIONS = tuple(dict.fromkeys(name for row in TAKES.values() for name in row))
"""All options that some method takes."""


def refuse_idle(given: dict[str, Any], rows: list[str]) -> None:
    """Refuse an option that is given, not None, and that none of these rows of `TAKES` takes."""
    for name, value in given.items():
        if value is not None and not any(name in TAKES.get(row, ()) for row in rows):
            takers = ", ".join(f'"{row}"' for row, taken in TAKES.items() if name in taken)
            asked = ", ".join(f'"{row}"' for row in rows)
            raise InputError(
                f"{name} would do nothing here: it belongs to {takers}, and the method asked for is {asked}. "
                f"Leave {name} out, or choose a method that takes it"
            )
