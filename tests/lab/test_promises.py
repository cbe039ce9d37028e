"""The bench of realised FDR and FCR: what is estimated, and a few releases."""

import numpy as np
import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.lab.bench import promises


def test_truth_follows_the_name_of_an_estimate():
    """Rates and means as they are, means of cut numbers."""
    first, second = np.array([0.0, 1.0, 4.0, np.nan]), np.array([2.0, 10.0])
    assert promises.truth("difference of rates", first, second) == pytest.approx(6 - 5 / 3)
    assert promises.truth("difference of means, cut to -1 to 3", first, second) == pytest.approx(2.5 - 4 / 3)


def test_settings_cover_what_is_promised():
    """At least 60 settings: every kind, with and without dependence, several shares, sizes and budgets."""
    assert len(promises.SETTINGS) >= 60
    for field, least in (("kind", 8), ("dependence", 2), ("real", 4), ("columns", 3), ("epsilon", 2)):
        assert len({getattr(setting, field) for setting in promises.SETTINGS}) >= least


@pytest.mark.parametrize("guarantee", promises.GUARANTEES)
@pytest.mark.parametrize("kind", ["bounds", "answers", "missing"])
def test_a_release_of_each(kind, guarantee):
    """Shares lie in [0, 1] and something is found where half is real and the budget large."""
    setting = next(one for one in promises.SETTINGS if one.kind == kind and one.real == 0.5)
    kept = promises.keep(setting, guarantee, 1)
    assert kept.found > 0
    assert 0 <= kept.false[0] <= kept.missed[0] + kept.false[0] <= 2


def test_the_command_without_tables():
    """Where no table is in the folder the command says so."""
    found = CliRunner().invoke(app, ["bench", "tables", "--folder", "nowhere", "--permuted", "1"])
    assert found.exit_code == 0
    assert "skipped" in found.output
