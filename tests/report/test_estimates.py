"""What a release tells of every hypothesis: estimates, intervals, q-values."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from sample_releases import releases, sample, told
from scipy import stats

from discreet.errors import InputError

COLUMNS = [
    *("hypothesis", "effect", "estimate", "standard_error", "low", "high"),
    *("p_value", "q_value", "discovered"),
]


def test_the_columns_and_the_numbers():
    """A row for every hypothesis told, in the data's order, with the numbers that were released."""
    release = told(4, m=30, k=20)
    frame, record = release.estimates, release.told
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == COLUMNS
    assert tuple(frame["hypothesis"]) == record.hypotheses
    for name in ("estimate", "standard_error", "p_value"):
        assert frame[name].tolist() == getattr(record, name).tolist()
    assert frame["discovered"].tolist() == [True] * 4 + [False] * 16


@pytest.mark.parametrize(
    ("kind", "made"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames_are_the_caller_s(kind, made):
    """Estimates and intervals come in the library the data came in."""
    release = told(2, frame=kind)
    assert isinstance(release.estimates, made)
    assert isinstance(release.confidence_interval(), made)


def test_a_frame_is_the_caller_s_to_change():
    """The record stays what was released."""
    release = told(2)
    before, frame = release.to_json(), release.estimates
    frame["estimate"] = 0.0
    frame.loc[:, "p_value"] = 0.0
    frame.iloc[0, 2] = 9.0
    assert release.to_json() == before


def test_discoveries_have_wider_intervals():
    """Level 1 - q*R/m for the R discoveries among m, 1 - q for the others: the t quantiles of SciPy."""
    release = told(4, m=30, k=20)
    frame, record = release.estimates, release.told
    miss = np.where(frame["discovered"], 0.1 * 4 / 30, 0.1)
    low, high = stats.t.interval(1 - miss, record.degrees, record.estimate, record.standard_error)
    np.testing.assert_allclose(frame["low"], low, rtol=1e-12)
    np.testing.assert_allclose(frame["high"], high, rtol=1e-12)


def test_intervals_at_any_level():
    """The same for all hypotheses; a level outside (0, 1) is refused."""
    release = told(4)
    frame, record = release.confidence_interval(0.8), release.told
    assert list(frame) == ["hypothesis", "low", "high"]
    low, high = stats.t.interval(0.8, record.degrees, record.estimate, record.standard_error)
    np.testing.assert_allclose(frame["low"], low, rtol=1e-12)
    np.testing.assert_allclose(frame["high"], high, rtol=1e-12)
    with pytest.raises(InputError, match="level must lie strictly between 0 and 1"):
        release.confidence_interval(95)


def test_q_values_are_adjusted_p_values():
    """Those of SciPy for BH and BY; hypotheses that were not told count as p = 1."""
    for procedure, method in [("BH", "bh"), ("BY", "by")]:
        release = told(4, m=30, k=20, procedure=procedure)
        p = np.append(release.told.p_value, np.ones(10))
        expected = stats.false_discovery_control(p, method=method)[:20]
        np.testing.assert_allclose(release.estimates["q_value"], expected, rtol=1e-12)


def test_what_was_not_measured_has_no_interval():
    """NaN in the estimate or its error is NaN in the interval."""
    release = told(2)
    release.told.estimate[5] = np.nan
    assert release.estimates.loc[5, ["low", "high"]].isna().all()


@pytest.mark.parametrize("ask", [lambda r: r.estimates, lambda r: r.confidence_interval()])
def test_nothing_told(ask):
    """A release that tells no estimates says which method does; noisy values are no estimates."""
    for release in (sample(), sample(values=False)):
        with pytest.raises(InputError, match='method="all"'):
            ask(release)


@pytest.mark.slow
@given(releases())
def test_any_release_that_tells(release):
    """Whatever was told, every row is there, intervals hold their estimate, and q-values are at least p."""
    if release.told is None:
        return
    frame = release.estimates
    frame = frame.to_pandas() if not isinstance(frame, pd.DataFrame) else frame
    assert len(frame) == len(release.told)
    measured = frame["estimate"].notna().to_numpy(dtype=bool)
    known = frame[measured & frame["low"].notna().to_numpy(dtype=bool)]
    assert (known["low"] <= known["estimate"]).all()
    assert (known["high"] >= known["estimate"]).all()
    assert frame["q_value"].between(0, 1).all()
    assert len(release.confidence_interval()) == len(frame)
