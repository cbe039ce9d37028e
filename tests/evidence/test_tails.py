"""Safe tails against exact laws: no score is more frequent under the null than its p-value says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from neighbour_tables import all_tables, evidence_of
from scipy.special import ndtr
from scipy.stats import binom, hypergeom, norm

import discreet
from discreet.evidence.core import ranks, tails
from discreet.evidence.core.cap import caps
from discreet.evidence.core.scores import SLOPE, ScoreMap, gentle, score_map

ROOM = 1 + 1e-9


def excess(evidence, weight=None):
    """Return the largest ratio of P(score >= s) to the p-value of s, over the positive scores s."""
    score = evidence.score
    weight = np.full(score.size, 1 / score.size) if weight is None else weight
    order = np.argsort(-score)
    tail = np.cumsum(weight[order])
    ordered = score[order]
    last = np.append(ordered[1:] < ordered[:-1], True)
    use = last & (ordered > 0)
    p = evidence.null.survival(ordered[use])
    return float(np.max(tail[use] / np.where(p < 1, p, np.inf), initial=0.0))


@pytest.mark.parametrize(("n", "rate"), [(5, 0.5), (50, 0.5), (200, 0.02), (5000, 0.02), (5000, 0.98)])
def test_bernoulli_sums_stay_under_their_bounds(n, rate):
    """All three bounds hold at every count of a binomial, for the same bound on one person's term."""
    count = np.arange(int(n * rate) + 1, n + 1)
    z = (count - n * rate) / np.sqrt(n * rate * (1 - rate))
    use = z <= 30
    exact, z = binom.sf(count - 1, n, rate)[use], z[use]
    bound = (1 - rate) / np.sqrt(n * rate * (1 - rate))
    assert np.all(exact <= tails.bernoulli_sum(n, rate, 30.0)(z) * ROOM)
    assert np.all(exact <= tails.bounded_sum(n, bound, 30.0)(z) * ROOM)
    assert np.all(exact <= tails.any_bounded_sum(bound, 30.0)(z) * ROOM)


def test_bounds_cost_no_more_than_they_must():
    """On a smooth law the price is close to the factors known from theory: e, and e^2/2."""
    n, rate = 10**6, 0.5
    z = np.linspace(1, 8, 50)
    exact = binom.sf(np.ceil(n * rate + z * 500) - 1, n, rate)
    assert np.all(tails.bernoulli_sum(n, rate, 30.0)(z) <= 1.02 * np.e * exact)
    assert np.all(tails.bounded_sum(n, 1 / 1000, 30.0)(z) <= 1.02 * np.e**2 / 2 * exact)


def test_the_normal_tail_is_refused_where_it_fails():
    """The wrong twin: for 5,000 people at rate 2% the normal tail is below the exact one by half."""
    n, rate = 5000, 0.02
    count = np.arange(101, 200)
    z = (count - n * rate) / np.sqrt(n * rate * (1 - rate))
    assert np.max(binom.sf(count - 1, n, rate) / tails.normal(z)) > 2


@pytest.mark.parametrize("rate", [0.5, 0.2, 0.03])
def test_mean_is_valid_for_every_two_point_law(rate):
    """Laws on {low, 1} with mean `rate`: P(score >= s) <= normal tail, with and without a known sd."""
    n = 60
    for low in (0.0, rate / 2, rate * 0.9):
        p = (rate - low) / (1 - low)
        ones = np.arange(n + 1)
        values = np.where(np.arange(n)[:, None] < ones, 1.0, low)
        weight = binom.pmf(ones, n, p)
        deviation = float(np.sqrt(p * (1 - p)) * (1 - low))
        for sd in (None, min(0.5, deviation)):
            test = discreet.Mean(bounds=(0, 1), null=rate, sd=sd, alternative="greater")
            assert excess(evidence_of(test, values), weight) <= ROOM


