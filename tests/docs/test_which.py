"""The flow chart leads to every test and to every method, and to none that does not exist."""

import re
from pathlib import Path

from discreet.evidence.core.registry import own_classes
from discreet.methods.registry import METHODS

TESTS = {kind.__name__ for kind in own_classes()}
PAGE = (Path(__file__).parents[2] / "docs/start/which.md").read_text(encoding="utf-8")


def named(page):
    """Return the tests and the methods that a page leads to."""
    methods = re.findall(r'method="(\w+)"|or `"(\w+)"`', page)
    return {*re.findall(r"`([A-Z]\w+)`", page)}, {first or second for first, second in methods}


def test_every_test_and_method_can_be_reached():
    """What the registries know stands on the page, and nothing else does."""
    tests, methods = named(PAGE)
    assert tests == TESTS
    assert methods == {*METHODS}


def test_the_default_comes_first():
    """Whoever reads one paragraph has read the default, with a link to how it is used."""
    first = PAGE.split("\n\n")[1]
    assert named(first) == ({"Compare"}, {"auto"})
    assert "](../how-to/compare.md)" in first


def test_what_is_missing_is_noticed():
    """Wrong twin: without a line of the chart the comparison fails."""
    tests, methods = named(re.sub(r".*`Stratified`.*|.*mirror.*", "", PAGE))
    assert TESTS - tests == {"Stratified"}
    assert {*METHODS} - methods >= {"mirror"}
