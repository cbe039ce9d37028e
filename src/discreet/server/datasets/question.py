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
from discreet.evidence.core.protocol import is_needed
from discreet.evidence.core.registry import described, find_test, make_test
from discreet.evidence.pairs import Pairs
from discreet.methods.parameters import Parameters
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger import chain

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
        return Gaussian(math.sqrt(2 * gaussian_budget(self.asked.epsilon, self.asked.delta) * _SLACK))


def read(body: Any, about: Metadata) -> Question:
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
    test = _test(options, about)
    columns = _columns(wanted, test, about)
    count = _count(test, columns, about)
    if count > about.hypotheses:
        raise InputError(f"{count:,} hypotheses are asked about; the custodian allows {about.hypotheses:,}")
    test = _with_bounds(test, options, columns, about)
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


def _test(options: dict[str, Any], about: Metadata) -> Test:
    """Return the test; `options` is completed with what the metadata declare."""
    name = check.choice(options["name"], "test", about.tests)
    kind = find_test(name)
    arguments = kind.arguments()
    fields = {*arguments}
    _check_function(options, fields, about)
    if "group" in options:
        _known(options["group"], about, "group")
    if "adjacency" in fields:
        if options.get("adjacency", about.neighbours) != about.neighbours:
            raise InputError(f"the budget here is about neighbours {about.neighbours!r}: leave adjacency out")
        options["adjacency"] = about.neighbours
    _protect(options, fields, about)
    group = about.columns.get(str(options.get("group")))
    if "levels" in fields and "levels" not in options and group is not None and group.levels is not None:
        if len(group.levels) != 2:
            raise InputError("the group column declares more than two levels: say which two, levels")
        options["levels"] = list(group.levels)
    given = {option: value for option, value in options.items() if option != "name"}
    if "bounds" in fields and "bounds" not in given:
        # Filled in from the metadata once the columns are known; until then anything well-formed.
        given |= {"bounds": (0.0, 1.0)} if is_needed(arguments["bounds"]) else {}
    test = make_test(name, given)
    for label in test.labels:
        _known(label, about, "every column that a test names")
    return test


def _check_function(options: Mapping[str, Any], fields: set[str], about: Metadata) -> None:
    """Refuse code: a function to vote with is one of the custodian's, by its listed name."""
    if "key" in options:
        raise InputError("key is not for analysts: leave it out")
    if ("test" in fields or "test" in options) and options.get("test") not in about.functions:
        raise InputError("the function to vote with, test, must be one of those that the custodian lists")


def _protect(options: Mapping[str, Any], fields: set[str], about: Metadata) -> None:
    """Refuse to leave unprotected what the custodian did not declare public."""
    protect = options.get("protect")
    if protect in (None, "everything", "both") or "protect" not in fields:
        return
    group = about.columns.get(str(options.get("group")))
    public = about.phenotype_public if about.genotypes else group is not None and group.public
    if not public:
        raise InputError(f"protect = {protect!r} leaves open who is in which group, which is not public here")


def _columns(wanted: Any, test: Test, about: Metadata) -> dict[str, Any] | None:
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


def _count(test: Test, columns: Mapping[str, Any] | None, about: Metadata) -> int:
    """Return how many hypotheses a question is about."""
    if columns is None:
        return about.variants
    if isinstance(test, Pairs):
        return len(columns) * (len(columns) - 1) // 2
    inside = len(test.levels_within) if isinstance(test, Compare) else 0
    return max(inside, 1) * sum(about.columns[name].hypotheses for name in columns)


def _with_bounds(
    test: Test, options: dict[str, Any], columns: Mapping[str, Any] | None, about: Metadata
) -> Test:
    """Return the test with the declared bounds of its columns, where it takes bounds and none were given."""
    fields = {field.name for field in dataclasses.fields(cast("Any", test))}
    if "bounds" not in fields or "bounds" in options or columns is None:
        return test
    declared = {name: list(b) for name in columns if (b := about.columns[name].bounds) is not None}
    if options["name"] == "compare":
        if declared:
            options["bounds"] = declared
    else:
        rest = [name for name in columns if name not in declared and about.columns[name].type == "number"]
        if rest:
            raise InputError(f"this test needs bounds, and {rest[0]!r} declares none: give bounds")
        options["bounds"] = {name: declared.get(name, [0.0, 1.0]) for name in columns}
        if any(about.columns[name].levels for name in columns):
            raise InputError("this test is about numbers: leave columns with answers out, or give bounds")
    return make_test(options["name"], {name: value for name, value in options.items() if name != "name"})


def _known(name: Any, about: Metadata, option: str) -> None:
    if about.genotypes and name == "phenotype":
        return
    if not isinstance(name, str) or name not in about.columns:
        raise InputError(f"{option} must be a declared column{perhaps(str(name), about.columns)}")


def _check_plain(words: Any) -> None:
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


def _check_word(each: Any) -> None:
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
