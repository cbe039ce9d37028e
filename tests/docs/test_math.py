"""Formulas are dollar math that becomes MathML, and none is left in plain characters."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
PROOFS = [page for page in PAGES if page.parent.name == "proofs"]
PROSE = [*PROOFS, *sorted((DOCS / "explained").glob("*.md")), DOCS / "errata.md", DOCS / "theorems.md"]

_spec = importlib.util.spec_from_file_location("mathml", DOCS / "extensions" / "mathml.py")
mathml = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mathml)

_CODE = re.compile(r"^(`{3,}).*?^\1\s*$|`[^`]*`", re.DOTALL | re.MULTILINE)
_MATH = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$([^$]+)\$", re.DOTALL)
_LEFT = re.compile(r"<=|>=|!=|->|\^|\w_\w|\bsqrt\b|\beps\b|\w\(\w\)|(?<=\s)[+<>=](?=\s)")


def formulas(page):
    """Return the formulas of a page, as (LaTeX, on lines of its own)."""
    return [(block or inline, bool(block)) for block, inline in _MATH.findall(_CODE.sub("", page))]


def left_over(page):
    """Return what stands outside formulas, code and links and looks like a formula."""
    text = _MATH.sub("", _CODE.sub("", page))
    text = re.sub(r"\]\([^)]*\)|\{[a-z-]+\}|<[^>]*>|^\|[-| :]*$", "", text, flags=re.MULTILINE)
    return _LEFT.findall(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_formula_is_understood(page):
    """LaTeX that cannot be converted is an error, not a red word on the page."""
    for latex, display in formulas(page.read_text(encoding="utf-8")):
        assert mathml.to_mathml(latex, display=display).startswith("<math")


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(DOCS)))
def test_no_formula_is_left_in_plain_characters(page):
    """Pages with mathematics have all of it between dollars."""
    assert left_over(page.read_text(encoding="utf-8")) == []


def test_long_formulas_may_break_after_relations():
    """A long formula in the running text is several, so that a narrow screen can break the line."""
    long = mathml.to_mathml(r"f(x, y) \le a + b + c + d = g(u, v, w)", display=False)
    assert long.count("<math") == 3
    assert re.sub(r"<[^>]+>", "", long) == "f(x,y)\u2264a+b+c+d=g(u,v,w)"
    assert mathml.to_mathml(r"x \le y", display=False).count("<math") == 1
    assert mathml.to_mathml(r"a \le b \le c \le d \le e \le f", display=True).count("<math") == 1


@pytest.mark.parametrize(
    "plain", ["P(x) <= 2", "at x^2 and", "the x_i of", "sqrt n", "is P(x) here", "x + y", "a -> b"]
)
def test_what_is_left_over_is_noticed(plain):
    """Wrong twin: plain formulas are found; the same in dollars, or in code, are not."""
    assert left_over(f"Here {plain} stands.")
    assert not left_over(f"Here ${plain}$ stands, and `{plain}`.")


def test_a_broken_formula_is_noticed():
    """Wrong twin: an open brace is refused."""
    with pytest.raises(mathml.LatexError):
        mathml.to_mathml(r"\frac{a", display=False)
    assert formulas("a $x$ b\n\n$$\ny\n$$\n\n`$z$`") == [("x", False), ("\ny\n", True)]
