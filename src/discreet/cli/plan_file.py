"""One job, from options and a plan file: what to read, what to test, what to ask for."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.cli.options import SWITCHES
from discreet.data.plink.plink import Plink
from discreet.data.source import Table, is_genotypes, open_source
from discreet.data.tables.dictionary import as_dictionary
from discreet.data.tables.person import Person
from discreet.errors import InputError, perhaps
from discreet.evidence.core.genetic import RARE
from discreet.evidence.core.registry import find_test, make_test
from discreet.methods.method import Parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discreet.evidence.core.protocol import Test

_ASKED = tuple(field.name for field in dataclasses.fields(Parameters))
_PLINK = ("pheno", "pheno_name", "covar", "keep", "extract", "within", "freq", "threads")
TABLE = ("separator", "decimal", "encoding", "sheet", "dictionary", "missing")
_AS_GIVEN = ("engine", "scheduler", "dataset", "release_id")
OWN = ("data", "columns", "person", "reduce", "ledger", *_AS_GIVEN, *TABLE, *_PLINK)
DEFAULTS: dict[str, Any] = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}


@dataclass(frozen=True, slots=True)
class Job:
    """Everything `discover` needs, all of it public, all of it checked."""

    data: Table | Plink
    test: Test
    asked: Parameters
    other: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", open_source(self.data))  # for all who look at it: opened once

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `discreet.discover`."""
        return {"data": self.source, "test": self.test, **self.asked.to_dict(), **self.other}


def read_job(plan: Mapping[str, object], given: Mapping[str, object]) -> Job:
    """Return the job that a plan file and options describe; options win. No data is read."""
    options, everything = read_words(plan, given)
    if "data" not in everything:
        raise InputError("say which file to read: discreet discover FILE, or data in the plan file")
    kind = options.pop("name")
    _check_plan(plan, kind)
    takes = find_test(kind).arguments()
    if "dictionary" in everything and "bounds" in takes and "bounds" not in options:
        bounds = as_dictionary(everything["dictionary"]).bounds
        options |= {"bounds": bounds} if bounds else {}
    test = make_test(kind, options)
    asked = Parameters(**{**DEFAULTS, **{name: everything[name] for name in _ASKED if name in everything}})
    other = _other(everything)
    if isinstance(
        other.get("columns"), dict
    ):  # a plan may list all columns: those that say who are not tested
        apart = {*test.labels, everything.get("person")}
        other["columns"] = {name: of for name, of in other["columns"].items() if name not in apart}
    return Job(_data(everything, test), test, asked, other)


def read_words(
    plan: Mapping[str, object], given: Mapping[str, object]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the test with its options, and everything else, as it was written."""
    table = plan.get("test", {})
    table = {"name": table} if isinstance(table, str) else table
    if not isinstance(table, dict):
        raise InputError('test in the plan file must be a table: [test], and in it name = "two-groups"')
    options = _underscored(cast("dict[str, Any]", table))
    if "test" in given:
        if options and options.get("name") != given["test"]:
            options = {}
        options["name"] = given["test"]
    apart = ("test", "option")
    everything = {name: value for name, value in {**plan, **given}.items() if name not in apart}
    genotypes = is_genotypes(str(everything.get("data", "")))
    for name in tuple(everything):
        if name not in (*_ASKED, *OWN) or (name == "within" and not genotypes):
            options[name] = everything.pop(name)
    for pairs in (plan.get("option", []), given.get("option", [])):
        options.update(_pairs(pairs))
    if "name" not in options and "group" in options and not genotypes:
        options["name"] = "compare"
    if "name" not in options and genotypes:
        options["name"] = "carriers"
    if "name" not in options:
        raise InputError(
            "say which test: --test mean, for example, or [test] name in the plan file; to compare two "
            "groups, --group"
        )
    return options, everything


def read_plan(path: Path | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a plan file says of a job, and what it says to do with it: both may be empty."""
    plan = {} if path is None else _underscored(_read(path))
    if "json" in plan:
        plan["as_json"] = plan.pop("json")
    for name in ("config", "token"):
        if name in plan:
            raise InputError(f"{name} may not stand in a plan file: give it on the command line")
    return plan, {name: _switch(name, plan.pop(name)) for name in tuple(plan) if name in SWITCHES}


def _switch(name: str, value: object) -> Any:
    """Return an option that is no part of the job, of its type."""
    if name in {"as_json", "dry_run"}:
        return check.flag(value, name)
    if name in {"people", "hypotheses"}:
        return check.whole(value, name)
    if name == "assume":
        from discreet.planner.forecast import assumptions

        return assumptions(value) and value
    return check.path(value, name) if name == "out" else check.text(value, name)


def _underscored(table: Mapping[str, object]) -> dict[str, Any]:
    """Return options by their names in Python: release-id and release_id are one."""
    return {name.replace("-", "_"): value for name, value in table.items()}


def _check_plan(plan: Mapping[str, object], test: str) -> None:
    """Refuse a name that neither a release nor its test knows."""
    known = ["test", "option", *_ASKED, *OWN, *find_test(test).arguments()]
    for name in plan:
        if name not in known:
            hint = perhaps(name, known)
            raise InputError(f"the plan file has {name!r}, which neither a release nor {test!r} takes{hint}")


def _data(everything: Mapping[str, Any], test: Test) -> Table | Plink:
    """Return the table, or the PLINK files, that the path and the options beside it describe."""
    path = str(everything["data"])
    genotypes = is_genotypes(path)
    for name in TABLE if genotypes else _PLINK:
        if name in everything:
            kind = "tables" if genotypes else "PLINK files: the path must end in .bed or .pgen"
            raise InputError(f"{name} is for {kind}")
    options = {name: everything[name] for name in (*TABLE, *_PLINK) if name in everything}
    if not genotypes:
        return Table(path, **options)
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
        other["columns"] = _columns(everything["columns"])
    return other


def _columns(written: object) -> Any:
    """Return the columns; in TOML, which has no word for None, it is "number" or "declared"."""
    if not isinstance(written, dict):
        return written
    columns = cast("dict[str, Any]", written)
    return {name: None if levels in ("number", "declared") else levels for name, levels in columns.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"the plan file {path} cannot be read: check its path") from None
    except ValueError as error:  # not UTF-8, not TOML, or a number of thousands of digits
        raise InputError(f"the plan file {path} is not TOML: {error}") from None


def _pairs(options: object) -> dict[str, Any]:
    """Return "name=value" pairs, each value read as TOML where it is one, else as text."""
    pairs: dict[str, Any] = {}
    for option in check.words(options, "option"):
        name, equals, text = option.partition("=")
        if not equals:
            raise InputError(f"option must be name=value; got {option!r}")
        try:
            pairs[name.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            pairs[name.strip()] = text
    return pairs
