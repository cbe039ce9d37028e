"""p-values that come in the column of a table, one row for each hypothesis."""

import numpy as np
import pytest

import discreet


def test_a_column_of_a_csv_file_holds_the_p_values(tmp_path):
    """Names come from their own column; a missing p-value is no evidence."""
    path = tmp_path / "p.csv"
    path.write_text("gene,p,other\nBRCA1,1e-9,3\nTP53,,4\nMYC,0.5,5\n")
    evidence = discreet.measure(path, discreet.PValues(eta=1e-3, nu=1e-10, column="p", names="gene"))
    assert evidence.names == ("BRCA1", "TP53", "MYC")
    assert np.allclose(evidence.score, -np.log([1e-9, 1.0, 0.5]))


def test_rows_are_numbered_without_a_column_of_names(tmp_path):
    """Without names the rows' numbers stand in for them."""
    path = tmp_path / "p.csv"
    path.write_text("p\n0.1\n0.2\n")
    assert list(discreet.measure(path, discreet.PValues(eta=1e-3, nu=1e-10, column="p")).names) == ["0", "1"]


def test_a_name_column_needs_a_p_column():
    """The one means nothing without the other."""
    with pytest.raises(discreet.DiscreetError, match="column"):
        discreet.PValues(eta=1e-3, nu=1e-10, names="gene")


def test_a_structured_array_is_a_table():
    """NumPy's own tables work like any other."""
    table = np.array([(0.1,), (0.2,)], dtype=[("p", "f8")])
    assert len(discreet.measure(table, discreet.PValues(eta=1e-3, nu=1e-10, column="p"))) == 2


def test_a_nu_that_leaves_nothing_to_find_is_refused_and_not_paid_for():
    """Above q no p-value that counts is small enough; the paper's own cutoffs add nu, and may go there."""
    ask = {"eta": 1e-3, "q": 0.1, "epsilon": 1, "delta": 1e-6}
    with pytest.raises(discreet.DiscreetError, match="nu is above q"):
        discreet.private_bh([1e-9, 0.5], nu=0.11, **ask)
    assert discreet.private_bh([1e-9, 0.5], nu=0.1, **ask).m == 2
    assert discreet.private_bh([1e-9, 0.5], nu=0.11, method="peel", k=1, cutoffs="paper", **ask).m == 2
