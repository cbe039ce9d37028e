"""Two groups compared among the people present: certificate, effects, null law, missing values."""

from __future__ import annotations

from functools import partial
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbour_tables import all_tables
from scipy.special import ndtr
from scipy.stats import hypergeom

from budget import assert_mean_at_most, must_fail
from discreet.errors import InputError
from discreet.evidence.compare import Compare
from discreet.evidence.core import tails
from discreet.evidence.core.cap import Cap, answers_tail, caps, ranks_tail
from discreet.evidence.core.compared import compared, pairs_of
from discreet.evidence.core.people import People, Question

NAN = np.nan
ROOM = 1 + 1e-9


def people(values, group, *, answers=False, protect="everything", alternative="two-sided", bounds=None):
    """Return people whose columns are all numbers, or all answers."""
    values = np.asarray(values, dtype=np.float64)
    names = [str(i) for i in range(values.shape[1])]
    questions = tuple(Question(name, slice(i, i + 1), answers, bounds) for i, name in enumerate(names))
    return People(names, questions, alternative, protect, values, np.asarray(group, dtype=np.int8))


def moves(answers, protect, n, alphabet, what):
    """Return the largest move of any score when one person is replaced, over all tables, and its bound."""
    labels = [0, 1, -1] if protect == "everything" else [0, 1]
    tables = all_tables(alphabet, n)
    scores, bounds = [], {}
    for group in product(labels, repeat=n):
        if protect == "columns" and len(set(group)) < 2:
            scores.append(np.zeros(tables.shape[1]))
            continue
        table = people(tables, group, answers=answers, protect=protect)
        evidence = compared(table, directed=what == "signed")
        scores.append(evidence.effect.share if what == "effect" else getattr(evidence, what))
        bounds[frozenset([0]) if protect == "everything" else group] = (
            evidence.effect.sensitivity if what == "effect" else evidence.certificate.sensitivity
        )
    cube = np.array(scores).reshape((len(labels),) * n + (len(alphabet),) * n)
    if protect == "everything":
        worst = max(np.max(np.ptp(cube, axis=(person, n + person))) for person in range(n))
        return worst, max(bounds.values())
    ratios = [
        max(np.ptp(cube[group], axis=person).max() for person in range(n)) / bound
        for group, bound in bounds.items()
    ]
    return max(ratios), 1.0


