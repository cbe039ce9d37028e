"""What a release was asked, and of whom: its question, groups and circumstances, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from discreet.report.markup import printable

if TYPE_CHECKING:
    from discreet.report.release import Release

_MOST = 600  # characters


@dataclass(frozen=True, slots=True)
class Compared:
    """The two groups a difference is between: second less first."""

    group: str
    first: str
    second: str
    labels: tuple[str, str] = ("", "")  # of the two, where a dictionary has some

    @property
    def whom(self) -> str:
        """The second group, in words."""
        answer = self.labels[1].rpartition(": ")[2]
        return f"{self.group} = {self.second}" + (f" ({answer})" if answer else "")


def compared(release: Release) -> Compared | None:
    """Return the groups that were compared; None where the record names none."""
    named = _mapping(release.parameters.get("compared"))
    parts = [named.get(name) for name in ("group", "first", "second")]
    if any(part is None for part in parts):
        return None
    group, first, second = (printable(str(part), 40) for part in parts)
    known = _mapping(release.parameters.get("labels"))
    texts = [known.get(f"{parts[0]}={level}") for level in parts[1:]]
    words = [printable(text, 60) if isinstance(text, str) else "" for text in texts]
    return Compared(group, first, second, (words[0], words[1]))


def question(release: Release) -> str:
    """Return the question behind a release; of earlier records, which hold none, the test's name."""
    sentence = release.parameters.get("question")
    if isinstance(sentence, str):
        groups = compared(release)
        answers = () if groups is None else groups.labels
        words = (
            f" ({answers[1]}, against {answers[0].rpartition(': ')[2]})" if all(answers) and answers else ""
        )
        return printable(sentence, _MOST) + words
    name = _mapping(release.parameters.get("test")).get("name")
    return f"Test {printable(name, 40)}" if isinstance(name, str) else ""


def circumstances(release: Release) -> list[str]:
    """Return of how many people, from which file and on which day, as far as the record says."""
    people, data, day = (release.parameters.get(name) for name in ("people", "data", "date"))
    parts: list[str] = []
    if isinstance(people, int) and not isinstance(people, bool):
        parts.append(f"{people:,} {'person' if people == 1 else 'people'}")
    if isinstance(data, str):
        parts.append(printable(data, 80))
    if isinstance(day, str):
        parts.append(_day(day))
    return parts


def value_in_words(value: object) -> str:
    """Return any public setting in words: lists by commas, mappings as "name: value"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        named = cast("Mapping[Any, Any]", value).items()
        return "; ".join(f"{name}: {value_in_words(entry)}" for name, entry in named if entry is not None)
    if isinstance(value, (list, tuple)):
        return ", ".join(value_in_words(entry) for entry in cast("list[Any]", value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return printable(text, 40)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
