"""The public parameters of one release: checked once, before a byte of data is read, and what each means."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from discreet import check
from discreet.docstrings import Text
from discreet.errors import InputError
from discreet.methods.registry import METHODS
from discreet.typing import Cutoffs, Dependence, Engine, Guarantee, MethodName

if TYPE_CHECKING:
    from discreet.methods.method import Method

OPTIONS = tuple(dict.fromkeys(option for method in METHODS.values() for option in method.options))
"""All options that some method takes."""
_LAX = 10.0  # an epsilon beyond this is warned about
_CHOICES = {"guarantee": Guarantee, "dependence": Dependence, "cutoffs": Cutoffs}


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
            method=check.choice(self.method, "method", tuple(METHODS)),
            values=check.flag(self.values, "values"),
        )
        for option, choices in _CHOICES.items():
            if getattr(self, option) is not None:
                check.choice(getattr(self, option), option, get_args(choices))
        if self.k is not None:
            check.settle(self, k=check.whole(self.k, "k"))
        if self.expect is not None:
            check.settle(self, expect=check.positive(self.expect, "expect"))
        method = METHODS[self.method]
        refuse_idle({option: getattr(self, option) for option in OPTIONS}, [(method, self.guarantee)])
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
            takers = ", ".join(f'"{method.name}"' for method in METHODS.values() if option in method.options)
            names = ", ".join(f'"{method.called(guarantee)}"' for method, guarantee in asked)
            raise InputError(
                f"{option} would do nothing here: it belongs to {takers}, and the method asked for is "
                f"{names}. Leave {option} out, or choose a method that takes it"
            )


def _choices(alias: object) -> str:
    """Return the words that an option may be, as numpydoc writes them."""
    return "{" + ", ".join(f'"{word}"' for word in get_args(alias)) + "}"


def _by_method(option: str, first: str = "") -> str:
    """Return what an option does, method by method; methods in which it does the same share a sentence."""
    does: dict[str, list[str]] = {}
    for method in METHODS.values():
        if option in method.options:
            does.setdefault(method.options[option], []).append(f'"{method.name}"')
    return " ".join([first, *(f"{' and '.join(names)}: {words}" for words, names in does.items())]).strip()


_PURE = " and ".join(f'"{method.name}"' for method in METHODS.values() if not method.gaussian)
_DEFAULT = " ".join(
    f'"{method.name}"{" (default)" if method.route else ""}: {method.about}' for method in METHODS.values()
)
_EXPECT = (
    "How many hypotheses you expect to be real, as a share below 1 or as a number; public. If None, twice "
    "the square root of all. It changes no promise."
)
TEXTS = {
    "data": Text(
        "path, array or table",
        "A row for each person, a column for each measure; or PLINK files. Formats: see `measure`.",
    ),
    "test": Text("Compare, Mean, TwoGroups, ...", "What to test, with its public arguments."),
    "q": Text("float", "The false discovery rate to allow, strictly between 0 and 1."),
    "epsilon": Text(
        "float",
        "The privacy budget: no outcome becomes more than e^epsilon times as likely by one person's data.",
    ),
    "delta": Text(
        "float",
        "The probability, at most, with which that may fail; far below 1/people, and above 0 but for "
        f"{_PURE}.",
    ),
    "method": Text(_choices(MethodName), _DEFAULT),
    "guarantee": Text(f"{_choices(Guarantee)}, optional", _by_method("guarantee")),
    "dependence": Text(f"{_choices(Dependence)}, optional", _by_method("dependence")),
    "k": Text("int, optional", _by_method("k")),
    "cutoffs": Text(f"{_choices(Cutoffs)}, optional", _by_method("cutoffs")),
    "expect": Text("float, optional", _by_method("expect", _EXPECT)),
    "values": Text(
        "bool",
        "Also release one noisy number for each discovery: its effect where the test has one (a difference "
        'of means, of rates, ...), else its score. "aware" spends a fifth of the budget on them; the other '
        'methods have them already, and "all" and "focus" tell more in `Release.estimates`. Effects of '
        "discoveries look larger than they are, since the large were chosen.",
    ),
    "person": Text(
        "str or Person, optional",
        "The column that says whose row it is, where people have several. If None, each row is a person.",
    ),
    "columns": Text(
        "str, type, sequence or mapping, optional",
        "What to test: names, a pattern, a type, or a mapping from column to levels. If None, all numbers; "
        "see `measure`.",
    ),
    "engine": Text(_choices(Engine), "Where to count: in this process, or on a Dask cluster."),
    "scheduler": Text(
        "str or distributed.Client, optional",
        '"dask" only: the cluster. If None, the current client, or a cluster of this machine for this call.',
    ),
    "ledger": Text(
        "path or Ledger, optional",
        "A file that keeps the budget (`discreet budget create`). A release that would exceed the total of "
        "`dataset` is refused; charge and result are on disk before the release is returned.",
    ),
    "dataset": Text("str, optional", "The data set's name in the ledger; required with `ledger`."),
    "release_id": Text(
        "str, optional",
        "A name for this release in the ledger. Asked again with the same parameters, of the same data, the "
        "stored result is returned and nothing is spent; with others it is refused. Files are known by name "
        "and columns, other tables by their columns, functions by module and name; the key of `Vote` is not "
        "compared.",
    ),
}
"""The parameters of `release`, `discover`, `private_bh`, `plan` and scikit-learn's interface."""
