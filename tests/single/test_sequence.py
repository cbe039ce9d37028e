"""Hypotheses in turn: levels as defined, FDR kept, state in the ledger, decisions final."""

import copy
import itertools
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.stats import binom

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.classical import online
from discreet.errors import BudgetError, InputError
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.book import Book
from discreet.privacy.ledger.records import MOST_DRAWS
from discreet.single import sign, threshold


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


@pytest.fixture
def trial(tmp_path):
    """Make a ledger with room for many questions."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("trial", epsilon=100, delta=0)
    return book


def interrupted(questions, hypothesis, monkeypatch, times):
    """Ask, and be killed after the draw."""

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sign, "draw", killed)
        for _ in range(times):
            with pytest.raises(KeyboardInterrupt):
                questions.ask(hypothesis, [1.0] * 300, epsilon=1)


@pytest.mark.parametrize("rule", online.RULES)
def test_a_question_that_is_always_interrupted_counts_as_no_discovery(trial, monkeypatch, rule):
    """After its last draw the place has p = 1 in the ledger, and whoever comes next goes on behind it."""
    first = discreet.Sequence(ledger=trial, dataset="trial", method=rule)
    first.ask("up", [1.0] * 300, epsilon=1)
    interrupted(first, "diet", monkeypatch, MOST_DRAWS - 1)
    with pytest.raises(InputError, match="'diet' was interrupted"):
        discreet.Sequence(ledger=trial, dataset="trial", method=rule).ask("x", [1.0] * 300, epsilon=1)
    interrupted(first, "diet", monkeypatch, 1)
    second = discreet.Sequence(ledger=trial, dataset="trial", method=rule)
    asked = second.ask("sleep", [1.0] * 300, epsilon=1)
    up, diet = second.asked[:2]
    assert (diet.answer, diet.p_value, diet.rejected) == (None, 1.0, False)
    assert "p = 1" in str(diet)
    assert asked.level == online.RULES[rule]([up.p_value, 1.0], [up.rejected, False], 0.1)
    assert first.skip() is None
    assert first.asked == second.asked
    assert [entry.state for entry in trial.history("trial")] == ["released"] * 3
    assert trial.verify().good


def test_an_interrupted_question_is_skipped_when_asked_to(trial, monkeypatch):
    """Without it others are refused; the charge stands, and the answer is final."""
    questions = discreet.Sequence(ledger=trial, dataset="trial")
    interrupted(questions, "diet", monkeypatch, 1)
    skipped = questions.skip()
    assert skipped is not None
    assert skipped.answer is None
    assert questions.skip() is None
    assert len(trial.history("trial")) == 1
    questions.ask("diet", [1.0] * 300, epsilon=1)
    assert [asked.p_value == 1.0 for asked in questions.asked] == [True, False]
    assert copy.copy(questions).asked == questions.asked
    with pytest.raises(InputError, match="not copied"):
        copy.copy(discreet.Sequence())


@pytest.mark.parametrize("paid", [None, 1.0])
def test_a_question_whose_draw_ends_in_an_error_is_settled_at_once(trial, monkeypatch, paid):
    """An error may depend on what was drawn: the place has p = 1, and another place is another charge."""
    questions = discreet.Sequence(ledger=trial, dataset="trial", epsilon=paid)
    cost = {"epsilon": 1} if paid is None else {}

    def raises(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(sign, "draw", raises)
        patched.setattr(threshold, "of_signs", raises)
        with pytest.raises(ZeroDivisionError):
            questions.ask("diet", [1.0] * 300, **cost)
    again = questions.ask("diet", [1.0] * 300, **cost)
    assert (questions.asked[0].p_value, questions.asked[0].interrupted) == (1.0, True)
    assert again.level == online.RULES["lord"]([1.0], [False], 0.1)
    assert len(questions.asked) == 2
    assert len(trial.history("trial")) == (2 if paid is None else 3)  # a run is paid for once
    assert discreet.Sequence(ledger=trial, dataset="trial", epsilon=paid).asked == questions.asked
    assert trial.verify().good


def test_an_answer_the_disk_had_no_room_for(trial):
    """Another process counts it as no discovery and goes on."""
    questions = discreet.Sequence(ledger=trial, dataset="trial")
    questions.ask("up", [1.0] * 300, epsilon=1)
    asked = trial.history("trial")[0].request
    charge = trial.charge("trial", trial.history("trial")[0].events, "replace", asked, "sequence/2")
    with trial._writing() as book:
        book.settle(charge, "{}", kept=False)
    questions.ask("again", [1.0] * 300, epsilon=1)
    assert [asked.answer is None for asked in questions.asked] == [False, True, False]


@pytest.mark.slow
def test_threads_share_a_sequence(trial):
    """Questions at once from threads and objects: every answer has its place and its level."""
    shared = [discreet.Sequence(ledger=trial, dataset="trial") for _ in range(2)]
    alone = discreet.Sequence()

    def ask(i):
        alone.ask(f"diet {i}", [1.0, -1.0] * 20, epsilon=1)
        return shared[i % 2].ask(f"diet {i}", [1.0, -1.0] * 20, epsilon=1)

    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(ask, range(12)))
    final = discreet.Sequence(ledger=trial, dataset="trial").asked
    assert len(final) == len(trial.history("trial")) == len(alone.asked) == 12
    assert sorted(a.answer.statistic for a in asked) == sorted(a.answer.statistic for a in final)
    for sequence_asked in (final, alone.asked):
        p, rejected = [a.p_value for a in sequence_asked], [a.rejected for a in sequence_asked]
        for t, one in enumerate(sequence_asked):
            assert one.level == online.lord(p[:t], rejected[:t], 0.1)


ABOVE, BELOW = {"x": np.ones(400), "alternative": "greater"}, {"x": -np.ones(400), "alternative": "greater"}


def test_by_discovery_only_discoveries_are_paid(tmp_path):
    """Many questions and a discovery cost twice the epsilon; another process pays for itself, and agrees."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("trial", epsilon=4.0, delta=0.0)
    how = {"q": 0.1, "ledger": book, "dataset": "trial", "epsilon": 1.0}
    first = discreet.Sequence(**how)
    for i in range(4):
        assert not first.ask(f"down {i}", **BELOW).rejected
    assert book.budget("trial").spent == pytest.approx(1.0)
    assert first.ask("up", **ABOVE).rejected
    assert first.asked[-1].answer is None
    assert "a discovery" in str(first.asked[-1])
    assert book.budget("trial").spent == pytest.approx(1.0)
    first.ask("down again", **BELOW)
    assert book.budget("trial").spent == pytest.approx(2.0)
    second = discreet.Sequence(**how | {"ledger": str(book.path)})
    assert second.asked == first.asked
    second.ask("from here", **BELOW)
    first.ask("and from there", **BELOW)
    assert book.budget("trial").spent == pytest.approx(3.0)
    copied = copy.deepcopy(first)
    copied.ask("a copy has no hidden number of its own", **BELOW)
    assert book.budget("trial").spent == pytest.approx(4.0)
    group, values = np.arange(200) % 2, np.arange(200.0)
    with pytest.raises(BudgetError):  # moved farther by one person: a run of its own
        copied.ask("ranks", values, "rank-sum", group=group, levels=(0, 1))
    with pytest.raises(InputError, match="another q, method or epsilon"):
        discreet.Sequence(**how | {"epsilon": 2.0})


