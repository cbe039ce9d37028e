"""What a method is: the protocol that each folder of `methods` fills in, and what it makes ready to draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.people import People
    from discreet.evidence.core.sharded import Sharded
    from discreet.methods.parameters import Parameters
    from discreet.privacy.events import Event
    from discreet.report.release import FdrPromise, Release


@dataclass(frozen=True, slots=True)
class Ready:
    """A release whose public parts are settled: what it costs, what it promises, and the act of drawing it.

    `events` and `fdr` depend on public things alone: the cost is charged before any noise is drawn.
    """

    events: tuple[Event, ...]
    fdr: FdrPromise
    draw: Callable[[], Release]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to choose discoveries, as the registry knows it.

    Attributes
    ----------
    name : str
        What it is asked for by.
    about : str
        What it does, in a sentence or two; `help`, the command line and the reference show it.
    options : mapping from str to str
        What it takes beside q, epsilon, delta and values, and what each does here. All else is refused.
    guarantees : tuple of str
        Which guarantees it gives, the default first; empty if it has but one.
    idle : mapping from str to tuple of str
        Under which guarantee which of the options would do nothing.
    defaults : mapping from str to object
        What is meant where an option is not given.
    gaussian : bool
        Whether it spends a Gaussian budget: it then needs delta > 0, and the ledger can refuse it early.
    of_scores, of_people : callable or None
        How a release is made ready from scores, or from everyone's rows where the data are asked several
        times. They return cost, promise and draw; they draw nothing.
    of_shards : bool
        Whether scores may stay on a cluster.
    route : callable or None
        For a method that only chooses another: returns what to ask for instead, and why.
    """

    name: str
    about: str
    options: Mapping[str, str]
    guarantees: tuple[str, ...] = ()
    idle: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    gaussian: bool = True
    of_scores: Callable[[Any, Parameters], Ready] | None = None
    of_people: Callable[[People, Parameters], Ready] | None = None
    of_shards: bool = False
    route: Callable[[Parameters, People | Evidence | Sharded], tuple[Parameters, str]] | None = None

    @property
    def asks_people(self) -> bool:
        """Whether it can use everyone's rows rather than scores."""
        return self.of_people is not None or self.route is not None

    def takes(self, guarantee: str | None = None) -> tuple[str, ...]:
        """Return the options that have an effect, under this guarantee."""
        idle = self.idle.get(guarantee or "", ())
        return tuple(option for option in self.options if option not in idle)

    def called(self, guarantee: str | None = None) -> str:
        """Return its name in a refusal, with the guarantee where that changes what it takes."""
        return f"{self.name}, {guarantee}" if guarantee in self.idle else self.name
