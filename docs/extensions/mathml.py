"""Typeset dollar math as MathML, which browsers draw themselves: no script, no font, no download."""

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_RELATIONS = frozenset("=<>\u2264\u2265\u2260\u2192\u2208\u2194")
_SHORT = 16  # characters
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_converter = LatexToMathML(fancy_error=False)
_logger = logging.getLogger(__name__)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def to_mathml(latex: str, *, display: bool) -> str:
    """Return a formula as MathML; LatexError says what is wrong with it."""
    mathml = _converter.convert_with_local_state(latex, displaystyle=display)
    return mathml if display else pieces(mathml)


def pieces(mathml: str) -> str:
    """Cut a long formula of the running text after its relations: browsers break no line inside one."""
    whole = ET.fromstring(mathml.replace("&ApplyFunction;", "\u2061"))  # noqa: S314 (our own formula)
    if len("".join(whole.itertext())) <= _SHORT:
        return mathml
    parts, depth = [ET.Element("math")], 0
    for element in whole:
        parts[-1].append(element)
        sign = element.text if element.tag == "mo" else ""
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign in _RELATIONS or (sign == "," and depth == 0):
            if sign != ",":
                element.set("form", "infix")  # keeps its room, though nothing follows it here
            parts.append(ET.Element("math"))
    return "<wbr>".join(ET.tostring(part, "unicode") for part in parts if len(part))


def visit_inline(self: "HTML5Translator", node: nodes.math) -> None:
    """Write a formula of the running text."""
    _write(self, node, display=False)


def visit_block(self: "HTML5Translator", node: nodes.math_block) -> None:
    """Write a formula on lines of its own; a wide one scrolls by itself."""
    self.body.append('<div class="formula">')
    try:
        _write(self, node, display=True)
    finally:
        self.body.append("</div>\n")


def _write(self: "HTML5Translator", node: nodes.Element, *, display: bool) -> None:
    try:
        self.body.append(to_mathml(node.astext(), display=display))
    except LatexError as problem:
        _logger.warning("formula %r: %s", node.astext(), problem, location=node)
    raise nodes.SkipNode
