"""The public parameters of one release, checked once, before a byte of data is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from discreet import check
from discreet.errors import InputError
from discreet.methods.registry import METHODS
from discreet.typing import Cutoffs, Dependence, Guarantee

if TYPE_CHECKING:
    from discreet.methods.method import Method
    from discreet.typing import MethodName

OPTIONS = tuple(dict.fromkeys(option for method in METHODS.values() for option in method.options))
"""All options that some method takes."""
_CHOICES = {"guarantee": Guarantee, "dependence": Dependence, "cutoffs": Cutoffs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What was asked for; `discreet.release` explains each. Holds nothing private.

    An option that the method does not take is None, and one that it takes and that was not given has its
    default: the same request is written down the same way.
    """

    q: float
    epsilon: float
    delta: float
    method: MethodName = "auto"
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
            method=check.choice(self.method, "method", tuple(METHODS)),
            values=check.flag(self.values, "values"),
        )
        for option, choices in _CHOICES.items():
            if getattr(self, option) is not None:
                check.choice(getattr(self, option), option, get_args(choices))
        if self.k is not None:
            check.settle(self, k=check.whole(self.k, "k"))
        if self.expect is not None:
            check.settle(self, expect=check.positive(self.expect, "expect"))
        method = METHODS[self.method]
        refuse_idle({option: getattr(self, option) for option in OPTIONS}, [(method, self.guarantee)])
        if method.guarantees:
            if self.guarantee is None:
                check.settle(self, guarantee=method.guarantees[0])
            check.choice(self.guarantee, f'guarantee of method "{self.method}"', method.guarantees)
        for option in method.takes(self.guarantee):
            if getattr(self, option) is None and option in method.defaults:
                check.settle(self, **{option: method.defaults[option]})
        if self.delta == 0 and method.gaussian:
            raise InputError(
                f'delta must be above 0 for method "{self.method}": its noise is Gaussian; try 1e-6'
            )

    def to_dict(self) -> dict[str, Any]:
        """Return them as a plain dictionary; without `expect` where it was not given, as older ledgers."""
        asked = asdict(self)
        if asked["expect"] is None:
            del asked["expect"]
        return asked


def refuse_idle(given: dict[str, Any], asked: list[tuple[Method, str | None]]) -> None:
    """Refuse an option that is given, not None, and that none of the methods asked for takes."""
    for option, value in given.items():
        if value is not None and not any(option in method.takes(guarantee) for method, guarantee in asked):
            takers = ", ".join(f'"{method.name}"' for method in METHODS.values() if option in method.options)
            names = ", ".join(f'"{method.called(guarantee)}"' for method, guarantee in asked)
            raise InputError(
                f"{option} would do nothing here: it belongs to {takers}, and the method asked for is "
                f"{names}. Leave {option} out, or choose a method that takes it"
            )
