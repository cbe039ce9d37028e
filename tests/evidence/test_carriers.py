"""Carriers of an allele, cases against controls: the cap's inequality, exact laws, and the test itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from scipy.stats import hypergeom

import discreet
from discreet.evidence.carriers import CarrierCap, carrier_cap
from discreet.gather import gathered
from discreet.lab.cohort import Simulated
from discreet.measure import measure

# A person among those of one stratum: control or case, carrier or not, or without call or phenotype.
CELLS = 5
ABSENT = 4


def statistic(limit: CarrierCap, cells):
    """Return |z| of tables, (5, strata, tables): controls without and with the allele, cases likewise."""
    no, yes, case_no, case_yes, _ = cells.astype(float)
    first, second = no + yes, case_no + case_yes
    people = np.maximum(first + second, 1)
    excess = ((first * case_yes - second * yes) / people).sum(axis=0)
    return np.abs(excess / limit.scale(first, second, yes + case_yes))


def moves(*, protected: bool):
    """Return from which cell to which one person may go."""
    for old, new in product(range(CELLS), repeat=2):
        groups = [None if cell == ABSENT else cell // 2 for cell in (old, new)]
        if old != new and (protected or None in groups or groups[0] == groups[1]):
            yield old, new


def worst_ratio(limit: CarrierCap, cells, *, protected: bool) -> float:
    """Return the largest move of z over what the cap allows, in all neighbours of all these tables."""
    z = statistic(limit, cells)
    allowed = limit.cap.influence + limit.cap.grow * z
    worst = 0.0
    for old, new in moves(protected=protected):
        neighbour = cells.copy()
        neighbour[old, 0] -= 1
        neighbour[new, 0] += 1
        possible = cells[old, 0] > 0
        if possible.any():
            rise = statistic(limit, neighbour[:, :, possible]) - z[possible]
            worst = max(worst, float(np.max(rise / allowed[possible])))
    return worst


def every_table(people: int):
    """Return all tables of so many people in one stratum, (5, 1, tables)."""
    grid = np.indices((people + 1,) * 4).reshape(4, -1)
    grid = grid[:, grid.sum(axis=0) <= people]
    return np.vstack([grid, people - grid.sum(axis=0)])[:, None]


@pytest.mark.parametrize("protected", [True, False])
@pytest.mark.parametrize("influence", [0.3, 0.6, 1.0])
def test_no_neighbour_of_any_small_table_breaks_the_cap(influence, protected):
    """All tables of 26 people, where few called people raise the pull, and all their neighbours."""
    limit = carrier_cap(np.array([26.0]), influence, 0.5, protected=protected)
    assert worst_ratio(limit, every_table(26), protected=protected) <= 1 + 1e-9


def climbed(limit, people, strata, rng, *, protected):
    """Return the largest ratio that a walk through tables of several strata finds, uphill."""
    many = 200
    shares = rng.dirichlet(np.full(CELLS, 0.5), (strata, many))
    cells = np.stack([rng.multinomial(people, share) for share in shares.reshape(-1, CELLS)])
    cells = cells.reshape(strata, many, CELLS).transpose(2, 0, 1)
    best = ratios(limit, cells, protected=protected)
    for _ in range(60):
        old, new = rng.integers(CELLS, size=2)
        stratum, step = rng.integers(strata), rng.integers(1, max(2, people // 8))
        trial = cells.copy()
        step = np.minimum(step, trial[old, stratum])
        trial[old, stratum] -= step
        trial[new, stratum] += step
        value = ratios(limit, trial, protected=protected)
        better = value > best
        cells[:, :, better], best[better] = trial[:, :, better], value[better]
    return float(best.max())


def ratios(limit, cells, *, protected):
    """Return for each table the largest move over what is allowed."""
    z = statistic(limit, cells)
    allowed = limit.cap.influence + limit.cap.grow * z
    worst = np.zeros(z.size)
    for old, new in moves(protected=protected):
        neighbour = cells.copy()
        neighbour[old, 0] -= 1
        neighbour[new, 0] += 1
        rise = statistic(limit, np.maximum(neighbour, 0)) - z
        worst = np.maximum(worst, np.where(cells[old, 0] > 0, rise / allowed, 0.0))
    return worst


@pytest.mark.parametrize("protected", [True, False])
def test_an_uphill_walk_through_strata_never_breaks_the_cap(protected):
    """One or three strata of 30 or 2,000 people, from lopsided tables; the bound is nearly reached."""
    rng = np.random.default_rng(5)
    found = []
    for people, strata, influence in product((30, 2000), (1, 3), (0.05, 1.0)):
        limit = carrier_cap(np.full(strata, float(people)), influence, 0.5, protected=protected)
        found.append(climbed(limit, people, strata, rng, protected=protected))
    assert max(found) <= 1 + 1e-9
    assert max(found) > 0.9


@pytest.mark.parametrize("protected", [True, False])
def test_a_certificate_a_tenth_smaller_is_broken(protected):
    """The wrong twin: the walk finds tables that move z by more than nine tenths of what is allowed."""
    honest = carrier_cap(np.array([200.0]), 1.0, 0.5, protected=protected)
    found = climbed(honest, 200, 1, np.random.default_rng(6), protected=protected)
    assert found / 0.9 > 1.05


def scales(limit, cells):
    """Return S of tables, (5, strata, tables)."""
    no, yes, case_no, case_yes, _ = cells.astype(float)
    return limit.scale(no + yes, case_no + case_yes, yes + case_yes)


def moved_apart(limit, cells, *, protected):
    """Return the largest move of the margin of S in all neighbours of all these tables: at most 1."""
    margin, worst = limit.margin(scales(limit, cells)), 0.0
    for old, new in moves(protected=protected):
        neighbour = cells.copy()
        neighbour[old, 0] -= 1
        neighbour[new, 0] += 1
        after = limit.margin(scales(limit, np.maximum(neighbour, 0)))
        worst = max(worst, float(np.max(np.abs(after - margin), where=cells[old, 0] > 0, initial=0.0)))
    return worst


@pytest.mark.parametrize("protected", [True, False])
@pytest.mark.parametrize("influence", [0.3, 0.6, 1.0])
def test_one_person_moves_the_margin_of_s_by_one_at_most(influence, protected):
    """Of all tables of 26 people and their neighbours; five times as fine a one is moved by more."""
    limit = carrier_cap(np.array([26.0]), influence, 0.5, protected=protected)
    found = moved_apart(limit, every_table(26), protected=protected)
    assert found <= 1
    assert 5 * found > 1


@pytest.mark.parametrize("tail", ["safe", "proved"])
@pytest.mark.parametrize("protected", [True, False])
def test_no_neighbour_moves_a_score_by_more_than_is_certified(tail, protected):
    """The scores of all tables of 26 people and of their neighbours, S and z moving together."""
    slots, cells = np.array([26.0]), every_table(26)
    limit = carrier_cap(slots, 0.6, 0.5, protected=protected)
    steps = discreet.Carriers(tail=tail)._steps(limit, slots, 8.0)

    def scored(table):
        return steps(statistic(limit, table), limit.margin(scales(limit, table)))

    score, worst = scored(cells), 0.0
    for old, new in moves(protected=protected):
        neighbour = cells.copy()
        neighbour[old, 0] -= 1
        neighbour[new, 0] += 1
        rise = np.abs(scored(np.maximum(neighbour, 0)) - score)
        worst = max(worst, float(np.max(rise, where=cells[old, 0] > 0, initial=0.0)))
    assert worst <= steps.move


def test_third_moments_are_below_their_bound():
    """Cases drawn by lot, exact: the third moment of z at every margin, in one stratum and in two."""
    rng = np.random.default_rng(1)
    seen = 0.0
    for _ in range(4000):
        strata = int(rng.integers(1, 3))
        slots = rng.integers(26, rng.choice([40, 400, 4000]), strata).astype(float)
        present = np.ceil(slots * rng.choice([1.0, 0.95, 0.3]))
        cases = np.clip(np.round(present * rng.beta(0.7, 0.7, strata)), 1, present - 1)
        yes = np.clip(np.round(present * rng.beta(0.7, 0.7, strata)), 1, present - 1)
        limit = carrier_cap(slots, float(rng.choice([0.03, 0.1, 0.3, 1.0])), 0.5, protected=True)
        scale = float(limit.scale((present - cases)[:, None], cases[:, None], yes[:, None])[0])
        variance, skewness = hypergeom.stats(present, yes, cases, moments="vs")
        actual = abs(float(np.sum(skewness * variance**1.5))) / scale**3
        allowed = limit.third_moments(slots, scale, scale)
        assert actual <= allowed * (1 + 1e-9)
        seen = max(seen, actual / allowed)
    assert seen > 0.8


@pytest.mark.parametrize("tail", ["safe", "proved"])
@pytest.mark.parametrize("protect", ["both", "genotypes"])
def test_both_ways_together_stay_under_the_normal_tail(tail, protect):
    """Cases drawn by lot, exact: carriers of either allele, one side each, at most what the law says."""
    n, cases = 600, 240
    for one, two in ((60, 2), (200, 24), (290, 160), (80, 480), (0, 300), (150, 10), (300, 80)):
        test = discreet.Carriers(
            protect=protect,
            maf_floor=0.1,
            tail=tail,
            alternative="greater",
            **({"case_floor": 0.4} if protect == "both" else {}),
        )
        score = np.zeros((cases + 1, 2))
        chance = np.zeros((cases + 1, 2))
        for way, carriers in enumerate((one + two, two)):
            chance[:, way] = hypergeom.pmf(np.arange(cases + 1), n, carriers, cases)
            score[:, way] = alone(test, n, cases, carriers)
        for u in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0):
            passed = float(np.sum(chance * (score >= u)))
            assert passed <= multiple_of(test, n, cases) * ndtr(-u) * (1 + 1e-9)


def multiple_of(test, n, cases):
    """Return how many times the normal tail the law of scores is; public."""
    counts = test.start(("rs1",))
    counts.counts[0, :, 0], counts.members[0], counts.slots[0] = [[n - cases], [cases]], (n - cases, cases), n
    return counts.finish().null.multiple


def alone(test, n, cases, carriers):
    """Return the score by how many carriers are cases, if the other way of counting says nothing."""
    counts = test.start(range(cases + 1))
    held = np.arange(cases + 1)
    possible = (held <= carriers) & (carriers - held <= n - cases)
    held = np.where(possible, held, round(carriers * cases / n))
    counts.counts[0, 1, 2], counts.counts[0, 1, 0] = held, cases - held
    counts.counts[0, 0, 2] = carriers - held
    counts.counts[0, 0, 0] = n - cases - (carriers - held)
    counts.members[0], counts.slots[0] = (n - cases, cases), n
    return np.where(possible, counts.finish().score, 0.0)


def cohort(rng, n, frequency, lean):
    """Return genotypes of two variants and phenotypes, the second variant more frequent in cases."""
    case = rng.random(n) < 0.5
    rate = np.where(case, frequency + lean, frequency)
    table = pd.DataFrame({"null": rng.binomial(2, frequency, n), "real": rng.binomial(2, rate)})
    return table.assign(phenotype=1 + case)


@pytest.mark.parametrize("frequency", [0.2, 0.8])
def test_either_allele_may_be_the_rare_one(frequency):
    """Counting the frequent allele instead gives the same score, and the sign of what is looked for."""
    table = cohort(np.random.default_rng(1), 5000, frequency, 0.05)
    flipped = table.assign(null=2 - table["null"], real=2 - table["real"])
    up, down = discreet.Carriers(alternative="greater"), discreet.Carriers(alternative="less")
    assert np.allclose(measure(table, up).score, measure(flipped, down).score)
    assert measure(table, up).score[1] > 4
    assert measure(table, down).score[1] < 1


def test_more_people_buy_a_smaller_sensitivity():
    """From 10,000 to 100,000 people, half of them cases, phenotypes public: three times less."""
    sensitivities = []
    for n in (10_000, 100_000):
        counts = discreet.Carriers(protect="genotypes").start(("rs1",))
        counts.counts[0, :, 0], counts.members[0], counts.slots[0] = [[n // 2]] * 2, n // 2, n
        sensitivities.append(counts.finish().certificate.sensitivity)
    assert sensitivities[0] / sensitivities[1] > 2


def test_missing_calls_and_phenotypes_count_on_neither_side():
    """A person without a call, or in neither group, changes nothing but the number of people."""
    table = cohort(np.random.default_rng(2), 2000, 0.3, 0.1)
    more = pd.concat([table, pd.DataFrame({"null": [np.nan, 1], "real": [np.nan, 2], "phenotype": [2, 9]})])
    test = discreet.Carriers(maf_floor=0.2, case_floor=0.5)
    assert np.allclose(measure(table, test).score, measure(more, test).score, atol=0.02)


def test_strata_are_compared_within():
    """A variant and a phenotype that both follow the stratum say nothing within strata."""
    rng = np.random.default_rng(3)
    stratum = np.arange(4000) % 2
    table = pd.DataFrame({"rs1": rng.binomial(2, np.where(stratum, 0.5, 0.1))})
    table["phenotype"], table["s"] = 1 + (rng.random(4000) < np.where(stratum, 0.8, 0.2)), stratum
    within = discreet.Carriers(stratum="s", strata=(0, 1))
    assert measure(table, within).score[0] < 4 < measure(table, discreet.Carriers()).score[0]


def entries(people):
    """Return everyone's entries, shape (people, variants)."""
    return people.values  # noqa: PD011 - not of pandas


