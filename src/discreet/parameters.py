"""The public parameters of one release, checked once, before a byte of data is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from discreet import check
from discreet.errors import InputError

METHODS = ("aware", "peel", "oneshot", "mirror")
CUTOFFS = ("plain", "paper", "conservative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What was asked for; `discreet.release` explains each. Holds nothing private."""

    q: float
    epsilon: float
    delta: float
    method: str = "aware"
    guarantee: str = "proved"
    dependence: str = "positive"
    k: int | None = None
    cutoffs: str = "plain"
    values: bool = False

    def __post_init__(self) -> None:
        # Stored as floats: 1 and 1.0 are the same request.
        object.__setattr__(self, "q", check.level(self.q, "q"))
        object.__setattr__(self, "epsilon", check.positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", check.delta(self.delta))
        check.choice(self.method, "method", METHODS)
        check.choice(self.guarantee, "guarantee", ("proved", "calibrated"))
        check.choice(self.dependence, "dependence", ("positive", "any"))
        check.choice(self.cutoffs, "cutoffs", CUTOFFS)
        if self.k is not None:
            object.__setattr__(self, "k", check.whole(self.k, "k"))
        object.__setattr__(self, "values", check.flag(self.values, "values"))
        if self.delta == 0 and self.method in {"aware", "mirror"}:
            raise InputError(
                f'delta must be above 0 for method "{self.method}": its noise is Gaussian; try 1e-6'
            )

    def to_dict(self) -> dict[str, Any]:
        """Return them as a plain dictionary."""
        return asdict(self)
