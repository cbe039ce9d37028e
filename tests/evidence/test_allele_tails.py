"""Tails of allele counts in cases drawn by lot: exact laws of every margin, and the theorem behind them."""

import numpy as np
import pytest
from scipy.special import gammaln, ndtr

import discreet
from discreet.evidence.core import tails
from discreet.evidence.core.allele_tails import AlleleTails


def log_choose(n, k):
    """Return the logarithm of n over k."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def carriers(controls, cases, one, two):
    """Return all tables (2, 3, tables) where so many people carry one or two alleles, and their chances."""
    people = controls + cases
    first, second = (part.ravel() for part in np.meshgrid(np.arange(one + 1), np.arange(two + 1)))
    none = cases - first - second
    able = (none >= 0) & (none <= people - one - two)
    none, first, second = none[able], first[able], second[able]
    chance = log_choose(people - one - two, none) + log_choose(one, first) + log_choose(two, second)
    inside = np.stack([none, first, second])
    everyone = np.array([people - one - two, one, two])[:, None]
    return np.stack([everyone - inside, inside]), np.exp(chance - log_choose(people, cases))


def alleles(controls, cases, total):
    """Return tables for each number of alleles in cases when alleles are drawn one by one, and chances."""
    inside = np.arange(max(0, total - 2 * controls), min(2 * cases, total) + 1)
    chance = log_choose(2 * cases, inside) + log_choose(2 * controls, total - inside)
    tables = [
        np.stack([size - count % 2 - count // 2, count % 2, count // 2])
        for size, count in ((controls, total - inside), (cases, inside))
    ]
    return np.stack(tables), np.exp(chance - log_choose(2 * (controls + cases), total))


def draws(test, controls, cases, rng, count):
    """Return margins' tables and chances: all called, some missing, or many, whatever the frequency."""
    for _ in range(count):
        least = rng.choice([1.0, 0.85, 0.3])
        called = [int(rng.integers(max(2, int(least * size)), size + 1)) for size in (controls, cases)]
        if test.protect == "both":
            first = int(rng.integers(2, sum(called) - 1))
            called = [first, sum(called) - first]
        people, rate = sum(called), rng.beta(0.7, 1.2)
        if isinstance(test, discreet.Allelic):
            yield alleles(*called, int(rng.binomial(2 * people, rate)))
        else:
            two = int(rng.binomial(people, rate))
            one = int(rng.choice([0, rng.binomial(people - two, rng.random())]))
            yield carriers(*called, one, two)


def worst(test, controls, cases, seed, count):
    """Return the largest P(score >= s) over its bound, among exact laws of many margins."""
    some = list(draws(test, controls, cases, np.random.default_rng(seed), count))
    tables = np.concatenate([table for table, _ in some], axis=2)
    accumulator = test.start(range(tables.shape[2]))
    accumulator.counts[0, :, :3] = tables
    accumulator.members[0] = controls, cases
    accumulator.slots[:] = controls + cases
    score = accumulator.finish().score
    ratio, first = 0.0, 0
    for _, chance in some:
        own = score[first : first + chance.size]
        first += chance.size
        order = np.argsort(-own)
        tail = np.cumsum(chance[order])
        ends = np.append(own[order][1:] != own[order][:-1], True) & (own[order] > 0) & (tail > 1e-25)
        ratio = max(ratio, float(np.max(tail[ends] / ndtr(-own[order][ends]), initial=0.0)))
    return ratio


KINDS = [(kind, protect) for kind in (discreet.Allelic, discreet.Trend) for protect in ("both", "genotypes")]


