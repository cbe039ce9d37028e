"""PLINK files: genotypes, variants and people that lie side by side, as one cohort."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.block import Block, processors
from discreet.data.plink.bed import Bed, Packed, count, decode
from discreet.data.plink.converted import ENDINGS as OTHER_ENDINGS
from discreet.data.plink.converted import converted
from discreet.data.plink.fileset import People, Variants, read_fam, read_variants
from discreet.data.plink.products import Products
from discreet.data.plink.text_tables import (
    read_covariates,
    read_frequency,
    read_keep,
    read_phenotype,
    read_psam,
    read_strata,
    text_of,
)
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.typing import RawArray

_LISTS = {".bed": ".bim", ".pgen": ".pvar"}  # where the variants are listed
ENDINGS = (*_LISTS, *OTHER_ENDINGS)
PHENOTYPE, STRATUM = "phenotype", "stratum"
PEDIGREE = ("family", "father", "mother")
_MOST_THREADS = 1024
_DECODED = 2**22  # genotypes decoded at a time


@dataclass(frozen=True, slots=True)
class Plink:
    """Genotypes in PLINK's files, to be given to `discover` or `measure` in place of a table.

    Parameters
    ----------
    path : path
        A .bed file with its .bim and .fam, or a .pgen file (extra "pgen") with its .pvar and .psam; or, with
        the extra "genotypes", VCF (.vcf, .vcf.gz), BCF or BGEN (.bgen, its .sample beside it unless it names
        people itself). These have no phenotypes: give `pheno`.
    pheno : path, optional
        A phenotype file, FID IID value... If None, the phenotype of the .fam or .psam file. For cases and
        controls, 1 is a control and 2 a case, unless the test's `levels` say otherwise. Missing are -9, NA
        and every other word that is no finite number, and everyone the file leaves out. Each is read by
        itself. A file without FID, its header beginning with IID, goes by IID.
    pheno_name : str, optional
        The column of `pheno` to use. If None, the first.
    covar : path, optional
        A file of covariates, FID IID and a column of each, its header naming them: what a test's `adjust`
        names. Missing are -9, NA and everyone the file leaves out.
    keep : path, optional
        A list of people (FID IID); only those are used. Public: choose them without looking at genotypes or
        phenotypes.
    extract : path, optional
        A list of variant names; only those are tested. Public likewise.
    within : path, optional
        Public strata, FID IID stratum: the column "stratum" of the cohort.
    freq : path, optional
        Public allele frequencies of another cohort (.afreq or .frq). Never frequencies of these people.
    maf : float, optional
        The smallest minor allele frequency in `freq`: rarer variants, and those it does not list, are not
        tested. Goes with `freq`.
    threads : int, optional
        How many threads count. If None, as many as there are processors.

    Raises
    ------
    InputError
        The name does not end in .bed or .pgen, or options that go together do not.

    Notes
    -----
    How many people there are is public, and so is every variant's name, place and alleles. Genotypes are
    protected; whether phenotypes are is up to the test (its `protect`). Proofs: docs/proofs/sources.md,
    docs/proofs/association.md.

    VCF, BCF and BGEN are read in a process of their own, into a .bed file in a private folder for temporary
    files that goes with this process. Variants with more than two alleles are left out, the second allele is
    counted, people have no family ("0"). A call of BGEN is made where the number of alleles lies within 0.1
    of a whole one, as by plink2; half calls are none, one allele alone counts twice.

    References
    ----------
    Chang et al. (2015), Second-generation PLINK, GigaScience 4(7): the file formats.

    Examples
    --------
    >>> import pathlib, tempfile, discreet
    >>> from discreet.lab.cohort import Simulated
    >>> bed = Simulated(people=200, variants=30).write(pathlib.Path(tempfile.mkdtemp()) / "cohort.bed")
    >>> discreet.measure(discreet.Plink(bed), discreet.Allelic()).names[:2]
    ('rs1', 'rs2')
    """

    path: str | Path
    pheno: str | Path | None = None
    pheno_name: str | None = None
    covar: str | Path | None = None
    keep: str | Path | None = None
    extract: str | Path | None = None
    within: str | Path | None = None
    freq: str | Path | None = None
    maf: float | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("path", "pheno", "covar", "keep", "extract", "within", "freq"):
            if name == "path" or getattr(self, name) is not None:
                check.path(getattr(self, name), name)
        if not str(self.path).lower().endswith(ENDINGS):
            raise InputError(f"{self.path}: the name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        if self.pheno_name is not None:
            check.text(self.pheno_name, "pheno_name")
        if self.threads is not None:
            check.settle(self, threads=check.whole(self.threads, "threads", 1, _MOST_THREADS))
        if self.maf is not None:
            check.settle(self, maf=check.between(self.maf, "maf", 0.0, 0.5))
        if (self.freq is None) != (self.maf is None):
            raise InputError("freq and maf go together: a public file, and the smallest frequency tested")
        if self.pheno_name is not None and self.pheno is None:
            raise InputError("pheno_name is a column of pheno: give the file too")

    def check_used(self, labels: Sequence[str]) -> None:
        """Refuse a file that is given and that a test which reads these labels would not look at.

        Parameters
        ----------
        labels : sequence of str
            The columns that the test reads beside the genotypes.
        """
        for option, label in (("pheno", PHENOTYPE), ("within", STRATUM)):
            if getattr(self, option) is not None and label not in labels:
                raise InputError(
                    f"{option} is the column {label!r}, which this test does not read: leave it out, or name "
                    "it in the test (strata: stratum='stratum', strata=...)"
                )
        if self.covar is not None and {PHENOTYPE, STRATUM, *PEDIGREE}.issuperset(labels):
            raise InputError("covar has the columns that a test adjusts for: name them, adjust=['PC1', ...]")

    def variants(self) -> Variants:
        """Return the variants that are tested: names, places and alleles, all public."""
        path = Path(self.path)
        if path.name.lower().endswith(tuple(OTHER_ENDINGS)):
            path = converted(path).bed
        return self._chosen(read_variants(path.with_suffix(_LISTS[path.suffix.lower()])))

    def open(self, variants: Variants | None = None, *, pedigree: bool = False) -> Cohort:
        """Read everything but the genotypes, and the list of variants if it is not given.

        Parameters
        ----------
        variants : Variants, optional
            What `variants` returned.
        pedigree : bool
            Whether to tell families, and parents by their row, too.
        """
        path, variants = Path(self.path), self.variants() if variants is None else variants
        if path.name.lower().endswith(tuple(OTHER_ENDINGS)):
            made = converted(path)
            people, packed = made.people, Bed(made.bed, len(made.people.identifiers), variants.starts.size)
        elif path.suffix.lower() == ".pgen":
            people = read_psam(path.with_suffix(".psam"))
            packed = _pgen(path, people, variants)
        else:
            people = read_fam(path.with_suffix(".fam"))
            packed = Bed(path, len(people.identifiers), variants.starts.size)
        kept = np.ones(len(people.identifiers), dtype=bool)
        if self.keep is not None:
            kept = read_keep(Path(self.keep), people)
        phenotype = people.phenotype
        if self.pheno is not None:
            phenotype = read_phenotype(Path(self.pheno), people, self.pheno_name)
        labels: dict[str, RawArray] = {PHENOTYPE: phenotype[kept]}
        if self.within is not None:
            labels[STRATUM] = read_strata(Path(self.within), people)[kept]
        if self.covar is not None:
            of_each = read_covariates(Path(self.covar), people, (PHENOTYPE, STRATUM, *PEDIGREE))
            labels |= {name: entries[kept] for name, entries in of_each.items()}
        if pedigree:
            labels |= people.pedigree(kept)
        return Cohort(packed, variants, kept, labels, self.threads or processors())

    def _chosen(self, variants: Variants) -> Variants:
        if self.extract is None and self.freq is None:
            return variants
        names = variants.every_name()
        wanted = np.ones(len(names), dtype=bool)
        if self.extract is not None:
            listed = set(text_of(Path(self.extract)).split())
            wanted &= np.array([name in listed for name in names])
        if self.freq is not None and self.maf is not None:
            known = read_frequency(Path(self.freq))
            wanted &= np.array([known.get(name, 0.0) >= self.maf for name in names])
        if not wanted.any():
            raise InputError(
                "extract and freq leave no variant to test: are the names those of the .bim file?"
            )
        return replace(variants, chosen=np.flatnonzero(wanted))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cohort:
    """Packed genotypes of the people kept, and what is known beside them. Private."""

    packed: Packed
    names: Variants
    kept: NDArray[np.bool_]
    labels: Mapping[str, RawArray]
    threads: int

    @property
    def rows(self) -> int:
        """How many people are kept."""
        return int(np.count_nonzero(self.kept))

    def count(self, cells: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return how many in each cell carry 0, 1, 2 effect alleles or no call, shape (cells, 4, m)."""
        return count(self.packed, self.names.chosen, self._spread(cells), self.threads)

    def multiply(
        self, weight: NDArray[np.float32], also: NDArray[np.float32], lost: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sums of weight * dose, and of weight and `also` where there is no call."""
        sums = Products(self._spread(weight), self._spread(also), lost)
        return sums.over(self.packed, self.names.chosen, self.threads)

    @property
    def genotyped(self) -> Cohort:
        """Itself: genotypes can be counted where they lie."""
        return self

    def parts(self) -> Iterator[tuple[slice, Generator[Block]]]:
        """Yield everyone's decoded genotypes, some variants at a time: which ones, and a block of them."""
        people = self.kept.size
        wide = max(1, _DECODED // people)
        for first in range(0, len(self.names), wide):
            chosen = self.names.chosen[first : first + wide]
            yield slice(first, first + chosen.size), (block for block in [self.decoded(chosen)])

    def decoded(self, chosen: NDArray[np.int64]) -> Block:
        """Return everyone's genotypes at some variants, decoded."""
        dose = decode(self.packed, chosen, self.kept.size)
        return Block(np.ascontiguousarray(dose[:, self.kept].T), self.labels)

    def part(self, chosen: NDArray[np.int64]) -> Cohort:
        """Return some variants, nameless, to be counted by one thread elsewhere: little travels."""
        names = replace(self.names, text=b"", starts=self.names.starts[:0], chosen=chosen)
        return replace(self, names=names, threads=1)

    def check(self, labels: Sequence[str], person: object, columns: object) -> None:
        """Refuse what is asked of tables only, and columns that are not there."""
        if person is not None or columns is not None:
            raise InputError(
                "person and columns are for tables: PLINK files have one entry for each person; use extract"
            )
        for name in labels:
            if name not in self.labels:
                raise InputError(
                    f"PLINK files have no column {name!r}; they have: {', '.join(self.labels)}. Give a file "
                    "of covariates as covar"
                )

    def _spread(self, rows: NDArray[np.generic]) -> RawArray:
        """Return values of the people kept as values of everyone in the file, zero for the others."""
        full = np.zeros((len(rows), self.kept.size), dtype=rows.dtype)
        full[:, self.kept] = rows
        return full

    def __repr__(self) -> str:
        return "Cohort(private)"


def _pgen(path: Path, people: People, variants: Variants) -> Packed:
    from discreet.data.plink.pgen import Pgen

    return Pgen(path, len(people.identifiers), variants.starts.size)
