"""The mirror: its rule, its FDR, what it refuses."""

import numpy as np
import pytest

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import DiscreetError
from discreet.evidence.core.evidence import Evidence
from discreet.methods.mirror.rule import mirror_prefix
from discreet.privacy.account import account


def test_the_rule_is_the_longest_good_prefix():
    """Against a plain loop over all prefixes, on random signs."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        x = rng.normal(size=rng.integers(1, 30)) + rng.choice([0.0, 2.0])
        q = rng.choice([0.1, 0.3, 0.5])
        best = 0
        for j in range(1, x.size + 1):
            up = int((x[:j] > 0).sum())
            if (1 + j - up) <= q * max(up, 1):
                best = j
        assert mirror_prefix(x, q).tolist() == [i for i in range(best) if x[i] > 0]


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_fdr_of_the_rule_and_of_its_wrong_twin():
    """With fair signs among the nulls FDR <= q; rejecting every positive is not enough."""
    rng = np.random.default_rng(1)
    right, wrong = [], []
    for _ in range(4000):
        null = rng.random(60) < np.linspace(0.1, 1, 60)
        x = np.where(null, rng.choice([-1.0, 1.0], 60), 1.0)
        found = mirror_prefix(x, 0.2)
        right.append(null[found].mean() if found.size else 0.0)
        wrong.append(null[x > 0].mean())  # every positive, whatever the negatives say
    assert_mean_at_most(right, 0.2)
    must_fail(assert_mean_at_most, wrong, wrong=0.2, truth=0.3)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("k", [40, None])
def test_fdr_end_to_end(k):
    """Symmetric nulls, signals among them, noise that matters: FDR <= q and the events fit the budget."""
    rng = np.random.default_rng(2)
    false, power = [], []
    for _ in range(150):
        z = rng.standard_normal(400)
        z[:30] += 5
        found = discreet.release(
            Evidence.from_z(z, sensitivity=0.01, adjacency="replace", alternative="greater"),
            q=0.2,
            epsilon=1,
            delta=1e-6,
            method="mirror",
            k=k,
        )
        assert account(found.privacy.events, delta=1e-6) <= 1.0
        false.append(np.mean(found.indices >= 30) if len(found) else 0.0)
        power.append(np.count_nonzero(found.indices < 30) / 30)
    assert_mean_at_most(false, 0.2)
    must_fail(assert_mean_at_most, power, wrong=0.2, truth=0.8)


def test_what_the_proof_does_not_cover_is_refused():
    """p-values, two-sided scores, evidence from raw data, and delta = 0."""
    call = {"q": 0.1, "epsilon": 1, "delta": 1e-6, "method": "mirror"}
    with pytest.raises(DiscreetError, match="mirror"):
        discreet.private_bh(np.full(10, 0.5), eta=0.1, nu=1e-3, **call)
    with pytest.raises(DiscreetError, match="mirror"):
        discreet.release(
            Evidence.from_z(np.ones(10), sensitivity=0.1, adjacency="replace", alternative="two-sided"),
            **call,
        )
    with pytest.raises(DiscreetError, match="mirror"):
        discreet.release(
            discreet.measure(np.ones((9, 3)), discreet.Proportion(null=0.5, alternative="greater")), **call
        )
    with pytest.raises(DiscreetError, match="delta"):
        discreet.release(
            Evidence.from_z(np.ones(10), sensitivity=0.1, adjacency="replace", alternative="greater"),
            **(call | {"delta": 0}),
        )


@pytest.mark.parametrize("signed", [[1.0, np.nan], [1.0, 99.0], [1.0]])
def test_signed_scores_that_could_jump_are_refused(signed):
    """NaN, scores beyond the ceiling and a wrong number of them are refused where evidence is made."""
    right = Evidence.from_z(
        [1.0, -1.0], sensitivity=0.1, adjacency="replace", ceiling=9.0, alternative="greater"
    )
    with pytest.raises(DiscreetError, match="signed"):
        Evidence(right.names, right.score, right.null, right.certificate, np.array(signed))


def test_signed_scores_are_as_private_as_scores():
    """Neither repr nor str shows them, and they are clipped."""
    evidence = Evidence.from_z(
        np.array([-99.0, 1.2345, 99.0]),
        sensitivity=0.1,
        adjacency="replace",
        ceiling=9.0,
        alternative="greater",
    )
    assert evidence.signed.tolist() == [-9.0, 1.2345, 9.0]
    assert "1.2345" not in repr(evidence) + str(evidence)
