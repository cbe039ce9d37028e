"""What a ledger answers with. Everything in it is public."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.privacy.events import NEIGHBOURS, down

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.privacy.events import Event
    from discreet.privacy.ledger.chain import DataSet

MOST_DRAWS = 8
"""Draws that one charge pays for, all but the last one interrupted, and so not shown to anybody."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The total of one data set and how much of it is gone; in words when printed.

    Attributes
    ----------
    epsilon, delta, adjacency
        The total: all releases together are (epsilon, delta)-DP for tables that are neighbours in this way.
    aside : float
        The part of delta kept for approximate events.
    spent : float
        The epsilon used so far at the same delta, as the filter counts it: a meter, never above `epsilon`.
    left : float
        The largest epsilon of one more release at this delta; 0 if there is none.
    releases : int
        Charges made, whether or not a result followed.
    unfinished : int
        Those without a result: being drawn, or interrupted. They count as spent.
    pure : float
        What the epsilons of further pure releases (delta = 0, as those of `test`) may add up to, where all so
        far are pure; 0 where one is not.
    """

    name: str
    epsilon: float
    delta: float
    adjacency: str
    aside: float
    spent: float
    left: float
    releases: int
    unfinished: int
    pure: float = 0.0

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.meter}", self.room, f"Neighbours: {NEIGHBOURS[self.adjacency]}."]
        if self.aside:
            lines.append(f"Of delta, {self.aside:.3g} is kept for approximate events.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        share = min(1.0, self.spent / self.epsilon)
        lines = "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines())
        return f"<div class='discreet'><progress max='1' value='{share:.3f}'></progress>{lines}</div>"

    @property
    def meter(self) -> str:
        """What is spent, in words."""
        made = f"{self.releases} {'release' if self.releases == 1 else 'releases'}"
        more = f" ({self.unfinished} of them without a result)" if self.unfinished else ""
        total = f"{self.epsilon:.6g} at delta = {self.delta:.3g}"
        return f"Epsilon {self.spent:.4g} of {total} is spent, by {made}{more}."

    @property
    def room(self) -> str:
        """What one more release may cost, in words."""
        if self.left:
            return f"One more release may have epsilon up to {down(self.left)} at delta = {self.delta:.3g}."
        rest = self.epsilon - self.spent
        if self.delta == self.aside and rest > 0:
            return f"Further releases may have epsilons of up to {down(rest)} in sum."
        if self.pure > 0:
            return f"Further releases at delta = 0 may have epsilons of up to {down(self.pure)} in sum."
        return "Nothing is left."


@dataclass(frozen=True, slots=True)
class Entry:
    """One charge: what was asked, what it cost, and whether its result is stored.

    `state` is "charged" (no result yet: being drawn, or interrupted) or "released". `hash` seals this charge
    and everything written before it, `settled` its result too. `automatic`: nobody chose its release id.
    `interrupted` counts draws that ended without a result and were begun again. `by` is who asked, as the
    system calls them; empty where it does not say. `kept` is False where there is no result to be had: it was
    handed out, but the disk had no room for it, or the draw `failed`.
    """

    position: int
    time: str
    release_id: str
    request: Mapping[str, Any]
    events: tuple[Event, ...]
    state: str
    hash: str
    automatic: bool = False
    interrupted: int = 0
    settled: str = ""
    by: str = ""
    kept: bool = True
    failed: bool = False

    @property
    def exhausted(self) -> bool:
        """Whether it was interrupted so often that it pays for no further draw."""
        return self.state != "released" and self.interrupted + 1 >= MOST_DRAWS


@dataclass(frozen=True, slots=True)
class Charge:
    """Proof that a release may be drawn: its cost is on disk. Show nothing of it before it is settled."""

    name: str
    release_id: str
    position: int
    hash: str


@dataclass(frozen=True, slots=True)
class Paid:
    """A release that may be shown: its charge is on disk, and so is its result, a JSON text.

    Keep `hash` with the release: `verify(head=hash)` later shows whether the ledger still holds everything
    written up to this result. `fresh`: drawn just now, not stored before. `kept` is False where the disk had
    room for the result's hash but not for the result.
    """

    result: str
    hash: str
    fresh: bool
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Reserved:
    """A release that may be drawn, its cost being on disk, or one that has its result, `paid`.

    `state` is that of its data set after the charge; `store` takes what was drawn, a JSON text.
    """

    charge: Charge
    state: DataSet
    store: Callable[[str], Paid]
    paid: Paid | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found: `good`, the number of rows, the hash of the last one, and every fault in words."""

    rows: int
    head: str
    faults: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether nothing was found."""
        return not self.faults

    def __str__(self) -> str:
        if self.good:
            return f"The ledger is whole: {self.rows} rows, head {self.head}"
        return "\n".join(["The ledger was changed or damaged:", *(f"  - {fault}" for fault in self.faults)])
