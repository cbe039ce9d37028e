"""Familywise, weighted, grouped and hierarchical procedures: their definitions, and their error rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests
from test_laws import P, Q

import budget
from discreet.classical.familywise import bonferroni, holm
from discreet.classical.step_up import adaptive_bh, step_up_positions
from discreet.classical.structured import grouped_bh, hierarchical_bh, weighted_bh

WHOLE = st.lists(st.integers(0, 2**20), min_size=1, max_size=30).map(lambda p: np.array(p) / 2**20)
LEVELS = st.sampled_from([0.05, 0.1, 0.25])


@pytest.mark.slow
@given(WHOLE, LEVELS, st.integers(0, 10))
def test_familywise_procedures_are_those_of_statsmodels(p, q, more):
    """Holm and Bonferroni reject the same; hypotheses that are not told count as p = 1."""
    everyone = np.append(p, np.ones(more))
    for ours, theirs in [(holm, "holm"), (bonferroni, "bonferroni")]:
        expected = np.flatnonzero(multipletests(everyone, q, method=theirs)[0]).tolist()
        assert ours(p, q, everyone.size).tolist() == ours(everyone, q).tolist() == expected


def groups_of(p, draw):
    numbers = draw(st.lists(st.integers(0, 4), min_size=p.size, max_size=p.size))
    return np.unique(numbers, return_inverse=True)[1]


@given(P, Q, st.data())
def test_equal_weights_are_none(p, q, data):
    """Weighted BH with equal weights is BH, but never rejects p = 1; weight 0 is never rejected."""
    plain = [i for i in step_up_positions(np.where(p < 1, p, np.inf), q).tolist() if p[i] < 1]
    assert weighted_bh(p, q, np.ones(p.size)).tolist() == plain
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=p.size, max_size=p.size)), float)
    if weights.any():
        found = weighted_bh(p, q, weights)
        assert (weights[found] > 0).all()
        assert (p[found] < 1).all()


@given(P, Q, st.data())
def test_weighted_bh_is_its_definition(p, q, data):
    """Reject the largest j hypotheses with p/w <= q*j/m, w scaled to a mean of 1."""
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=p.size, max_size=p.size)), float)
    scaled = weights / weights.mean()
    ratio = [x / w if x < 1 else np.inf for x, w in zip(p, scaled, strict=True)]
    m = p.size
    count = max((j for j in range(1, m + 1) if sorted(ratio)[j - 1] <= q * j / m), default=0)
    expected = [i for i in range(m) if count and ratio[i] <= q * count / m]
    assert weighted_bh(p, q, weights).tolist() == expected


@given(P, Q, st.data())
def test_grouped_bh_is_its_definition(p, q, data):
    """Each group's p-values times its factor, then BH without p-values above q; one group is adaptive BH."""
    groups, m = groups_of(p, data.draw), p.size
    small = {g: sum(p[groups == g] <= q) for g in set(groups.tolist())}
    total = sum(small.values()) + len(small) - 1

    def stretched(i):
        if p[i] > q:
            return np.inf
        g = int(groups[i])
        return p[i] * ((sum(groups == g) - small[g] + 1) * total / (m * (1 - q) * small[g]))

    each = [stretched(i) for i in range(m)]
    count = max((j for j in range(1, m + 1) if sorted(each)[j - 1] <= q * j / m), default=0)
    expected = {i for i in range(m) if count and each[i] <= q * count / m}
    near = {i for i in range(m) if np.isclose(each[i] * m / q, np.round(each[i] * m / q), rtol=1e-9)}
    if not near - {i for i in range(m) if each[i] == 0}:
        assert {*grouped_bh(p, q, groups).tolist()} == expected
        assert grouped_bh(p, q, np.zeros(m, int)).size == adaptive_bh(p, q).size


@given(WHOLE, LEVELS, st.data())
def test_hierarchical_bh_is_its_definition(p, q, data):
    """Simes' p-values of groups, BH on them, BH inside those found at a level of their share."""
    groups = groups_of(p, data.draw)
    names = sorted(set(groups.tolist()))
    simes = [min(n * x / j for j, x in enumerate(sorted(p[groups == g]), 1))
             for g in names for n in [sum(groups == g)]]  # fmt: skip
    found = [names[i] for i in step_up_positions(np.array(simes), q)]
    expected = set()
    for g in found:
        inside = np.flatnonzero(groups == g)
        expected |= set(inside[step_up_positions(p[inside], q * len(found) / len(names))].tolist())
    assert {*hierarchical_bh(p, q, groups).tolist()} == expected


def study(rng, shares, size=10, effect=2.5):
    """Return p-values in groups with a share of signals each, the groups, and which nulls are true."""
    null = np.concatenate([np.arange(size) >= share * size for share in shares])
    z = rng.normal(size=null.size) + np.where(null, 0, effect)
    return norm.sf(z), np.repeat(np.arange(len(shares)), size), null


def false_share(found, null):
    return null[found].mean() if found.size else 0.0


@pytest.mark.slow
@pytest.mark.statistical(5, twins=2)
def test_false_discoveries_of_weighted_and_grouped_bh():
    """At most q for weights and groups fixed in advance; weights, or groups, that look at p fail."""
    rng, q = np.random.default_rng(8), 0.2
    weighted, grouped, no_signal, peeked, peeked_groups = [], [], [], [], []
    for _ in range(2000):
        p, groups, null = study(rng, [0.8, 0.2, 0, 0])
        weighted.append(false_share(weighted_bh(p, q, np.array([3.0, 2, 1, 0.5])[groups]), null))
        grouped.append(false_share(grouped_bh(p, q, groups), null))
        p = rng.random(p.size)
        no_signal.append(grouped_bh(p, q, groups).size > 0)
        peeked.append(weighted_bh(p, q, 1 / (p + 1e-3)).size > 0)
        peeked_groups.append(grouped_bh(p, q, (p > 0.1).astype(int)).size > 0)
    for found in (weighted, grouped, no_signal):
        budget.assert_mean_at_most(found, q)
    for found in (peeked, peeked_groups):
        budget.must_fail(budget.assert_mean_at_most, found, q, truth=0.6)


@pytest.mark.slow
@pytest.mark.statistical(3, twins=1)
def test_false_discoveries_of_hierarchical_bh():
    """The mean over found groups of the false share inside is at most q; with a fixed level, it is not."""
    rng, q = np.random.default_rng(9), 0.2
    inside, among, careless = [], [], []
    for _ in range(2000):
        p, groups, null = study(rng, [0.3, *[0] * 9])
        found = hierarchical_bh(p, q, groups)
        picked = np.unique(groups[found])
        members = [np.flatnonzero(groups == g) for g in picked]
        inside.append(np.mean([null[found[groups[found] == g]].mean() for g in picked] or [0]))
        careless.append(np.mean([null[s[step_up_positions(p[s], 0.5)]].mean() for s in members] or [0]))
        among.append(np.mean([null[s].all() for s in members] or [0]))
    budget.assert_mean_at_most(inside, q)
    budget.assert_mean_at_most(among, q)
    budget.must_fail(budget.assert_mean_at_most, careless, q, truth=0.35)
