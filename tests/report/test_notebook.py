"""Releases, plans and budgets in a notebook: HTML, axes, a progress bar."""

import sys
from types import ModuleType, SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from sample_releases import HOSTILE, sample, told
from test_page import Reader, mixed

import discreet
from discreet.errors import InputError
from discreet.privacy.ledger import Ledger
from discreet.progress import progress

mpl.use("agg")


def test_a_release_is_shown_as_html():
    """The headline, the rows and the promises, closed to markup; at most twenty rows."""
    reader = Reader(mixed()._repr_html_())
    assert "<br><small>" in mixed()._repr_html_()  # no style sheet puts small print on its own line
    assert "</bdi><small>" not in mixed()._repr_html_()
    text = " ".join(reader.words)
    for words in (
        "3 discoveries among 30 hypotheses",
        "pay",
        "higher",
        "It cost epsilon = 1",
        "20,000 people",
    ):
        assert words in text
    assert not reader.open
    loud, quiet = (Reader(sample(12, names=names)._repr_html_()) for names in (HOSTILE, map(str, range(12))))
    assert loud.count() == quiet.count()
    many = sample(30)._repr_html_()
    assert many.count("<tr>") == 21
    assert "The first 20 of 30" in many
    assert "does not show that nothing is there" in told(0)._repr_html_()


def test_plans_and_budgets_are_shown_as_html(tmp_path):
    """In words, with a bar; nothing in a name is markup."""
    plan = discreet.plan(100, 4, effects=1.0, signals=2, methods=["bh"], quick=True, repetitions=2)
    assert "<table>" in plan._repr_html_()
    assert "Nothing was read" in plan._repr_html_()
    budget = Ledger(tmp_path / "b.ledger").create("<b>x", epsilon=1.0, delta=1e-6)
    assert "&lt;b&gt;x" in budget._repr_html_()
    assert "<b>" not in sample(1, budget=True).budget._repr_html_()


@pytest.mark.slow
def test_axes_are_returned():
    """Of a release and of a plan, new or given; what has no numbers is refused in words."""
    axes = mixed().plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["pay", "smokes", "bmi"]
    assert axes.get_xlabel() == "difference in standard deviations"
    assert mixed().plot(axes, most=2) is axes
    with pytest.raises(InputError, match="no numbers to draw"):
        sample(values=False).plot()
    with pytest.raises(InputError, match="axes of matplotlib"):
        mixed().plot(3)
    asked = {"effects": 1.0, "signals": 2, "methods": ["bh"], "quick": True, "repetitions": 2}
    plan = discreet.plan(100, 4, **asked, curve=True)
    assert plan.plot(ax=axes) is axes
    assert plan.plot().get_xlabel() == "people"


def test_names_as_scipy_has_them():
    """`pvalue` and `confidence_interval` where there is a p-value and an interval."""
    release = told(4)
    assert np.array_equal(release.pvalue, release.told.p_value)
    with pytest.raises(InputError, match='method="all"'):
        _ = sample().pvalue
    answer = discreet.test([3.1] * 200, "sign", epsilon=1)
    assert answer.pvalue == answer.p_value
    low, high = answer.confidence_interval()
    assert (low, high) == (answer.low, answer.high)


def test_a_bar_is_shown_in_a_notebook_and_taken_away(monkeypatch):
    """By what IPython displays, without anything installed for it; elsewhere there is silence."""
    seen = []
    shown = SimpleNamespace(update=seen.append)

    def display(content, display_id):
        assert display_id
        seen.append(content)
        return shown

    class ZMQInteractiveShell:
        """What runs a notebook."""

    module, shows = ModuleType("IPython"), ModuleType("IPython.display")
    module.get_ipython = ZMQInteractiveShell
    shows.HTML, shows.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", shows)
    with progress("a < b", 2) as tick:
        tick(1)
    assert "a &lt; b" in seen[0]
    assert "value='1'" in seen[1]
    assert seen[-1] == ""
    rows = np.arange(400).reshape(-1, 2) % 7 > 2
    discreet.discover(rows, discreet.Proportion(null=0.5), q=0.1, epsilon=1, delta=1e-6)
    assert "testing" in seen[3]
