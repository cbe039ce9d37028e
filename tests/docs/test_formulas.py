"""Formulas in plain characters are typeset, and nothing of them is lost."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    page for page in sorted((DOCS / "proofs").glob("*.md")) if "$" not in page.read_text(encoding="utf-8")
]
_spec = importlib.util.spec_from_file_location("formulas", DOCS / "extensions" / "formulas.py")
formulas = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(formulas)


def marked(node):
    """Return a node as text: <_x_> lowered, <^x^> raised, *x* in italics."""
    inside = "".join(map(marked, node.children))
    marks = {"emphasis": ("*", "*"), "subscript": ("<_", "_>"), "superscript": ("<^", "^>")}
    left, right = marks.get(node.tagname, ("", ""))
    return left + (inside or node.astext()) + right


def typeset(text):
    """Return a text typeset, with marks, without word joiners."""
    return "".join(map(marked, formulas.typeset(text, greek=True))).replace("\u2060", "")


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("(eps, delta)-DP", "(\u03b5, \u03b4)-DP"),
        ("E_P (1-e^(eps-L))_+", "*E*<_*P*_> (1\u2212*e*<^\u03b5\u2212*L*^>)<_+_>"),
        ("2^-20, 1e-6, e^|z'-z|", "2<^\u221220^>, 1e-6, *e*<^|*z*\u2032\u2212*z*|^>"),
        ("delta_{k-1}, U_(j), n0", "\u03b4<_*k*\u22121_>, *U*<_(*j*)_>, *n*<_0_>"),
        ("sqrt n <= sqrt(n + 1)", "\u221a*n* \u2264 \u221a(*n* + 1)"),
        ("a coin, for a > 1: (a) 2a-1", "a coin, for *a* > 1: (a) 2*a*\u22121"),
        ("e-DP, two-point, k-th, type-I, 2x2", "*e*-DP, two-point, *k*-th, type-I, 2x2"),
        ("x's, Simes' test, x'", "*x*'s, Simes' test, *x*\u2032"),
        ("sum_h X_h, the sum; e^(broken", "\u2211<_*h*_> *X*<_*h*_>, the sum; *e*^(broken"),
    ],
)
def test_formulas_are_typeset(plain, shown):
    """Letters, signs, what is raised and lowered; words and hyphens stay."""
    assert typeset(plain) == shown


def characters(text):
    """Return the characters a reader sees, signs and letters by their plain names."""
    names = {sign: plain for plain, sign in (formulas._GREEK | formulas._SIGNS).items() if plain != "eps"}
    names |= {"\u2212": "-", "\u2032": "'", "\u00b7": "*", "\u2211": "sum"}
    for sign in sorted(names, key=len, reverse=True):
        text = text.replace(sign, names[sign])
    return re.sub(r"[\s\u2060^_(){}]|QED|\[\]|\.{2,}", "", re.sub(r"eps(?!ilon)", "epsilon", text))


def kept(text):
    """Tell whether all characters of a text are there when it is typeset."""
    return characters(text) == characters("".join(n.astext() for n in formulas.typeset(text, greek=True)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_character_is_lost(page):
    """Every paragraph of a page has its characters, in order."""
    assert all(map(kept, page.read_text(encoding="utf-8").split("\n\n")))


def test_a_lost_character_is_noticed(monkeypatch):
    """Brackets of a raised part that cut into it would show."""
    honest = formulas._argument
    monkeypatch.setattr(
        formulas, "_argument", lambda pieces, i: (honest(pieces, i)[0][:-1], honest(pieces, i)[1])
    )
    assert not kept("e^(-t) and x_12")
