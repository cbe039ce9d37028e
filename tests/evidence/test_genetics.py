"""Certificates of the tests on genotypes: every table of counts and every neighbour of it, at small n."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from neighbour_tables import evidence_of

import discreet
from discreet.evidence.core.association import bounds_of, lesser_share, private_design, public_design
from discreet.evidence.core.contribution import COARSE
from discreet.evidence.core.genetic import variance_floor

ROOM = 1 + 1e-9
NAN = np.nan
# Where a person can be: (genotype, group), -1 for a missing call or phenotype; the last cell is no evidence.
PEOPLE = [(dose, group) for group in (0, 1) for dose in (0, 1, 2)] + [(-1, -1)]


def all_counts(n, cells):
    """Return all ways to put n people into so many cells, shape (ways, cells)."""
    bars = np.array(list(combinations(range(n + cells - 1), cells - 1)))
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + cells - 1)])
    return np.diff(edges, axis=1) - 1


def largest_move(counts, score, moves):
    """Return the most a score changes when one person goes from a cell to another one, for pairs `moves`."""
    base = int(counts.max()) + 1
    key = counts @ base ** np.arange(counts.shape[1])
    order = np.argsort(key)
    worst = 0.0
    for source, target in moves:
        able = counts[:, source] > 0
        moved = counts[able].copy()
        moved[:, source] -= 1
        moved[:, target] += 1
        place = order[np.searchsorted(key[order], moved @ base ** np.arange(counts.shape[1]))]
        worst = max(worst, float(np.max(np.abs(score[place] - score[able]))))
    return worst


def binary_evidence(test, counts):
    """Return the evidence where each way of counting is a variant; nobody's label is fixed."""
    accumulator = test.start([str(i) for i in range(len(counts))])
    for place, (dose, group) in enumerate(PEOPLE[:-1]):
        accumulator.counts[0, group, dose] = counts[:, place]
    accumulator.slots[:] = counts[0].sum()
    return accumulator.finish()


SHARP = {"maf_floor": 0.3, "case_floor": 0.3, "ceiling": 2}
BOTH = [
    discreet.Allelic(**SHARP, tail="normal"),
    discreet.Allelic(**SHARP, alternative="greater"),
    discreet.Allelic(maf_floor=0.5, case_floor=0.5, tail="normal"),
    discreet.Trend(**SHARP, tail="normal"),
    discreet.Trend(**SHARP),
    discreet.Trend(maf_floor=0.5, case_floor=0.5, ceiling=1, tail="normal", alternative="greater"),
    discreet.Genotypic(**SHARP, tail="normal"),
    discreet.Genotypic(maf_floor=0.5, case_floor=0.5, ceiling=8),
]


def name_of(test):
    """Return a short name of a test."""
    return f"{type(test).__name__}-{getattr(test, 'alternative', '')}-{test.tail}-{test.maf_floor}"


@pytest.mark.parametrize("test", BOTH, ids=name_of)
def test_genotype_and_phenotype_replaced_stay_within_the_certificate(test):
    """Over all tables of 12 people, one person's genotype and phenotype replaced by any, or gone missing."""
    counts = all_counts(12, len(PEOPLE))
    evidence = binary_evidence(test, counts)
    moves = [(a, b) for a in range(len(PEOPLE)) for b in range(len(PEOPLE)) if a != b]
    assert largest_move(counts, evidence.score, moves) <= evidence.certificate.sensitivity * ROOM
    assert evidence.certificate.spread == 2 * evidence.certificate.sensitivity
    assert not evidence.certificate.public


def public_evidence(test, controls, cases):
    """Return the evidence of all pairs of rows of counts of 0, 1, 2 and no call, with labels fixed."""
    first = np.repeat(controls, len(cases), axis=0)
    second = np.tile(cases, (len(controls), 1))
    accumulator = test.start([str(i) for i in range(len(first))])
    accumulator.counts[0] = np.stack([first.T, second.T])
    accumulator.members[0] = controls[0].sum(), cases[0].sum()
    accumulator.slots[:] = accumulator.members.sum()
    return np.hstack([first, second]), accumulator.finish()


PUBLIC = [
    discreet.Allelic(protect="genotypes", maf_floor=0.3, ceiling=2, tail="normal"),
    discreet.Allelic(protect="genotypes", maf_floor=0.5, ceiling=2, alternative="greater"),
    discreet.Trend(protect="genotypes", maf_floor=0.3, ceiling=2, tail="normal"),
    discreet.Trend(protect="genotypes", maf_floor=0.2, ceiling=2),
    discreet.Genotypic(protect="genotypes", maf_floor=0.3, ceiling=2, tail="normal"),
    discreet.Genotypic(protect="genotypes", maf_floor=0.5, ceiling=8),
]


