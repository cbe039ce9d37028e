"""A release on the terminal."""

import pytest
from sample_releases import sample, told

from discreet.cli.terminal import print_release


@pytest.mark.parametrize(
    ("release", "heads"),
    [
        (told(4), ["estimate", "low", "high"]),
        (sample(4), ["z score", "noise"]),
        (sample(4, values=False), []),
        (told(0), []),
    ],
)
def test_the_table_has_the_numbers_there_are(release, heads, capsys):
    """Estimates and intervals, else noisy values, else no table; then the words."""
    assert print_release(release, as_json=False)
    table, words = capsys.readouterr().out.split(f"{len(release) or 'No'} discoveries among", 1)
    assert all(head in table for head in heads)
    assert bool(table.strip()) is bool(heads)
    assert ("Release.estimates" in words) is (release.told is not None)
