"""Public tables in a folder: the three that are known here, and those that a file beside them describes.

`tables.toml` has a section for each table, with what its code book says:

    ["cohort, smokers"]
    file = "cohort.parquet"
    group = "smoker"
    levels = ["no", "yes"]
    person = "id"

    ["cohort, smokers".numbers]
    age = [18, 100]

    ["cohort, smokers".answers]
    married = ["yes"]
    region = ["north", "south", "west"]

Bounds of numbers are for those contenders that are told them. Of one level alone an answer is yes or no.
`person` is left out where each row is a person.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import InputError
from discreet.lab.bench import surveys
from discreet.lab.bench.surveys import Survey

if TYPE_CHECKING:
    from pathlib import Path

LIST = "tables.toml"
"""The file that describes tables."""
_NEEDED, _OTHER = {"file", "group", "levels"}, {"numbers", "answers", "person"}


def in_folder(folder: Path) -> dict[str, Survey]:
    """Return the tables of the folder by name: known ones whose files are there, and those described."""
    known = {name: survey for name, survey in surveys.SURVEYS.items() if (folder / survey.file).is_file()}
    listed = folder / LIST
    return {**known, **(described(listed.read_text(encoding="utf-8")) if listed.is_file() else {})}


def described(text: str) -> dict[str, Survey]:
    """Return the tables that the text of such a file describes."""
    try:
        sections = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{LIST} is not written as TOML: {error}") from None
    return {name: _survey(name, section) for name, section in sections.items()}


def _survey(name: str, section: Any) -> Survey:
    given = cast("dict[str, Any]", section) if isinstance(section, dict) else {}
    words = set(given)
    if _NEEDED - words or words - _NEEDED - _OTHER or len(given["levels"]) != 2:
        raise InputError(
            f"{LIST}: the section {name!r} must have file, group and two levels, and may have numbers, "
            "answers and person"
        )
    first, second = given["levels"]
    numbers: dict[str, list[float]] = given.get("numbers", {})
    answers: dict[str, list[Any]] = given.get("answers", {})
    return Survey(
        given["file"],
        given["group"],
        (first, second),
        {column: (low, high) for column, (low, high) in numbers.items()},
        {column: tuple(levels) for column, levels in answers.items()},
        given.get("person"),
    )
