"""Unfloored statistics equal what PLINK prints: kept values, and PLINK itself where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from make_plink import COMMANDS, FOLDER

import discreet
from discreet.evidence.core.case_control import moments_of
from discreet.lab.cohort import Simulated

NEEDED = pytest.mark.skipif(
    not (shutil.which("plink1.9") and shutil.which("plink2")), reason="plink1.9 and plink2 are not installed"
)


def printed(path, column, kind=None):
    """Return one column of a PLINK result as text, of the lines of one test."""
    header, *rows = [line.split() for line in path.read_text().splitlines()]
    place = header.index(column)
    return [row[place] for row in rows if kind is None or row[header.index("TEST")] == kind]


def same(ours, theirs, digits):
    """Say whether every number rounds to the one printed; NA where there is none."""
    known = [(one, float(text)) for one, text in zip(ours, theirs, strict=True) if text != "NA"]
    assert len(known) > 0.9 * len(ours)
    return all(f"{one:.{digits}g}" == f"{other:.{digits}g}" for one, other in known)


def scanned(test, data):
    """Return the private accumulator of everyone."""
    cohort = data.open()
    accumulator = test.start(cohort.names)
    accumulator.scan(cohort)
    return accumulator


def chi_square(moments, *, alleles):
    """Return the chi-square of plink1.9 --assoc (alleles) or of --model TREND, shape (m,); NaN where 0/0."""
    variation = moments.allele_variation if alleles else moments.variation
    with np.errstate(all="ignore"):
        return (moments.n * moments.covariation**2 / (variation * moments.trait_variation))[0]


def genotypic_chi_square(counts):
    """Return the chi-square of plink1.9 --model GENO, shape (m,)."""
    seen = counts.counts[0, :, :3].astype(np.float64)
    classes, groups, n = seen.sum(axis=0), seen.sum(axis=1), seen.sum(axis=(0, 1))
    expected = classes[None] * groups[:, None] / n
    return np.sum((seen - expected) ** 2 / np.where(expected > 0, expected, 1), axis=(0, 1))


def linear_t(moments):
    """Return the t of plink2 --glm without covariates, shape (m,)."""
    n = moments.n[0]
    with np.errstate(all="ignore"):
        r = (moments.covariation / np.sqrt(moments.variation * moments.trait_variation))[0]
        return r * np.sqrt((n - 2) / (1 - r * r))


def compare(folder):
    """Compare every statistic with the files PLINK wrote into a folder."""
    bed = folder / "small.bed"
    counts = scanned(discreet.Trend(), discreet.Plink(bed))
    moments = moments_of(counts)
    assert same(chi_square(moments, alleles=True), printed(folder / "small.assoc", "CHISQ"), 4)
    model = folder / "small.model"
    assert same(chi_square(moments, alleles=False), printed(model, "CHISQ", "TREND"), 4)
    assert same(genotypic_chi_square(counts), printed(model, "CHISQ", "GENO"), 4)
    traits = scanned(discreet.Score(bounds=(-4, 4)), discreet.Plink(bed, pheno=folder / "small.phe"))
    glm = folder / "small.trait.glm.linear"
    # plink2 counts the rarer allele; ours is the first of the .bim line, A.
    sign = np.array([1 if allele == "A" else -1 for allele in printed(glm, "A1")])
    assert same(sign * linear_t(traits.moments()), printed(glm, "T_STAT"), 6)


def test_statistics_equal_the_kept_output_of_plink():
    """Allelic, trend and genotypic chi-squares to 4 digits, linear t to 6, with 3% of calls missing."""
    compare(FOLDER)


@NEEDED
@pytest.mark.parametrize(("people", "missing"), [(1001, 0.0), (998, 0.2)])
def test_statistics_equal_plink_run_now(people, missing, tmp_path):
    """The same on a cohort made here, with and without missing calls, four people to a byte or not."""
    Simulated(people, 200, missing=missing, seed=people).write(tmp_path / "small.bed")
    for command in COMMANDS:
        subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    compare(tmp_path)


def test_a_wrong_statistic_would_be_seen():
    """The allelic chi-square does not pass for the trend's: the comparison can fail."""
    moments = moments_of(scanned(discreet.Trend(), discreet.Plink(FOLDER / "small.bed")))
    trend = printed(FOLDER / "small.model", "CHISQ", "TREND")
    assert not same(chi_square(moments, alleles=True), trend, 4)


HAPSAMPLE = Path(__file__).parents[3] / "shared" / "data" / "hapsample_2000x9935.bed"


@pytest.mark.skipif(not HAPSAMPLE.exists(), reason="the shared data is not here")
def test_the_two_causal_variants_score_highest():
    """On the simulated study with two causal variants, every certified test puts them first."""
    for test in (discreet.Allelic(), discreet.Trend(), discreet.Allelic(protect="genotypes", maf_floor=0.5)):
        evidence = discreet.measure(HAPSAMPLE, test)
        first = np.argsort(-evidence.score)[:2]
        assert {evidence.names[int(one)] for one in first} == {"rs4111409", "rs2324591"}
