"""The exact statements behind the words of a report, and the settings of a release."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.privacy.events import NEIGHBOURS
from discreet.report.asked import circumstances, question, said
from discreet.report.markup import shown, tag
from discreet.report.words import cost, order, percent, right_guess

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.privacy.events import Privacy
    from discreet.report.fdr import FdrPromise
    from discreet.report.release import Release


_ELSEWHERE = ("question", "compared", "people", "data", "date", "labels")  # said in words of their own


def fdr_statement(fdr: FdrPromise) -> list[Element]:
    """Return the claim about the false discovery rate."""
    if fdr.guarantee == "none" or math.isinf(fdr.level):
        return [tag("p", f"No bound on the false discovery rate is claimed: {shown(fdr.assumption, 600)}.")]
    return [
        tag("p", f"FDR = E[ V / max(R, 1) ] ≤ {fdr.level:.6g}", class_="formula"),
        tag(
            "p",
            "R is the number of hypotheses reported, V the number of those whose null hypothesis is true; "
            "the mean is over the data and the noise.",
        ),
        tag("p", f"Assumption: {shown(fdr.assumption, 600)}."),
        tag("p", f"Source: {shown(fdr.source, 300)}."),
    ]


def privacy_statement(privacy: Privacy) -> list[Element]:
    """Return the claim about privacy, what is neighbouring, and what was spent."""
    numbers = f"ε = {privacy.epsilon!r} and δ = {privacy.delta!r}"
    near = NEIGHBOURS.get(privacy.adjacency, privacy.adjacency)
    spent = [tag("li", str(event)) for event in privacy.events]
    parts = [
        tag("p", "P( M(x) ∈ S ) ≤ e", tag("sup", "ε"), " P( M(y) ∈ S ) + δ", class_="formula"),
        tag(
            "p",
            f"for every set S of outcomes of the release M and any two neighbouring inputs x and y, with "
            f"{numbers}. Neighbours: {shown(near, 600)}. "
            f"{f'Public: {shown(privacy.public, 600)}. ' if privacy.public else ''}"
            f"{shown(privacy.assumption, 600)}",
        ),
        tag(
            "p",
            "Right guesses between two equally likely neighbours: at most (e",
            tag("sup", "ε"),
            " + δ) / (1 + e",
            tag("sup", "ε"),
            f") = {percent(right_guess(privacy))}.",
        ),
    ]
    return (
        [*parts, tag("p", "Spent:"), tag("ul", *spent)] if spent else [*parts, tag("p", "Nothing was spent.")]
    )


def settings(release: Release) -> dict[str, str]:
    """Return every public setting of a release, by name."""
    own = {
        shown(name): shown(said(value), 600)
        for name, value in release.parameters.items()
        if value is not None and name not in _ELSEWHERE
    }
    return {
        "Asked": question(release) or "hypotheses given by their scores",
        **({"Of": "; ".join(of)} if (of := circumstances(release)) else {}),
        "Method": shown(release.method),
        "Hypotheses": f"{release.m:,}",
        "False discovery rate asked for": f"{release.q:g}",
        "Cost": cost(release),
        "Order": order(release),
        **{name.capitalize(): value for name, value in own.items()},
        "Version": f"discreet {shown(release.version)}",
    }
