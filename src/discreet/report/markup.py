"""HTML built as a tree, so that no name can be taken for markup."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree as ET

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


def shown(name: str, most: int = 120) -> str:
    """Return a name as people can see it, on one line, cut after `most` characters."""
    text = visible(name[:most]).replace("\n", "\\n")
    return text if len(name) <= most else text + "…"


def _spelled(c: str) -> str:
    if c in _KEPT or unicodedata.category(c) not in _HIDDEN:
        return c
    return f"\\u{ord(c):04x}" if ord(c) < 2**16 else f"\\U{ord(c):08x}"
