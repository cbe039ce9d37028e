"""Typeset formulas that pages write in plain characters: x_i, e^(-t), <=, sqrt(n)."""

import itertools
import re
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sphinx.application import Sphinx

_GREEK = {
    "alpha": "\u03b1",
    "beta": "\u03b2",
    "gamma": "\u03b3",
    "delta": "\u03b4",
    "Delta": "\u0394",
    "eps": "\u03b5",
    "epsilon": "\u03b5",
    "eta": "\u03b7",
    "kappa": "\u03ba",
    "lambda": "\u03bb",
    "mu": "\u03bc",
    "nu": "\u03bd",
    "pi": "\u03c0",
    "rho": "\u03c1",
    "sigma": "\u03c3",
    "phi": "\u03c6",
    "Phi": "\u03a6",
    "Phi_bar": "\u03a6\u0304",
    "psi": "\u03c8",
    "Psi": "\u03a8",
}
_SIGNS = {
    "<=": "\u2264",
    ">=": "\u2265",
    "!=": "\u2260",
    "->": "\u2192",
    "+-": "\u00b1",
    "-+": "\u2213",
    "...": "\u2026",
    "..,": "\u2026,",
    "[]": "\u220e",
    "QED": "\u220e",
    "sqrt": "\u221a",
    "prod": "\u220f",
}
_PIECE = re.compile(
    r"Phi_bar|<=|>=|!=|->|\+-|-\+|\.\.\.|\.\.,|\[\]|\d[\d.,]*e[-+]?\d+|\d+(?:[.,]\d+)*|[A-Za-z]+\d*|\s+|."
)
# Short words that are words; any other word of one or two letters stands for a number or a function.
_PLAIN = re.compile(
    r"(?i:a|an|as|at|be|by|do|go|id|if|ii|in|is|it|kl|no|of|oh|on|or|re|sf|so|su|th|to|up|we|wu)|DP|BH|KL"
)
_EITHER = frozenset("aA")  # a word, or a variable where it stands beside a sign
_BESIDE = frozenset({"=", "<", ">", "<=", ">=", "->", "+", "-", "/", "^", "_", "*"})
_AFTER_MINUS = frozenset(
    {"ceil", "exp", "floor", "level", "log", "max", "mean", "min", "sqrt", "sum", *_GREEK}
)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("doctree-resolved", typeset_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def typeset_page(app: "Sphinx", tree: nodes.document, page: str) -> None:  # noqa: ARG001 (Sphinx's signature)
    """Typeset pages with mathematics, on proof pages Greek letters and indented formulas too; never code."""
    if not page.startswith(("proofs/", "explained/", "errata", "theorems")):
        return
    if next(tree.findall(nodes.math), None) is not None:
        return  # written in dollar math
    proofs = page.startswith(("proofs/", "errata"))
    for block in list(tree.findall(nodes.literal_block)) if proofs else ():
        if block.get("language", "none") == "none":
            indented = re.sub(r"(?m)^ +", lambda run: "\u2002" * (len(run[0]) // 2), block.astext())
            block.replace_self(nodes.paragraph("", "", nodes.Text(indented), classes=["formula"]))
    for element in list(tree.findall(nodes.Element)):
        if not isinstance(element, (nodes.literal, nodes.literal_block, nodes.raw)):
            element[:] = list(_children(element, greek=proofs))


def _children(element: nodes.Element, *, greek: bool) -> "Iterator[nodes.Node]":
    """Yield what an element holds, text typeset; each line is a text of its own, formulas span them."""
    before: nodes.Node | None = None
    for kind, run in itertools.groupby(element.children, type):
        children = list(run)
        coded = isinstance(before, nodes.raw) and "<code" in before.astext()
        if issubclass(kind, nodes.Text) and not coded:
            yield from typeset("".join(map(str, children)), greek=greek)
        else:
            yield from children
        before = children[-1]


def typeset(text: str, *, greek: bool, alone: bool = False) -> "Iterator[nodes.Node]":
    """Yield the text as nodes: sub- and superscripts, variables in italics, signs as signs."""
    pieces, i = _PIECE.findall(text), 0
    while i < len(pieces):
        piece, before = pieces[i], pieces[i - 1] if i else ""
        argument, after = _argument(pieces, i) if not before.isspace() else ("", i)
        if argument:
            raised = nodes.superscript if piece == "^" else nodes.subscript
            yield raised("", "", *typeset(argument, greek=greek, alone=True))
            i = after
            continue
        letters = piece.rstrip("0123456789")
        if _is_variable(pieces, i, alone=alone):
            yield nodes.emphasis("", letters)
            yield from _lowered(piece[len(letters) :])
        elif greek and letters in _GREEK:
            yield nodes.Text(_GREEK[letters])
            yield from _lowered(piece[len(letters) :])
        elif piece == "-":
            yield nodes.Text("\u2212\u2060" if _is_minus(pieces, i) else "-")  # no line ends after it
        elif piece == "*" and before.isspace():
            yield nodes.Text("\u00b7")
        elif piece == "'" and _is_prime(pieces, i):
            yield nodes.Text("\u2032")
        elif piece == "sum" and _beside(pieces, i)[1] == "_":
            yield nodes.Text("\u2211")
        elif not (piece.isspace() and before == "sqrt"):
            yield nodes.Text(_SIGNS.get(piece, piece))
        i += 1


def _lowered(digits: str) -> "Iterator[nodes.Node]":
    """Yield the digits of n0 as a subscript, if there are any."""
    if digits:
        yield nodes.subscript("", digits)


def _argument(pieces: "Sequence[str]", sign: int) -> tuple[str, int]:
    """Return what a ^ or _ at `sign` raises or lowers, and where the text goes on; nothing at other signs."""
    rest = pieces[sign + 1 :]
    if pieces[sign] not in {"^", "_"} or not rest:
        return "", sign
    close = {"(": ")", "{": "}", "|": "|"}.get(rest[0])
    if close:
        depth, end = 1, 1
        while depth and end < len(rest):
            depth += (rest[end] == rest[0] != close) - (rest[end] == close)
            end += 1
        if depth:
            return "", sign
        inside = "".join(rest[:end])
        bare = rest[0] == "{" or (rest[0] == "(" and pieces[sign] == "^")
        return (inside[1:-1] if bare else inside), sign + 1 + end
    length = 2 if rest[0] in {"+", "-"} and rest[1:] and rest[1][0].isalnum() else 1
    known = rest[0][0].isalnum() or rest[0] in {"+", "-"}
    return "".join(rest[:length]) if known else "", sign + 1 + length


def _is_variable(pieces: "Sequence[str]", i: int, *, alone: bool) -> bool:
    """Tell whether a word of one or two letters is a variable; `a` is one only beside a sign, or `alone`."""
    before, after = _beside(pieces, i)
    letters = pieces[i].rstrip("0123456789")
    if not letters.isalpha() or len(letters) > 2 or letters in _GREEK or before == "'":
        return False
    times = letters == "x" and before.isdigit()  # 2x2
    suffix = before == "-" and letters.isupper() and not _is_minus(pieces, i - 1)  # type-I
    label = (before, after) == ("(", ")") and (i == 1 or pieces[i - 2].isspace())  # (i)
    if times or suffix or (label and not alone):
        return False
    if not _PLAIN.fullmatch(letters) or (alone and len(letters) == 1):
        return True
    ahead = pieces[i + 2] if after.isspace() and i + 2 < len(pieces) else after
    behind = pieces[i - 2] if before.isspace() and i > 1 else before
    word = ahead.isalpha() and (len(ahead) > 2 or _PLAIN.fullmatch(ahead)) and ahead not in _GREEK
    compared = behind in {"<", ">", "<=", ">="} or (behind in _BESIDE and not word)
    beside = before in _BESIDE or ahead in _BESIDE or compared or after in {"(", ")"}
    return letters in _EITHER and beside and not (after == "-" and not _is_minus(pieces, i + 1))


def _is_prime(pieces: "Sequence[str]", i: int) -> bool:
    """Tell x' from Simes' and x's."""
    before, after = _beside(pieces, i)
    return not after[0].isalpha() and (not before[0].isalpha() or len(before) <= 2 or before in _GREEK)


def _is_minus(pieces: "Sequence[str]", i: int) -> bool:
    """Tell a minus from a hyphen: it stands alone, before a number or bracket, or between short names."""
    before, after = _beside(pieces, i)
    short = len(after.rstrip("0123456789")) <= 2 and (not _PLAIN.fullmatch(after) or after in _EITHER)
    left = not before[0].isalpha() or len(before.rstrip("0123456789")) <= 2 or before in _GREEK
    return left and (short or not after[0].isalpha() or after in _AFTER_MINUS)


def _beside(pieces: "Sequence[str]", i: int) -> tuple[str, str]:
    """Return the pieces before and after, a blank where there is none."""
    return pieces[i - 1] if i else " ", pieces[i + 1] if i + 1 < len(pieces) else " "
