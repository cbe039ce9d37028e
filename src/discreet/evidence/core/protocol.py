"""What a test says of itself: to the command line, plans, reports, docs and checks, and in records."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.people import Comparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.accumulate import Accumulator
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.evidence.core.people import Entries
    from discreet.typing import ArrayLike

_HOME = "discreet.evidence"  # of the tests of this library, one file each
_EXAMPLE: Mapping[str, Any] = {
    "group": "group",
    "partner": "partner",
    "stratum": "stratum",
    "strata": (0, 1),
    "bounds": (0.0, 1.0),
    "null": 0.5,
}
Reads = Literal["tables", "genotypes", "p-values"]


def is_needed(field: Field[object]) -> bool:
    """Say whether an argument has no default."""
    return field.default is MISSING and field.default_factory is MISSING


class Test:
    """A hypothesis test with its own certificate: a frozen data class whose fields are public arguments.

    Attributes
    ----------
    name : str
        What it is called by the command line, plan files and records; its file is called the same.
    question : str
        What it compares, as the first words of a report.
    proof : str
        The page of docs/proofs on how far one person moves its scores.
    effect : str
        The effect that is released with values; empty if there is none.
    sources : tuple of {"tables", "genotypes", "p-values"}
        What it can read, what it is made for first.
    scans : bool
        Whether its accumulator has `scan`, which counts packed genotypes where they lie.
    label_arguments : tuple of str
        Which of its arguments name columns that are read beside the measurements.
    groups : int
        How many groups of people it compares: 0 for none, 2, or 3 where there may be more.
    words : mapping of str
        How the report introduces an argument of its own: {"partner": "with"}.
    yes_or_no : bool
        Whether numbers of at least one half count as yes.
    looks : {"two-sided", "greater", "less"}
        In which direction it looks, where it has no argument `alternative`.
    unit : str
        What an effect of 1 is, to the planner.
    largest_effect : float
        Where the planner stops to search for an effect.
    compares : tuple of str, or None
        Where whole rows may be compared in place of its scores: what is true of that `Comparison`, beside the
        arguments that have the same names. None where they may not.
    """

    __slots__ = ()

    name: ClassVar[str] = ""
    question: ClassVar[str] = ""
    proof: ClassVar[str] = ""
    effect: ClassVar[str] = ""
    sources: ClassVar[tuple[Reads, ...]] = ("tables", "genotypes")
    scans: ClassVar[bool] = False
    label_arguments: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[int] = 0
    words: ClassVar[Mapping[str, str]] = {}
    yes_or_no: ClassVar[bool] = False
    looks: ClassVar[Alternative] = "greater"
    unit: ClassVar[str] = "a distance from the null value in standard deviations"
    largest_effect: ClassVar[float] = math.inf
    compares: ClassVar[tuple[str, ...] | None] = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns read beside the measurements: those that `label_arguments` name, each once."""
        given = (getattr(self, argument) for argument in self.label_arguments)
        named = ((value,) if isinstance(value, str) else value or () for value in given)
        return tuple(dict.fromkeys(column for columns in named for column in columns))

    @property
    def public_labels(self) -> tuple[str, ...]:
        """Those of `labels` that neighbours share: all of them, where only columns are protected."""
        return self.labels if getattr(self, "protect", None) == "columns" else ()

    @property
    def numbers_beside(self) -> Mapping[str, str]:
        """The columns read as numbers beside those tested, and as what: a partner, an event, a covariate."""
        partner, event, adjust = (getattr(self, name, None) for name in ("partner", "event", "adjust"))
        roles = {partner: "partner"} if isinstance(partner, str) else {}
        events = cast("Mapping[str, str]", event).values() if isinstance(event, Mapping) else [event]
        roles |= {name: "event" for name in events if isinstance(name, str)}
        if isinstance(adjust, Mapping):
            pairs = cast("Mapping[str, Any]", adjust).items()
            roles |= {name: "covariate with bounds" for name, given in pairs if _are_bounds(given)}
        return roles

    def in_words(self) -> str:
        """Return what it asks of every column: what is compared, of whom, in which direction and bounds."""
        own = {name: getattr(self, name) for name, field in self.arguments().items() if _is_told(self, field)}
        group, levels, bounds = own.get("group"), getattr(self, "levels", ()), own.get("bounds")
        parts = [self.question]
        if group is not None and len(levels) == 2:
            parts.append(f"{_short(group)} {_short(levels[1])} against {_short(levels[0])}")
        elif group is not None:
            parts.append(f"{_short(group)} {' / '.join(map(_short, levels))}".strip())
        words = {**_WORDS, **self.words}
        parts += [f"{word} {_short(own[key])}" for key, word in words.items() if own.get(key) is not None]
        if own.get("adjust") is not None:
            parts.append(f"adjusted for {' and '.join(map(_short, own['adjust']))}")
        if "alternative" in own:
            looks = own["alternative"]
            parts.append(looks if looks == "two-sided" else f"one-sided ({looks})")
        if bounds is not None:
            by_column = isinstance(bounds, Mapping)
            parts.append(
                "bounds by column" if by_column else f"bounds {_short(bounds[0])} to {_short(bounds[1])}"
            )
        return ", ".join(parts)

    def start(self, names: Sequence[str]) -> Accumulator:  # noqa: ARG002
        """Return an empty accumulator for the columns called `names`; tests of whole rows have none."""
        if self.needs_rows:  # blocks of a table do not say which columns belong together
            raise InputError(
                f"{type(self).__name__} looks at a whole table: hand it to `discover` or `measure`"
            )
        raise NotImplementedError

    def of(self, data: ArrayLike) -> Evidence:
        """Return the evidence of final p-values; only tests that read them have one."""
        raise NotImplementedError

    def of_rows(self, entries: Entries) -> Evidence:
        """Return the evidence from everyone's entries; only tests that need whole rows have one."""
        raise NotImplementedError

    def comparison(self) -> Comparison | None:
        """Return the comparison that this test is, where whole rows may be looked at in place of its scores.

        It is None where an option of the test's own statistic is given, such as its tail or its ceiling.
        """
        arguments, shared = self.arguments(), {field.name for field in fields(Comparison)}
        own = (name for name in arguments if name not in shared)
        if self.compares is None or any(getattr(self, name) != arguments[name].default for name in own):
            return None
        given: dict[str, Any] = {name: getattr(self, name) for name in arguments if name in shared}
        given |= dict.fromkeys(self.compares, True)
        return Comparison(**given)

    @property
    def needs_rows(self) -> bool:
        """Whether there are no scores without looking at whole rows first."""
        return False

    @property
    def looks_first(self) -> bool:
        """Whether its accumulator has `pending`: counts to be told with noise before scores are made."""
        return False

    @property
    def uses_sd(self) -> bool:
        """Whether its power depends on how much columns vary, beside the effect in standard deviations."""
        return False

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean of the z scores of columns with these effects, shape (columns,), as if normal.

        Two groups: effect * sqrt(n share (1 - share)). One group: effect * sqrt(n).
        """
        size = people.first * people.second / people.n if self.groups == 2 else people.n
        return effect * math.sqrt(size)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:  # noqa: ARG002
        """Return the evidence of invented people whose textbook z scores, of variance 1, are `z`.

        Totals that give these scores are handed to the test's own accumulator, so tail, ceiling and
        certificate are the test's.
        """
        raise InputError(
            f"no study can be invented for test {type(self).__name__}: state how far one person moves a z "
            "score instead, sensitivity=..."
        )

    @classmethod
    def can_be_invented(cls) -> bool:
        """Say whether the planner can invent a study for this test."""
        return cls.invented is not Test.invented

    @classmethod
    def arguments(cls) -> Mapping[str, Field[object]]:
        """Return its public arguments by name; none where it is no data class."""
        return {field.name: field for field in fields(cast("Any", cls))} if is_dataclass(cls) else {}

    @classmethod
    def example(cls) -> Mapping[str, object]:
        """Return values for the arguments that it cannot do without: for plans and checks, without data."""
        needed = [name for name, field in cls.arguments().items() if is_needed(field)]
        return {name: _EXAMPLE[name] for name in needed if name in _EXAMPLE}

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:  # noqa: ARG003
        """Return this test, with a few options each, on null columns: the rows of the type-I table."""
        return ()


def _are_bounds(given: Any) -> bool:
    """Say whether a covariate is given by bounds: two numbers, not 0 and 1 or the like, which are answers."""
    if not isinstance(given, (list, tuple)) or len(cast("Sequence[Any]", given)) != 2:
        return False
    low, high = cast("Sequence[Any]", given)
    return isinstance(low, (int, float)) and isinstance(high, (int, float)) and abs(high - low) != 1


_WORDS = {"partner": "with", "trait": "trait", "null": "against", "stratum": "by", "test": "with"}
_LONGEST = 40


def _is_told(test: Test, field: Field[object]) -> bool:
    """Say whether an argument is told: the direction always, others where they are not the default."""
    return field.name == "alternative" or getattr(test, field.name) != field.default


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return "a value for each column"
    if callable(value):
        value = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', 'function')}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def check_test(test: object) -> None:
    """Refuse the name of a test, or its class, in place of a test."""
    if not isinstance(test, Test):
        raise InputError(
            "test must be an object such as TwoGroups(group=..., bounds=...), not a name or class"
        )


def is_own(kind: type[object]) -> bool:
    """Say whether a test is one of this library, which vouches for its certificate."""
    name = str(getattr(kind, "name", ""))
    return bool(name) and kind.__module__ == f"{_HOME}.{name.replace('-', '_')}"


def described(test: Test) -> dict[str, Any]:
    """Return a test's name and public arguments as plain values: what a ledger and a report say of it."""
    kind = type(test)
    name = kind.name
    if not is_own(kind):
        from discreet.evidence.core.registry import is_registered

        name = name if is_registered(kind) else kind.__name__
    if not is_dataclass(test):
        return {"name": name}
    shown = {
        field.name: plain(getattr(test, field.name))
        for field in fields(test)
        # The default alternative was another before: a record says which was meant.
        if field.name == "alternative" or plain(getattr(test, field.name)) != plain(field.default)
    }
    return {"name": name, **shown}


