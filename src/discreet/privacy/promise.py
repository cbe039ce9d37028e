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
_DECLARED = "A person is protected only if they change no more than that, as declared; nothing checked it."


@dataclass(frozen=True, slots=True)
class Privacy:
    """(epsilon, delta)-differential privacy for `neighbours`, earned by `events`. Holds nothing private.

    P(S) <= e^epsilon P'(S) + delta for every outcome set S and every two neighbouring inputs. `neighbours` is
    "replace", "add-remove", or words that say which two inputs are neighbours. `public` says in words what
    both share, and is therefore not protected: who is in which group, say. `assumption` is a sentence on what
    the promise stands on that nothing checked; empty when there is nothing of the kind.

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
    neighbours: str
    public: str = ""
    assumption: str = ""

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise InputError(f"epsilon must be at least 0; got {self.epsilon}")
        check.delta(self.delta)

    def __str__(self) -> str:
        words = NEIGHBOURS.get(self.neighbours, self.neighbours)
        head = f"({self.epsilon:.6g}, {self.delta:.3g})-differential privacy; neighbours: {words}."
        # Neighbours in words are inputs, not people: how far one person moves them is the caller's claim.
        stands = self.assumption or ("" if self.neighbours in NEIGHBOURS else _DECLARED)
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