def test_proportion_and_sign_are_exact():
    """Their scores never exceed the exact p-value, and reach it to within the limit on the slope."""
    n = 200
    values = (np.arange(n)[:, None] < np.arange(n + 1)).astype(float)
    for rate in (0.5, 0.1):
        evidence = evidence_of(discreet.Proportion(null=rate, alternative="greater"), values)
        assert 0.8 < excess(evidence, binom.pmf(np.arange(n + 1), n, rate)) <= ROOM
    for zeros in (0, 1, 2, 50):
        signs = 2 * values - 1
        signs[:zeros] = 0
        k = n - zeros
        evidence = evidence_of(discreet.Sign(alternative="greater"), signs[:, zeros:])
        assert 0.5 < excess(evidence, binom.pmf(np.arange(k + 1), k, 0.5)) <= ROOM


@pytest.mark.parametrize(("first", "second"), [(40, 40), (70, 10), (10, 70)])
@pytest.mark.parametrize("rate", [0.5, 0.1, 0.9])
def test_two_groups_with_a_known_sd_are_valid_for_independent_coins(first, second, rate):
    """Both groups Bernoulli(rate), sd known: over all pairs of counts, P(score >= s) <= normal tail."""
    yes, more = (grid.ravel() for grid in np.meshgrid(np.arange(first + 1), np.arange(second + 1)))
    row = np.arange(first + second)[:, None]
    values = np.where(row < first, row < yes, row - first < more).astype(float)
    labels = {"g": np.array([0] * first + [1] * second)}
    weight = binom.pmf(yes, first, rate) * binom.pmf(more, second, rate)
    for sd in (float(np.sqrt(rate * (1 - rate))), None):
        test = discreet.TwoGroups(group="g", bounds=(0, 1), sd=sd, alternative="greater")
        assert excess(evidence_of(test, values, labels), weight) <= ROOM
    wrong = discreet.TwoGroups(
        group="g", bounds=(0, 1), sd=float(np.sqrt(rate * (1 - rate))) / 5, alternative="greater"
    )
    assert excess(evidence_of(wrong, values, labels), weight) > 1  # the twin: a sd that is a lie


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["safe", "proved"])
@pytest.mark.parametrize("protect", ["columns", "everything"])
@pytest.mark.parametrize(("own", "other", "floor"), [(3, 9, 0.2), (60, 240, None), (300, 300, 0.02)])
def test_two_by_two_is_valid_at_every_margin(own, other, floor, protect, tail):
    """Fisher's null among those present, every number of yes: P(score >= s) <= normal tail."""
    test = discreet.TwoByTwo(group="g", floor=floor, alternative="greater", protect=protect, tail=tail)
    group = np.array([1] * own + [0] * other)
    worst = []
    for inside, outside in ((own, other), (own // 2, other), (own, other // 3)):
        for yes in np.unique(np.linspace(1, inside + outside - 1, 8).astype(int)):
            among = np.arange(max(0, yes - outside), min(inside, yes) + 1)
            row = np.arange(own + other)[:, None]
            values = np.where(row < own, row < among, row - own < yes - among).astype(float)
            values[inside:own] = values[own + outside :] = np.nan
            law = hypergeom.pmf(among, inside + outside, yes, inside)
            worst.append(excess(evidence_of(test, values, {"g": group}), law))
    assert max(worst) <= ROOM
    assert max(worst) > (0.15 if tail == "proved" else 0.5)


def tables_to_permute(size, seed):
    """Return tables that are hard on a tail: skewed, tied, rare, and with missing values."""
    rng = np.random.default_rng(seed)
    rare = (np.arange(size) < 2).astype(float)
    missing = rng.random(size)
    missing[: size // 3] = np.nan
    return [
        rare,
        1 - rare,
        rng.random(size) ** 4,
        rng.integers(0, 3, size) / 2,
        missing,
        np.linspace(0, 1, size),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(9, 3), (3, 9), (6, 6)])
def test_group_tests_are_valid_under_permutation(first, second):
    """Over all ways to draw the groups by lot, no group test scores more often than its p-value says."""
    size = first + second
    labels = {"g": np.array([0] * first + [1] * second)}
    tests = [
        discreet.TwoGroups(group="g", bounds=(0, 1), alternative="greater"),
        discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.1, alternative="greater"),
        discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.4, alternative="greater"),
        discreet.Trend(group="g", levels=(0, 1), protect="genotypes", maf_floor=0.2, alternative="greater"),
        discreet.Trend(group="g", levels=(0, 1), maf_floor=0.5, case_floor=0.25, alternative="greater"),
        discreet.TwoByTwo(group="g", floor=0.2, alternative="greater"),
        discreet.RankSum(group="g", alternative="greater"),
    ]
    draws = [list(draw) for draw in itertools.combinations(range(size), second)]
    for table in tables_to_permute(size, 1):
        columns = [np.append(np.delete(table, draw), table[draw]) for draw in draws]
        for test in tests:
            assert excess(evidence_of(test, np.array(columns).T, labels)) <= ROOM


