"""Every mechanism and every certificate has a proof page, in one form, with living code and tests."""

import re
from pathlib import Path

import pytest

from discreet.evidence.core.registry import find_test, own_names

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs/proofs").glob("*.md") if page.stem != "index")
FORM = ["Statement", "Adjacency", "Assumptions", "Proof", "In the code", "Audit"]
CITED = re.compile(r"docs/proofs/([a-z0-9-]+)")
# Records and helpers: they draw nothing, charge nothing and certify nothing by themselves.
HELPERS = {
    "selection": {"scores", "selection", "sensitivity"},
    "noise": {"uniform"},
    "methods": {"method", "parameters", "registry", "scores"},
    "privacy": {"promise", "search"},
}


def sections(text):
    """Return the second-level headings of a page."""
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_the_form(page):
    """Statement, adjacency, assumptions, proof, in the code, audit; in this order."""
    assert sections(page.read_text()) == FORM


def test_code_cites_pages_that_exist():
    """A docstring that names a proof page names one that is there, and each page is named by some code."""
    cited = set()
    for file in (ROOT / "src").rglob("*.py"):
        found = set(CITED.findall(file.read_text()))
        assert found <= {page.stem for page in PAGES}, file
        cited |= found
    assert cited == {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_code_that_exists(page):
    """The files under `Code:`, and the tests a page names, are there."""
    text = page.read_text()
    code = re.search(r"^Code: (.*?)\n\n", text, re.DOTALL | re.MULTILINE)[1]
    files = re.findall(r"`([a-z_0-9/]+\.py)`", code)
    folder = None
    for file in files:
        folder = file.rpartition("/")[0] or folder
        places = (ROOT / "src/discreet" / file, ROOT / "src/discreet" / folder / file, ROOT / file)
        assert any(place.is_file() for place in places) or list(ROOT.glob(f"tests/*/{file}")), file


@pytest.mark.parametrize("folder", HELPERS)
def test_mechanisms_have_a_page(folder):
    """A module that draws, selects or charges is under `Code:` of some page, or is a declared helper."""
    pages = "".join(page.read_text() for page in PAGES)
    modules = {file.stem for file in (ROOT / "src/discreet" / folder).glob("*.py")} - {"__init__"}
    absent = {
        name
        for name in modules - HELPERS[folder]
        if f"{folder}/{name}.py`" not in pages and f"`{name}.py`" not in pages
    }
    assert not absent, f"no proof page names {sorted(absent)}"


@pytest.mark.parametrize("name", own_names())
def test_certificates_have_a_page(name):
    """The class of every test on data names the page that proves its certificate."""
    assert CITED.search(find_test(name).__doc__), f"{name} cites no proof page"


def test_the_form_can_fail():
    """A page without its audit, or out of order, is refused."""
    text = PAGES[0].read_text()
    assert sections(text.replace("## Audit", "### Audit")) != FORM
    assert sections(text.replace("## Proof", "## Audit", 1)) != FORM
