"""What is public about a data set: everything that analysts see and that questions are checked against."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, get_args

from discreet import check
from discreet.data.plink.plink import PEDIGREE, PHENOTYPE, STRATUM
from discreet.data.tables.columns import hypotheses_of
from discreet.errors import InputError, perhaps
from discreet.evidence.core.registry import find_test, own_names
from discreet.methods.registry import METHODS as KNOWN
from discreet.privacy.events import NEIGHBOURS
from discreet.server import toml
from discreet.typing import Reduction

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPES = ("number", "yes/no", "answers")
GENETIC = tuple(name for name in own_names() if find_test(name).sources[0] == "genotypes")
"""Tests on genotypes that are allowed unless the custodian says otherwise."""
OFFERED = tuple(name for name in own_names() if find_test(name).sources[0] == "tables" and name != "vote")
"""Tests on tables that are allowed unless the custodian says otherwise; votes need a list of functions."""
METHODS = tuple(name for name, method in KNOWN.items() if method.gaussian and name != "mirror")
"""Methods whose cost is known in full before anything is read."""
_MOST_COLUMNS, _LONGEST_TEXT, _LONGEST_FILE = 1_000_000, 20_000, 200_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type, and what is declared of its values."""

    type: str = "number"
    bounds: tuple[float, float] | None = None
    levels: tuple[Any, ...] | None = None
    public: bool = False
    about: str = ""

    @property
    def hypotheses(self) -> int:
        """How many hypotheses it makes: one, or one for each answer and for all others together."""
        return 1 if self.levels is None else len(hypotheses_of("column", self.levels)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """All that is public; a release names the version it was made under."""

    people: int
    columns: Mapping[str, Column]
    title: str = ""
    about: str = ""
    person: str | None = None
    reduce: Reduction | None = None
    neighbours: str = "replace"
    genotypes: bool = False
    variants: int = 0
    phenotype_public: bool = False
    pedigree_public: bool = False
    tests: tuple[str, ...] = OFFERED
    methods: tuple[str, ...] = METHODS
    functions: tuple[str, ...] = ()
    hypotheses: int = 100_000
    largest_epsilon: float = 10.0
    review: bool = False
    releases: str = "shared"

    def is_public(self, name: str) -> bool:
        """Whether who has which value of a column is no secret; strata of genotypes are public always."""
        if self.genotypes and name == PHENOTYPE:
            return self.phenotype_public
        if self.genotypes and name in PEDIGREE:
            return self.pedigree_public
        strata = self.genotypes and name == STRATUM
        return strata or (name in self.columns and self.columns[name].public)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        columns = {
            name: {
                "type": column.type,
                "bounds": None if column.bounds is None else list(column.bounds),
                "levels": None if column.levels is None else list(column.levels),
                "public": column.public,
                "about": column.about,
            }
            for name, column in self.columns.items()
        }
        rest = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "columns"}
        lists = {name: list(rest[name]) for name in ("tests", "methods", "functions")}
        return {**rest, **lists, "columns": columns}


def from_toml(text: str) -> dict[str, Any]:
    """Return what a custodian wrote about a data set, to be checked by `read`."""
    written = toml.read(text, "the metadata", _LONGEST_FILE)
    if written.get("people") == 0:
        raise InputError("people must be how many people there are, which is public: a draft says 0")
    return written


def to_toml(about: Metadata) -> str:
    """Return metadata as a custodian writes them: what is at its default is left out."""
    usual = read({"people": 0, "columns": {"a": {}}, "genotypes": about.genotypes}).to_dict()
    whole = about.to_dict()
    lines = [
        f"{name} = {to_toml_value(value)}"
        for name, value in whole.items()
        if name == "people" or (name != "columns" and value is not None and value != usual[name])
    ]
    if about.genotypes:
        lines = [line for line in lines if not line.startswith("genotypes")] + ["genotypes = true"]
    plain = Column()
    for name, column in whole["columns"].items():
        lines += ["", f"[columns.{to_toml_value(name)}]", f"type = {to_toml_value(column['type'])}"]
        lines += [
            f"{field} = {to_toml_value(value)}"
            for field, value in column.items()
            if field != "type" and value is not None and value != getattr(plain, field)
        ]
    return "\n".join(lines) + "\n"


