"""The paper map is complete and nothing in it is dead."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ITEMS = {
    "Algorithm 1": "algo:originalbh",
    "Algorithm 2": "algo:smallbh",
    "Algorithm 3": "algo:rnm",
    "Algorithm 4": "algo:pbh2",
    "Algorithm 5": "algo:oneshot",
    "Definition 1.1": "def:adaptive",
    "Theorem 1": "thm:robustfdr",
    "Theorem 2": "thm:PrivateFDRInformal",
    "Theorem 3": "thm:PrivatePowerInformal",
    "Definition 2.1": "(none)",
    "Definition 2.2": "def:dp",
    "Definition 2.3": "(none)",
    "Lemma 2.4": "lm:comp",
    "Lemma 2.5": "lm:advancecomp",
    "Lemma 2.6": "(none)",
    "Theorem 4": "thm:peeling",
    "Lemma 3.1": "lm:fdr_2_term",
    "Lemma 3.2": "lm:submartingale",
    "Lemma 3.3": "lm:fdr_1_term",
    "Theorem 5": "thm:stronglyrobustfdr",
    "Definition 4.1": "def:multi_sensi",
    "Theorem 6": "thm:main",
    "Corollary 4.2": "cor:main",
    "Lemma 5.1": "lem:oneshotk",
    "Theorem 7": "thm:oneshot",
    "Lemma 5.2": "lm:oneshot_private",
    "Lemma 5.3": "lem:close",
    "Definition 5.4": "(none)",
    "Lemma 5.5": "lm:dp_q_new",
    "Lemma 5.6": "lm:poisson_binomial",
    "Lemma 5.7": "lm:bennett_ineq",
}


def rows():
    """Return the table's rows, cells without their code marks."""
    lines = (ROOT / "docs/paper-map.md").read_text().splitlines()
    cells = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines if "|" in line
    ]
    return cells[2:]


def alive(symbol):
    """Whether a dotted name leads to something importable."""
    parts = symbol.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            thing = getattr(thing, name, None)
        return thing is not None
    return False


def exists(test):
    """Whether a test path, with the function after ::, is there."""
    path, _, function = test.partition("::")
    file = ROOT / path
    return file.is_file() and (not function or f"def {function}(" in file.read_text())


def test_every_item_of_the_paper_is_present():
    """All 31 numbered items, with their labels, in order, once."""
    assert len(ITEMS) == 31
    assert [(row[0], row[1]) for row in rows()] == list(ITEMS.items())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_every_row_is_alive(row):
    """A known status; unless open, a living symbol and test."""
    _, _, says, symbol, test, status = row
    assert says
    assert status in {"proved", "corrected", "asymptotic", "open"}
    if status != "open":
        assert symbol == "(test)" or alive(symbol)
        assert exists(test)


def test_dead_symbols_and_tests_are_noticed():
    """The checks above can fail: nonsense is dead."""
    assert alive("discreet.step_up")
    assert not alive("discreet.step_sideways")
    assert not alive("discrete.step_up")
    assert not exists("tests/docs/test_paper_map.py::test_nothing")
    assert not exists("tests/docs/absent.py")


def test_code_cites_items_that_exist():
    """Every Theorem, Lemma, Algorithm, Definition or Corollary number in the source is in the map."""
    pattern = re.compile(r"\b(Theorem|Lemma|Algorithm|Definition|Corollary) (\d+(?:\.\d+)?)\b")
    for file in (ROOT / "src").rglob("*.py"):
        cited = {" ".join(found) for found in pattern.findall(file.read_text())}
        assert cited <= set(ITEMS), file
