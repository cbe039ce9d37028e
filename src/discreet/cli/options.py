"""Options of a command as tables, each declared once: its own, and those of what it was asked for.

What a test, a method or a kind of file takes is theirs: `discover` reads it all, and its help shows what
belongs to the test, the method and the file on the same line.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer
from typer.core import TyperCommand

from discreet.data.source import is_genotypes
from discreet.evidence.core.registry import find_test
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

    def option(self, default: object, panel: str | None = None) -> Any:
        """Return it with another default, for a command that declares it by itself."""
        spelled = (self.spelled,) if self.spelled else ()
        return typer.Option(default, *spelled, help=self.help, rich_help_panel=panel)

    def parameter(self, name: str, panel: str) -> inspect.Parameter:
        """Return it as a parameter of a function that typer reads."""
        option = self.option(self.default, panel)
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
FIRST = {
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
    "person": Given(str | None, "The column that says whose row it is, if people have several."),
    "epsilon": Given(float | None, "The privacy budget: smaller is more private; 1 if absent."),
    "delta": Given(float | None, "Its slack, far below 1/people; 1e-6 if absent."),
    "q": Given(float | None, "The false discovery rate to allow; 0.1 if absent."),
    "dry_run": Given(
        bool,
        "Show the cost and the expected power and stop: no row is read, nothing is spent.",
        default=False,
    ),
    "ledger": Given(Path | None, "A budget that cannot be overspent: its file (`discreet budget create`)."),
    "dataset": Given(str | None, "The data set's name in it."),
    "out": Given(Path | None, "Write report.html, discoveries.csv and release.json here."),
}
"""What most people need."""
_ALSO = {
    "method": Given(str | None, f"How discoveries are chosen: {', '.join(METHODS)}; auto if absent."),
    "values": Given(bool | None, "Also release noisy effect sizes.", spelled="--values/--no-values"),
    "release_id": Given(str | None, "Ask again under the same id: the stored result, nothing spent."),
    "people": Given(int | None, "For --dry-run: how many people, to see what would be found."),
    "hypotheses": Given(int | None, "For --dry-run: how many columns, where the file does not say."),
    "config": Given(Path | None, "A plan file (TOML); options given here override it."),
    "as_json": Given(bool, "Print the release as JSON.", default=False, spelled="--json"),
    "server": Given(str | None, "Ask a custodian's server about --dataset, and read no file."),
    "token": Given(str | None, "Your token for --server; DISCREET_TOKEN in the environment if absent."),
    "engine": Given(str | None, f"Where to count: {_words(Engine)}, for a cluster."),
    "scheduler": Given(str | None, "The address of a Dask scheduler; a cluster of this machine if absent."),
}
DISCOVER = {"To begin with": FIRST, "Also": _ALSO}
"""The options of `discreet discover` itself, panel by panel."""

TEST = {
    **_ARGUMENTS,
    "option": Given(
        list[str], "Any other argument of the test, as name=value; repeat for several.", default=[]
    ),
}
"""Arguments of tests: they are public."""
TABLE = {
    "separator": Given(
        str | None, "What separates entries: ',', ';', tab or '|'; as the ending says if absent."
    ),
    "decimal": Given(str | None, "The mark before decimals: '.' (if absent) or ','."),
    "encoding": Given(
        str | None, "How a text file spells letters: windows-1252, latin-1, ...; UTF-8 if absent."
    ),
    "sheet": Given(str | None, "The worksheet of an Excel file; the first if absent."),
    "dictionary": Given(
        Path | None,
        "What columns mean: types, labels, levels, bounds (CSV, REDCap's, Frictionless, .sav, .dta).",
    ),
    "missing": Given(
        list[str], "A word or number that stands for no entry: 'k.A.', -9; repeat for several.", default=[]
    ),
}
"""How a table is written."""
_REDUCE = {"reduce": Given(str | None, f"How several rows of one person become one: {_words(Reduction)}.")}
_METHOD = {
    "guarantee": Given(str | None, f"{_words(Guarantee)}. {_takers('guarantee')}"),
    "dependence": Given(str | None, f"{_words(Dependence)}. {_takers('dependence')}"),
    "k": Given(int | None, f"How many to look for, or to measure. {_takers('k')}"),
    "expect": Given(
        float | None,
        f"How many you expect to be real: a number, or a share below 1. {_takers('expect')}",
    ),
    "cutoffs": Given(str | None, f"{_words(Cutoffs)}. {_takers('cutoffs')}"),
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
}
BELONGING = {
    "Of the test": TEST,
    "Of tables": {**TABLE, **_REDUCE},
    "Of genotypes": _GENES,
    "Of the method": _METHOD,
}
"""Options of what `discover` is asked for, by what they belong to."""
SWITCHES = ("as_json", "dry_run", "people", "hypotheses", "assume", "out", "config", "server", "token")
"""Those that say what to do with a job, and are no part of it."""


class Asking(TyperCommand):
    """A command that takes the options of what it is asked for beside its own; `params` are its own.

    Its help shows those of the test, the method and the file that stand on the line, and names the others.
    """

    def __init__(self, *args: Any, params: list[Any], **settings: Any) -> None:
        theirs = {name for some in BELONGING.values() for name in some}
        own = [parameter for parameter in params if parameter.name not in theirs]
        super().__init__(*args, params=own, **settings)
        self.belonging = [parameter for parameter in params if parameter.name in theirs]
        self.line: list[str] | None = None  # while help is asked for

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options; for help, its own and those that belong to what is on the line."""
        own = super().get_params(ctx)
        if self.line is None:
            return [*own, *self.belonging]
        shown = _of_line(self.line)
        return [*own, *(parameter for parameter in self.belonging if parameter.name in shown)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line; where it asks for help, remember what else it says."""
        self.line = [*args] if {"--help", *ctx.help_option_names} & {*args} else None
        try:
            return super().parse_args(ctx, args)
        finally:
            self.line = None


def _of_line(line: list[str]) -> set[str]:
    """Return the options that belong to the test, the method and the file on a line."""
    words = [part for word in line for part in (word.split("=", 1) if word.startswith("--") else [word])]
    said = dict(pairwise(words))
    paths = [word for word in line if "." in word and not word.startswith("-")]
    genotypes = any(map(is_genotypes, paths))
    test = said.get("--test") or ("compare" if "--group" in said else "carriers" if genotypes else None)
    takes = [] if test is None else ["option", *find_test(test).arguments()]
    method = METHODS.get(said.get("--method", ""))
    reads: dict[str, Given] = {} if not paths else _GENES if genotypes else BELONGING["Of tables"]
    return {*takes, *reads, *([] if method is None else method.options)}


def belonging() -> str:
    """Return the names of the options that belong to something, and how to see them explained."""
    ways = ("--test mean", "people.csv", "cohort.bed", "--method focus")
    lines = [
        f"{panel} (`{way} --help` explains them): {' '.join('--' + name.replace('_', '-') for name in some)}"
        for (panel, some), way in zip(BELONGING.items(), ways, strict=True)
    ]
    return "\n\n".join(["More options belong to what is asked for.", *lines])
