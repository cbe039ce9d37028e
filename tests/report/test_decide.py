"""Deciding again from what was told: any procedure, any number of times."""

import numpy as np
import pandas as pd
import pytest
from sample_releases import sample, told
from statsmodels.stats.multitest import multipletests

from discreet.classical.step_up import adaptive_bh
from discreet.errors import InputError

NAMES = {"bh": "fdr_bh", "by": "fdr_by", "holm": "holm", "bonferroni": "bonferroni"}


@pytest.mark.slow
@pytest.mark.parametrize("procedure", NAMES)
@pytest.mark.parametrize("k", [8, 30])
def test_procedures_are_those_of_statsmodels(procedure, k):
    """On all m hypotheses, those that were not told with p = 1; at the release's level or another."""
    release = told(3, m=30, k=k)
    everyone = np.ones(30)
    everyone[release.told.indices] = release.told.p_value
    for q, level in [(None, 0.1), (0.3, 0.3)]:
        found = release.decide(procedure, q=q)
        assert found.mask.tolist() == multipletests(everyone, level, NAMES[procedure])[0].tolist()
        assert found.names == tuple(f"measure {i}" for i in found.indices)
        assert (found.m, found.q, len(found)) == (30, level, found.count)
        assert found.threshold == everyone[found.indices].max(initial=0)
        assert f"of 30 hypotheses rejected at q = {level}" in str(found)


def test_adaptive_bh():
    """With the share of true nulls of all m hypotheses."""
    release = told(3, m=30, k=20)
    positions = adaptive_bh(release.told.p_value, 0.1, 30)
    assert {*release.decide("adaptive-bh").indices} == {*release.told.indices[positions]}


def test_weights_and_groups_by_name_or_in_order():
    """A list, an array, a mapping and a Series by name, in any order, mean the same."""
    release = told(3, m=30)
    names, rng = release.told.hypotheses, np.random.default_rng(2)
    order = rng.permutation(30)
    for procedure, option, each in [
        ("weighted-bh", "weights", rng.random(30)),
        ("grouped-bh", "groups", np.arange(30) % 4),
        ("hierarchical-bh", "groups", np.array(list("abcde"))[np.arange(30) % 5]),
    ]:
        shuffled = {names[i]: each[i] for i in order}
        forms = [each, each.tolist(), tuple(each), shuffled, pd.Series(shuffled), pd.Series(each)]
        results = [release.decide(procedure, **{option: form}) for form in forms]
        assert len({tuple(found.names) for found in results}) == 1
        assert results[0].count > 0
    heavy = release.decide("weighted-bh", weights={name: float(name == names[9]) for name in names})
    assert {*heavy.names} <= {names[9]}


def test_weights_of_a_release_that_tells_some():
    """In the order of all hypotheses; who was not told is not rejected, whatever its weight."""
    release = told(3, m=30, k=10)
    weights = np.where(np.isin(np.arange(30), release.told.indices), 1e-9, 1e9)
    assert release.decide("weighted-bh", weights=weights).count == 0
    assert release.decide("weighted-bh", weights=np.ones(30)).indices.tolist() == (
        release.decide("bh").indices.tolist()
    )
    with pytest.raises(InputError, match="give a list in their order"):
        release.decide("weighted-bh", weights={f"measure {i}": 1 for i in range(30)})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"procedure": "lasso"}, "procedure must be one of"),
        ({"q": 0}, "q must lie"),
        ({"weights": [1] * 30}, 'procedure "bh" does not take weights'),
        ({"procedure": "holm", "groups": [1] * 30}, 'procedure "holm" does not take groups'),
        ({"procedure": "weighted-bh"}, 'procedure "weighted-bh" needs weights'),
        ({"procedure": "grouped-bh", "weights": [1] * 30}, "does not take weights|needs groups"),
        ({"procedure": "weighted-bh", "weights": [1] * 29}, "one entry for each of 30 hypotheses"),
        ({"procedure": "weighted-bh", "weights": [0] * 30}, "not all 0"),
        ({"procedure": "weighted-bh", "weights": [-1, *[1] * 29]}, "at least 0"),
        ({"procedure": "weighted-bh", "weights": [np.nan, *[1] * 29]}, "no NaN"),
        ({"procedure": "weighted-bh", "weights": ["a"] * 30}, "weights"),
        ({"procedure": "weighted-bh", "weights": [[1]] * 30}, "weights"),
        ({"procedure": "weighted-bh", "weights": 1.0}, "weights must be a list"),
        ({"procedure": "weighted-bh", "weights": {str(i): 1 for i in range(30)}}, "by name"),
        ({"procedure": "weighted-bh", "weights": pd.Series(1, index=range(1, 31))}, "by name"),
        ({"procedure": "grouped-bh", "groups": [None, *[1] * 29]}, "one is missing"),
        ({"procedure": "hierarchical-bh", "groups": [np.nan, *[1] * 29]}, "one is missing"),
        ({"procedure": "grouped-bh", "groups": pd.Series([1, None] * 15, dtype="Int64")}, "one is missing"),
        ({"procedure": "grouped-bh", "groups": np.ones((30, 2))}, "by text or numbers"),
    ],
)
def test_what_cannot_decide_is_refused(arguments, words):
    """By name, with a remedy."""
    with pytest.raises(InputError, match=words):
        told(3, m=30).decide(**arguments)


def test_nothing_told_nothing_decided():
    """A release without p-values says which method tells them."""
    with pytest.raises(InputError, match='method="all"'):
        sample().decide()
