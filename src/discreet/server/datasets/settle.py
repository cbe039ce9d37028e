"""The test of a question: what it leaves out is filled in from the metadata, what they forbid is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.data.plink.plink import PEDIGREE, PHENOTYPE
from discreet.errors import InputError, perhaps
from discreet.evidence.compare import Compare
from discreet.evidence.core.protocol import is_needed
from discreet.evidence.core.registry import find_test, make_test

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.evidence.core.protocol import Test
    from discreet.server.datasets.metadata import Metadata

_ALL = ("everything", "both")
_SOME = (0.0, 1.0)  # well-formed bounds, in the place of those that follow from the columns


def settle(options: dict[str, Any], about: Metadata) -> tuple[Test, bool]:
    """Return the test, and whether it needs bounds that the columns have to say.

    `options` is completed with what the metadata declare.
    """
    name = check.choice(options["name"], "test", about.tests)
    arguments = find_test(name).arguments()
    _check_function(options, {*arguments}, about)
    if "group" in options:
        known(options["group"], about, "group")
    if "adjacency" in arguments:
        if options.get("adjacency", about.neighbours) != about.neighbours:
            raise InputError(f"the budget here is about neighbours {about.neighbours!r}: leave adjacency out")
        options["adjacency"] = about.neighbours
    _fill_levels(options, arguments, about)
    if "adjust" in options:
        options["adjust"] = _covariates(options["adjust"], about)
    test, needs_bounds = _made(name, options, about)
    if "protect" in arguments and "protect" not in options and not _all_public(test, about):
        options["protect"] = "everything" if arguments["protect"].default not in _ALL else "both"
        test, needs_bounds = _made(name, options, about)
    for label in test.labels:
        known(label, about, "every column that a test names")
    _protect(options, test, about)
    return test, needs_bounds


def with_bounds(test: Test, options: dict[str, Any], columns: Mapping[str, object], about: Metadata) -> Test:
    """Return a test that needs bounds with those of its columns; a comparison with those there are."""
    declared = {name: list(b) for name in columns if (b := about.columns[name].bounds) is not None}
    if isinstance(test, Compare):
        options |= {"bounds": declared} if declared else {}
    else:
        if any(about.columns[name].levels for name in columns):
            raise InputError("this test is about numbers: leave columns with answers out, or give bounds")
        rest = [name for name in columns if name not in declared and about.columns[name].type == "number"]
        if rest:
            raise InputError(f"this test needs bounds, and {rest[0]!r} declares none: give bounds")
        options["bounds"] = {name: declared.get(name, list(_SOME)) for name in columns}
    return make_test(options["name"], _arguments(options))


def known(name: object, about: Metadata, option: str) -> None:
    """Refuse a column that the metadata do not declare; genotypes have a phenotype and a pedigree anyway."""
    if about.genotypes and name in (PHENOTYPE, *PEDIGREE):
        return
    if not isinstance(name, str) or name not in about.columns:
        raise InputError(f"{option} must be a declared column{perhaps(str(name), about.columns)}")


def _made(name: str, options: dict[str, Any], about: Metadata) -> tuple[Test, bool]:
    """Return the test, and whether bounds had to be put into it that nobody gave."""
    arguments = find_test(name).arguments()
    if "bounds" not in arguments or "bounds" in options:
        return make_test(name, _arguments(options)), False
    if not is_needed(arguments["bounds"]):
        try:
            return make_test(name, _arguments(options)), False
        except InputError:  # it may be about bounds: the second refusal says what else is wrong
            partner = about.columns.get(str(options.get("partner")))
            if partner is not None and partner.bounds is not None:
                options.setdefault("partner_bounds", list(partner.bounds))
    elif about.genotypes:
        raise InputError("this test needs bounds of the phenotype: give bounds")
    return make_test(name, {**_arguments(options), "bounds": _SOME}), True


def _arguments(options: Mapping[str, object]) -> dict[str, Any]:
    return {option: value for option, value in options.items() if option != "name"}


def _fill_levels(options: dict[str, Any], arguments: Mapping[str, Any], about: Metadata) -> None:
    """Fill in the declared answers of groups, strata and subgroups."""
    for column, option in (("group", "levels"), ("stratum", "strata"), ("within", "levels_within")):
        declared = about.columns.get(str(options.get(column)))
        levels = None if declared is None else declared.levels
        if option not in arguments or option in options or column not in options or levels is None:
            continue
        # Groups are two, unless the test is about any number of them.
        if option == "levels" and not is_needed(arguments[option]) and len(levels) != 2:
            raise InputError("the group column declares more than two levels: say which two, levels")
        options[option] = list(levels)


def _covariates(adjust: object, about: Metadata) -> Any:
    """Return covariates, given by their names alone, with their declared bounds or answers."""
    if isinstance(adjust, str):
        adjust = [adjust]
    if not isinstance(adjust, (list, tuple)) or any(
        not isinstance(name, str) or name not in about.columns for name in cast("list[Any]", adjust)
    ):
        return cast("Any", adjust)  # bounds are given with the names, or the test says what is wrong
    made: dict[str, Any] = {}
    for name in cast("list[str]", adjust):
        column = about.columns[name]
        said = column.levels if column.levels is not None else column.bounds
        if said is None:
            raise InputError(f"adjust: {name!r} declares neither bounds nor answers: give them")
        made[name] = list(said)
    return made


def _check_function(options: Mapping[str, object], fields: set[str], about: Metadata) -> None:
    """Refuse code: a function to vote with is one of the custodian's, by its listed name."""
    if "key" in options:
        raise InputError("key is not for analysts: leave it out")
    if ("test" in fields or "test" in options) and options.get("test") not in about.functions:
        raise InputError("the function to vote with, test, must be one of those that the custodian lists")


def _all_public(test: Test, about: Metadata) -> bool:
    return all(about.is_public(label) for label in test.public_labels)


def _protect(options: Mapping[str, object], test: Test, about: Metadata) -> None:
    """Refuse to leave unprotected what the custodian did not declare public."""
    open_ = [label for label in test.public_labels if not about.is_public(label)]
    if open_:
        raise InputError(
            f"this leaves open {open_[0]!r} of every person, which is not public here: "
            + ("protect = 'everything'" if "protect" in options else "take compare, which protects it")
        )
