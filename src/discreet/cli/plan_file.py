"""One job, from options and a plan file: what to read, what to test, what to ask for."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from discreet.data.plink.plink import Plink
from discreet.data.source import is_genotypes, open_source
from discreet.data.tables.person import Person
from discreet.errors import InputError, perhaps
from discreet.evidence.core.genetic import RARE
from discreet.evidence.core.registry import find_test, make_test
from discreet.methods.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discreet.evidence.core.protocol import Test

_ASKED = tuple(field.name for field in dataclasses.fields(Parameters))
_PLINK = ("pheno", "pheno_name", "keep", "extract", "within", "freq", "threads")
_AS_GIVEN = ("engine", "scheduler", "dataset", "release_id")
OWN = ("data", "columns", "person", "reduce", "ledger", *_AS_GIVEN, *_PLINK)
DEFAULTS: dict[str, Any] = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}


@dataclass(frozen=True, slots=True)
class Job:
    """Everything `discover` needs, all of it public, all of it checked."""

    data: str | Plink
    test: Test
    asked: Parameters
    other: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", open_source(self.data))  # for all who look at it: opened once

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `discreet.discover`."""
        return {"data": self.source, "test": self.test, **self.asked.to_dict(), **self.other}


def read_job(config: Path | None, given: Mapping[str, Any]) -> Job:
    """Return the job that a plan file and options describe; options win. No data is read."""
    plan, options, everything = read_words(config, given)
    if "data" not in everything:
        raise InputError("say which file to read: discreet discover FILE, or data in the plan file")
    kind = options.pop("name")
    _check_plan(plan, kind)
    test = make_test(kind, options)
    asked = Parameters(**{**DEFAULTS, **{name: everything[name] for name in _ASKED if name in everything}})
    return Job(_data(everything, test), test, asked, _other(everything))


def read_words(
    config: Path | None, given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the plan file, the test with its options, and everything else, as it was written."""
    plan = _read(config) if config is not None else {}
    table = plan.pop("test", {})
    if not isinstance(table, dict):
        raise InputError('test in the plan file must be a table: [test], and in it name = "two-groups"')
    options: dict[str, Any] = dict(cast("dict[str, Any]", table))
    if "test" in given:
        if options and options.get("name") != given["test"]:
            options = {}
        options["name"] = given["test"]
    everything = {**plan, **{name: value for name, value in given.items() if name not in {"test", "option"}}}
    for name in tuple(everything):
        if name not in (*_ASKED, *OWN):
            options[name] = everything.pop(name)
    options.update(_pairs(given.get("option", [])))
    if "name" not in options and "group" in options and not is_genotypes(str(everything.get("data", ""))):
        options["name"] = "compare"
    if "name" not in options:
        raise InputError(
            "say which test: --test mean, for example, or [test] name in the plan file; to compare two "
            "groups, --group"
        )
    return plan, options, everything


def _check_plan(plan: Mapping[str, Any], test: str) -> None:
    """Refuse a name that neither a release nor its test knows."""
    known = [*_ASKED, *OWN, *find_test(test).arguments()]
    for name in plan:
        if name not in known:
            hint = perhaps(name, known)
            raise InputError(f"the plan file has {name!r}, which neither a release nor {test!r} takes{hint}")


def _data(everything: Mapping[str, Any], test: Test) -> str | Plink:
    """Return the path, or the PLINK files it and the options beside it describe."""
    path = str(everything["data"])
    options = {name: everything[name] for name in _PLINK if name in everything}
    if not is_genotypes(path):
        if options:
            raise InputError(f"{next(iter(options))} is for PLINK files: the path must end in .bed or .pgen")
        return path
    if "freq" in options:
        # Variants rarer than the floor in the public file would only cost: they are not tested.
        floor = getattr(test, "maf_floor", 0.0)
        options["maf"] = RARE if floor is None else floor
    return Plink(path, **options)


def _other(everything: Mapping[str, Any]) -> dict[str, Any]:
    """Return who a row belongs to, which columns, and which budget; only what was given."""
    other = {name: everything[name] for name in _AS_GIVEN if name in everything}
    if "ledger" in everything:
        other["ledger"] = str(everything["ledger"])
    if "person" in everything:
        other["person"] = Person(everything["person"], everything.get("reduce"))
    elif "reduce" in everything:
        raise InputError("reduce needs person: the column that says whose row it is")
    if "columns" in everything:
        other["columns"] = everything["columns"]
    return other


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"the plan file {path} cannot be read: check its path") from None
    except ValueError as error:  # not UTF-8, not TOML, or a number of thousands of digits
        raise InputError(f"the plan file {path} is not TOML: {error}") from None


def _pairs(options: list[str]) -> dict[str, Any]:
    """Return "name=value" pairs, each value read as TOML where it is one, else as text."""
    pairs: dict[str, Any] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise InputError(f"option must be name=value; got {option!r}")
        try:
            pairs[name.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            pairs[name.strip()] = text
    return pairs