@pytest.mark.slow
@pytest.mark.parametrize("what", ["score", "signed", "effect"])
@pytest.mark.parametrize("protect", ["everything", "columns"])
@pytest.mark.parametrize(("answers", "n", "alphabet"), [(False, 4, [0, 1, 2, NAN]), (True, 5, [0, 1, NAN])])
def test_no_neighbouring_table_exceeds_the_certificate(answers, n, alphabet, protect, what):
    """All small tables; value, presence and, where it is protected, the group change at once."""
    moved, bound = moves(answers, protect, n, alphabet, what)
    assert moved <= bound * ROOM


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 120),
    new=st.lists(st.sampled_from([0.0, 0.3, 1.0, 7.0, -np.inf, np.inf, NAN]), min_size=6, max_size=6),
    label=st.sampled_from([0, 1, -1]),
    protect=st.sampled_from(["everything", "columns"]),
)
def test_one_person_moves_nothing_beyond_the_certificate(seed, n, new, label, protect):
    """Numbers and answers of strong and weak columns; a row replaced by anything, the group too."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([[0, 1], rng.choice([0, 1, -1], n)])
    values = rng.random((n + 2, 6)).round(1) + np.linspace(0, 2, 6) * group[:, None]
    values[rng.random(values.shape) < rng.random()] = NAN
    person = int(rng.integers(2, n + 2))
    changed, moved = values.copy(), group.copy()
    changed[person] = new
    moved[person] = label if protect == "everything" else group[person]
    questions = Question("x", slice(0, 3), answers=False), Question("a", slice(3, 6), answers=True)
    before, after = (
        compared(
            People(list("abcdef"), questions, "two-sided", protect, table, who.astype(np.int8)), directed=True
        )
        for table, who in ((values, group), (changed, moved))
    )
    assert before.certificate == after.certificate
    assert before.effect.sensitivity == after.effect.sensitivity
    assert np.max(np.abs(after.score - before.score)) <= before.certificate.sensitivity * ROOM
    assert np.max(np.abs(after.signed - before.signed)) <= before.certificate.sensitivity * ROOM
    assert np.max(np.abs(after.effect.share - before.effect.share)) <= before.effect.sensitivity


def counted(levels, n):
    """Return how many people are in each state: the first group's levels, the second's, absent."""
    states = 2 * levels + 1
    rows = [np.bincount(one, minlength=states) for one in combinations_with_replacement(range(states), n)]
    return np.array(rows, dtype=np.float64)


def raw(cap, tables, levels):
    """Return |z| of tables given by counts."""
    first, second = tables[:, :levels], tables[:, levels : 2 * levels]
    sizes = first.sum(axis=1), second.sum(axis=1)
    sign = np.sign(np.arange(levels)[:, None] - np.arange(levels))
    excess = np.einsum("ti,ij,tj->t", second, sign, first) / 2
    if levels > 2:
        return np.abs(excess / cap.of_ranks(*sizes))
    yes = first[:, 1] + second[:, 1]
    return np.abs(2 * excess / np.maximum(sum(sizes), 1) / cap.of_answers(*sizes, yes))


def worst_ratio(cap, levels, n):
    """Return the largest (z' - z)/(influence + grow z) over all tables of n people and their neighbours."""
    others = counted(levels, n - 1)
    every = np.array([raw(cap, others + one, levels) for one in np.eye(2 * levels + 1)])
    inside = [*range(levels), 2 * levels], [*range(levels, 2 * levels + 1)]
    worst = 0.0
    for states in [range(2 * levels + 1)] if cap.protected else inside:
        z = every[list(states)]
        rise = z.max(axis=0) - z
        worst = max(worst, float(np.max(rise / (cap.influence + cap.grow * z))))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
@pytest.mark.parametrize(
    ("levels", "n", "kind"), [(3, 13, 0), (2, 22, 1), (2, 40, 1)], ids=["ranks", "22 answers", "40 answers"]
)
@pytest.mark.parametrize("sizes", [(6, 6), (20, 40)])
def test_the_cap_holds_where_the_deviation_is_the_columns_own(levels, n, kind, protected, sizes):
    """The lemma's inequality over all tables of so many people; it is reached."""
    cap = caps(*sizes, protected=protected)[kind]
    assert 0.95 < worst_ratio(cap, levels, n) <= ROOM


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "n", "kind"), [(3, 13, 0), (2, 40, 1)], ids=["ranks", "answers"])
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
def test_less_than_the_cap_is_refused(levels, n, kind, protected):
    """Where S moves with a person, its growth is needed; only the ranks of public groups do without."""
    cap = caps(6, 6, protected=protected)[kind]
    still = Cap(cap.influence, 0.0, cap.share, protected)
    assert (worst_ratio(still, levels, n) > 1.1) == (cap.grow > 0)


SIZES = [(10, 10), (5, 15), (20, 20), (8, 32), (30, 30), (6, 54), (50, 50)]


def rank_law(ties, drawn):
    """Return the values of U - n1 n2/2 and their chances, when `drawn` people are drawn by lot."""
    ties = np.asarray(ties)
    people = int(ties.sum())
    doubled = np.repeat(2 * np.cumsum(ties) - ties + 1, ties)
    ways = np.zeros((drawn + 1, int(doubled.sum()) + 1))
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    law = ways[drawn] / ways[drawn].sum()
    at = np.flatnonzero(law)
    return (at - drawn * (people + 1)) / 2, law[at]


