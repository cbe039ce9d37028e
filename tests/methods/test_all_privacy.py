"""The geometry of contrasts: how far one person moves sums, against all neighbours of small blocks."""

from itertools import product

import numpy as np
import pytest

RNG = np.random.default_rng(4)


def answers(centre):
    """Return what one person may show of a question: one answer, or none."""
    return np.vstack([np.zeros(len(centre)), np.eye(len(centre)) - centre])


def size(vectors):
    """Return R and W of a set of vectors."""
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=-1).max()
    return np.linalg.norm(vectors, axis=1).max(), apart


def moves(vectors, f, *, protected):
    """Return the largest move of U = sum (y - f) t over all pairs of neighbours."""
    people = [(y, t) for y in (0, 1) for t in vectors]
    pairs = [(p, q) for p, q in product(people, people) if protected or p[0] == q[0]]
    return max(np.linalg.norm((q[0] - f) * q[1] - (p[0] - f) * p[1]) for p, q in pairs)


@pytest.mark.parametrize("f", [0.5, 0.2, 0.93])
def test_contrasts_of_a_question(f):
    """Several answers: a W with public labels, max(a W, R) with protected ones; reached, never exceeded."""
    a = max(f, 1 - f)
    for centre in ([0.0, 0.0, 0.0], [0.2, 0.3, 0.5], [0.9, 0.4, -0.1, 0.2]):
        vectors = answers(np.array(centre))
        r, w = size(vectors)
        far = max(2, *(np.linalg.norm(vectors[1:], axis=1) ** 2))
        assert w**2 == pytest.approx(far)
        assert moves(vectors, f, protected=False) == pytest.approx(a * w)
        assert moves(vectors, f, protected=True) <= max(a * w, r) + 1e-12
        assert a * w > a * 1.4  # wrong: the block charged as one column of width 1
    assert moves(answers(np.zeros(3)), 0.5, protected=True) > 1.4 * 0.5 * np.sqrt(2)  # or as public labels


def test_presence_beside_a_number_is_free():
    """A second coordinate for the missing, of weight up to sqrt(1 - max(c, 1 - c)^2), and not of more."""
    for c in (0.5, 0.3, 0.95):
        weight = np.sqrt(1 - max(c, 1 - c) ** 2)
        for factor, free in ((1.0, True), (1.1, False)):
            shown = np.array([(x - c, 0.0) for x in np.linspace(0, 1, 21)] + [(0.0, factor * weight)])
            assert (size(shown)[1] <= 1 + 1e-12) == free


def clipped(t, b, c, *, own=True):
    """Return t with the weights that leave each entry out; `own=False` forgets the entry's own room."""
    room = c**2 - (b**2 if own else 0.0)
    rest = np.maximum((t**2).sum(axis=1, keepdims=True) - t**2, 1e-300)
    return t * np.minimum(1, np.sqrt(room / rest))


def test_clipping_that_leaves_the_entry_out():
    """Norms up to C, and nearly C; without the room for the entry itself they are larger."""
    largest = wrong = 0.0
    for scale in (0.1, 0.3, 1.0, 3.0):
        t = np.clip(scale * RNG.standard_t(2, size=(4000, 9)), -1, 1)
        t[:9] = np.tril(np.ones((9, 9)))  # of norms 1 to 3, all entries at the bound
        for c in (1.01, 1.5, 2.0):
            largest = max(largest, np.max(np.linalg.norm(clipped(t, 1.0, c), axis=1)) / c)
            wrong = max(wrong, np.max(np.linalg.norm(clipped(t, 1.0, c, own=False), axis=1)) / c)
    assert 0.999 < largest <= 1 + 1e-12
    assert wrong > 1.01


def test_squares():
    """Vectors without negative entries are at most sqrt 2 of the largest norm apart."""
    t = clipped(RNG.uniform(-1, 1, size=(300, 6)), 1.0, 1.4)
    squares = t**2
    r, w = size(squares)
    assert w <= np.sqrt(2) * r
    assert r <= np.abs(t).max() * np.linalg.norm(t, axis=1).max()
    assert size(np.eye(2))[1] == pytest.approx(np.sqrt(2))


def test_truncation_keeps_norms():
    """Toward zero no norm grows; to the nearest whole number, norms of many small entries do."""
    t = RNG.uniform(-3, 3, size=(500, 40))
    t[0] = 0.6
    assert np.all(np.linalg.norm(np.trunc(t), axis=1) <= np.linalg.norm(t, axis=1))
    assert np.any(np.linalg.norm(np.rint(t), axis=1) > 1.5 * np.linalg.norm(t, axis=1))