@pytest.mark.slow
def test_correlations_are_valid_under_permutation():
    """Over all orders of the partner, neither correlation scores more often than its p-value says."""
    orders = np.array(list(itertools.permutations(range(6)))).T
    for table, partner in itertools.product(tables_to_permute(6, 2), tables_to_permute(6, 3)[:4]):
        for floor in (0.1, 0.4):
            test = discreet.Correlation(
                partner="y",
                method="product",
                bounds=(0, 1),
                partner_bounds=(0, 1),
                floor=floor,
                alternative="greater",
            )
            assert excess(evidence_of(test, table[orders], {"y": partner})) <= ROOM
        every_third = table[orders[:, ::3]]
        assert (
            excess(
                evidence_of(
                    discreet.Correlation(partner="y", alternative="greater"), every_third, {"y": partner}
                )
            )
            <= 1.1
        )


@pytest.mark.slow
def test_signed_rank_is_valid_for_symmetric_values():
    """Over all signs of fixed sizes, tied, zero or missing, it scores no more often than its p-value says."""
    signs = all_tables([-1, 1], 10)
    for sizes in tables_to_permute(10, 4):
        assert excess(evidence_of(discreet.SignedRank(alternative="greater"), signs * sizes[:, None])) <= ROOM


def signed_rank_law(n):
    """Return the exact law of the signed rank statistic without ties, standardised."""
    mass = np.ones(1)
    for rank in range(1, n + 1):
        mass = np.concatenate([mass, np.zeros(2 * rank)]) / 2 + np.concatenate([np.zeros(2 * rank), mass]) / 2
    centred = np.arange(mass.size) - (mass.size - 1) / 2
    return centred / np.sqrt(n * (n + 1) * (2 * n + 1) / 6), mass


def kendall_law(n):
    """Return the exact law of concordant minus discordant pairs without ties, standardised."""
    mass = np.ones(1)
    for terms in range(2, n + 1):
        mass = np.convolve(mass, np.full(terms, 1 / terms))
    return (2 * np.arange(mass.size) - n * (n - 1) / 2) / np.sqrt(n * (n - 1) * (2 * n + 5) / 18), mass


def rank_sum_law(first, second):
    """Return the exact law of U without ties, standardised: the last person of all is in either group."""
    laws = {(0, j): np.ones(1) for j in range(second + 1)} | {(i, 0): np.ones(1) for i in range(first + 1)}
    for i in range(1, first + 1):
        for j in range(1, second + 1):
            above = np.concatenate([np.zeros(i), laws[i, j - 1]]) * j / (i + j)
            below = np.concatenate([laws[i - 1, j], np.zeros(j)]) * i / (i + j)
            laws[i, j] = above + below
    mass = laws[first, second]
    deviation = np.sqrt(first * second * (first + second + 1) / 12)
    return (np.arange(mass.size) - first * second / 2) / deviation, mass


RANK_SUMS = ((3, 3), (3, 4), (6, 3), (3, 30), (5, 5), (12, 12), (9, 13), (20, 10), (5, 100), (40, 40))


def cubes(law, h):
    """Return E (Y - h)_+^3 for each h."""
    z, mass = law
    return np.array([np.sum(mass * np.maximum(z - one, 0) ** 3) for one in h])


H = np.linspace(-6, 6, 121)
NORMAL_CUBES = (H * H + 2) * norm.pdf(H) - H * (H * H + 3) * ndtr(-H)


