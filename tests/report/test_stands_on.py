"""A release says what its promises stand on: declared sensitivities, rows for people, independent columns."""

import numpy as np
import pytest

import discreet
from discreet import Evidence
from discreet.lab.cohort import Simulated
from discreet.report.page import page
from discreet.report.words import protection

ASK = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
ROWS = "Each row was taken to be one person."
TABLE = np.tile([[0.0, 1.0], [1.0, 0.0]], (500, 1))
P = [1e-9, 0.3, 0.8]


def read_back(release):
    return discreet.Release.from_json(release.to_json())


@pytest.mark.parametrize(
    ("evidence", "moved"),
    [
        (Evidence.from_p(P, eta=0.0116, nu=1e-8), "every log p by at most eta = 0.0116"),
        (
            Evidence.from_z(P, sensitivity=0.25, adjacency="replace"),
            "every z score by at most sensitivity = 0.25",
        ),
        (
            Evidence.from_z(P, sensitivity=0.25, spread=0.3, adjacency="replace"),
            (
                "every z score by at most sensitivity = 0.25 and any two against each other by at most "
                "spread = 0.3"
            ),
        ),
    ],
    ids=["p", "z", "spread"],
)
@pytest.mark.parametrize("method", ["aware", "peel", "oneshot", "mirror"])
def test_a_declared_sensitivity_is_said_to_be_declared(evidence, moved, method):
    """In print, at the head and in the privacy section of the page, and after JSON, whatever the method."""
    if method == "mirror" and evidence.signed is None:
        pytest.skip("the mirror needs signs")
    words = f"The promise of privacy holds only if one person moves {moved}, as declared; nothing checked it."
    release = discreet.release(evidence, method=method, **ASK)
    for one in (release, read_back(release)):
        assert words in " ".join(str(one).split())
        assert words in protection(one.privacy)
        assert page(one).count(words) == 3  # the third is the exact statement


def test_every_way_with_p_values_says_so(tmp_path):
    """`private_bh`, `PValues` in memory and from a table; none of them speaks of rows."""
    path = tmp_path / "p.csv"
    path.write_text("gene,p\n" + "".join(f"g{i},{p}\n" for i, p in enumerate(P)))
    declared = {"eta": 0.5, "nu": 1e-8}
    for release in (
        discreet.private_bh(P, **declared, **ASK),
        discreet.discover(P, discreet.PValues(**declared), **ASK),
        discreet.discover(path, discreet.PValues(**declared, column="p", names="gene"), **ASK),
    ):
        assert "eta = 0.5, as declared; nothing checked it." in str(release).replace("\n  ", " ")
        assert ROWS not in str(release)


def test_any_declared_certificate_says_so():
    """One made by hand has the sentence too, and a proved one has none."""
    assert "at most 0.5, as declared" in discreet.Certificate(0.5, 1.0, "replace", "declared").assumption
    assert discreet.Certificate(0.5, 1.0, "replace", "docs/proofs/mean.md").assumption == ""


def test_selections_say_so():
    """`top_k` and `noisy_min` protect inputs that are near; that people are is the caller's word."""
    chosen = discreet.top_k([3, 900, 40], 1, sensitivity=1, epsilon=1, largest=True)
    least = discreet.noisy_min([3, 900, 40], sensitivity=1, epsilon=1)
    for one in (chosen, least):
        assert "as declared; nothing checked it." in str(one)


def test_rows_taken_for_people_are_said_to_be():
    """Where a table was read without `person`: in print, on the page, after JSON, in one step or two."""
    test = discreet.Proportion(null=0.5)
    once = discreet.discover(TABLE, test, **ASK)
    for release in (once, read_back(once), discreet.release(discreet.measure(TABLE, test), **ASK)):
        assert str(release).splitlines().count(ROWS) == 1
        assert ROWS in page(release)


def test_people_known_by_name_are_not_taken_from_rows(tmp_path):
    """With `person`, and for genotypes, nothing is said of rows; the words do not change the certificate."""
    pl = pytest.importorskip("polars")
    test = discreet.Proportion(null=0.5)
    table = pl.DataFrame({"who": range(1000), "x": TABLE[:, 0]})
    named = discreet.measure(table, test, person="who", columns=["x"])
    assert named.certificate.assumption == ""
    assert named.certificate == discreet.measure(table, test, columns=["x"]).certificate
    bed = Simulated(40, 44, seed=2).write(tmp_path / "cohort.bed")
    assert ROWS not in str(discreet.discover(bed, discreet.Allelic(), **ASK))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "options", "words"),
    [
        (discreet.Proportion(null=0.5, alternative="greater"), {}, "proved"),
        (discreet.Proportion(null=0.5, alternative="less"), {}, "proved"),
        (discreet.Proportion(null=0.5, alternative="two-sided"), {}, "proved for independent columns"),
        (discreet.Proportion(null=0.5, alternative="two-sided"), {"dependence": "any"}, "proved"),
        (discreet.TwoByTwo(group="0", alternative="greater"), {}, "proved; p-values checked, not proved"),
        (
            discreet.TwoByTwo(group="0", alternative="two-sided"),
            {},
            "proved for independent columns; p-values checked, not proved",
        ),
        (
            discreet.TwoByTwo(group="0", tail="normal", alternative="greater"),
            {},
            "proved; p-values approximate",
        ),
        (discreet.Proportion(null=0.5), {"guarantee": "calibrated"}, "verified by simulation, not proved"),
        (discreet.Proportion(null=0.5), {"method": "peel", "k": 1}, "proved for independent columns"),
    ],
    ids=lambda one: one if isinstance(one, str) else None,
)
def test_proved_says_for_which_columns(test, options, words):
    """The badge, the card and the text claim no more than the assumption allows."""
    release = discreet.discover(
        np.tile(TABLE, (20, 1)), test, **ASK | {"epsilon": 10, "method": "aware"} | options
    )
    assert release.fdr.how == words
    assert f"false ({words};" in " ".join(str(release).split())
    assert f'">{words}</span></h2>' in page(release)
    assert f"on average; {words}<" in page(release)


def test_no_promise_is_called_none():
    """Nothing is proved where nothing is promised."""
    fdr = discreet.FdrPromise(np.inf, "none", "the noise is too large", "docs/errata.md, 5")
    assert fdr.how == "none promised"
