"""Agreement with R's p.adjust and statsmodels on 4,000 cases (made by make_golden.py and make_golden.R)."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from discreet import benjamini_yekutieli, step_up
from discreet.classical.step_up import critical_value

FILE = Path(__file__).parent / "classical.csv.gz"


@pytest.fixture(scope="module")
def cases():
    """(q, p, {program: mask}) for every case of the file."""
    found = []
    for line in gzip.decompress(FILE.read_bytes()).decode().splitlines():
        q, p, *masks = line.split(",")
        read = [np.array(list(mask)) == "1" for mask in masks]
        programs = dict(zip(("R BH", "R BY", "statsmodels BH", "statsmodels BY"), read, strict=True))
        found.append((float(q), np.array(p.split(), dtype=float) / 2**20, programs))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("program", ["R", "statsmodels"])
def test_step_up_rejects_what_others_reject(cases, program):
    """Step-up rejects exactly what R's BH and statsmodels' fdr_bh reject."""
    assert all(np.array_equal(step_up(p, q).mask, masks[f"{program} BH"]) for q, p, masks in cases)


@pytest.mark.parametrize("program", ["R", "statsmodels"])
def test_benjamini_yekutieli_rejects_what_others_reject(cases, program):
    """Benjamini-Yekutieli rejects exactly what R's BY and statsmodels' fdr_by reject."""
    assert all(
        np.array_equal(benjamini_yekutieli(p, q).mask, masks[f"{program} BY"]) for q, p, masks in cases
    )


@pytest.mark.slow
def test_the_cases_can_tell_right_from_wrong(cases):
    """Thousands of cases; a strict comparison, or a level off by 0.1%, disagrees with R on some of them."""
    assert len(cases) == 4000
    strict = [np.array_equal(step_up(np.nextafter(p, 1), q).mask, masks["R BH"]) for q, p, masks in cases]
    off = [np.array_equal(step_up(p, 0.999 * q).mask, masks["R BH"]) for q, p, masks in cases]
    assert 10 < strict.count(False) < 1000
    assert off.count(False) > 10


@pytest.mark.parametrize("q", [0.05, 0.1, 0.3])
def test_our_own_line_is_rejected_everywhere(q):
    """p-values equal to the library's critical values are all rejected: equality is equality for every m."""
    for m in range(1, 300):
        assert step_up(critical_value(np.arange(1, m + 1), q, m), q).count == m
