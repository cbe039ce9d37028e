"""Discoveries that are variants: as a table in GWAS-SSF's names, and gathered into loci by position."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from discreet import check
from discreet.report.markup import printable
from discreet.report.save import make_folder, write_all

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discreet.report.release import Release

WINDOW = 500_000  # base pairs


class LocatedVariant(Protocol):
    """The public face of a variant: where it is and which allele was counted."""

    @property
    def chromosome(self) -> str: ...  # noqa: D102
    @property
    def position(self) -> int: ...  # noqa: D102
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def effect(self) -> str: ...  # noqa: D102
    @property
    def other(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Locus:
    """Discoveries that lie close together on one chromosome.

    Attributes
    ----------
    chromosome : str
        The chromosome, as the file names it.
    start, end : int
        The positions of its first and last discovery, in base pairs.
    members : tuple of int
        Places among the discoveries of the release, in their order.

    Notes
    -----
    A function of released names and public positions alone: it costs nothing more.

    Examples
    --------
    >>> import discreet
    >>> discreet.Locus("6", 31_000_000, 31_400_000, (0, 2)).end
    31400000
    """

    chromosome: str
    start: int
    end: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """A release whose discoveries are variants, with their public places. All of it may leave.

    Attributes
    ----------
    release : Release
        The release.
    variants : tuple of variants
        One for each discovery, in the same order.
    window : int
        Discoveries on one chromosome belong to one locus when no gap between neighbours exceeds this.
    ends : mapping from chromosome to int
        Where each chromosome ends, in the file's order: the axis of the picture. Public.

    Notes
    -----
    A function of the release and of public positions alone: it costs nothing more. A locus is made of
    discoveries; their false discovery rate is the release's, that of loci is not promised.

    Examples
    --------
    >>> import pathlib, tempfile, discreet
    >>> from discreet.lab.cohort import Simulated
    >>> bed = Simulated(people=200, variants=30).write(pathlib.Path(tempfile.mkdtemp()) / "cohort.bed")
    >>> release = discreet.discover(bed, discreet.Allelic(), q=0.1, epsilon=1, delta=1e-6)
    >>> discreet.locate(release, bed).to_tsv().split()[0]
    'chromosome'
    """

    release: Release
    variants: tuple[LocatedVariant, ...]
    window: int
    ends: Mapping[str, int]

    def __post_init__(self) -> None:
        check.whole(self.window, "window", 0)

    @property
    def loci(self) -> tuple[Locus, ...]:
        """The loci, in the order of chromosomes and positions."""
        seen = (*self.ends, *(variant.chromosome for variant in self.variants))
        order = {chromosome: place for place, chromosome in enumerate(dict.fromkeys(seen))}
        places = sorted(
            range(len(self.variants)),
            key=lambda i: (order[self.variants[i].chromosome], self.variants[i].position),
        )
        groups: list[list[int]] = []
        for place in places:
            here = self.variants[place]
            last = self.variants[groups[-1][-1]] if groups else None
            if last and last.chromosome == here.chromosome and here.position - last.position <= self.window:
                groups[-1].append(place)
            else:
                groups.append([place])
        return tuple(
            Locus(
                self.variants[group[0]].chromosome,
                self.variants[group[0]].position,
                self.variants[group[-1]].position,
                tuple(sorted(group)),
            )
            for group in groups
        )

    def to_tsv(self) -> str:
        """Return one line for each discovery under GWAS-SSF's column names, and its locus.

        The standard's mandatory columns in its order, then variant_id, rsid, rank (when ordered) and locus;
        value and noise_sd only when values were released. Where every variant is told, noise included
        (method="all"): p_value, and for cases against controls beta, the log odds ratio of an allele, and its
        standard_error, from the released difference and variance of allele counts. Else they are #NA, as is
        effect_allele_frequency, which is not released.
        """
        from discreet.report.ssf import to_tsv

        return to_tsv(self)

    def manhattan(self) -> str:
        """Return a picture of the discoveries along the genome, as SVG; nothing else is in it."""
        from discreet.report.manhattan import manhattan

        return manhattan(self)

    def report(self) -> str:
        """Return the release's report as HTML, with a section on where its discoveries lie."""
        from discreet.report.manhattan import map_section
        from discreet.report.page import page

        return page(self.release, map_section(self))

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write variants.tsv, manhattan.svg and report.html into a folder.

        Parameters
        ----------
        folder : path
            Made if it does not exist.

        Returns
        -------
        tuple of Path
            The files, in this order.
        """
        parts = {
            "variants.tsv": self.to_tsv(),
            "manhattan.svg": self.manhattan(),
            "report.html": self.report(),
        }
        folder = check.path(folder, "folder")
        make_folder(folder)
        return write_all({folder / name: text.encode() for name, text in parts.items()})

    def counted(self) -> str:
        """Return how many variants, in how many loci, in words."""
        return f"{_many(len(self.variants), 'variant')} in {_many(len(self.loci), 'locus', 'loci')}"

    def __str__(self) -> str:
        from discreet.report.manhattan import MEANING

        loci = self.loci
        if not loci:
            return ""
        gaps = f"{self.counted()} (gaps up to {self.window:,} base pairs)."
        lines = [gaps, *textwrap.wrap(MEANING, 110, subsequent_indent="  ")]
        for i, locus in enumerate(loci[:20]):
            lead = printable(self.variants[locus.members[0]].name)
            place = f"chromosome {printable(locus.chromosome)}, {locus.start:,}"
            if len(locus.members) > 1:
                what = "strongest" if self.release.ordered else "one of them"
                place += f" to {locus.end:,}"
                lead = f"{len(locus.members):,} variants, {what} {lead}"
            lines.append(f"  {i + 1}. {place}: {lead}")
        if len(loci) > 20:
            lines.append(f"  and {len(loci) - 20:,} more")
        return "\n".join(lines)


def _many(count: int, noun: str, several: str = "") -> str:
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"