def test_a_run_the_disk_had_no_room_for_blocks_no_other(tmp_path, monkeypatch):
    """Paid by discovery: the ledger could not keep that a run was begun; the next one is another."""
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.create("trial", epsilon=5, delta=1e-6)
    questions = discreet.Sequence(q=0.1, method="lond", epsilon=1.0, ledger=ledger, dataset="trial")
    settle = Book.settle

    def full(book, reserved, result, *, kept=True):
        if kept and "/run " in reserved.release_id:
            raise sqlite3.OperationalError("database or disk is full")
        return settle(book, reserved, result, kept=kept)

    monkeypatch.setattr(Book, "settle", full)
    assert questions.ask("first", np.ones(400)).rejected
    monkeypatch.setattr(Book, "settle", settle)
    assert questions.ask("second", np.ones(400)).rejected


@pytest.mark.usefixtures("ctrl_c")
def test_a_run_that_is_paid_for_is_not_lost_to_an_interrupt(tmp_path, monkeypatch):
    """Ctrl-C while a run is charged: the question is asked again, and nothing more is charged."""
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.create("trial", epsilon=5, delta=1e-6)
    questions = discreet.Sequence(q=0.1, method="lond", epsilon=1.0, ledger=ledger, dataset="trial")
    settle, hit = Book.settle, []

    def interrupted(book, reserved, result, *, kept=True):
        if not hit:
            hit.append(True)
            signal.raise_signal(signal.SIGINT)
        return settle(book, reserved, result, kept=kept)

    monkeypatch.setattr(Book, "settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        questions.ask("first", np.tile([1.0, -1.0], 200))
    spent = ledger.budget("trial").spent
    assert not questions.ask("first", np.tile([1.0, -1.0], 200)).rejected
    assert ledger.budget("trial").spent == pytest.approx(spent, rel=1e-3)


def test_by_discovery_says_what_it_cannot():
    """p-values that saffron needs, a test that asks twice, and a budget said twice or not at all."""
    with pytest.raises(InputError, match="p-values"):
        discreet.Sequence(method="saffron", epsilon=1)
    questions = discreet.Sequence(epsilon=1)
    with pytest.raises(InputError, match="asks twice"):
        questions.ask("a", [1.0, 0.0], "two-by-two", group=[0, 1], levels=(0, 1))
    with pytest.raises(InputError, match="leave epsilon out"):
        questions.ask("a", [1.0], epsilon=1)
    with pytest.raises(InputError, match="may cost"):
        discreet.Sequence().ask("a", [1.0])
    with pytest.raises(InputError, match="is over"):
        threshold.Run(1.0, 1, over=True).passes(threshold.of_signs(np.ones(3), 0.0, "greater"), 0.5)


@pytest.mark.parametrize("test", ["rank-sum", "kruskal-wallis"])
def test_by_discovery_knows_every_test(test):
    """Groups that differ plainly are a discovery."""
    groups = 2 if test == "rank-sum" else 3
    group, levels = np.arange(600) % groups, tuple(range(groups))
    questions = discreet.Sequence(epsilon=2)
    how = {"group": group, "levels": levels}
    assert questions.ask("apart", 1000.0 * group, test, **how).rejected


def test_the_tail_of_a_run_is_the_double_sum():
    """Statistic plus fresh noise less the hidden number, against plain sums over both."""
    hidden, fresh, n = 3.0, 2.0, 20
    h, f = np.arange(200.0), np.arange(150.0)
    chance = np.outer(
        np.exp(-h / hidden) * -np.expm1(-1 / hidden), np.exp(-f / fresh) * -np.expm1(-1 / fresh)
    )

    def survival(t):
        return binom.sf(np.ceil(t) - 1.0, n, 0.5)

    for at in (-5, 9, 14, 30):
        plain = float(np.sum(chance * survival(at - f[None, :] + h[:, None])))
        assert threshold.tail(survival, at, hidden, fresh) == pytest.approx(plain, rel=1e-9)


def test_the_tail_of_a_run_is_summed_in_parts(monkeypatch):
    """At the smallest epsilon all values of the noise at once would take gigabytes, after the charge."""

    def survival(t):
        assert t.size <= threshold._AT_ONCE
        return binom.sf(np.ceil(t) - 1.0, 20, 0.5)

    whole = [threshold.tail(survival, at, 30.0, 20.0) for at in (-50, 9, 140)]
    monkeypatch.setattr(threshold, "_AT_ONCE", 7)
    assert [threshold.tail(survival, at, 30.0, 20.0) for at in (-50, 9, 140)] == pytest.approx(
        whole, rel=1e-12
    )


def test_by_discovery_a_first_discovery_counts_as_one():
    """Where everything is null each discovery is false: what is promised is E[false] <= q E[max(R, 1)]."""
    assert "at least one" in str(discreet.Sequence(method="lord", epsilon=0.5))
    assert "at least one" not in str(discreet.Sequence(method="lond", epsilon=0.5))
    assert "at least one" not in str(discreet.Sequence(method="lord"))


@pytest.mark.statistical(3, twins=1)
def test_by_discovery_keeps_the_rate():
    """Two-sided nulls pass a level of a tenth at most that often, alone and after others that did not."""
    rng = np.random.default_rng(11)
    alone, after, real = [], [], []
    for _ in range(150):

        def question(share=0.5):
            return threshold.of_signs(np.where(rng.random(80) < share, 1.0, -1.0), 0.0, "two-sided")

        run = threshold.Run(1.0, 1)
        alone.append(run.passes(question(), 0.1))
        if not run.over:
            after.append(run.passes(question(), 0.1))
        real.append(threshold.Run(1.0, 1).passes(question(0.99), 0.1))
    assert_mean_at_most(np.array(alone, float), 0.1)
    assert_mean_at_most(np.array(after, float), 0.1)
    must_fail(assert_mean_at_most, np.array(real, float), wrong=0.1, truth=0.9)


@pytest.mark.parametrize("pays", [{}, {"epsilon": 0.5}])
def test_a_question_is_asked_once(trial, pays):
    """The same name again is refused and costs nothing, in memory, in the ledger, and from another object."""
    cost = {} if pays else {"epsilon": 0.5}
    kept = {"ledger": trial, "dataset": "trial"}
    for where in ({}, kept):
        questions = discreet.Sequence(**where, **pays)
        questions.ask("diet", [1.0, -1.0] * 20, **cost)
        others = [questions, discreet.Sequence(**where, **pays)] if where else [questions]
        spent = trial.budget("trial").spent
        for other in others:
            with pytest.raises(InputError, match="decided for good"):
                other.ask("diet", [1.0] * 40, **cost)
            assert len(other.asked) == 1
        assert trial.budget("trial").spent == spent
        with pytest.raises(InputError, match="nothing"):
            questions.ask(" ", [1.0], **cost)


def test_a_place_that_is_taken(trial):
    """Where another release has the name of the next place, the refusal says what to do."""
    discreet.test([1.0] * 9, epsilon=0.1, ledger=trial, dataset="trial", release_id="sequence/1")
    questions = discreet.Sequence(ledger=trial, dataset="trial")
    with pytest.raises(InputError, match="another name"):
        questions.ask("diet", [1.0] * 9, epsilon=0.1)
    assert "0 asked" in repr(questions)
    assert discreet.Sequence(ledger=trial, dataset="trial", name="two").ask("diet", [1.0] * 9, epsilon=0.1)
