"""What each parameter of a release means, in words: for docstrings, as the methods say of themselves."""

from __future__ import annotations

from typing import get_args

from discreet.docstrings import Text
from discreet.methods.registry import METHODS
from discreet.typing import Cutoffs, Dependence, Engine, Guarantee, MethodName


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
