"""What a ledger knows of one data set without reading its history: a running state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.privacy.filter import Filter
from discreet.privacy.ledger import chain
from discreet.privacy.ledger.records import Budget
from discreet.privacy.promise import NEIGHBOURS
from discreet.privacy.sums import Sums

if TYPE_CHECKING:
    from discreet.privacy.events import Event


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set: its total, the exact sums over its charges, and how many of them have a result."""

    filter: Filter
    adjacency: str
    sums: Sums = field(default_factory=Sums)
    settled: int = 0

    @classmethod
    def create(cls, body: dict[str, Any]) -> DataSet:
        """Return a data set as the row that creates it says."""
        adjacency = check.choice(body["neighbours"], "adjacency", tuple(NEIGHBOURS))
        return cls(Filter(body["epsilon"], body["delta"], body["aside"]), adjacency)

    def charged(self, events: tuple[Event, ...]) -> DataSet:
        """Return the data set after one more charge."""
        return replace(self, sums=self.sums.plus(events))

    def released(self) -> DataSet:
        """Return the data set after one more result."""
        return replace(self, settled=self.settled + 1)

    @property
    def total(self) -> dict[str, Any]:
        """The total as plain JSON values."""
        rule = self.filter
        return {
            "epsilon": rule.epsilon,
            "delta": rule.delta,
            "aside": rule.aside,
            "neighbours": self.adjacency,
        }

    @property
    def text(self) -> str:
        """All of it as one JSON text; its hash stands in the last row of the data set."""
        return chain.canonical({**self.total, "sums": self.sums.to_dict(), "settled": self.settled})

    @classmethod
    def read(cls, fields: dict[str, Any]) -> DataSet:
        """Return the data set that `text` holds."""
        sums = Sums.from_dict(fields["sums"])
        return replace(cls.create(fields), sums=sums, settled=int(fields["settled"]))

    def budget(self, name: str) -> Budget:
        """Return the total and what is spent of it."""
        rule, sums = self.filter, self.sums
        return Budget(
            name,
            rule.epsilon,
            rule.delta,
            self.adjacency,
            rule.aside,
            rule.spent(sums),
            rule.left(sums),
            sums.count,
            sums.count - self.settled,
        )
