"""What all tests on genotypes share: their public arguments, and floors for those who declare none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.arguments import TAILS, check_strata, only_replace, settle
from discreet.evidence.core.association import EFFECT
from discreet.evidence.core.protocol import Test
from discreet.labels import codes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.association import Design
    from discreet.typing import Adjacency, Levels, Tail

PROTECT = ("both", "genotypes")
RARE = 0.05  # the lowest floor of a frequency that is taken unasked
STEP = 1 / 16  # floors are as low as they can be while one person moves z by no more than this


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

    def beside(self, phenotype: str) -> tuple[str, ...]:
        """Return the columns read beside genotypes: the phenotype, and the stratum where there is one."""
        return (phenotype,) if self.stratum is None else (phenotype, self.stratum)

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The stratum column, and the phenotype where it is not protected."""
        return self.labels[1:] if self.protect == "both" else self.labels

    def frequency_floor(self, design: Design) -> float:
        """Return the declared floor of allele frequencies, or as low a one as the number of people allows."""
        if self.maf_floor is not None:
            return self.maf_floor
        needed = (2 * (design.pull or 1.0) / STEP) ** 2 / (2 * design.variation)
        return max(RARE, lesser_share(needed))


def strata_of(
    labels: Mapping[str, NDArray[Any]], stratum: str | None, strata: Sequence[Any], rows: int
) -> NDArray[np.bool_]:
    """Return who is in which public stratum, (strata, rows); everyone in the only one where there is none."""
    if stratum is None:
        return np.ones((1, rows), dtype=np.bool_)
    place = codes(labels[stratum], strata)
    return np.stack([np.equal(place, number) for number in range(len(strata))])


def not_protected(protect: str, stratum: str | None) -> str:
    """Return in words what every neighbour shares."""
    shared = (["everyone's phenotype"] if protect == "genotypes" else []) + (
        [] if stratum is None else ["everyone's stratum"]
    )
    return " and ".join(shared)


def variance_floor(people: float, least: float) -> float:
    """Return a floor of the variance of a protected phenotype in [0, 1], at least `least`, at most 1/4."""
    return float(np.clip((2 / STEP) ** 2 / (people / 2), least, 0.25))


def lesser_share(variance: float) -> float:
    """Return the share r <= 1/2 with r (1 - r) = variance; 1/2 where there is none."""
    return float((1 - np.sqrt(max(1 - 4 * variance, 0.0))) / 2)