def tie_patterns(people):
    """Return how many people share each value: nobody, half, an end, few levels."""
    part = people // 3
    yield [1] * people
    yield [people // 2, people - people // 2]
    yield [part, people - part]
    yield [people - part] + [1] * part
    yield [part] + [1] * (people - part)
    yield [people // 5] * 4 + [people - 4 * (people // 5)]


def excess_over_tail(z, law, tail):
    """Return the largest P(z >= t)/tail(t), where a score is above 0."""
    order = np.argsort(z)
    z, beyond = z[order], np.cumsum(law[order][::-1])[::-1]
    bound = tail(z)
    used = (bound < 0.5) & (beyond > 1e-12) & (z > 0)
    return float(np.max(beyond[used] / bound[used], initial=0.0))


def worst_of_ranks(tail, protected):
    """Return the largest ratio over sizes, presence, ties and both sides."""
    worst = 0.0
    for first, second in SIZES:
        cap = caps(first, second, protected=protected)[0]
        for here, there in [(first, second), (first - first // 5, second), (first, second // 2)]:
            for ties in tie_patterns(here + there):
                values, law = rank_law(ties, there)
                z = values / cap.of_ranks(np.array(float(here)), np.array(float(there)))
                worst = max(worst, *(excess_over_tail(side * z, law, partial(tail, cap)) for side in (1, -1)))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
def test_ranks_are_no_more_extreme_than_their_tail(protected):
    """Exact laws, whatever the ties and whoever is missing; the plain normal tail is exceeded."""
    assert 0.9 < worst_of_ranks(ranks_tail, protected) <= 1
    assert worst_of_ranks(lambda _, t: tails.normal(t), protected) > 1


def worst_of_answers(tail, protected, sizes):
    """Return the largest ratio over presence, numbers of yes, and both sides."""
    worst = 0.0
    for first, second in sizes:
        cap = caps(first, second, protected=protected)[1]
        for kept, other in product((0.1, 0.4, 0.7, 1.0), repeat=2):
            here, there = max(1, round(kept * first)), max(1, round(other * second))
            for yes in np.unique(np.linspace(1, here + there - 1, 60).astype(int)):
                count = np.arange(max(0, yes - here), min(there, yes) + 1)
                law = hypergeom.pmf(count, here + there, there, yes)
                deviation = cap.of_answers(*(np.array(float(one)) for one in (here, there, yes)))
                z = (count - yes * there / (here + there)) / deviation
                worst = max(worst, *(excess_over_tail(side * z, law, partial(tail, cap)) for side in (1, -1)))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
def test_answers_are_no_more_extreme_than_their_tail(protected):
    """Exact laws at every size and rate; the tail for ranks, less skewed, is exceeded."""
    sizes = [*SIZES, (100, 100), (450, 50), (500, 500)]
    assert 0.9 < worst_of_answers(answers_tail, protected, sizes) <= 1
    assert worst_of_answers(ranks_tail, protected, [(450, 50)]) > 1.2


def p_values(evidence):
    """Return the p-values of all scores."""
    return evidence.null.survival(evidence.score)


@pytest.mark.slow
@pytest.mark.statistical(4, twins=2)
@pytest.mark.parametrize(("lost", "other"), [(0.1, 0.03), (0.3, 0.1)])
@pytest.mark.parametrize("answers", [False, True])
def test_missing_more_in_one_group_finds_nothing(answers, lost, other):
    """p-values of null columns stay valid; imputed in the middle, most columns would be found."""
    rng = np.random.default_rng(5)
    group = rng.integers(0, 2, 4_000)
    values = rng.beta(2, 8, (4_000, 1_500))
    values = (values < 0.15).astype(float) if answers else values
    gone = rng.random(values.shape) < np.where(group == 1, lost, other)[:, None]
    for protect in ("everything", "columns"):
        evidence = compared(people(np.where(gone, NAN, values), group, answers=answers, protect=protect))
        assert_mean_at_most(p_values(evidence) <= 0.05, 0.05)
        imputed = compared(
            people(np.where(gone, not answers, values), group, answers=answers, protect=protect)
        )
        must_fail(assert_mean_at_most, p_values(imputed) <= 0.05, wrong=0.05, truth=0.3)


@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_missing_values_turn_no_sign(protect):
    """The group with larger values misses more of them: it is still larger."""
    rng = np.random.default_rng(6)
    group = np.arange(20_000) % 2
    values = rng.random((20_000, 1)) + 0.1 * group[:, None]
    values[(rng.random(20_000) < 0.4) & (group == 1)] = NAN
    evidence = compared(people(values, group, protect=protect, alternative="greater"))
    assert evidence.score[0] > 10
    assert evidence.effect.share[0] > 0.1


def test_numbers_and_answers_share_one_certificate():
    """Answers of the same people, as numbers and as answers, differ only in the deviation they are over."""
    rng = np.random.default_rng(7)
    group = rng.integers(-1, 2, 3_000)
    yes = (rng.random((3_000, 1)) < 0.3 + 0.1 * group[:, None]).astype(float)
    questions = Question("number", slice(0, 1), answers=False), Question("answer", slice(1, 2), answers=True)
    both = People(["number", "answer"], questions, "greater", "everything", np.hstack([yes, yes]), group)
    evidence = compared(both, sizes=(1_000, 1_000))
    assert evidence.score[1] > evidence.score[0] > 3
    assert evidence.effect.share[0] == evidence.effect.share[1]
    halves = compared(both)  # of everyone: more than are in the groups
    assert halves.certificate.sensitivity < evidence.certificate.sensitivity
    assert halves.score[0] < evidence.score[0]


@pytest.mark.parametrize("answers", [False, True])
def test_columns_that_say_nothing_score_nothing(answers):
    """Constant, missing, or only one group present: a score of 0, whoever is in the table."""
    group = np.array([0, 0, 0, 1, 1, 1] * 20)
    values = np.array([[1, NAN, 1], [1, NAN, 0]] * 60, dtype=float)
    values[group == 1, 2] = NAN
    evidence = compared(people(values, group, answers=answers))
    assert not evidence.score.any()
    assert not evidence.effect.share.any()
    assert not compared(people(values, -np.ones(120), answers=answers)).score.any()


def test_nobody_in_a_public_group_is_said():
    """Who is in which group being public, an empty one is refused."""
    with pytest.raises(InputError, match="both groups need people"):
        compared(people(np.ones((4, 1)), [0, 0, 0, 0], protect="columns"))


def test_entries_that_are_no_answers_count_as_yes_or_no():
    """Whatever an answer holds, it moves the counts by one at most."""
    group = np.arange(200) % 2
    odd = compared(people(np.where(group, 1e9, -np.inf)[:, None], group, answers=True))
    assert odd.score == compared(people(group[:, None], group, answers=True)).score


def test_numbers_beyond_the_bounds_count_as_the_bound():
    """With bounds, everything above them is tied."""
    rng = np.random.default_rng(8)
    group = np.arange(500) % 2
    values = rng.normal(size=(500, 1)) + group[:, None] / 4
    clipped = compared(people(np.clip(values, -1, 1), group))
    assert (
        compared(people(values, group, bounds=(-1, 1))).score
        == clipped.score
        != compared(people(values, group)).score
    )


def test_the_score_of_ranks_is_z_less_half_a_step():
    """Without ties or missing values nothing but the lattice's half step is lost against the textbook."""
    rng = np.random.default_rng(9)
    group = np.arange(10_000) % 2
    values = rng.normal(size=(10_000, 1)) + 0.1 * group[:, None]
    evidence = compared(people(values, group))
    ranks = values[:, 0].argsort().argsort() + 1
    z = (ranks[group == 1].sum() - 5_000 * 10_001 / 2) / np.sqrt(5_000**2 * 10_001 / 12)
    assert 4 < z < 5
    assert z - evidence.certificate.sensitivity < evidence.score[0] < z
    assert p_values(evidence)[0] >= 2 * ndtr(-z)


def test_group_and_levels_may_be_given_by_position():
    """Compare("arm", ("a", "b")) is what a reader takes it for; what follows needs its name."""
    assert Compare("arm", ("a", "b")) == Compare(group="arm", levels=("a", "b"))
    with pytest.raises(TypeError, match="positional"):
        Compare("arm", ("a", "b"), "greater")


def test_pairs_that_are_counted_already_give_the_same_scores():
    """The look counts them once, also for the selection after it, whatever sizes each of them learned."""
    rng = np.random.default_rng(1)
    table = people(np.round(rng.standard_normal((60, 4)), 1), rng.integers(0, 2, 60))
    counted = pairs_of(table)
    for sizes in ((30.0, 30.0), (20.0, 40.0)):
        again = compared(table, sizes=sizes, pairs=counted)
        assert np.array_equal(again.score, compared(table, sizes=sizes).score)