@pytest.mark.parametrize(("first", "second"), RANK_SUMS)
def test_rank_sums_are_dominated_in_cubes_and_covered(first, second):
    """E (Y - h)_+^3 is at most a normal's of the wider deviation, and P(Y >= t) at most the safe tail."""
    z, mass = rank_sum_law(first, second)
    wide = np.sqrt(ranks.rank_sum_widening(first, second))
    assert 1 < wide < 1.062
    assert np.all(cubes((z / wide, mass), H) <= NORMAL_CUBES + 1e-12)
    assert not np.all(cubes((1.15 * z, mass), H) <= NORMAL_CUBES + 1e-12)
    tail = discreet.RankSum(group="g", alternative="greater").survival(first, second)(z[z > 0])
    assert np.all(np.cumsum(mass[::-1])[::-1][z > 0] <= tail * ROOM)


@pytest.mark.parametrize(("first", "second"), [(3, 3), (4, 7), (6, 12), (8, 8)])
def test_what_dominates_the_rank_sum_is_the_rank_sum_completed(first, second):
    """U plus uniforms has the law of larger uniforms, before any of them cancel to signs."""
    few, many = sorted((first, second))
    wide, all_of_them = np.ones(1), rank_sum_law(first, second)[1]
    for m in range(many + 1, first + second + 1):
        wide = np.convolve(wide, np.full(m, 1 / m))
    for j in range(1, few + 1):
        all_of_them = np.convolve(all_of_them, np.full(j, 1 / j))
    assert np.allclose(wide, all_of_them, rtol=1e-12)


def completed(many, few):
    """Return the variance of the signs and uniforms that dominate U, over U's own; pairs m = 2j cancel."""
    square = np.cumsum(np.arange(3.0 * many + 1) ** 2)
    lower = many // 2
    left = square[many + few] - square[many] - max(square[few] - square[lower], 0.0)
    return left / (many * few * (many + few + 1))


@pytest.mark.parametrize(("first", "second"), [(3, 3), (5, 40), (30, 33), (50, 50), (20, 70)])
@pytest.mark.parametrize("protected", [False, True])
def test_the_widening_covers_whoever_is_present(first, second, protected):
    """For all numbers of people present: the variance of what dominates z, capped, is below it, and near."""
    about = (first, second) if not protected else ((first + second) / 2,) * 2
    cap = caps(*about, protected=protected)[0]
    worst = 0.0
    for here in range(1, first + 1):
        for there in range(1, second + 1):
            capped = cap.of_ranks(np.array(float(here)), np.array(float(there))) ** 2
            share = here * there * (here + there + 1) / 12 / capped
            worst = max(worst, float(share) * completed(max(here, there), min(here, there)))
    widening = ranks.rank_sum_widening(*about)
    assert worst <= widening < 1.13
    assert worst > widening - 0.01 or protected or first != second or first < 50


def test_groups_of_every_size_cost_the_rank_sum_little():
    """The deviation that the bound is for is at most 3% above U's own."""
    found = [ranks.rank_sum_widening(500, second) for second in range(500, 5000, 37)]
    assert 1 < min(found) < max(found) < 1.06
    assert ranks.rank_sum_widening(10**6, 10**6) < 1.021


@pytest.mark.parametrize("n", [4, 5, 8, 15, 40])
def test_signed_ranks_and_kendall_are_dominated_in_cubes(n):
    """E (Y - h)_+^3 is at most a normal's, for the deviation each proof asks for; 15% wider it is not."""
    wider = np.sqrt((1 + sum(j * j / 3 for j in range(3, n + 1))) / (n * (n - 1) * (2 * n + 5) / 18))
    kendall_z, kendall_mass = kendall_law(n)
    for z, mass in (signed_rank_law(n), (kendall_z / wider, kendall_mass)):
        assert np.all(cubes((z, mass), H) <= NORMAL_CUBES + 1e-12)
        assert not np.all(cubes((1.15 * z, mass), H) <= NORMAL_CUBES + 1e-12)


