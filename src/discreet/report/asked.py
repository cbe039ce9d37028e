"""What a record says was asked, in words: never as a printed dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from discreet.report.markup import shown

if TYPE_CHECKING:
    from discreet.report.release import Release

_MOST = 600  # characters


@dataclass(frozen=True, slots=True)
class Compared:
    """The two groups a difference is between: second less first."""

    group: str
    first: str
    second: str

    @property
    def whom(self) -> str:
        """The second group, in words."""
        return f"{self.group} = {self.second}"


def compared(release: Release) -> Compared | None:
    """Return the groups that were compared; None where the record names none."""
    named = _mapping(release.parameters.get("compared"))
    parts = [named.get(name) for name in ("group", "first", "second")]
    return (
        None if any(part is None for part in parts) else Compared(*(shown(str(part), 40) for part in parts))
    )


def question(release: Release) -> str:
    """Return the question behind a release; of earlier records, which hold none, the test's name."""
    sentence = release.parameters.get("question")
    if isinstance(sentence, str):
        return shown(sentence, _MOST)
    name = _mapping(release.parameters.get("test")).get("name")
    return f"Test {shown(name, 40)}" if isinstance(name, str) else ""


def circumstances(release: Release) -> list[str]:
    """Return of how many people, from which file and on which day, as far as the record says."""
    people, data, day = (release.parameters.get(name) for name in ("people", "data", "date"))
    parts: list[str] = []
    if isinstance(people, int) and not isinstance(people, bool):
        parts.append(f"{people:,} {'person' if people == 1 else 'people'}")
    if isinstance(data, str):
        parts.append(shown(data, 80))
    if isinstance(day, str):
        parts.append(_day(day))
    return parts


def said(value: object) -> str:
    """Return any public setting in words: lists by commas, mappings as "name: value"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        named = cast("Mapping[Any, Any]", value).items()
        return "; ".join(f"{name}: {said(entry)}" for name, entry in named if entry is not None)
    if isinstance(value, (list, tuple)):
        return ", ".join(said(entry) for entry in cast("list[Any]", value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return shown(text, 40)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
