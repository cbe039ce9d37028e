"""The trace counts what runs."""

from discreet import check
from discreet.lab.trace import traced


def test_a_trace_counts_files_functions_and_depth():
    """One check calls another in the same file: one file, two functions, two deep."""
    assert traced(lambda: check.between(0.5, "x", 0.0, 1.0)) == (1, 2, 2)
    assert traced(lambda: sum(range(9))) == (0, 0, 0)
