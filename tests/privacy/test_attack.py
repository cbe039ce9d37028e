"""An attacker searches adaptive strategies for a loss above the accounted one; none may exist."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.privacy.bounded_range import composed_delta


def tree_delta(genes, e, epsilon, rounds):
    """Return delta of each adaptive strategy in a population, by enumerating every path.

    genes: (population, nodes, 3) in [0, 1]: at each node the upper end t of the loss, the place of a third
    outcome between the ends, and its weight. A node is reached by the outcomes of the rounds before, so each
    round may depend on all of them. Nodes of one depth are stored together.
    """
    size = genes.shape[0]
    p, q = np.ones((size, 1)), np.ones((size, 1))
    first = 0
    for depth in range(rounds):
        t, place, weight = np.moveaxis(genes[:, first : first + 3**depth], -1, 0)
        first += 3**depth
        t = t * e
        top, bottom = np.exp(t), np.exp(t - e)
        middle = np.exp(t - e * place)
        # Under the second law: weight on the middle, the ends balanced so that the mean ratio is 1. The
        # weight that fits is limited by which side of 1 the middle lies on.
        room = np.where(
            middle > 1,
            (1 - bottom) / np.maximum(middle - bottom, 1e-12),
            (top - 1) / np.maximum(top - middle, 1e-12),
        )
        w = weight * np.minimum(room, 1.0)
        mass = 1 - w
        high = np.clip((1 - w * middle - mass * bottom) / (top - bottom), 0.0, mass)
        law = np.stack([high, mass - high, w], axis=-1)
        ratio = np.stack([top, bottom, middle], axis=-1)
        q, p = (q[..., None] * law).reshape(size, -1), (p[..., None] * law * ratio).reshape(size, -1)
    assert np.allclose(p.sum(axis=1), 1.0, atol=1e-9)
    return np.maximum(p - np.exp(epsilon) * q, 0.0).sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("e", "epsilon", "rounds"),
    [
        (1.0, 0.5, 1),
        (1.0, 0.0, 2),
        (1.0, 1.0, 2),
        (0.3, 0.45, 2),
        (3.0, 2.0, 2),
        (0.5, 0.7, 3),
        (2.0, 4.0, 3),
    ],
)
def test_no_adaptive_strategy_beats_the_recursion(e, epsilon, rounds):
    """Evolution over adaptive three-outcome strategies ends just below the recursion, never above."""
    rng = np.random.default_rng(7 * rounds)
    nodes = (3**rounds - 1) // 2
    claimed = composed_delta(epsilon, e, rounds)
    people = rng.random((600, nodes, 3))
    best = 0.0
    for step in range(150):
        scores = tree_delta(people, e, epsilon, rounds)
        assert scores.max() <= claimed * (1 + 1e-9)
        best = max(best, float(scores.max()))
        parents = people[np.argsort(scores)[-60:]]
        size = 0.3 * 0.96**step
        change = rng.normal(size=(540, nodes, 3)) * (rng.random((540, nodes, 3)) < 0.4) * size
        people = np.concatenate([parents, np.clip(np.tile(parents, (9, 1, 1)) + change, 0.0, 1.0)])
    # The attack is worth something only if it comes close.
    assert best >= 0.98 * claimed


def test_the_attack_finds_a_halved_range():
    """The twin that halves e is beaten at once."""
    people = np.random.default_rng(1).random((600, 4, 3))
    assert tree_delta(people, 1.0, 0.5, 2).max() > composed_delta(0.5, 0.5, 2)
