"""What all tests on genotypes share: their public arguments, and floors for those who declare none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from discreet import check
from discreet.block import codes
from discreet.docstrings import Text
from discreet.errors import InputError
from discreet.evidence.core.arguments import TAILS, check_strata, only_replace, settle
from discreet.evidence.core.association import EFFECT
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.association import Design
    from discreet.typing import Adjacency, Levels, Tail

PROTECT = ("both", "genotypes")
COMMON, RARE = 0.2, 0.05  # floors of a frequency taken unasked: with few people, and with many
SMALL = 1 / 80  # an influence whose noise is well below the deviation of z: floors fall while it stays so

TEXTS = {
    "protect": Text(
        '{"both", "genotypes"}',
        'What of a person is replaced between neighbours. "both" (default): genotypes and phenotype. '
        '"genotypes": who is a case is public and not protected, which needs less noise.',
    ),
    "maf_floor": Text(
        "float, optional",
        "Public: the smallest minor allele frequency at which the test is sharp; rarer variants score lower, "
        "never higher. 0.5 gives the least noise, and counts mere differences of allele counts. If None, "
        "0.2, and down to 0.05 where so many people leave little noise.",
    ),
    "case_floor": Text(
        "float, optional",
        'Public, protect="both" only: the same for the share of cases, or of controls where they are fewer. '
        "If None, `discover` tells the numbers of cases and controls with noise first, for 0.4% of the "
        "budget, and takes a floor that suits them and the noise; `measure` and clusters take one half, and "
        "down to 0.1 where so many people leave little noise. A wrong one only makes the test less sharp.",
    ),
    "tail": Text(
        '{"safe", "proved", "normal"}',
        '"safe" (default) is read off exact laws of the allele count in cases drawn by lot; not proved '
        'between the laws tried. "proved" holds for every study, and asks for more. "normal" is the usual '
        "approximation.",
    ),
    "group": Text(
        "str", 'The column that says who is a case; "phenotype" by default, as PLINK files have it.'
    ),
    "levels": Text(
        "(control, case)",
        'Its two values, (1, 2) by default. Anything else is a missing phenotype: with protect="both" no '
        'contribution, with protect="genotypes" left out.',
    ),
    "stratum": Text(
        "str, optional", "A column of public strata: people are compared with others of the same stratum."
    ),
    "strata": Text("tuple", "Its values; needed with `stratum`."),
    "adjust": Text(
        "mapping from column to bounds or levels, optional",
        'Covariates in which cases and controls are made alike, as in `Compare`: {"age": (18, 90), "sex": '
        '["1", "2"], "PC1": (-1, 1)}, protected as the phenotype is. Rows are then compared by method "all", '
        "up to 67 million genotypes; whoever lacks a covariate is left out. Of PLINK files: columns of "
        "`Plink.covar`.",
    ),
    "alternative": Text(
        '{"two-sided", "greater", "less"}',
        "What to look for: any difference (default), more alleles in cases (where the trait is higher), or "
        "fewer.",
    ),
    "ceiling": Text(
        "float, optional",
        "Scores above it count as it; between 1 and 37. If None, a third of the largest z that so many "
        "people can reach, but at least 8 and at most 20.",
    ),
    "adjacency": Text(
        '{"replace"}',
        "Neighbouring tables differ in one person's data, as `protect` says; the number of people is public.",
    ),
}
"""What the arguments that tests on genotypes share mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Genetic(Test):
    """The public arguments of every test on genotypes; `Allelic` says what they mean."""

    proof = "association"
    effect = EFFECT
    sources = ("genotypes", "tables")
    scans = True

    protect: Literal["both", "genotypes"] = "both"
    maf_floor: float | None = None
    stratum: str | None = None
    strata: Levels = ()
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"
    tails: ClassVar[tuple[str, ...]] = TAILS  # those to choose from

    def __post_init__(self) -> None:
        settle(self)
        only_replace(self.adjacency, "the number of people is public")
        check.choice(self.protect, "protect", PROTECT)
        if self.stratum is not None:
            check_strata(self.strata)
        elif self.strata:
            raise InputError("strata are the public values of `stratum`: name the column too")

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The stratum column, and the phenotype where it is not protected."""
        return self.labels[1:] if self.protect == "both" else self.labels

    def frequency_floor(self, design: Design) -> float:
        """Return the declared floor of allele frequencies, or one by the number of people."""
        if self.maf_floor is not None:
            return self.maf_floor
        needed = (2 * (design.pull or 1.0) / SMALL) ** 2 / (2 * design.variation)
        return min(COMMON, max(RARE, lesser_share(needed)))


def strata_of(
    labels: Mapping[str, NDArray[Any]], stratum: str | None, strata: Sequence[Any], rows: int
) -> NDArray[np.bool_]:
    """Return who is in which public stratum, (strata, rows); everyone in the only one where there is none."""
    if stratum is None:
        return np.ones((1, rows), dtype=np.bool_)
    place = codes(labels[stratum], strata)
    return np.stack([np.equal(place, number) for number in range(len(strata))])


def not_protected(protect: str, stratum: str | None, *, adjusted: bool = False) -> str:
    """Return in words what every neighbour shares."""
    shared = ["everyone's phenotype"] if protect == "genotypes" else []
    shared += ["everyone's covariates"] if adjusted else []
    shared += [] if stratum is None else ["everyone's stratum"]
    return " and ".join(shared)


def variance_floor(people: float, least: float, most: float) -> float:
    """Return a floor of the variance of a protected phenotype in [0, 1], lower with more people."""
    return float(np.clip((2 / SMALL) ** 2 / (2 * COMMON * (1 - COMMON) * people), least, most))


def lesser_share(variance: float) -> float:
    """Return the share r <= 1/2 with r (1 - r) = variance; 1/2 where there is none."""
    return float((1 - np.sqrt(max(1 - 4 * variance, 0.0))) / 2)