def to_toml_value(value: object) -> str:
    """Return a plain value as TOML, whose strings, numbers, lists and truth values are JSON's but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read(body: Mapping[str, object]) -> Metadata:
    """Return metadata from plain values, as a plan or a page gives them; refuse what makes no sense."""
    known = Metadata.__dataclass_fields__
    for name in body:
        if name not in known:
            raise InputError(f"metadata has no {name!r}{perhaps(str(name), known)}")
    chosen = dict(body)
    columns = chosen.pop("columns", {})
    if not isinstance(columns, dict) or len(cast("dict[str, Any]", columns)) > _MOST_COLUMNS:
        raise InputError("columns must be a table from name to type, bounds and levels")
    made = {
        _label(name, "the name of a column"): _column(name, each)
        for name, each in cast("dict[str, Any]", columns).items()
    }
    chosen = {name: _typed(name, value) for name, value in chosen.items()}
    if "people" not in chosen:
        raise InputError("metadata must say how many people there are: the number is public")
    metadata = Metadata(columns=made, **chosen)
    _check(metadata)
    return metadata


def _typed(name: str, value: object) -> Any:
    """Return one entry of the metadata, if it is of the right kind."""
    if name in {"tests", "methods", "functions"}:
        return check.words(value, name)
    if name in {"people", "variants", "hypotheses"}:
        return check.whole(value, name, 0)
    if name in {"genotypes", "phenotype_public", "pedigree_public", "review"}:
        return check.flag(value, name)
    if name in {"title", "about"} and (not isinstance(value, str) or len(value) > _LONGEST_TEXT):
        raise InputError(f"{name} must be text of at most {_LONGEST_TEXT:,} characters")
    return value


def _check(metadata: Metadata) -> None:
    check.choice(metadata.neighbours, "neighbours", tuple(NEIGHBOURS))
    check.choice(metadata.releases, "releases", ("shared", "own"))
    check.between(metadata.largest_epsilon, "largest_epsilon", 0.0, 1e6)
    reads = "genotypes" if metadata.genotypes else "tables"
    allowed = tuple(name for name in own_names() if reads in find_test(name).sources)
    if metadata.genotypes and metadata.tests == OFFERED:
        object.__setattr__(metadata, "tests", GENETIC)
    for test in metadata.tests:
        check.choice(test, "tests", allowed)
    for method in metadata.methods:
        check.choice(method, "methods", METHODS)
    if metadata.person is not None:
        _label(metadata.person, "person")
        if metadata.person in metadata.columns:
            raise InputError("the person column is never tested: leave it out of columns")
    if metadata.reduce is not None:
        check.choice(metadata.reduce, "reduce", get_args(Reduction))
        if metadata.person is None:
            raise InputError("reduce needs person: the column that says whose row it is")
    if not metadata.genotypes and not metadata.columns:
        raise InputError("metadata must declare the columns that may be asked about")


def _column(name: str, each: object) -> Column:
    if not isinstance(each, dict):
        raise InputError(f"column {name!r} must be a table with a type")
    fields = cast("dict[str, Any]", each)
    for field in fields:
        if field not in Column.__dataclass_fields__:
            raise InputError(f"column {name!r} has {field!r}; it takes type, bounds, levels, public, about")
    kind = check.choice(fields.get("type", "number"), f"type of {name!r}", TYPES)
    bounds, levels = fields.get("bounds"), fields.get("levels")
    if bounds is not None:
        pair = [check.real(bound, f"bounds of {name!r}") for bound in check.entries(bounds, "bounds")]
        if len(pair) != 2 or not pair[0] < pair[1]:
            raise InputError(f"bounds of {name!r} must be two numbers, the smaller first")
        bounds = (pair[0], pair[1])
    if levels is not None:
        levels = check.levels(levels, f"levels of {name!r}")
    if kind == "answers" and not levels:
        raise InputError(f"column {name!r} has answers: declare its levels")
    if kind != "number" and bounds is not None:
        raise InputError(f"bounds of {name!r} belong to numbers")
    public = check.flag(fields.get("public", False), f"public of {name!r}")
    about = str(fields.get("about", ""))[:1000]
    return Column(kind, bounds, levels, public, about)


def _label(value: object, name: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 1000 or not value.isprintable():
        raise InputError(f"{name} must be printable text")
    return value