@pytest.mark.parametrize("test", [discreet.Carriers(), discreet.Trend(protect="genotypes")])
def test_a_panel_of_variants_is_gathered_by_rows(tmp_path, test):
    """Everyone's genotypes are rows, from PLINK files and tables alike; whoever is in no group has none."""
    bed = Simulated(50, 12, seed=3).write(tmp_path / "cohort.bed")
    people = gathered(bed, test, person=None, columns=None, panel=True)
    cohort = discreet.Plink(bed).open()
    genotypes = entries(cohort.decoded(np.arange(12)))
    table = pd.DataFrame(genotypes, columns=list(cohort.names)).assign(phenotype=cohort.labels["phenotype"])
    rows = gathered(table, test, person=None, columns=None, panel=True)
    for each in (people, rows):
        inside = each.group >= 0
        assert np.array_equal(entries(each)[inside], genotypes[inside], equal_nan=True)
        assert np.isnan(entries(each)[~inside]).all()
        assert {question.bounds for question in each.questions} == {None}
    assert list(people.names) == list(rows.names)


def test_what_is_no_number_of_alleles_is_missing():
    """Entries are rounded, and those that round to none of 0, 1, 2 count as no call, as in the scores."""
    table = pd.DataFrame({"rs1": [0.2, 1.0, 2.4, 3.0, -1.0, np.nan], "phenotype": [1, 2, 1, 2, 1, 2]})
    people = gathered(table, discreet.Carriers(), person=None, columns=None)
    assert np.array_equal(entries(people)[:, 0], [0, 1, 2, np.nan, np.nan, np.nan], equal_nan=True)


def test_many_variants_or_options_of_its_own_keep_the_scores(tmp_path):
    """A scan of 501 variants, declared floors and strata are counted where they lie."""
    bed = Simulated(10, 501, seed=3).write(tmp_path / "cohort.bed")
    assert gathered(bed, discreet.Carriers(), person=None, columns=None, panel=True) is None
    assert gathered(bed, discreet.Carriers(), person=None, columns=None) is not None
    assert discreet.Carriers(maf_floor=0.1).comparison() is None
    assert discreet.Carriers(stratum="s", strata=(0, 1)).comparison() is None
    assert discreet.Genotypic().comparison() is None
