"""What a mechanism spent, as data: one frozen record for each kind of promise."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from discreet import check
from discreet.errors import InputError


@dataclass(frozen=True, slots=True)
class Pure:
    """`count` releases, each epsilon-DP: |log P(S)/P'(S)| <= epsilon for every outcome set S."""

    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        _settle(self, "epsilon")

    def __str__(self) -> str:
        return f"{_times(self.count)} pure differential privacy with epsilon = {self.epsilon:.6g}"


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """`count` releases, each epsilon-bounded-range: log P(o)/P'(o) varies by at most epsilon over outcomes o.

    The exponential mechanism at spread w and scale s is (w/s)-bounded-range. It implies Pure(epsilon).
    """

    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        _settle(self, "epsilon")

    def __str__(self) -> str:
        return f"{_times(self.count)} a choice of bounded range epsilon = {self.epsilon:.6g}"


@dataclass(frozen=True, slots=True)
class ZCDP:
    """`count` releases, each rho-zCDP: D_a(P || P') <= rho*a for every Renyi order a > 1."""

    rho: float
    count: int = 1

    def __post_init__(self) -> None:
        _settle(self, "rho")

    def __str__(self) -> str:
        return f"{_times(self.count)} zero-concentrated differential privacy with rho = {self.rho:.6g}"


@dataclass(frozen=True, slots=True)
class Gaussian:
    """`count` releases, each mu-GDP: no easier to tell apart than N(0, 1) and N(mu, 1).

    Gaussian noise of deviation sigma on a vector of L2 sensitivity D has mu = D/sigma, also when it is
    rounded; a discrete Gaussian in general has not, and is charged as ZCDP(mu^2/2).
    """

    mu: float
    count: int = 1

    def __post_init__(self) -> None:
        _settle(self, "mu")

    def __str__(self) -> str:
        return f"{_times(self.count)} Gaussian differential privacy with mu = {self.mu:.6g}"


@dataclass(frozen=True, slots=True)
class Approximate:
    """`count` releases, each (epsilon, delta)-DP."""

    epsilon: float
    delta: float
    count: int = 1

    def __post_init__(self) -> None:
        _settle(self, "epsilon", "delta")
        check.delta(self.delta)

    def __str__(self) -> str:
        return (
            f"{_times(self.count)} approximate differential privacy with epsilon = {self.epsilon:.6g}, "
            f"delta = {self.delta:.3g}"
        )


Event = Pure | BoundedRange | ZCDP | Gaussian | Approximate

# Far beyond any promise; their sums, squares and products stay finite.
_MOST = 1e100
_MOST_TIMES = 10**15

_KINDS: dict[str, type[Event]] = {
    "pure": Pure,
    "bounded-range": BoundedRange,
    "zcdp": ZCDP,
    "gaussian": Gaussian,
    "approximate": Approximate,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_dict(event: Event) -> dict[str, Any]:
    """Return `event` as a plain dictionary of its kind, its numbers and its count."""
    return {"kind": _NAMES[type(event)], **asdict(event)}


def from_dict(fields: dict[str, Any]) -> Event:
    """Return the event that `to_dict` wrote."""
    rest = dict(fields)
    kind = check.choice(rest.pop("kind", None), "kind", tuple(_KINDS))
    try:
        return _KINDS[kind](**rest)
    except TypeError:
        raise InputError(f"an event of kind {kind!r} does not have these fields: {sorted(rest)}") from None


def _settle(event: Event, *names: str) -> None:
    """Refuse negative and absurd numbers and counts below 1; store plain floats and ints."""
    for name in names:
        number = check.real(getattr(event, name), name)
        if not 0 <= number <= _MOST:
            raise InputError(f"{name} must lie between 0 and {_MOST:g}; got {number:g}")
        object.__setattr__(event, name, number)
    object.__setattr__(event, "count", check.whole(event.count, "count", 1, _MOST_TIMES))


def _times(count: int) -> str:
    return "once:" if count == 1 else f"{count} times:"
