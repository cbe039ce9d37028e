"""The trace counts what runs."""

import pytest

from discreet import check
from discreet.lab.trace import LOOKED, paths, traced


def test_a_trace_counts_files_functions_and_depth():
    """One check calls another in the same file: one file, two functions, two deep."""
    assert traced(lambda: check.between(0.5, "x", 0.0, 1.0)) == (1, 2, 2)
    assert traced(lambda: sum(range(9))) == (0, 0, 0)


@pytest.mark.slow
def test_the_paths_reach_their_goals():
    """No job whose method public numbers settle goes through more files than its goal, or deeper."""
    for name, (files, _, depth), (most, deepest) in paths():
        if name != LOOKED:
            assert files <= most, name
            assert depth <= deepest, name
