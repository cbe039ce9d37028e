"""A release on the terminal."""

import re

import numpy as np
import polars as pl
import pytest
from sample_releases import sample, told

import discreet
from discreet.cli.deliver import deliver, print_release
from discreet.privacy.ledger import Ledger
from discreet.report.rows import effect_in_words


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
    assert ("release.json" in words) is (release.told is not None)
    assert ("release.estimates" in words) is (release.told is not None)


def test_what_is_left_is_told_in_releases_like_the_last(tmp_path, capsys):
    """As many as then can be made, and no more."""
    ledger = Ledger(tmp_path / "b.ledger")
    ledger.create("trial", epsilon=2.0, delta=1e-5, adjacency="add-remove")
    asked = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6, "ledger": ledger, "dataset": "trial"}
    p, test = {"height": 1e-9, "luck": 0.6}, discreet.PValues(eta=1e-4, nu=1e-10)
    deliver(discreet.discover(p, test, **asked), None, as_json=False, ledger=str(tmp_path / "b.ledger"))
    shown = " ".join(capsys.readouterr().out.split())
    assert "of the budget of trial is spent; one more release may have epsilon up to" in shown
    told = re.search(r"Of releases like the last one, there is room for (\d+) more\.", shown)
    for _ in range(int(told[1])):
        discreet.discover(p, test, **asked)
    with pytest.raises(discreet.DiscreetError, match="budget"):
        discreet.discover(p, test, **asked)


def test_an_effect_of_cut_numbers_says_what_became_of_them():
    """The name in the record stays; the page spells it out, and says below the table what it means."""
    kind = "difference of means, cut to -1.5 to 2e+03: of rates, if all are 0 or 1"
    assert effect_in_words(kind) == (
        "difference of means, numbers held between -1.5 and 2e+03: of rates, if all are 0 or 1"
    )
    assert effect_in_words("difference of rates") == "difference of rates"


def test_where_ranks_were_told_no_table_has_nan(tmp_path, capsys):
    """Scores of ranks have no size in units; what was needed is said of normal numbers."""
    rng = np.random.default_rng(6)
    group, units = np.arange(700) % 2, 10 ** np.linspace(-2, 4, 30)
    table = {f"c{i}": unit * (4 + rng.normal(size=700)) for i, unit in enumerate(units)}
    table["c0"] = table["c0"] + 5 * group * units[0]
    asked = {"epsilon": 2.0, "delta": 1e-6}
    compare = discreet.Compare(group="g")
    release = discreet.discover(pl.DataFrame({"g": group, **table}), compare, q=0.1, **asked)
    assert release.discoveries[0] == "c0"
    assert print_release(release, as_json=False)
    shown = capsys.readouterr().out
    assert "z score of ranks" in shown
    assert "nan" not in shown
    page = release.save(tmp_path / "report.html").read_text()
    assert ">nan<" not in page
    assert "In SDs" not in page
    del table["c0"]
    nothing = discreet.discover(pl.DataFrame({"g": group, **table}), compare, q=1e-6, **asked)
    assert not len(nothing)
    words = " ".join(str(nothing).split())
    assert re.search(r"a column of normal numbers had to differ by about [\d.]+ standard", words)