@pytest.mark.parametrize("test", PUBLIC, ids=name_of)
@pytest.mark.parametrize("sizes", [(7, 7), (3, 10)], ids=str)
def test_a_genotype_replaced_stays_within_the_certificate(test, sizes):
    """Over all genotypes, calls missing or not, of public cases and controls, one person's replaced."""
    counts, evidence = public_evidence(test, all_counts(sizes[0], 4), all_counts(sizes[1], 4))
    moves = [(a, b) for a in range(8) for b in range(8) if a != b and a // 4 == b // 4]
    assert largest_move(counts, evidence.score, moves) <= evidence.certificate.sensitivity * ROOM
    assert "everyone's phenotype" in evidence.certificate.public


SCORES = [
    discreet.Score(bounds=(0, 1), maf_floor=0.3, sd_floor=0.3, ceiling=2, tail="normal"),
    discreet.Score(bounds=(0, 1), maf_floor=0.5, sd_floor=0.5, ceiling=4, alternative="greater"),
]


@pytest.mark.slow
@pytest.mark.parametrize("test", SCORES, ids=name_of)
def test_genotype_and_trait_replaced_stay_within_the_certificate(test):
    """Over all tables of 10 people with traits 0, 1/2 or 1, genotype and trait replaced, or missing."""
    people = [(dose, y) for y in (0, COARSE // 2, COARSE) for dose in (0, 1, 2)]
    counts = all_counts(10, len(people) + 1)
    accumulator = test.start([str(i) for i in range(len(counts))])
    for place, (dose, y) in enumerate(people):
        terms = np.array([1, dose, dose * dose, y, y * y, dose * y])
        accumulator.sums[:, 0] += terms[:, None] * counts[:, place]
    accumulator.people[0] = 10
    evidence = accumulator.finish()
    moves = [(a, b) for a in range(10) for b in range(10) if a != b]
    assert largest_move(counts, evidence.score, moves) <= evidence.certificate.sensitivity * ROOM


STRATA = {"s": np.arange(40) % 2, "phenotype": 1 + (np.arange(40) // 2) % 3 // 2}
STRATIFIED = [
    discreet.Allelic(stratum="s", strata=(0, 1), maf_floor=0.2, ceiling=3, tail="normal"),
    discreet.Trend(stratum="s", strata=(0, 1), maf_floor=0.2, ceiling=3, protect="genotypes"),
    discreet.Genotypic(stratum="s", strata=(0, 1), maf_floor=0.3, ceiling=3, tail="normal"),
    discreet.Genotypic(stratum="s", strata=(0, 1), maf_floor=0.2, ceiling=3, protect="genotypes"),
    discreet.Score(stratum="s", strata=(0, 1), maf_floor=0.2, ceiling=3, bounds=(1, 2)),
    discreet.Score(
        stratum="s",
        strata=(0, 1),
        maf_floor=0.2,
        ceiling=3,
        bounds=(1, 2),
        protect="genotypes",
        alternative="greater",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("test", STRATIFIED, ids=name_of)
def test_anyone_replaced_in_a_stratum_stays_within_the_certificate(test):
    """On 4,000 random tables with two strata, each of 40 people replaced in turn by everything."""
    rng = np.random.default_rng(3)
    m = 4000
    frequency, drift = rng.random(m) ** 3, rng.normal(size=m)
    case = (STRATA["phenotype"] == 2)[:, None]
    values = rng.binomial(2, np.clip(frequency + 0.2 * drift * case, 0, 1), (40, m)).astype(float)
    values[rng.random((40, m)) < 0.1] = NAN
    before = evidence_of(test, values, STRATA)
    worst = 0.0
    for person in (0, 1, 4, 5, 20):
        phenotypes = (1.0, 1.5, 2.0, NAN) if test.protect == "both" else (STRATA["phenotype"][person],)
        for dose in (0, 1, 2, NAN):
            for phenotype in phenotypes:
                changed, labels = values.copy(), STRATA | {"phenotype": STRATA["phenotype"].astype(float)}
                changed[person], labels["phenotype"][person] = dose, phenotype
                after = evidence_of(test, changed, labels)
                assert after.certificate == before.certificate
                worst = max(worst, float(np.max(np.abs(after.score - before.score))))
    assert 0.2 * before.certificate.sensitivity < worst <= before.certificate.sensitivity * ROOM


N = 40_000
LARGE = {"maf_floor": 0.05, "ceiling": 2, "tail": "normal"}
HALF = {"case_floor": 0.5}


def counted(test, doses):
    """Return the evidence of counts of 0, 1 and 2 alleles among controls and cases, (2, 3, m)."""
    accumulator = test.start([str(j) for j in range(doses.shape[2])])
    accumulator.counts[0, :, :3] = doses
    accumulator.members[0], accumulator.slots[:] = doses[:, :, 0].sum(axis=1), N
    return accumulator.finish()


def control_turns_case(m):
    """Half are cases; 5, 6, ... of them carry two alleles, and one more who was a control before."""
    doses = np.zeros((2, 2, 3, m), dtype=np.int64)
    doses[:, :, 0] = N // 2
    for state, group in enumerate((0, 1)):
        doses[state, 1, 2] += np.arange(5, 5 + m)
        doses[state, 1, 0] -= np.arange(5, 5 + m)
        doses[state, group, 2] += 1
    doses[:, 0, 0] -= 1
    return doses


def case_gets_alleles(m):
    """Half are cases; 5, 6, ... of them carry two alleles, and one more who had none before."""
    doses = np.zeros((2, 2, 3, m), dtype=np.int64)
    doses[:, :, 0] = N // 2
    for state in (0, 1):
        doses[state, 1, 2] += np.arange(5, 5 + m) + state
        doses[state, 1, 0] -= np.arange(5, 5 + m) + state
    return doses


def control_doubles(m):
    """One in twenty is a control; controls carry two alleles, cases one, and one control gets a second."""
    doses = np.zeros((2, 2, 3, m), dtype=np.int64)
    doses[:, 0, 0], doses[:, 1, 0] = N // 20, N - N // 20
    k = np.arange(1, 1 + m)
    for state in (0, 1):
        doses[state, 0, 2] += k + state
        doses[state, 0, 1] += 1 - state
        doses[state, 0, 0] -= k + 1
        doses[state, 1, 1] += 19 * k
        doses[state, 1, 0] -= 19 * k
    return doses


CLOSE = [
    (discreet.Allelic(**LARGE, **HALF), control_turns_case),
    (discreet.Trend(**LARGE, **HALF, alternative="greater"), control_turns_case),
    (discreet.Genotypic(**LARGE, **HALF), control_doubles),
    (discreet.Allelic(**LARGE, protect="genotypes"), case_gets_alleles),
    (discreet.Trend(**LARGE, protect="genotypes"), case_gets_alleles),
    (discreet.Genotypic(**LARGE, protect="genotypes"), control_doubles),
]


@pytest.mark.parametrize(("test", "pairs"), CLOSE, ids=lambda one: getattr(one, "protect", ""))
def test_some_pair_comes_within_a_tenth_of_the_certificate(test, pairs):
    """Among rare variants of all strengths, one person moves a score by over 90% of the sensitivity."""
    before, after = (counted(test, doses) for doses in pairs(150))
    assert after.certificate == before.certificate
    worst = np.max(np.abs(after.score - before.score))
    assert 0.9 * before.certificate.sensitivity < worst <= before.certificate.sensitivity * ROOM


def test_a_trait_turned_over_comes_within_a_tenth_of_the_certificate():
    """Somebody with two rare alleles goes from the lowest trait to the highest: over 90% of sensitivity."""
    test = discreet.Score(bounds=(0, 1), sd_floor=0.5, **LARGE)
    k = np.arange(5, 155)
    each = []
    for y in (0, COARSE):
        accumulator = test.start([str(j) for j in k])
        # Half the people have trait 1; k of these, and the one who changes, carry two alleles.
        n, high = np.full(k.size, N), N // 2 * COARSE - (COARSE - y)
        square = (N // 2 - 1) * COARSE**2 + y * y
        sums = (n, 2 * (k + 1), 4 * (k + 1), high + 0 * k, square + 0 * k, 2 * (k * COARSE + y))
        accumulator.sums[:, 0] = sums
        accumulator.people[0] = N
        each.append(accumulator.finish())
    worst = np.max(np.abs(each[1].score - each[0].score))
    assert 0.9 * each[0].certificate.sensitivity < worst <= each[0].certificate.sensitivity * ROOM


def test_the_influences_on_the_proof_page():
    """docs/proofs/association.md states the influence at 20,000 people, half of them cases."""
    n = np.array([20_000.0])
    private = private_design(n, 0.25, "")
    public = public_design(n, n / 2, n / 2, np.zeros(1), np.ones(1), "")
    for design, alleles, stated in (
        (private, False, 0.117),
        (public, False, 0.071),
        (private, True, 0.106),
        (public, True, 0.060),
    ):
        bounds = bounds_of(design, 0.05, alleles=alleles)
        assert round(bounds.step + 20 * bounds.shrink, 3) == pytest.approx(stated, abs=1.1e-3)
    for design, factor in ((private, 4), (public, 2)):
        assert bounds_of(design, 0.5, alleles=True).step == pytest.approx(
            factor * np.sqrt(2 / n[0]), rel=1e-3
        )


@pytest.mark.parametrize(
    ("people", "cases", "alleles", "public"),
    [
        (10_000, 0.5, 0.2, 0.2),
        (100_000, 0.5, 0.2, 0.15),
        (200_000, 0.5, 0.2, 0.07),
        (500_000, 0.2, 0.2, 0.05),
        (1_000_000, 0.1, 0.17, 0.05),
        (3_000_000, 0.1, 0.05, 0.05),
    ],
)
def test_the_floors_in_the_guide(people, cases, alleles, public):
    """docs/how-to/gwas.md states the floors taken unasked, in this table."""
    n = np.array([float(people)])
    variance = variance_floor(people, 0.1 * 0.9, 0.25)
    private = private_design(n, variance, "")
    known = public_design(n, n / 2, n / 2, np.zeros(1), np.ones(1), "")
    test = discreet.Allelic()
    floors = lesser_share(variance), test.frequency_floor(private), test.frequency_floor(known)
    assert floors == pytest.approx((cases, alleles, public), abs=0.005)
