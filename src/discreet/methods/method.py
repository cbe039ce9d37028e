"""What a method is, what was asked of it, what it makes ready to draw, and what all methods share."""

from __future__ import annotations

import importlib
import math
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.pending import Pending
from discreet.evidence.core.people import People
from discreet.evidence.core.sharded import Sharded
from discreet.privacy.events import Privacy
from discreet.report.release import Release
from discreet.typing import Cutoffs, Dependence, Guarantee, MethodName

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.privacy.events import Event
    from discreet.report.parts import FdrPromise, Told, Values

_LAX = 10.0  # an epsilon beyond this is warned about
_CHOICES = {"guarantee": Guarantee, "dependence": Dependence, "cutoffs": Cutoffs}
_FIRST_LOOK = "discreet.methods.first_look:ready_after_look"


@dataclass(frozen=True, slots=True)
class Ready:
    """A release whose public parts are settled: what it costs, what it promises, and the act of drawing it.

    `events` and `fdr` depend on public things alone: the cost is charged before any noise is drawn.
    """

    events: tuple[Event, ...]
    fdr: FdrPromise
    draw: Callable[[], Release]


@contextmanager
def in_silence() -> Generator[None]:
    """Draw, whatever the caller asked of floats: a warning, or an error in its place, would tell of data."""
    from scipy import special  # loaded where it is needed alone

    silent: dict[str, Any] = {"all": "ignore"}
    with np.errstate(all="ignore"), special.errstate(**silent):
        yield


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
    of_rows : tuple of str
        Which of the options do something only where everyone's rows are asked, not of scores.
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
    of_rows: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    gaussian: bool = True
    of_scores: str = ""
    of_people: str = ""
    of_shards: bool = False
    route: str = ""

    def settle(
        self, asked: Parameters, data: People | Evidence | Sharded | Pending
    ) -> tuple[Parameters, str]:
        """Return what is asked for with a method settled by public numbers, and why, if it was chosen."""
        data = data.assumed if isinstance(data, Pending) else data
        return _loaded(self.route)(asked, data) if self.route else (asked, "")

    def ready(self, asked: Parameters, data: People | Evidence | Sharded | Pending) -> Ready:
        """Settle everything public about a release from `data`; nothing is drawn yet."""
        if asked.k is not None:
            check.whole(asked.k, "k", 1, len(data))
        if isinstance(data, Pending) and self.gaussian:
            return _loaded(_FIRST_LOOK)(self, asked, data)
        if isinstance(data, People):
            if data.covariates is not None and self.name != "all":
                raise InputError(f'adjust works by method "all" alone, not "{self.name}": leave method out')
            if self.of_people:
                return _loaded(self.of_people)(data, asked)
            from discreet.evidence.core.compared import compared  # loaded where it is needed alone

            data = compared(data.held())
        elif isinstance(data, Pending):
            data = data.finish(None)
        self._refuse(asked, data)
        return _loaded(self.of_scores)(data, asked)

    def _refuse(self, asked: Parameters, data: Evidence | Sharded) -> None:
        """Refuse scores that this method cannot be asked about, and options that do nothing with them."""
        null = data.null
        if null.law == "exponential" and null.ceiling < -math.log(asked.q) and asked.cutoffs != "paper":
            raise InputError(
                "nu is above q: no p-value that counts could be a discovery; take nu just below q/m"
            )
        if not self.of_scores:
            raise InputError(
                f'method "{self.name}" measures people afresh: use `discover` with Compare, or method "all"'
            )
        if isinstance(data, Sharded) and not self.of_shards:
            raise InputError(f'method "{self.name}" needs all scores in one place: use "aware"')
        for option in self.of_rows:
            if getattr(asked, option) is not None:
                raise InputError(
                    f'{option} would do nothing here: with method "{self.name}" it is for comparisons of two '
                    f"groups, whose rows are asked several times. Leave {option} out"
                )

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


def methods() -> dict[str, Method]:
    """Return every method by name; the registry imports their descriptions, which are made of `Method`."""
    from discreet.methods.registry import METHODS

    return METHODS


def options() -> tuple[str, ...]:
    """Return all options that some method takes."""
    return tuple(dict.fromkeys(option for method in methods().values() for option in method.options))


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
            method=check.choice(self.method, "method", tuple(methods())),
            values=check.flag(self.values, "values"),
        )
        for option, choices in _CHOICES.items():
            if getattr(self, option) is not None:
                check.choice(getattr(self, option), option, get_args(choices))
        if self.k is not None:
            check.settle(self, k=check.whole(self.k, "k"))
        if self.expect is not None:
            check.settle(self, expect=check.positive(self.expect, "expect"))
        method = methods()[self.method]
        refuse_idle({option: getattr(self, option) for option in options()}, [(method, self.guarantee)])
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

    def warn(self, people: int | None) -> None:
        """Say so when a budget is hardly a promise, to whoever called `discover` or `release`."""
        if self.epsilon > _LAX:
            warnings.warn(
                f"epsilon = {self.epsilon:g} hardly protects anyone: one person's data may change the odds "
                f"of an outcome e^{self.epsilon:g}-fold; 1 is usual, 3 is lax",
                stacklevel=4,
            )
        if self.delta > (0.01 if people is None else min(0.01, 1 / max(people, 1))):
            of_all = "" if people is None else f", and there are {people:,}"
            warnings.warn(
                f"delta = {self.delta:g} may expose one person in {1 / self.delta:.0f}{of_all}: take it far "
                "below 1/people",
                stacklevel=4,
            )


def refuse_idle(given: dict[str, Any], asked: list[tuple[Method, str | None]]) -> None:
    """Refuse an option that is given, not None, and that none of the methods asked for takes."""
    for option, value in given.items():
        if value is not None and not any(option in method.takes(guarantee) for method, guarantee in asked):
            takers = ", ".join(
                f'"{method.name}"' for method in methods().values() if option in method.options
            )
            names = ", ".join(f'"{method.called(guarantee)}"' for method, guarantee in asked)
            raise InputError(
                f"{option} would do nothing here: it belongs to {takers}, and the method asked for is "
                f"{names}. Leave {option} out, or choose a method that takes it"
            )


def _loaded(function: str) -> Callable[..., Any]:
    """Return the function of a method that is written "module:name"."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def expected(expect: float | None, m: int) -> int:
    """Return how many hypotheses are expected to be real: a share, a number, or twice the root of all."""
    if expect is None:
        return max(1, min(m // 2, round(2 * math.sqrt(m))))
    return max(1, min(m, round(expect * m if expect < 1 else expect)))


def released(
    method: str,
    people: People,
    asked: Parameters,
    events: tuple[Event, ...],
    places: NDArray[np.intp],
    told: Told,
    fdr: FdrPromise,
    values: Values,
) -> Release:
    """Return the record of a release that tells everything; `places` are the discoveries, in their order."""
    return Release(
        method,
        len(people),
        asked.q,
        told.indices[places],
        tuple(told.hypotheses[int(place)] for place in places),
        True,
        Privacy(asked.epsilon, asked.delta, events, "replace", people.public, people.assumption),
        fdr,
        {"guarantee": str(asked.guarantee), "protect": people.protect},
        values if asked.values else None,
        told=told,
    )
