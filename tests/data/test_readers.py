"""Files that other packages read."""

from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.data.tables import readers


def read(path):
    """Read words between which there are tildes, as a package of somebody else might."""
    head, *rows = path.read_text().splitlines()
    entries = np.array([[float(entry) for entry in row.split("~")] for row in rows])
    return pd.DataFrame(entries, columns=head.split("~"))


def register(monkeypatch, *points):
    """Have other packages offer these readers."""
    known = EntryPoints(EntryPoint(name, value, readers.ENTRY_POINTS) for name, value in points)
    monkeypatch.setattr(readers, "entry_points", lambda group: known.select(group=group))


OURS = f"{__name__}:read"


def test_a_file_of_another_package_is_read(monkeypatch, tmp_path):
    """By its ending; the release says who vouches for it, and our own endings stay ours."""
    register(monkeypatch, ("tilde", OURS), ("csv", "nowhere:none"))
    rng, path = np.random.default_rng(1), tmp_path / "people.tilde"
    lines = [f"{place % 2}~{value:.3f}" for place, value in enumerate(rng.normal(size=400))]
    path.write_text("\n".join(["g~x", *lines]))
    asked = {"q": 0.1, "epsilon": 1, "delta": 1e-6}
    found = discreet.discover(path, discreet.Compare(group="g"), **asked)
    assert "its authors vouch for it" in str(found)
    ranks = discreet.measure(path, discreet.RankSum(group="g"))
    assert "its authors vouch for it" in ranks.certificate.assumption
    own = tmp_path / "people.csv"
    own.write_text("\n".join(["g,x", *(line.replace("~", ",") for line in lines)]))
    plain = discreet.measure(own, discreet.RankSum(group="g", levels=(0, 1)))
    assert np.array_equal(plain.score, ranks.score)
    assert "vouch" not in plain.certificate.assumption


def test_what_goes_wrong_in_a_reader_is_not_told(monkeypatch, tmp_path):
    """Its words may speak of people; two readers of one ending are refused, and none is as before."""
    path = tmp_path / "people.tilde"
    path.write_text("g~x\n1~Ann Smith\n")
    test = discreet.RankSum(group="g")
    for points, words in (
        ([("tilde", OURS)], "cannot read it"),
        ([("tilde", OURS), ("tilde", "nowhere:none")], "two packages"),
        ([], "must end in"),
    ):
        register(monkeypatch, *points)
        with pytest.raises(discreet.DiscreetError, match=words) as refused:
            discreet.measure(path, test)
        assert "Smith" not in str(refused.value)