@pytest.mark.parametrize("n", [5, 6, 10, 30])
def test_the_tails_of_signed_ranks_and_kendall_cover_exact_ones(n):
    """P(Y >= t) lies under the safe tail at every t, and by no more than the price of the power."""
    for law, survival in (
        (signed_rank_law(n), discreet.SignedRank(alternative="greater").survival(n)),
        (kendall_law(n), discreet.Correlation(partner="y", alternative="greater").survival(n)),
    ):
        z, mass = law
        exact = np.cumsum(mass[::-1])[::-1]
        use = z > 0
        assert np.all(exact[use] <= survival(z[use]) * ROOM)
    t = np.linspace(1, 8, 50)
    assert np.all(tails.normal_cubed(t) <= 1.02 * 2 * np.e**3 / 9 * ndtr(-t))


def test_strata_are_tested_validly_under_permutation():
    """Over all ways to draw the groups by lot inside strata, P(score >= s) <= normal tail."""
    labels = {"g": np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 1]), "s": np.repeat([0, 1], 5)}
    tests = [
        discreet.Stratified(group="g", stratum="s", strata=(0, 1), bounds=(0, 1), **chosen)
        for chosen in ({}, {"floor": 0.1}, {"floor": 0.4})
    ]
    half = list(itertools.permutations(range(5)))
    for table in tables_to_permute(10, 5):
        columns = [np.append(table[list(a)], table[5:][list(b)]) for a in half[::3] for b in half[::3]]
        for test in tests:
            assert (
                excess(evidence_of(test, np.array(columns).T, labels)) <= 1.1
            )  # a third of the orders: not exactly all draws


def test_a_score_map_is_gentle_and_valid():
    """A score never climbs faster than the limit, never falls, and never beats its p-value."""
    survival = tails.bernoulli_sum(400, 0.5, 12.0)
    steps = score_map(survival, 0.1, 12.0, multiple=1.0)
    assert 0.999 * SLOPE * 0.1 <= steps.move(0.1) <= 1.001 * SLOPE * 0.1
    assert steps.move(0.05) >= steps.move(0.1) * 8 / 16
    # Half a move may cross one step more than half of the steps.
    assert steps.move(0.05) <= steps.move(0.1) * 9 / 16 * ROOM
    assert steps.step * (steps.scores.size - 1) <= 12.0
    assert np.all(np.diff(steps.scores) >= 0)
    t = np.linspace(0.01, 12, 999)
    assert np.all(ndtr(-steps(t)) >= np.where(steps(t) > 0, survival(t), 0) / ROOM)


@pytest.mark.parametrize("times", [1.3, 2.2, 9.0])
def test_a_tail_some_times_the_normal_one_costs_no_steepness(times):
    """The law of a map may be a multiple of the normal tail: valid for it alone, as sharp as the tail."""

    def survival(t):
        return np.minimum(times * ndtr(-t), 1.0)

    steps, one = score_map(survival, 0.1, 12.0), score_map(survival, 0.1, 12.0, multiple=1.0)
    t = np.linspace(0.01, 11.9, 2_000)
    null = discreet.Null("normal", steps.top, "proved", multiple=steps.multiple)
    assert np.all(null.survival(steps(t)) >= np.minimum(survival(t), 0.5) / ROOM)
    assert np.any(ndtr(-steps(t)) < survival(t) / ROOM) == (
        steps.multiple > 1
    )  # the twin: the law without it
    far = t > 3
    assert np.all(null.survival(steps(t[far])) <= survival(t[far] - 2 * steps.step) * 1.1)
    assert times < 1.5 or np.all(ndtr(-one(t[far & (t < 4)])) > 1.2 * survival(t[far & (t < 4)]))


def test_gentle_keeps_what_already_climbs_slowly():
    """Scores that climb within the limit are returned as they are."""
    scores = np.array([0.0, 0.5, 1.0, 1.0, 1.9])
    assert np.allclose(gentle(scores, 1.0), scores)
    assert np.allclose(gentle(np.array([0.0, 0.0, 5.0, 5.0]), 1.0), [0, 0, 1, 2])


