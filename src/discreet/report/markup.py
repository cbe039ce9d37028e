"""HTML built as a tree, so that no name can be taken for markup, and the pieces a report is laid out with."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from xml.etree.ElementTree import Element

# Joiners are letters' business in several scripts; every other invisible character is spelled out.
_KEPT = "\n\u200c\u200d"
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def tag(name: str, /, *children: ET.Element | str, **attributes: str | float) -> ET.Element:
    """Return an element; in attribute names `_` stands for `-`, and `class_` for `class`."""
    plain = {key.strip("_").replace("_", "-"): visible(f"{value}") for key, value in attributes.items()}
    element = ET.Element(name, plain)
    for child in children:
        if isinstance(child, ET.Element):
            element.append(child)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + visible(child)
        else:
            element.text = (element.text or "") + visible(child)
    return element


def document(root: ET.Element) -> str:
    """Return the whole page as text."""
    return "<!doctype html>\n" + ET.tostring(root, encoding="unicode", method="html") + "\n"


def visible(text: str) -> str:
    r"""Return text without hidden characters: controls, marks of direction, half characters as \u codes."""
    return text if text.isprintable() else "".join(map(_spelled, text))


def printable(name: str, most: int = 120) -> str:
    """Return a name as people can see it, on one line, cut after `most` characters."""
    text = visible(name[:most]).replace("\n", "\\n")
    return text if len(name) <= most else text + "…"


def _spelled(c: str) -> str:
    if c in _KEPT or unicodedata.category(c) not in _HIDDEN:
        return c
    return f"\\u{ord(c):04x}" if ord(c) < 2**16 else f"\\U{ord(c):08x}"


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
