"""What a method is: the protocol that each folder of `methods` fills in, and what it makes ready to draw."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.privacy.events import Event
    from discreet.report.fdr import FdrPromise
    from discreet.report.release import Release


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
    of_scores, of_people : str
        The function, "module:name", that makes a release ready from scores (evidence, asked), or from
        everyone's rows (people, asked) where the data are asked several times. It returns `Ready` and draws
        nothing. Empty if there is none.
    of_shards : bool
        Whether scores may stay on a cluster.
    route : str
        Of a method that only chooses another: the function (asked, data) that returns what to ask for
        instead, and why.
    """

    name: str
    about: str
    options: Mapping[str, str]
    guarantees: tuple[str, ...] = ()
    idle: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    gaussian: bool = True
    of_scores: str = ""
    of_people: str = ""
    of_shards: bool = False
    route: str = ""

    @property
    def asks_people(self) -> bool:
        """Whether it can use everyone's rows rather than scores."""
        return bool(self.of_people or self.route)

    def takes(self, guarantee: str | None = None) -> tuple[str, ...]:
        """Return the options that have an effect, under this guarantee."""
        idle = self.idle.get(guarantee or "", ())
        return tuple(option for option in self.options if option not in idle)

    def called(self, guarantee: str | None = None) -> str:
        """Return its name in a refusal, with the guarantee where that changes what it takes."""
        return f"{self.name}, {guarantee}" if guarantee in self.idle else self.name


def loaded(function: str) -> Callable[..., Any]:
    """Return the function of a method that is written "module:name"."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)
