"""Where on the genome a release's discoveries lie: public positions beside released names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import InputError
from discreet.report.genome import WINDOW, Located
from discreet.report.release import Release

if TYPE_CHECKING:
    from discreet.typing import TableLike


def locate(release: Release, data: TableLike, *, window: int = WINDOW) -> Located:
    """Return a release's variants with their positions, gathered into loci.

    Parameters
    ----------
    release : Release
        What `discover` returned.
    data : Plink or path
        The same genotypes it was made from; only the list of variants is read again.
    window : int
        Base pairs: discoveries on one chromosome whose neighbours are no farther apart make one locus.

    Returns
    -------
    Located
        `loci`, `to_tsv()` with GWAS-SSF's column names, `manhattan()` as SVG, `report()` as HTML,
        `save(folder)`; in words when printed. Holds released and public things only.

    Raises
    ------
    InputError
        `data` is no PLINK file, or holds another number of variants than the release.

    Notes
    -----
    Positions are public and names are released: nothing more is spent.

    References
    ----------
    Hayhurst et al. (2022), A community driven GWAS summary statistics standard, bioRxiv: GWAS-SSF.

    Examples
    --------
    >>> import pathlib, tempfile, discreet
    >>> from discreet.lab.cohort import Simulated
    >>> bed = Simulated(people=200, variants=30).write(pathlib.Path(tempfile.mkdtemp()) / "cohort.bed")
    >>> found = discreet.discover(bed, discreet.Allelic(), q=0.1, epsilon=1, delta=1e-6)
    >>> placed = discreet.locate(found, bed)
    >>> sum(len(locus.members) for locus in placed.loci) == len(found)
    True
    """
    from discreet.data.source import Genotypes, is_genotypes, open_source

    check.made(release, Release, "release must be what `discover` returned")
    window = check.whole(window, "window", 0, 2**62)
    source = open_source(data) if is_genotypes(data) else None
    if not isinstance(source, Genotypes):
        raise InputError(
            "data must be the Plink record, or the .bed or .pgen path, the release was made from"
        )
    variants = source.variants
    if len(variants) != release.m:
        raise InputError("data holds another number of variants than the release: give the same Plink record")
    listed = tuple(variants.variant(int(index)) for index in release.indices)
    return Located(release, listed, window, variants.ends())