def test_scores_on_both_sides_of_zero_may_be_farther_apart():
    """Where scores rise fast near zero, those of statistics of opposite signs are; wrong twin: one side."""
    steps = ScoreMap(1.0, np.array([0.0, 1.0, 1.5, 1.6, 1.7]))
    assert steps.across(2.0) == 2.0
    assert steps.across(3.0) == 2.5
    assert steps.move(2.0) < steps.across(2.0)


def test_a_score_map_with_more_influence_than_height_has_one_step():
    """When one person can do anything, the certificate is the whole height."""
    steps = score_map(tails.normal, 50.0, 2.0)
    assert steps.scores.size == 2
    assert steps.move(50.0) == steps.top


def sum_law(steps, chances, sizes):
    """Return the exact law of a sum of independent terms on whole numbers: place and chance."""
    width = 2 * max(abs(step) for step in steps) + 1
    length = 1 << int(np.ceil(np.log2(sum(sizes) * width)))
    frequency = np.exp(2j * np.pi * np.arange(length)[:, None] * np.array(steps) / length)
    mass = np.fft.fft(
        np.prod([(frequency @ p) ** n for p, n in zip(chances, sizes, strict=True)], axis=0)
    ).real
    place = np.fft.fftfreq(length, 1 / length)
    order = np.argsort(place)
    return place[order], np.maximum(mass[order] / length, 0.0)


TERMS = [
    ((-1, 1), [[0.5, 0.5]], (900,)),
    ((-3, 1, 2), [[0.25, 0.75, 0.0], [0.4, 0.0, 0.6]], (300, 300)),
    ((-1, 3), [[0.75, 0.25]], (500,)),
    ((-1, 9), [[0.9, 0.1]], (2000,)),
    ((-4, -1, 0, 1, 4), [[0.1, 0.1, 0.6, 0.1, 0.1], [0, 0.5, 0, 0.5, 0]], (200, 2000)),
]


@pytest.mark.parametrize(("steps", "chances", "sizes"), TERMS)
@pytest.mark.parametrize("share", [1.0, 0.9, 0.5])
def test_tilted_sums_stay_under_their_bound(steps, chances, sizes, share):
    """Exact laws of bounded terms, some of less variance than allowed; far smaller terms would not do."""
    place, mass = sum_law(steps, chances, sizes)
    moment = [
        sum(n * np.dot(p, np.array(steps) ** k) for p, n in zip(chances, sizes, strict=True)) for k in (2, 3)
    ]
    unit = np.sqrt(moment[0] / share)
    bound = max(map(abs, steps)) / unit
    t = place / unit
    use = (t > 0.2) & (t < 5)
    tail = np.cumsum(mass[::-1])[::-1][use]
    skew = float(np.clip(moment[1] / unit**3 / bound, 0, 1))
    assert np.all(tail <= tails.tilted_sum(bound)(t[use]) * ROOM)
    assert np.all(tail <= tails.tilted_sum(bound, skew=skew)(t[use]) * ROOM)
    length = (max(steps) - min(steps)) / unit
    spans = sum(sizes) * length**2
    assert np.all(tail <= tails.tilted_sum(length, spans=spans)(t[use]) * ROOM)
    assert np.all(tail <= tails.near_normal(length, t[use], spans=spans) * ROOM)
    if steps == (-1, 1):
        assert np.all(tail <= tails.signs(bound)(t[use]) * ROOM)
        # If terms were far smaller than they are, the atoms of coins would not be covered.
        small = tails.tilted_sum(length / 100, spans=spans)(t[use])
        assert share < 1 or not np.all(tail <= small)
        assert share < 1 or not np.all(tail <= tails.tilted_sum(bound / 100, fair=True)(t[use]))
        light = tails.bounded_sum(sum(sizes), length, 12.0, both=True, light=True)(t[use])
        assert np.all(tail <= light * ROOM)
        assert share < 1 or np.max(light[t[use] > 2] / norm.sf(t[use])[t[use] > 2]) < 3
    if share == 1 and len(steps) == 2:
        assert not np.all(tail <= tails.tilted_sum(bound / 100)(t[use]))
