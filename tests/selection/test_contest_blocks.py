"""Scores in blocks: counted and drawn apart, the histogram, the answer and its law are those of one array."""

import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from budget import assert_frequencies, must_fail
from discreet.lab import outcomes
from discreet.methods.aware import count
from discreet.noise.laws import GUMBEL, LAPLACE
from discreet.selection.contest import contest

X = np.array([0.0, 0.7, -0.4, 1.1, 0.7])
RUNS = 4_000


def in_blocks(x, scale, k, law, edges, sent=None):
    """Return the k largest of blocks that contend apart, merged in a tree; each sends its best `sent`."""
    parts = [
        contest.contenders(x[low:high], scale, sent or k, law, low) for low, high in itertools.pairwise(edges)
    ]
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]  # noqa: S301 - our own bytes
    while len(parts) > 1:
        parts = [contest.best(parts[i : i + 2], scale, sent or k, law) for i in range(0, len(parts), 2)]
    return contest.ranked(parts[0], scale, k, law)


def test_the_same_bits_give_the_same_answer(monkeypatch):
    """With the uniforms fixed, blocks of any size give the answer of the whole, small and sieved."""
    rng = np.random.default_rng(6)
    for m, k in ((60, 7), (30_000, 25)):
        x = rng.standard_normal(m)
        high, low = rng.integers(0, 2**16, m, dtype=np.uint16), rng.integers(0, 2**64, m, dtype=np.uint64)
        for law in (GUMBEL, LAPLACE):
            monkeypatch.setattr(contest, "_SMALL", m)  # everyone is drawn: no line, the bits are ours
            answers = []
            for edges in ([0, m], [0, 5, m], [0, m // 3, m // 3 + 2, m - 9, m]):
                for_block = iter([half[a:b] for a, b in itertools.pairwise(edges) for half in (high, low)])
                monkeypatch.setattr(
                    contest, "entropy", SimpleNamespace(words=lambda *_, left=for_block: next(left).copy())
                )
                answers.append(in_blocks(x, 0.5, k, law, edges).tolist())
            assert answers[0] == answers[1] == answers[2]


def frequencies(x, k, edges, keys, sent=None):
    """Count how often each order comes out of blocks."""
    position = {key: i for i, key in enumerate(keys)}
    found = np.zeros(len(position))
    for _ in range(RUNS):
        found[position[tuple(in_blocks(x, 1.0, k, GUMBEL, edges, sent).tolist())]] += 1
    return found


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_the_law_of_blocks_is_exact(monkeypatch):
    """Orders of two fit the exact law of the whole; with blocks that send one too few they do not."""
    p = outcomes.softmax_orders(X, 1.0, 2)
    assert_frequencies(frequencies(X, 2, [0, 2, 5], p), p.values())
    monkeypatch.setattr(contest, "best", lambda parts, *_: contest.together(parts))
    wrong = frequencies(X, 2, [0, 2, 5], p, sent=1)
    weight, block = np.exp(X), np.arange(5) >= 2
    rivals = [weight[block == second].sum() for second in block]
    one_each = [
        0.0 if block[i] == block[j] else weight[i] * weight[j] / (weight.sum() * rivals[j]) for i, j in p
    ]
    must_fail(assert_frequencies, wrong, wrong=p.values(), truth=one_each)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_the_law_of_sieved_blocks_is_exact(monkeypatch):
    """The same when every block is sieved; the law of half the scale is refuted."""
    monkeypatch.setattr(contest, "_SMALL", 0)
    monkeypatch.setattr(contest, "_FEW", 0)
    x = np.concatenate([X, X[::-1] + 0.3])
    p, wrong = outcomes.softmax_orders(x, 1.0, 1), outcomes.softmax_orders(x, 0.5, 1)
    found = frequencies(x, 1, [0, 5, 10], p)
    assert_frequencies(found, p.values())
    must_fail(assert_frequencies, found, wrong=wrong.values(), truth=p.values())


@settings(max_examples=40)
@given(
    arrays(np.float64, st.integers(2, 60), elements=st.floats(0, 20)),
    st.lists(st.integers(1, 59), max_size=4),
    st.floats(1e-3, 2.0),
)
def test_steps_of_blocks_are_those_of_the_whole(x, cuts, sensitivity):
    """Whole numbers in order: the private search sees the same thing, however the scores were cut."""
    edges = [0, *sorted({cut for cut in cuts if cut < x.size}), x.size]
    parts = [count.in_steps(x[low:high], sensitivity) for low, high in itertools.pairwise(edges)]
    whole, merged = count.in_steps(x, sensitivity), count.merged(parts)
    assert np.array_equal(merged, whole)
    assert merged.dtype == whole.dtype


def test_a_block_smaller_than_k_sends_everyone():
    """Blocks may be smaller than what is asked for; the printed form shows nothing."""
    part = contest.contenders(X[:2], 1.0, 4, GUMBEL, 3)
    assert part.index.tolist() == [3, 4]
    assert "private" in repr(part)
    assert sorted(in_blocks(X, 1.0, 5, GUMBEL, [0, 1, 3, 5]).tolist()) == [0, 1, 2, 3, 4]