@pytest.mark.parametrize(("kind", "protect"), KINDS, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize("tail", ["safe", "proved"])
def test_no_margin_passes_more_often_than_the_null_law_says(kind, protect, tail):
    """Given margins, calls missing or not, the exact law of scores stays under Phi_bar everywhere."""
    for seed, (controls, cases) in enumerate([(150, 150), (225, 25)]):
        for floor in (None, 0.05):
            test = kind(protect=protect, alternative="greater", maf_floor=floor, tail=tail)
            assert worst(test, controls, cases, seed, 60) <= 1


# Cases, controls, and the carriers or alleles among them: where calls are missing C varies more than S says.
FEW_CALLS = [
    (
        discreet.Trend(alternative="greater", maf_floor=0.0005, case_floor=0.1, tail="proved"),
        1000,
        carriers(1, 1, 0, 1),
    ),
    (
        discreet.Trend(alternative="greater", maf_floor=0.002, case_floor=0.1, tail="proved"),
        1000,
        carriers(2, 1, 0, 1),
    ),
    (
        discreet.Trend(alternative="greater", maf_floor=0.05, case_floor=0.1, tail="safe"),
        100,
        carriers(4, 3, 0, 1),
    ),
    (
        discreet.Allelic(alternative="greater", maf_floor=0.01, case_floor=0.1, tail="proved"),
        100,
        alleles(3, 2, 1),
    ),
    (
        discreet.Trend(alternative="greater", maf_floor=0.01, protect="genotypes", tail="proved"),
        20,
        carriers(1, 1, 0, 1),
    ),
]


@pytest.mark.parametrize(("test", "people", "law"), FEW_CALLS)
def test_a_handful_of_calls_passes_no_more_often_than_the_null_law_says(test, people, law):
    """Nearly everyone's call is missing and the floors are low: Cantelli's bound would be passed."""
    tables, chance = law
    accumulator = test.start(range(tables.shape[2]))
    accumulator.counts[0, :, :3] = tables
    accumulator.members[0], accumulator.slots[:] = people // 2, people
    score = accumulator.finish().score
    for one in score[score > 0]:
        assert chance[score >= one].sum() <= ndtr(-one)


def test_the_normal_tail_would_be_seen():
    """With a normal tail the same margins pass too often: the check can fail."""
    test = discreet.Allelic(protect="genotypes", alternative="greater", maf_floor=0.05, tail="normal")
    assert worst(test, 225, 25, 1, 60) > 1.5


def test_the_safe_tail_is_sharper_than_the_proved_one():
    """Both are bounds; at one in 10^5 the safe one asks for 0.3 less of z, and is near the normal one."""
    people, t = np.array([2000.0]), np.array([4.5])
    for uneven in (None, np.array([0.0])):
        alleles_in_cases = AlleleTails(people, uneven, alleles=True)
        safe, proved = (
            bound(200.0, 8.0)(t)[0] for bound in (alleles_in_cases.exact, alleles_in_cases.proved)
        )
        assert ndtr(-t)[0] < safe < 2 * ndtr(-t)[0]
        assert proved > 3 * safe


@pytest.mark.parametrize(("one", "two", "people", "cases"), [(7, 5, 30, 11), (0, 9, 25, 12), (12, 12, 24, 5)])
def test_alleles_in_cases_are_a_sum_of_independent_parts(one, two, people, cases):
    """All roots of the generating function of K1 + 2 K2 lie in the left half plane: Hurwitz."""
    tables, chance = carriers(people - cases, cases, one, two)
    total = tables[1, 1] + 2 * tables[1, 2]
    mass = np.bincount(total, weights=chance)
    found = np.flatnonzero(mass)
    roots = np.roots(mass[found[0] : found[-1] + 1][::-1])
    assert np.all(roots.real < 1e-6 * np.abs(roots))


def independent_sum(parts):
    """Return the mass of a sum of independent parts on 0, 1, 2, ..."""
    mass = np.ones(1)
    for part in parts:
        mass = np.convolve(mass, part)
    return mass


@pytest.mark.parametrize("seed", range(6))
def test_skewed_sums_stay_under_their_bound(seed):
    """Random sums of parts on {0, 1, 2}: tails under the bound with their own skewness."""
    rng = np.random.default_rng(seed)
    lean = rng.choice([0.1, 1.0, 5.0])
    parts = [rng.dirichlet([1, lean, rng.choice([0.05, 1.0])]) for _ in range(rng.integers(20, 120))]
    mass = independent_sum(parts)
    value = np.arange(mass.size)
    mean = float(mass @ value)
    deviation = float(np.sqrt(mass @ (value - mean) ** 2))
    skew = max(float(mass @ (value - mean) ** 3) / (2 * deviation**2), 0.0)
    t = (value - mean) / deviation
    tail = np.cumsum(mass[::-1])[::-1]
    inside = (t > 0) & (t < 12) & (tail > 1e-200)
    bound = tails.skewed_sum(2 / deviation, skew, 12.0)(t[inside])
    assert np.all(tail[inside] <= bound)


def test_a_skewness_left_out_would_be_seen():
    """A Poisson-like sum passes the bound of a symmetric one: skewness is needed."""
    mass = independent_sum([[0.99, 0.01]] * 2000)
    value = np.arange(mass.size)
    deviation = float(np.sqrt(2000 * 0.01 * 0.99))
    t = (value - 20) / deviation
    tail = np.cumsum(mass[::-1])[::-1]
    inside = (t > 0) & (t < 12) & (tail > 1e-200)
    assert np.any(tail[inside] > tails.skewed_sum(1 / deviation, 0.0, 12.0)(t[inside]))
    assert np.all(tail[inside] <= tails.skewed_sum(1 / deviation, 1.0, 12.0)(t[inside]))


@pytest.mark.parametrize("protect", ["both", "genotypes"])
@pytest.mark.parametrize(("people", "low", "high"), [(2_000, 0.2, 0.2), (10**7, 0.05, 0.05)])
def test_floors_follow_from_the_number_of_people(protect, people, low, high):
    """Few people: a floor of a fifth. Many: the lowest. What is declared is taken."""
    test = discreet.Allelic(protect=protect)
    design = design_of(test, people)
    assert low <= test.frequency_floor(design) <= high
    assert discreet.Allelic(protect=protect, maf_floor=0.3).frequency_floor(design) == 0.3


@pytest.mark.parametrize("people", [9_000, 100_000, 10**6])
def test_floors_fall_only_while_one_person_moves_z_little(people):
    """While one person moves z by more than an eightieth, a fifth; then the lowest with that influence."""
    for protect in ("both", "genotypes"):
        test = discreet.Allelic(protect=protect)
        design = design_of(test, people)
        floor = test.frequency_floor(design)
        step = 2 * (design.pull or 1) / np.sqrt(2 * floor * (1 - floor) * design.variation)
        at_an_end = (floor == 0.2 and step > 1 / 80) or (floor == 0.05 and step < 1 / 80)
        assert at_an_end or step == pytest.approx(1 / 80)


def design_of(test, people):
    """Return the design of a study where half are cases."""
    accumulator = test.start(["rs1"])
    accumulator.members[0], accumulator.slots[:] = people // 2, people
    return test.design(accumulator)
