"""The pieces every section of a report is laid out with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.report.markup import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from xml.etree.ElementTree import Element

_WIDTHS = (720, 360)  # on a laptop and on a phone: letters keep their size


def section(key: str, title: str, *children: Element, badge: tuple[str, str] | None = None) -> Element:
    """Return a section with its heading; a badge is its look and its words."""
    marks = [] if badge is None else [tag("span", badge[1], class_=f"badge {badge[0]}")]
    head = tag("h2", title, *marks, id=f"{key}-head")
    return tag("section", head, *children, id=key, aria_labelledby=f"{key}-head")


def figure(draw: Callable[[int], Element], name: str, caption: str) -> Element:
    """Return a picture, drawn once for wide and once for narrow screens, with its caption."""
    return tag("figure", tag("figcaption", tag("b", name), f" {caption}"), *map(draw, _WIDTHS))


def paragraphs(texts: Iterable[str]) -> list[Element]:
    """Return one paragraph for each text."""
    return [tag("p", text) for text in texts]


def folded(*children: Element) -> Element:
    """Return the exact statement, folded until asked for."""
    return tag("details", tag("summary", "The exact statement"), *children)


def glossary(entries: Mapping[str, str]) -> Element:
    """Return names and what they stand for."""
    pairs = [(tag("dt", name), tag("dd", text)) for name, text in entries.items()]
    return tag("dl", *(part for pair in pairs for part in pair))
