"""What an analyst asks, checked against what is public: nothing is opened, nothing is run.

An analyst's words are hostile until proved harmless: only names that the metadata or the library declares
pass, a function to vote with must be on the custodian's list, and there is no way to name a file.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.errors import DiscreetError, InputError, perhaps
from discreet.evidence.compare import Compare
from discreet.evidence.core.protocol import described
from discreet.evidence.pairs import Pairs
from discreet.methods.method import Parameters
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger import chain
from discreet.server.datasets.settle import settle, with_bounds

if TYPE_CHECKING:
    from discreet.evidence.core.protocol import Test
    from discreet.server.datasets.metadata import Metadata

DEFAULTS: dict[str, Any] = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
_ASKED = tuple(field.name for field in dataclasses.fields(Parameters))
_SLACK = 1 + 2.0**-36  # rounding in a method's own shares of its budget
_ODD = re.compile("[\0\ud800-\udfff]")  # what databases and answers cannot hold
_DEEPEST, _MOST_WORDS, _LONGEST, _LARGEST = 6, 1_000_000, 10_000, 2**53
_MOST_PATTERNS, _MOST_LOOKS = 1_000, 1_000_000  # names held against patterns: less than a second


@dataclass(frozen=True, slots=True)
class Question:
    """A question that makes sense for the data set, whatever the data are."""

    test: Test
    asked: Parameters
    columns: Mapping[str, Any] | None
    hypotheses: int
    plain: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The one spelling of the question."""
        return chain.canonical(dict(self.plain))

    @property
    def cost(self) -> Gaussian:
        """What it costs: a Gaussian event that covers all that its method may spend."""
        return cost_of(self.asked.epsilon, self.asked.delta)


def cost_of(epsilon: float, delta: float) -> Gaussian:
    """Return what any question with this epsilon and delta costs."""
    asked = Parameters(q=DEFAULTS["q"], epsilon=epsilon, delta=delta)
    return Gaussian(math.sqrt(2 * gaussian_budget(asked.epsilon, asked.delta) * _SLACK))


def read(body: object, about: Metadata) -> Question:
    """Return the question that a plan's words put to a data set; refuse all else, with the reason.

    The words are those of a plan file: `test` (a table with its name and options), `columns`, and what a
    release takes, such as q, epsilon, delta and method.
    """
    if not isinstance(body, Mapping):
        raise InputError("a question must be a table: test, columns, q, epsilon, delta, method, ...")
    words = dict(cast("Mapping[str, Any]", body))
    _check_plain(words)
    options = words.pop("test", None)
    if isinstance(options, str):
        options = {"name": options}
    if not isinstance(options, dict) or not isinstance(cast("dict[str, Any]", options).get("name"), str):
        raise InputError('say which test: {"test": {"name": "compare", "group": ...}}')
    options = dict(cast("dict[str, Any]", options))
    wanted = words.pop("columns", None)
    for name in words:
        if name not in _ASKED:
            hint = perhaps(str(name), (*_ASKED, "test", "columns"))
            raise InputError(f"a question has no {str(name)[:100]!r}{hint}")
    asked = _parameters(words, about)
    test, needs_bounds = settle(options, about)
    columns = _columns(wanted, test, about)
    count = _count(test, columns, about)
    if count > about.hypotheses:
        raise InputError(f"{count:,} hypotheses are asked about; the custodian allows {about.hypotheses:,}")
    if columns is not None and (needs_bounds or (isinstance(test, Compare) and "bounds" not in options)):
        test = with_bounds(test, options, columns, about)
    listed = None if columns is None else list(columns)
    plain = {"test": described(test), "columns": listed, **asked.to_dict()}
    return Question(test, asked, columns, count, json.loads(chain.canonical(plain)))


def _parameters(words: Mapping[str, Any], about: Metadata) -> Parameters:
    asked = Parameters(**{**DEFAULTS, **words})
    check.choice(asked.method, "method", about.methods)
    if asked.epsilon > about.largest_epsilon:
        raise InputError(
            f"epsilon may be at most {about.largest_epsilon:g} here; asked for {asked.epsilon:g}"
        )
    return asked


def _columns(wanted: object, test: Test, about: Metadata) -> dict[str, Any] | None:
    """Return which declared columns to test, each with its declared answers."""
    if about.genotypes:
        if wanted is not None:
            raise InputError("all variants are tested: leave columns out")
        return None
    labels = {*test.labels}
    free = [name for name in about.columns if name not in labels]
    if wanted is None:
        picked = dict.fromkeys(free)
    else:
        patterns = [*dict.fromkeys(check.words([wanted] if isinstance(wanted, str) else wanted, "columns"))]
        loose = len([pattern for pattern in patterns if pattern not in about.columns])
        if loose > _MOST_PATTERNS or loose > max(1, _MOST_LOOKS // max(len(free), 1)):
            raise InputError("columns holds too many patterns: give names, or fewer patterns")
        picked = dict[str, None]()
        for pattern in patterns:
            exact = [pattern] if pattern in about.columns else []
            matched = exact or [name for name in free if fnmatchcase(name, pattern)]
            if not matched:
                raise InputError(f"no declared column is called {pattern[:100]!r}{perhaps(pattern, free)}")
            picked |= dict.fromkeys(matched)
        for name in picked:
            if name in labels:
                raise InputError(f"column {name!r} says who is in which group, so it cannot be tested too")
    if not picked:
        raise InputError("columns selects nothing to test")
    return {name: None if (levels := about.columns[name].levels) is None else list(levels) for name in picked}


def _count(test: Test, columns: Mapping[str, object] | None, about: Metadata) -> int:
    """Return how many hypotheses a question is about."""
    if columns is None:
        return about.variants
    if isinstance(test, Pairs):
        return len(columns) * (len(columns) - 1) // 2
    inside = len(test.levels_within) if isinstance(test, Compare) else 0
    return max(inside, 1) * sum(about.columns[name].hypotheses for name in columns)


def _check_plain(words: object) -> None:
    """Refuse what is nested too deep, too long, or no plain value."""
    count, layer = 0, [words]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for each in layer:
            if isinstance(each, Mapping):
                below.extend(cast("Mapping[Any, Any]", each).keys())
                below.extend(cast("Mapping[Any, Any]", each).values())
            elif isinstance(each, (list, tuple)):
                below.extend(cast("list[Any]", each))
            else:
                _check_word(each)
        count += len(below)
        if count > _MOST_WORDS:
            raise InputError("the question is too long")
        layer = below
        if not layer:
            return
    raise InputError("the question is nested too deep")


def _check_word(each: object) -> None:
    if not isinstance(each, (str, int, float, bool, type(None))):
        raise InputError("a question holds text, numbers, lists and tables alone")
    if isinstance(each, (int, float)) and not abs(each) <= _LARGEST:
        raise InputError("numbers must be finite, and below 2^53")
    if isinstance(each, str) and (len(each) > _LONGEST or _ODD.search(each)):
        raise InputError("text must be short, without null characters or halves of characters")


def load(text: str, about: Metadata) -> Question:
    """Return a stored question."""
    try:
        words: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise DiscreetError("a stored question cannot be read") from error
    return read({name: value for name, value in words.items() if value is not None}, about)
