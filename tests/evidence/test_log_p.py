"""The paper's scale: the definition of neighbours, and exact sensitivities against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import discreet
from discreet.evidence.p_values import truncated_sensitivity

PROBABILITY = st.floats(1e-9, 1)


@given(p=PROBABILITY, p2=PROBABILITY, eta=st.floats(1e-3, 3), nu=st.floats(1e-8, 0.5))
def test_neighbours_follow_the_definition_and_imply_truncated_closeness(p, p2, eta, nu):
    """Both below nu, or within a factor exp(eta); and then log max(p, nu) moves by at most eta."""
    expected = (p < nu and p2 < nu) or (np.exp(-eta) * p <= p2 <= np.exp(eta) * p)
    assert discreet.are_neighbours([p], [p2], eta, nu) == expected
    if expected:
        assert abs(np.log(max(p, nu)) - np.log(max(p2, nu))) <= eta * (1 + 1e-9)


def test_truncated_closeness_does_not_imply_neighbours():
    """At p = nu against p far below: equal after truncation, not neighbours. The two names stay apart."""
    nu = 1e-4
    assert not discreet.are_neighbours([nu], [nu / 100], 0.5, nu)
    assert np.log(max(nu, nu)) == np.log(max(nu / 100, nu))


def test_neighbours_are_judged_over_all_hypotheses():
    """One pair too far apart is enough; shapes must agree."""
    assert discreet.are_neighbours([0.1, 0.2], [0.11, 0.2], 0.1, 1e-3)
    assert not discreet.are_neighbours([0.1, 0.2], [0.11, 0.3], 0.1, 1e-3)
    with pytest.raises(discreet.DiscreetError):
        discreet.are_neighbours([0.1], [0.1, 0.2], 0.1, 1e-3)


@pytest.mark.parametrize("looks", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("sensitivity", "nu"), [(0.02, 1e-6), (0.5, 1e-3), (2.0, 0.05), (6.0, 1e-4)])
def test_truncated_sensitivity_is_the_largest_move_found(looks, sensitivity, nu):
    """Over all z, no move of `sensitivity` changes -log max(p, nu) by more, and some pair comes within 1%."""
    z = np.linspace(-10, 10, 40_001)
    p = {"greater": norm.sf, "less": norm.cdf, "two-sided": lambda z: 2 * norm.sf(np.abs(z))}[looks]
    shifts = [sensitivity, sensitivity / 2, sensitivity / 7]
    found = max(
        np.max(np.abs(np.log(np.maximum(p(z + s), nu)) - np.log(np.maximum(p(z), nu)))) for s in shifts
    )
    eta = truncated_sensitivity(sensitivity, nu, alternative=looks)
    assert 0.99 * eta < found <= eta * (1 + 1e-9)
    assert found > 0.9 * eta  # a certificate shrunk by a tenth would be refused


def test_the_neighbour_predicate_needs_more():
    """A moving z makes p-values (eta, nu)-neighbours at the eta of the pair that straddles nu, not below."""
    sensitivity, nu = 0.1, 1e-4
    eta = np.log(nu) - norm.logsf(norm.isf(nu) + sensitivity)
    z = np.linspace(-8, 8, 20_001)
    assert discreet.are_neighbours(norm.sf(z), norm.sf(z + sensitivity), eta * (1 + 1e-9), nu)
    assert not discreet.are_neighbours(norm.sf(z), norm.sf(z + sensitivity), 0.99 * eta, nu)
    assert eta > truncated_sensitivity(sensitivity, nu, alternative="greater")


def test_the_papers_approximation_is_near_and_is_not_a_bound():
    """The formula B sqrt(2 log(1/nu)/n)/sigma is close to the exact value for a move of B/(sigma sqrt n)."""
    n, nu = 10_000, 1e-6
    exact = truncated_sensitivity(1 / np.sqrt(n), nu, alternative="greater")
    paper = np.sqrt(2 * np.log(1 / nu) / n)
    assert 0.9 < exact / paper < 1.1
    assert (
        truncated_sensitivity(2 / np.sqrt(n), nu, alternative="greater") > 1.5 * paper
    )  # replacing moves by 2B, not B
