"""The promise a release carries: epsilon, delta, for which neighbours, and what was spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.privacy.events import Event

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