def plain(value: object) -> Any:
    """Return `value` as JSON can hold it; functions by name, keys never."""
    if isinstance(value, bytes):
        return "a key, not shown"
    if isinstance(value, (np.generic, np.ndarray)):
        # A float that is wider than Python's stays what it is.
        held: Any = cast("Any", value).tolist()
        return str(cast("Any", held)) if isinstance(held, np.generic) else plain(held)
    if callable(value):
        return f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', 'function')}"
    if isinstance(value, Mapping):
        pairs = check.items(cast("Mapping[Any, Any]", value), "a mapping of columns")
        return {str(plain(key)): plain(entry) for key, entry in pairs}
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in cast("list[Any]", value)]
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    message = f"a {check.kind_of(value)} cannot be written down: give text, numbers or lists"
    return check.attempt(lambda: str(value), message)


def is_recognisable(value: object) -> bool:
    """Say whether `plain`, or `described`, tells a test or its arguments apart from all others; keys aside.

    Functions without a name of their own (lambdas, closures, partial ones) and tests that are no data classes
    are not told apart.
    """
    if isinstance(value, (str, bytes, int, float, type(None), np.generic, np.ndarray)):
        return True
    if callable(value):
        name = str(getattr(value, "__qualname__", ""))
        home = sys.modules.get(str(getattr(value, "__module__", "")))
        return bool(name) and getattr(home, name, None) is value
    if isinstance(value, Mapping):
        return all(map(is_recognisable, cast("Mapping[Any, Any]", value).values()))
    if isinstance(value, (tuple, list)):
        return all(map(is_recognisable, cast("list[Any]", value)))
    if not is_dataclass(value):
        return False
    return all(is_recognisable(getattr(value, field.name)) for field in fields(value))
