"""Where on the genome discoveries lie: the loci and the picture, as a section of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.report.layout import figure, section
from discreet.report.manhattan import drawn
from discreet.report.markup import shown, tag

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.report.genome import Located, Locus

_MOST = 1000
MEANING = (
    "The false discovery rate counts variants, not loci. Variants inherited together are found "
    "together, so the share of false loci can be larger than the share of false variants; and a "
    "variant that is only a neighbour of a causal one is a true discovery here: it is associated."
)


def map_section(located: Located) -> Element:
    """Return the section that puts the discoveries on the map."""
    loci = located.loci
    said = (
        f"{located.counted()}: those on one chromosome with no gap above {located.window:,} base pairs "
        "between neighbours make one locus."
    )
    parts = [tag("p", said), tag("p", MEANING)]
    if loci:
        parts.append(_table(located))
    if len(loci) > _MOST:
        rest = f"These are the first {_MOST:,} loci; variants.tsv has all of them."
        parts.append(tag("p", rest, class_="note"))
    caption = "Released variants alone: all others are private, and are not drawn."
    if located.release.values is not None:
        caption += " Lines are the bands of noise."
    parts.append(figure(lambda width: drawn(located, width), "Along the genome.", caption))
    return section("map", "Where on the genome", *parts)


def _table(located: Located) -> Element:
    lead = "Strongest" if located.release.ordered else "One of them"
    heads = ["Chr.", "Base pairs", "Variants"]
    head = tag(
        "tr",
        tag("th", "Locus", scope="col", class_="n index"),
        tag("th", lead, scope="col"),
        *(tag("th", name, scope="col", class_="n") for name in heads),
    )
    rows = [
        tag(
            "tr",
            tag("td", f"{i:,}", class_="n index"),
            tag("td", tag("bdi", shown(located.variants[locus.members[0]].name))),
            *(
                tag("td", text, class_="n")
                for text in (
                    shown(locus.chromosome, 12),
                    _span(locus),
                    f"{len(locus.members):,}",
                )
            ),
        )
        for i, locus in enumerate(located.loci[:_MOST], 1)
    ]
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Table of loci")


def _span(locus: Locus) -> str:
    return f"{locus.start:,}" if locus.start == locus.end else f"{locus.start:,} to {locus.end:,}"
