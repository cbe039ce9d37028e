"""Released variants as a table with the columns of GWAS-SSF, the GWAS Catalog's format."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.parts import places
from discreet.report.save import harmless
from discreet.report.table import of_discoveries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.report.genome import Located
    from discreet.report.release import Release

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
_DIFFERENCE = "difference of means"
_CUT = re.compile(rf"{_DIFFERENCE}, cut to (-?[\d.]+(?:e[+-]?\d+)?) to (-?[\d.]+(?:e[+-]?\d+)?)")
_RSID = re.compile(r"rs\d+")


def to_tsv(located: Located) -> str:
    """Return one line for each discovery: the standard's columns, then what the release adds."""
    release, values = located.release, located.release.values
    told = None if release.told is None else of_discoveries(release)["p_value"]
    slopes = _slopes(release)
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
            *_numbers(slopes, place),
            ABSENT,
            ABSENT if told is None else f"{told[place]:.4g}",
            name,
        ]
        row += [name if _RSID.fullmatch(name) else ABSENT]
        row += ([place + 1] if release.ordered else []) + [locus_of[place]]
        if values is not None:
            row += [f"{values.noisy[place]:.6g}", f"{values.noise[place]:.4g}"]
        writer.writerow(row)
    return file.getvalue()


def _slopes(release: Release) -> NDArray[np.float64] | None:
    """Return the log odds ratio of an allele and its error, (2, discoveries); None where nothing tells it.

    With d the difference of the mean numbers of alleles and v their variance, d/v: the first step of a
    logistic regression from no effect. Both were released; v is taken as it is.
    """
    told = release.told
    if told is None or told.deviation is None:
        return None
    where = places(told, release.indices)
    variance = told.deviation[where] ** 2
    alike = np.array([_is_whole(str(told.effect[int(place)])) for place in where.tolist()], dtype=np.bool_)
    slopes = np.stack([told.estimate[where], told.standard_error[where]]) / variance
    return np.where(alike, slopes, np.nan)


def _is_whole(effect: str) -> bool:
    """Say whether an effect is the difference of mean numbers of alleles, 0 to 2, none of them cut."""
    cut = _CUT.fullmatch(effect)
    return effect == _DIFFERENCE or (cut is not None and float(cut[1]) <= 0 and float(cut[2]) >= 2)


def _numbers(slopes: NDArray[np.float64] | None, place: int) -> list[str]:
    """Return beta and its standard error, absent where one of them is not known."""
    if slopes is None or not np.isfinite(slopes[:, place]).all():
        return [ABSENT] * 2
    return [f"{number:.4g}" for number in slopes[:, place].tolist()]


def _chromosome(name: str) -> str:
    """Return the standard's number of a chromosome; other names as they are."""
    bare = name[3:] if name[:3].lower() == "chr" else name
    return _NUMBERS.get(bare.upper(), harmless(bare))
