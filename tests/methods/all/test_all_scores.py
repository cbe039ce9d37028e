"""Scores told with noise: whole numbers of steps, whatever the sensitivity that was declared."""

import audit
import numpy as np
import pytest

import discreet
from discreet.errors import InputError
from discreet.methods.all.scores import ready_scores
from discreet.methods.method import Parameters

ASKED = Parameters(q=0.1, epsilon=1.0, delta=1e-6, method="all")


@pytest.mark.slow
@pytest.mark.parametrize("sensitivity", [3.0, 0.01, 1e-6, 1e-12, 1e-15, 2.0**-199])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_scores_of_neighbours_are_within_their_sensitivity(sensitivity, alternative):
    """Also where a score is more steps of a sensitivity than whole numbers of a machine can count."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        z = rng.choice([0.0, 1.0, 8.0, 36.0, -36.0], 5) + rng.normal(size=5)
        moved = z + sensitivity * rng.choice([-1.0, 1.0, 0.3], 5)
        z, moved = (
            np.where(np.abs(moved - z) <= sensitivity, one, z) for one in (z, moved)
        )  # rounding moves some

        def draw(scores):
            given = {"sensitivity": sensitivity, "adjacency": "replace", "alternative": alternative}
            return ready_scores(discreet.Evidence.from_z(scores, **given), ASKED).draw()

        (ratio,) = audit.ratios(draw, z, [moved], rng, "noise").values()
        assert ratio <= audit.ROOM


def test_noise_that_cannot_be_drawn_is_refused_beforehand():
    """By public numbers, before anything is spent."""
    evidence = discreet.Evidence.from_z(np.ones(3), sensitivity=0.1, adjacency="replace")
    asked = Parameters(q=0.1, epsilon=1e-12, delta=1e-12, method="all")
    with pytest.raises(InputError, match="noise"):
        ready_scores(evidence, asked)
