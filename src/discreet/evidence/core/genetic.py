"""The public arguments that tests on genotypes share, and floors for those who declare none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from discreet import check
from discreet.docstrings import Text
from discreet.errors import InputError
from discreet.evidence.core.arguments import PROVABLE, TAILS, check_strata, only_replace, settle
from discreet.evidence.core.association import EFFECT, lesser_share, private_design, public_design
from discreet.evidence.core.case_control import Genotypes, between, invented_counts
from discreet.evidence.core.covariates import settled
from discreet.evidence.core.people import Comparison
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.association import Design
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented
    from discreet.typing import Adjacency, Levels, Tail

PROTECT = ("both", "genotypes")
COMMON, RARE = 0.2, 0.05  # floors of a frequency taken unasked: with few people, and with many
SMALL = 1 / 80  # an influence whose noise is well below the deviation of z: floors fall while it stays so
_NO_OPTIONS = (None, None, None, None, "safe")
_FEWEST = 0.01  # share of cases that is believed
_BEARABLE = 1 / 32  # an influence whose noise is less than what is lost by a share of cases set too high
_FEW_CASES = 0.1  # the lowest floor of the share of cases that is taken unasked

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
    "tail": Text(
        '{"safe", "proved", "normal"}',
        '"safe" (default) is read off exact laws of the allele count in cases drawn at random; not proved '
        'between the laws tried. "proved" holds for every study, and asks for more. "normal" is the usual '
        "approximation.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseControl(Genetic):
    """The public arguments of every test of cases against controls; `Allelic` says what they mean."""

    label_arguments = ("group", "stratum")
    groups = 2
    unit = "a difference between groups in standard deviations"

    group: str = "phenotype"
    levels: Levels = (1, 2)
    case_floor: float | None = None

    def __post_init__(self) -> None:
        Genetic.__post_init__(self)
        if self.case_floor is not None and self.protect != "both":
            raise InputError('case_floor is for protect="both": with public phenotypes the share is known')

    def start(self, names: Sequence[str]) -> Genotypes:
        """Return an empty accumulator for the variants called `names`."""
        return Genotypes(names, self, self.concluded)

    @property
    def looks_first(self) -> bool:
        """Yes where the number of cases is protected and nothing is declared of it."""
        return self.protect == "both" and self.case_floor is None

    def with_cases(self, controls: float, cases: float, people: float) -> Self:
        """Return the test for a study with about so many controls and cases: a floor that suits them.

        Where noise is large, one half stays the better floor: scores are then smaller, and so is the noise.
        """
        variance = max(self._least_variance(people), between(controls, cases) / people)
        return replace(self, case_floor=max(lesser_share(variance), _FEWEST))

    def _least_variance(self, people: float) -> float:
        """Return the variance of phenotypes below which the noise of so many people is large."""
        return min((2 / _BEARABLE) ** 2 / (2 * COMMON * (1 - COMMON) * people), 0.25)

    def concluded(self, counts: Genotypes) -> Evidence:
        """Return the evidence of everyone counted."""
        raise NotImplementedError

    def design(self, counts: Genotypes) -> Design:
        """Return what is public of a study of cases and controls."""
        public = not_protected(self.protect, self.stratum)
        if self.protect == "both":
            share, few = self.case_floor, _FEW_CASES * (1 - _FEW_CASES)
            least = variance_floor(counts.slots.sum(), few, 0.25) if share is None else share * (1 - share)
            return private_design(counts.slots, least, public)
        controls, cases = counts.members.T
        low, high = np.where(controls > 0, 0.0, 1.0), np.where(cases > 0, 1.0, 0.0)
        return public_design(counts.slots, cases, cases, low, high, public)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlleleCounts(CaseControl):
    """What tests of whether alleles are more, or fewer, in cases than in controls share."""

    label_arguments = ("group", "stratum", "adjust")
    tails: ClassVar[tuple[str, ...]] = PROVABLE

    adjust: Mapping[str, Levels] | None = None
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        CaseControl.__post_init__(self)
        if self.adjust is None:
            return
        check.settle(self, adjust=settled(self.adjust, (self.group,)))
        if self._own != _NO_OPTIONS:
            raise InputError(
                "adjust compares whole rows, groups made alike: leave out stratum, maf_floor, case_floor, "
                "ceiling and tail"
            )

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The stratum column, and phenotype and covariates where they are not protected."""
        beside = () if self.stratum is None else (self.stratum,)
        return beside if self.protect == "both" else self.labels

    @property
    def needs_rows(self) -> bool:
        """Only rows can be made alike in covariates."""
        return self.adjust is not None

    @property
    def _own(self) -> tuple[object, ...]:
        """The options of scores, which rows have no use for."""
        return (self.stratum, self.maf_floor, self.case_floor, self.ceiling, self.tail)

    @property
    def uses_sd(self) -> bool:
        """Yes: it says how frequent an allele is."""
        return True

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        return invented_counts(self, z, people)

    def comparison(self) -> Comparison | None:
        """Return the comparison of whole rows that this is, unless it has strata, floors, tail or ceiling.

        Alleles are located like numbers without bounds: with bounds, columns were cut too narrowly, and null
        variants passed too often.
        """
        if self._own != _NO_OPTIONS:
            return None
        return Comparison(
            group=self.group,
            levels=self.levels,
            alternative=self.alternative,
            protect="everything" if self.protect == "both" else "columns",
            genotypes=True,
            adjust=self.adjust,
        )


def not_protected(protect: str, stratum: str | None, *, adjusted: bool = False) -> str:
    """Return in words what every neighbour shares."""
    shared = ["everyone's phenotype"] if protect == "genotypes" else []
    shared += ["everyone's covariates"] if adjusted else []
    shared += [] if stratum is None else ["everyone's stratum"]
    return " and ".join(shared)


def variance_floor(people: float, least: float, most: float) -> float:
    """Return a floor of the variance of a protected phenotype in [0, 1], lower with more people."""
    return float(np.clip((2 / SMALL) ** 2 / (2 * COMMON * (1 - COMMON) * people), least, most))
