"""A release says why its null law holds: by proof, by checking, by approximation."""

import numpy as np
import pandas as pd
import pytest

import discreet

RNG = np.random.default_rng(3)
TABLE = pd.DataFrame(RNG.binomial(2, 0.4, (600, 3)), columns=["a", "b", "c"])
TABLE["phenotype"] = 1 + RNG.integers(0, 2, 600)
PRODUCT = {"bounds": (0, 2), "partner_bounds": (1, 2)}
GROUPED = {"group": "phenotype", "levels": (1, 2), "bounds": (0, 2)}


@pytest.mark.parametrize(
    ("test", "basis"),
    [
        (discreet.Mean(bounds=(0, 2), null=1, alternative="greater"), "proved"),
        (discreet.Mean(bounds=(0, 2), null=1, tail="normal", alternative="greater"), "approximate"),
        (discreet.TwoGroups(**GROUPED), "proved"),
        (discreet.TwoGroups(**GROUPED, floor=0.1), "checked"),
        (discreet.RankSum(group="phenotype", levels=(1, 2), alternative="greater"), "proved"),
        (
            discreet.RankSum(group="phenotype", levels=(1, 2), tail="normal", alternative="greater"),
            "approximate",
        ),
        (discreet.Correlation(partner="phenotype", alternative="greater"), "proved"),
        (
            discreet.Correlation(
                partner="phenotype",
                method="product",
                bounds=(0, 2),
                partner_bounds=(1, 2),
                alternative="greater",
            ),
            "checked",
        ),
        (discreet.Allelic(), "checked"),
        (discreet.Trend(tail="proved"), "proved"),
        (discreet.Genotypic(), "checked"),
        (discreet.Score(bounds=(1, 2), tail="normal"), "approximate"),
        (discreet.Sign(null=1, alternative="greater"), "proved"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_every_test_says_why_its_null_law_holds(test, basis):
    """The evidence carries it, and the words of a release doubt what is not proved."""
    evidence = discreet.measure(TABLE, test, columns=["a", "b", "c"])
    assert evidence.null.basis == basis
    words = str(discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6))
    assert ("not proved" in " ".join(words.split())) == (basis == "checked")
    assert ("normal approximation" in " ".join(words.split())) == (basis == "approximate")


def test_numbers_of_the_callers_own_are_declared():
    """Nobody has proved anything about p-values that were handed over."""
    assert discreet.Evidence.from_p([0.1], eta=0.01, nu=1e-4).null.basis == "declared"
    assert (
        discreet.Evidence.from_z(
            [1.0], sensitivity=0.1, adjacency="replace", alternative="greater"
        ).null.basis
        == "declared"
    )
