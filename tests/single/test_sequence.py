"""Hypotheses in turn: levels as defined, FDR kept, state in the ledger, decisions final."""

import itertools

import numpy as np
import pytest

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.classical import online
from discreet.errors import BudgetError, InputError
from discreet.privacy.ledger import Ledger


def decided(rule, p, q):
    """Run a rule over p-values."""
    past, rejected = [], []
    for value in p:
        level = online.RULES[rule](past, rejected, q)
        past.append(value)
        rejected.append(value <= level)
    return rejected


@pytest.mark.parametrize("rule", online.RULES)
def test_levels_fit_the_wealth(rule):
    """Over every pattern of ten decisions: levels are positive and their sum keeps to what was earned."""
    q = 0.2
    for pattern in itertools.product((True, False), repeat=10):
        p = [0.0 if rejected else 0.9 for rejected in pattern]
        levels = [online.RULES[rule](p[:t], pattern[:t], q) for t in range(10)]
        assert all(0 < level < 1 for level in levels)
        for t in range(1, 11):
            spent = [
                level / (1 - online.CANDIDATE) if rule == "saffron" and value > online.CANDIDATE
                else 0.0 if rule == "saffron" else level
                for level, value in zip(levels[:t], p, strict=False)
            ]  # fmt: skip
            assert sum(spent) <= q * max(1, sum(pattern[:t])) * (1 + 1e-9)


def test_weights_are_no_more_than_one():
    """The first million, and the integral of the rest."""
    total = sum(online.weight(t) for t in range(1, 10**5))
    assert total + online.weight(1) * (10**5 - 1) ** -0.6 / 0.6 * 1.0001 <= 1.0 + 1e-4
    assert online.weight(0) == 0


@pytest.mark.statistical(4, twins=1)
def test_false_discovery_rate():
    """Independent p-values, one in ten false: FDR at most q; without correction it is not."""
    rng = np.random.default_rng(5)
    q, m, runs = 0.1, 60, 120
    rates = {name: [] for name in (*online.RULES, "uncorrected")}
    for _ in range(runs):
        real = rng.random(m) < 0.1
        p = np.where(real, 1e-4 * rng.random(m), rng.random(m))
        for name, values in rates.items():
            rejected = np.array(p <= 0.5 if name == "uncorrected" else decided(name, p, q))
            values.append((rejected & ~real).sum() / max(1, rejected.sum()))
    for name in online.RULES:
        assert_mean_at_most(np.array(rates[name]), q)
    must_fail(assert_mean_at_most, np.array(rates["uncorrected"]), wrong=q, truth=0.7)


def test_the_ledger_holds_the_state(tmp_path):
    """Another process goes on where the first stopped; each question was charged; a broken budget refuses."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("trial", epsilon=2.5, delta=1e-6)
    first = discreet.Sequence(ledger=book, dataset="trial", name="diet")
    first.ask("up", [1.0] * 300, epsilon=1)
    second = discreet.Sequence(ledger=str(book.path), dataset="trial", name="diet")
    assert second.asked == first.asked
    asked = second.ask("flat", [1.0, -1.0] * 150, epsilon=1)
    assert not asked.rejected
    assert first.level == pytest.approx(online.lord([0.0, 1.0], [True, False], 0.1)) or len(first.asked) == 1
    with pytest.raises(BudgetError):
        first.ask("too much", [1.0] * 300, epsilon=1)
    assert [one.hypothesis for one in first.asked] == ["up", "flat"]
    assert "1 discoveries: up" in str(first)
    with pytest.raises(InputError, match="another q"):
        discreet.Sequence(0.2, ledger=book, dataset="trial", name="diet")


def test_wrong_questions_cost_nothing(tmp_path):
    """Refused before the charge."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("trial", epsilon=2.5, delta=1e-6)
    questions = discreet.Sequence(ledger=book, dataset="trial")
    for wrong in ({"test": "t"}, {"epsilon": 0}, {"test": "rank-sum"}, {"null": "a"}):
        with pytest.raises(InputError):
            questions.ask("diet", [1.0, 2.0], **{"epsilon": 1, **wrong})
    assert book.history("trial") == ()
    with pytest.raises(InputError, match="together"):
        discreet.Sequence(ledger=book)
    with pytest.raises(InputError):
        discreet.Sequence(method="bh")
