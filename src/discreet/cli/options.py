"""Options of a command as tables: what a newcomer needs comes first, the rest by what it is about."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from discreet.methods.registry import METHODS
from discreet.typing import Cutoffs, Dependence, Engine, Guarantee, Reduction

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Given:
    """One option: its type, what it is in a line, its spelling if not that of its name."""

    kind: Any
    help: str
    default: Any = None
    spelled: str = ""

    def parameter(self, name: str, panel: str) -> inspect.Parameter:
        """Return it as a parameter of a function that typer reads."""
        spelled = (self.spelled,) if self.spelled else ()
        option = typer.Option(self.default, *spelled, help=self.help, rich_help_panel=panel)
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=self.kind)


def with_options(panels: dict[str, dict[str, Given]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options of these panels to a command, which finds them in `given`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for name, parameter in signature.parameters.items() if name != "given"]
        added = [
            given.parameter(name, panel) for panel, some in panels.items() for name, given in some.items()
        ]
        command.__signature__ = signature.replace(parameters=[*own, *added])  # pyright: ignore[reportFunctionMemberAccess]
        return command

    return decorate


def _words(alias: object) -> str:
    """Return the words that an option may be: "mean, first or any"."""
    *most, last = map(str, get_args(alias))
    return f"{', '.join(most)} or {last}"


def _takers(option: str) -> str:
    """Return which methods take an option, as the registry says."""
    return f"For {', '.join(name for name, method in METHODS.items() if option in method.options)}."


_TYPES: dict[str, Any] = {
    "text": str | None,
    "number": float | None,
    "whole number": int | None,
    "two texts": tuple[str, str] | None,
    "two numbers": tuple[float, float] | None,
    "texts": list[str],
}
# What tests take, by name. Written by `python -m discreet.lab.listings`, so that no test is loaded for it;
# arguments of tests that other packages register are given by --option.
_LISTED: dict[str, dict[str, Any]] = json.loads(
    files("discreet.cli").joinpath("test_options.json").read_text("utf-8")
)
_ARGUMENTS = {
    name: Given(_TYPES[option["takes"]], option["help"], [] if option["takes"] == "texts" else None)
    for name, option in _LISTED.items()
}
_FIRST = {
    **{name: _ARGUMENTS.pop(name) for name in ("group", "levels")},
    "test": Given(
        str | None, "compare (if a group is given), carriers (of genotypes), mean, ... (all: see above)."
    ),
    "columns": Given(
        list[str],
        "A column to test, a pattern such as 'lab_*', or answers to test, 'smokes=yes,no'; repeat for "
        "several. All numbers if absent; of CSV, which declares no types, all columns.",
        default=[],
    ),
    "epsilon": Given(float | None, "The privacy budget: smaller is more private; 1 if absent."),
    "delta": Given(float | None, "Its slack, far below 1/people; 1e-6 if absent."),
    "q": Given(float | None, "The false discovery rate to allow; 0.1 if absent."),
    "out": Given(Path | None, "Write report.html, discoveries.csv and release.json here."),
}
_FREE = {
    "dry_run": Given(
        bool,
        "Show the cost and the expected power and stop: no row is read, nothing is spent.",
        default=False,
    ),
    "people": Given(int | None, "For --dry-run: how many people, to see what would be found."),
    "hypotheses": Given(int | None, "For --dry-run: how many columns, where the file does not say."),
}
_TABLE = {
    "separator": Given(
        str | None, "What separates entries: ',', ';', tab or '|'; as the ending says if absent."
    ),
    "decimal": Given(str | None, "The mark before decimals: '.' (if absent) or ','."),
    "sheet": Given(str | None, "The worksheet of an Excel file; the first if absent."),
    "dictionary": Given(
        Path | None,
        "What columns mean: types, labels, levels, bounds (CSV, REDCap's, Frictionless, .sav, .dta).",
    ),
    "missing": Given(
        list[str], "A word or number that stands for no entry: 'k.A.', -9; repeat for several.", default=[]
    ),
}
_PEOPLE = {
    "person": Given(str | None, "The column that says whose row it is."),
    "reduce": Given(str | None, f"How several rows of one person become one: {_words(Reduction)}."),
    "protect": _ARGUMENTS.pop("protect"),
}
_TEST = {
    **{name: given for name, given in _ARGUMENTS.items() if not _LISTED[name]["genotypes"]},
    "option": Given(
        list[str], "Any other argument of the test, as name=value; repeat for several.", default=[]
    ),
}
_METHOD = {
    "method": Given(str | None, f"How discoveries are chosen: {', '.join(METHODS)}; auto if absent."),
    "guarantee": Given(str | None, f"{_words(Guarantee)}. {_takers('guarantee')}"),
    "dependence": Given(str | None, f"{_words(Dependence)}. {_takers('dependence')}"),
    "k": Given(int | None, f"How many to look for, or to measure. {_takers('k')}"),
    "expect": Given(
        float | None,
        f"How many you expect to be real: a number, or a share below 1. {_takers('expect')}",
    ),
    "cutoffs": Given(str | None, f"{_words(Cutoffs)}. {_takers('cutoffs')}"),
    "values": Given(bool | None, "Also release noisy effect sizes.", spelled="--values/--no-values"),
}
_GENES = {
    "pheno": Given(Path | None, "Phenotypes: FID IID value; 1 control, 2 case."),
    "pheno_name": Given(str | None, "Its column."),
    "covar": Given(Path | None, "Covariates: FID IID PC1 ..., a header naming them; choose with --adjust."),
    "keep": Given(Path | None, "People to use: FID IID."),
    "extract": Given(Path | None, "Variants to test, by name."),
    "within": Given(str | None, "Public strata: FID IID stratum. Of a table: the column of subgroups."),
    "freq": Given(Path | None, "Public frequencies (.afreq, .frq): rarer variants are left out."),
    "threads": Given(int | None, "Threads; all processors if absent."),
    **{name: given for name, given in _ARGUMENTS.items() if _LISTED[name]["genotypes"]},
}
_BUDGET = {
    "ledger": Given(Path | None, "The ledger file."),
    "dataset": Given(str | None, "The data set's name in it."),
    "release_id": Given(str | None, "Ask again under the same id: the stored result, nothing spent."),
}
_FORMS = {
    "config": Given(Path | None, "A plan file (TOML); options given here override it."),
    "as_json": Given(bool, "Print the release as JSON.", default=False, spelled="--json"),
}
_ELSEWHERE = {
    "server": Given(str | None, "Ask a custodian's server about --dataset, and read no file."),
    "token": Given(str | None, "Your token for --server; DISCREET_TOKEN in the environment if absent."),
    "engine": Given(str | None, f"Where to count: {_words(Engine)}, for a cluster."),
    "scheduler": Given(str | None, "The address of a Dask scheduler; a cluster of this machine if absent."),
}
DISCOVER = {
    "To begin with": _FIRST,
    "Before anything is spent": _FREE,
    "How the file is written": _TABLE,
    "A budget that cannot be overspent": _BUDGET,
    "Whose rows they are, and what is protected": _PEOPLE,
    "How discoveries are chosen": _METHOD,
    "What the test takes: public arguments": _TEST,
    "Genotypes": _GENES,
    "Plan files and programs": _FORMS,
    "Elsewhere: a custodian's server, a cluster": _ELSEWHERE,
}
"""The options of `discreet discover`, panel by panel."""
SWITCHES = ("as_json", "dry_run", "people", "hypotheses", "out", "config", "server", "token")
"""Those that say what to do with a job, and are no part of it."""
