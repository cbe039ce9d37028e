"""What a mechanism spent, as data, one frozen record for each kind of event; and what a release promises."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.docstrings import Text, documented
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


# Far beyond any promise; their sums, squares and products stay finite.
_MOST = 1e100
_MOST_TIMES = 10**15
_TEXTS = {"count": Text("int, optional", "How many such releases, at least 1.")}


class _Counted:
    """Refuses negative and absurd numbers and counts below 1; stores plain floats and ints."""

    __slots__ = ()

    def __post_init__(self) -> None:
        *numbers, count = fields(self)  # pyright: ignore[reportArgumentType]  # each kind is a data class
        for field in numbers:
            number = check.real(getattr(self, field.name), field.name)
            if not 0 <= number <= _MOST:
                raise InputError(f"{field.name} must lie between 0 and {_MOST:g}; got {number:g}")
            object.__setattr__(self, field.name, number)
        times = check.whole(getattr(self, count.name), count.name, 1, _MOST_TIMES)
        object.__setattr__(self, count.name, times)


@documented(_TEXTS)
@dataclass(frozen=True, slots=True)
class Pure(_Counted):
    """`count` releases, each epsilon-DP: |log P(S)/P'(S)| <= epsilon for every outcome set S.

    Parameters
    ----------
    epsilon : float
        At least 0.
    {count}

    Notes
    -----
    Laplace noise of scale b on a number that one person moves by at most D has epsilon = D/b. How pure events
    compose: docs/proofs/accounting.md, sections 1 to 3.

    References
    ----------
    Dwork, McSherry, Nissim & Smith (2006), Calibrating Noise to Sensitivity in Private Data Analysis, TCC
    2006.

    Examples
    --------
    >>> import discreet
    >>> round(discreet.account([discreet.Pure(0.1, count=5)], delta=0), 6)
    0.5
    """

    epsilon: float
    count: int = 1

    def __str__(self) -> str:
        return f"{_times(self.count)} pure differential privacy with epsilon = {self.epsilon:.6g}"


@documented(_TEXTS)
@dataclass(frozen=True, slots=True)
class BoundedRange(_Counted):
    """`count` releases, each epsilon-bounded-range: log P(o)/P'(o) varies by at most epsilon over outcomes o.

    Parameters
    ----------
    epsilon : float
        At least 0.
    {count}

    Notes
    -----
    The exponential mechanism at spread w and scale s is (w/s)-bounded-range. It implies Pure(epsilon), and
    ZCDP(epsilon**2 / 8): docs/proofs/accounting.md, sections 1 and 2.

    References
    ----------
    Cesar & Rogers (2021), Bounding, Concentrating, and Truncating: Unifying Privacy Loss Composition for Data
    Analytics, ALT 2021.

    Examples
    --------
    >>> import discreet
    >>> round(discreet.account([discreet.BoundedRange(0.05, count=100)], delta=1e-6), 2)
    1.06
    """

    epsilon: float
    count: int = 1

    def __str__(self) -> str:
        return f"{_times(self.count)} a choice of bounded range epsilon = {self.epsilon:.6g}"


@documented(_TEXTS)
@dataclass(frozen=True, slots=True)
class ZCDP(_Counted):
    """`count` releases, each rho-zCDP: D_a(P || P') <= rho*a for every Renyi order a > 1.

    Parameters
    ----------
    rho : float
        At least 0.
    {count}

    Notes
    -----
    The rhos of several releases add up; the sum becomes (epsilon, delta) by docs/proofs/accounting.md,
    section 2.

    References
    ----------
    Bun & Steinke (2016), Concentrated Differential Privacy, TCC 2016.

    Examples
    --------
    >>> import discreet
    >>> two, one = discreet.ZCDP(0.005, count=2), discreet.ZCDP(0.01)
    >>> discreet.account([two], delta=1e-6) == discreet.account([one], delta=1e-6)
    True
    """

    rho: float
    count: int = 1

    def __str__(self) -> str:
        return f"{_times(self.count)} zero-concentrated differential privacy with rho = {self.rho:.6g}"


@documented(_TEXTS)
@dataclass(frozen=True, slots=True)
class Gaussian(_Counted):
    """`count` releases, each mu-GDP: no easier to tell apart than N(0, 1) and N(mu, 1).

    Parameters
    ----------
    mu : float
        At least 0.
    {count}

    Notes
    -----
    Gaussian noise of deviation sigma on a vector of L2 sensitivity D has mu = D/sigma, also when it is
    rounded; a discrete Gaussian in general has not, and is charged as ZCDP(mu^2/2). The squares of several
    mus add up: docs/proofs/accounting.md.

    References
    ----------
    Dong, Roth & Su (2022), Gaussian Differential Privacy, Journal of the Royal Statistical Society B 84.

    Examples
    --------
    >>> import discreet
    >>> round(discreet.account([discreet.Gaussian(0.3), discreet.Gaussian(0.4)], delta=1e-6), 3)
    2.254
    >>> round(discreet.account([discreet.Gaussian(0.5)], delta=1e-6), 3)
    2.254
    """

    mu: float
    count: int = 1

    def __str__(self) -> str:
        return f"{_times(self.count)} Gaussian differential privacy with mu = {self.mu:.6g}"


@documented(_TEXTS)
@dataclass(frozen=True, slots=True)
class Approximate(_Counted):
    """`count` releases, each (epsilon, delta)-DP: P(S) <= e^epsilon P'(S) + delta for every outcome set S.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        In [0, 1).
    {count}

    Notes
    -----
    What is known of a release when nothing better is. Its deltas add up, whatever else is spent:
    docs/proofs/accounting.md, section 1. A ledger charges them to the part of delta set aside for them.

    References
    ----------
    Dwork, Kenthapadi, McSherry, Mironov & Naor (2006), Our Data, Ourselves: Privacy via Distributed Noise
    Generation, EUROCRYPT 2006.

    Examples
    --------
    >>> import discreet
    >>> round(discreet.account([discreet.Approximate(0.1, 1e-7)], delta=1e-6), 3)
    0.1
    """

    epsilon: float
    delta: float
    count: int = 1

    def __post_init__(self) -> None:
        _Counted.__post_init__(self)
        check.delta(self.delta)

    def __str__(self) -> str:
        return (
            f"{_times(self.count)} approximate differential privacy with epsilon = {self.epsilon:.6g}, "
            f"delta = {self.delta:.3g}"
        )


Event = Pure | BoundedRange | ZCDP | Gaussian | Approximate


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


def from_dict(record: dict[str, Any]) -> Event:
    """Return the event that `to_dict` wrote."""
    rest = dict(record)
    kind = check.choice(rest.pop("kind", None), "kind", tuple(_KINDS))
    try:
        return _KINDS[kind](**rest)
    except TypeError:
        raise InputError(f"an event of kind {kind!r} does not have these fields: {sorted(rest)}") from None


def gaussian_events(shares: Iterable[float]) -> tuple[Event, ...]:
    """Return the events of a release whose parts spend these shares of its budget."""
    return tuple(Gaussian(math.sqrt(2 * share)) for share in shares if share > 0)


def _times(count: int) -> str:
    return "once:" if count == 1 else f"{count} times:"


NEIGHBOURS = {
    "replace": "one person's data replaced by another's (the number of people is public)",
    "add-remove": "one person added or removed",
}
DECLARED = "A person is protected only if they change no more than that, as declared; nothing checked it."


@dataclass(frozen=True, slots=True)
class Privacy:
    """(epsilon, delta)-differential privacy under `adjacency`, earned by `events`. Holds nothing private.

    P(S) <= e^epsilon P'(S) + delta for every outcome set S and every two neighbouring inputs.

    Attributes
    ----------
    epsilon : float
        At least 0.
    delta : float
        In [0, 1).
    events : tuple of events
        What was spent, for `account`.
    adjacency : str
        "replace", "add-remove", or words that say which two inputs are neighbours.
    public : str
        What neighbours share, in words, and is therefore not protected: who is in which group, say.
    assumption : str
        What the promise stands on that nothing checked, in a sentence; empty if there is no such thing.

    Notes
    -----
    That the events keep within (epsilon, delta): docs/proofs/accounting.md.

    References
    ----------
    Dwork, McSherry, Nissim & Smith (2006), Calibrating Noise to Sensitivity in Private Data Analysis, TCC
    2006.

    Examples
    --------
    >>> import discreet
    >>> top = discreet.top_k([3, 900, 40], 1, sensitivity=1, epsilon=1, largest=True)
    >>> top.privacy.epsilon, top.privacy.delta
    (1.0, 0.0)
    """

    epsilon: float
    delta: float
    events: tuple[Event, ...]
    adjacency: str
    public: str = ""
    assumption: str = ""

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise InputError(f"epsilon must be at least 0; got {self.epsilon}")
        check.delta(self.delta)

    def __str__(self) -> str:
        words = NEIGHBOURS.get(self.adjacency, self.adjacency)
        head = f"({self.epsilon:.6g}, {self.delta:.3g})-differential privacy; neighbours: {words}."
        # Neighbours in words are inputs, not people: how far one person moves them is the caller's claim.
        stands = self.assumption or ("" if self.adjacency in NEIGHBOURS else DECLARED)
        shared = f"Not protected: {self.public}." if self.public else ""
        return "\n".join([head, *filter(None, (stands, shared)), self._meaning(), *self._list()])

    def _meaning(self) -> str:
        if math.isinf(self.epsilon):
            return "No limit on what the output can reveal about one person."
        factor = math.exp(min(self.epsilon, 700.0))
        rest = f", up to a probability of delta = {self.delta:.3g}" if self.delta else ""
        words = f"no outcome becomes more than e^epsilon = {factor:.4g} times as likely"
        return f"Between neighbours, {words}{rest}."

    def _list(self) -> list[str]:
        if not self.events:
            return ["Nothing was spent."]
        return ["Spent:", *(f"  - {event}" for event in self.events)]


def down(number: float) -> str:
    """Return `number` to four digits, rounded down: an advice that fits."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 3) if number > 0 else 0.0
    if not unit:
        return "0"
    return f"{math.floor(number / unit) * unit:.4g}"
