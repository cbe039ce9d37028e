"""Released variants as a table with the columns of GWAS-SSF, the GWAS Catalog's format."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from discreet.report.intervals import of_discoveries
from discreet.report.save import harmless

if TYPE_CHECKING:
    from discreet.report.genome import Located

# In the standard's order. What a release does not hold is #NA there, as the standard asks.
MANDATORY = (
    "chromosome",
    "base_pair_location",
    "effect_allele",
    "other_allele",
    "beta",
    "standard_error",
    "effect_allele_frequency",
    "p_value",
)
ABSENT = "#NA"
# GWAS-SSF numbers X, Y and MT 23, 24 and 25; PLINK has 25 for the ends that X and Y share, and 26 for MT.
_NUMBERS = {"X": "23", "Y": "24", "XY": "23", "PAR1": "23", "PAR2": "23", "M": "25", "MT": "25"} | {
    "25": "23",
    "26": "25",
}
_RSID = re.compile(r"rs\d+")


def to_tsv(located: Located) -> str:
    """Return one line for each discovery: the standard's columns, then what the release adds."""
    release, values = located.release, located.release.values
    told = None if release.told is None else of_discoveries(release)["p_value"]
    locus_of = {member: i + 1 for i, locus in enumerate(located.loci) for member in locus.members}
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t", lineterminator="\n")
    names = [*MANDATORY, "variant_id", "rsid", *(["rank"] if release.ordered else []), "locus"]
    writer.writerow(names + (["value", "noise_sd"] if values is not None else []))
    for place, variant in enumerate(located.variants):
        effect, other, name = map(harmless, (variant.effect, variant.other, variant.name))
        row: list[object] = [
            _chromosome(variant.chromosome),
            variant.position,
            effect,
            other,
            *[ABSENT] * 3,
            ABSENT if told is None else f"{told[place]:.4g}",
            name,
        ]
        row += [name if _RSID.fullmatch(name) else ABSENT]
        row += ([place + 1] if release.ordered else []) + [locus_of[place]]
        if values is not None:
            row += [f"{values.noisy[place]:.6g}", f"{values.noise[place]:.4g}"]
        writer.writerow(row)
    return file.getvalue()


def _chromosome(name: str) -> str:
    """Return the standard's number of a chromosome; other names as they are."""
    bare = name[3:] if name[:3].lower() == "chr" else name
    return _NUMBERS.get(bare.upper(), harmless(bare))
