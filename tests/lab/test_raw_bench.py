"""The benchmarks that begin with raw data: simulated columns, public tables, and the rival they contain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import ndtr, ndtri
from typer.testing import CliRunner

from budget import assert_mean_at_most, must_fail
from discreet.cli.app import app
from discreet.errors import InputError
from discreet.evidence.core.people import People, Question
from discreet.lab.bench import calibration, few, kinds, lifelike, raw, surveys, tables, unseen
from discreet.lab.bench import mixed as mixed_table
from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.moments import moments, not_private
from discreet.lab.bench.rival import by_hand, costs, gaussian_mu
from discreet.privacy.curves import gaussian_delta

SMALL = surveys.Survey(
    "small.parquet",
    "ill",
    ("no", "yes"),
    numbers={"age": (0, 100)},
    answers={"smokes": (1,), "town": ("A", "B")},
    person="who",
)


def small_table(folder, n=600):
    """Write a table in which the ill are older and live in town A more often; person 0 has two rows."""
    rng = np.random.default_rng(1)
    ill = rng.random(n) < 0.5
    columns = {
        "who": list(range(n)),
        "age": np.clip(rng.normal(40 + 30 * ill, 10), 0, 100).tolist(),
        "smokes": rng.integers(0, 2, n).tolist(),
        "town": np.where(rng.random(n) < 0.3 + 0.4 * ill, "A", rng.choice(["B", "C"], n)).tolist(),
        "ill": np.where(ill, "yes", "no").tolist(),
    }
    columns["age"][3] = columns["smokes"][3] = columns["town"][4] = None
    columns["ill"][5] = "unknown"
    rows = pa.table({name: [*column, column[0]] for name, column in columns.items()})
    pq.write_table(rows, folder / SMALL.file)
    return n


def mixed(protect="columns", n=400, seed=1):
    """Return people with two numbers, a yes/no question, and three answers to choose from."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 3, n)[:, None] == np.arange(3)
    values = np.column_stack([rng.random((n, 2)), rng.integers(0, 2, n), town]).astype(np.float32)
    values[rng.random(n) < 0.2, 0] = np.nan
    values[rng.random(n) < 0.2, 3:] = np.nan
    questions = (
        Question("a", slice(0, 1), answers=False, bounds=(0.0, 1.0)),
        Question("b", slice(1, 2), answers=False, bounds=(0.0, 1.0)),
        Question("c", slice(2, 3), answers=True),
        Question("d", slice(3, 6), answers=True),
    )
    group = rng.integers(0, 2, n).astype(np.int8)
    return People(tuple("abcxyz"), questions, "two-sided", protect, values, group)


@pytest.mark.parametrize("name", kinds.KINDS)
def test_kinds_are_what_they_say(name):
    """Entries lie in the bounds with the stated deviation; signals move by their size, others stay."""
    kind, n = kinds.KINDS[name], 400_000
    people = kinds.simulate(kind, n, 2, np.array([0.06]), "columns", np.random.default_rng(1))
    present = ~np.isnan(people.values[:, 1])
    assert present[people.group == 1].mean() == pytest.approx(kind.present[1], abs=0.01)
    entries = people.values[present, 1].astype(float)
    assert entries.std() == pytest.approx(kind.deviation, rel=0.03)
    assert kind.bounds[0] <= entries.min() <= entries.max() <= kind.bounds[1]
    sums = moments(people)
    width = kind.bounds[1] - kind.bounds[0]
    moved = (sums.mean[1] - sums.mean[0]) * width / kind.deviation
    # Five standard errors of a difference of means of about 140,000 each.
    assert moved == pytest.approx([0.06, 0], abs=0.02)


def test_moments_are_those_of_complete_cases():
    """Counts, sums and squares are taken over those who have an entry, in units of the bounds."""
    people = mixed()
    sums = moments(people)
    for side in (0, 1):
        for column in range(6):
            entries = people.values[people.group == side, column].astype(float)
            entries = entries[~np.isnan(entries)] - 0.5
            expected = [entries.size, entries.sum(), (entries**2).sum()]
            got = [sums.count[side, column], sums.total[side, column], sums.square[side, column]]
            assert got == pytest.approx(expected)


@pytest.mark.slow
def test_effects_are_calibrated():
    """BH without privacy has the power that effects were sized for."""
    rates = raw.rates(raw.Cell("uniform", 100, 0.5), "not private", kinds.N0, 30)
    assert rates.power == pytest.approx(kinds.POWER, abs=0.04)
    assert rates.fdr < 0.1


def contributions(people, row, label):
    """Return what a person adds to the weighted sums of the rival, both groups side by side."""
    from discreet.lab.bench.rival import _WEIGHTS

    presence, square = np.sqrt(_WEIGHTS[people.protect])
    parts = []
    for question in people.questions:
        entries = row[question.places]
        here = not np.isnan(entries).any()
        entries = np.nan_to_num(entries)
        if question.answers and entries.size > 1:
            added = [presence * here, *entries]
        else:
            centred = (entries[0] - 0.5) * here
            added = [presence * here, centred] + ([] if question.answers else [square * centred**2])
        parts += added
    both = np.zeros((2, len(parts)))
    both[label] = parts
    return both


@pytest.mark.slow
@pytest.mark.parametrize("protect", ["columns", "everything"])
def test_the_rival_adds_no_less_noise_than_it_must_and_not_much_more(protect):
    """No two people differ by more than the rival's sensitivity, and some by nearly as much."""
    people = mixed(protect)
    rng = np.random.default_rng(2)
    rows = [mixed(protect, n=1, seed=seed).values[0] for seed in range(40)]
    for _ in range(40):
        extreme = rng.choice([0.0, 1.0, np.nan], 3)
        town = np.eye(3)[rng.integers(3)] if rng.random() < 0.7 else np.full(3, np.nan)
        rows.append(np.concatenate([extreme, town]))
    rows += [np.array([0, 0, 0, 1, 0, 0.0]), np.array([1, 1, 1, 0, 1, 0.0]), np.full(6, np.nan)]
    labels = [(0, 0)] if protect == "columns" else [(0, 0), (0, 1)]
    apart = max(
        np.sum((contributions(people, one, a) - contributions(people, other, b)) ** 2)
        for one in rows
        for other in rows
        for a, b in labels
    )
    assert 0.8 * sum(costs(people)) <= apart <= sum(costs(people)) * (1 + 1e-9)


def test_the_rival_spends_its_budget():
    """The mean shift of its Gaussian mechanism costs exactly epsilon and delta."""
    assert gaussian_delta(1.0, gaussian_mu(1.0, 1e-6)) == pytest.approx(1e-6)
    assert gaussian_mu(1.0, 1e-6) == pytest.approx(0.2367, abs=1e-4)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_the_rival_keeps_its_level_where_nothing_is_real():
    """Where labels mean nothing it finds something in at most a tenth of tables; a fifth is refuted."""
    rng = np.random.default_rng(3)
    any_found = np.array(
        [by_hand(mixed(n=400, seed=seed), 3.0, rng).size > 0 for seed in range(3_000)], dtype=float
    )
    assert_mean_at_most(any_found, 0.1)
    must_fail(assert_mean_at_most, any_found, wrong=0.02, truth=0.075)


@pytest.mark.slow
def test_every_contender_finds_what_is_plain():
    """Differences of half a deviation are found by all, with both kinds of labels."""
    for kind in ("uniform", "yes/no .5"):
        rng = np.random.default_rng(4)
        people = kinds.simulate(kinds.KINDS[kind], 20_000, 3, np.full(1, 0.5), "columns", rng)
        for name, find in CONTENDERS.items():
            assert 0 in find(people, 3.0, rng), name
    assert 0 in by_hand(replace(people, protect="everything"), 3.0, rng)


def test_the_number_of_people_is_found_where_it_is_known():
    """A contender that needs exactly 1.7 times the people is said to; one that needs too many, too."""

    def law(n):
        return raw.Rates(float(ndtr(ndtri(0.88) + 1.5 * np.log(n / (1.7 * kinds.N0)))), 0.05, 0.01)

    assert raw.needed(law, 0.88, 12).ratio == pytest.approx(1.7, rel=0.02)
    assert raw.needed(law, 0.88, 1).ratio is None
    assert raw.needed(lambda n: law(4 * n), 0.88, 12).ratio == pytest.approx(1.7 / 4, rel=0.02)


@pytest.mark.slow
def test_raw_bench_runs_small():
    """A setting runs in a process of its own, and the words name what was found and what was missed."""
    cell = raw.Cell("uniform", 4, 0.5, epsilon=8.0)
    found = raw.run([cell], lambda _: None, signals=4)
    assert list(found) == [cell]
    words = raw.in_words({replace(cell, m=30, epsilon=1.0): found[cell]})
    assert "uniform" in words
    assert "at most 1.3" in words
    assert f"{found[cell]['by hand'].ratio:.2f}" in words


@pytest.mark.slow
def test_the_choice_is_compared_with_single_methods():
    """With a number of people given, power is printed, and a bad choice is said to be one."""
    cell = raw.Cell("uniform", 30, 0.5)
    result = raw.contest(cell, 4, ("us", "all"), people=400)
    words = raw.in_words({cell: result}, 400)
    assert "Power with 400 people" in words
    assert "the best method" in words
    bad = result | {"all": raw.Needed(None, raw.Rates(1.0, 0.0, 0.1))}
    bad |= {"us": raw.Needed(None, raw.Rates(0.9, 0.5, 0.01))}
    words = raw.in_words({cell: bad}, 400)
    assert "NOT MET: uniform, m = 30, 50% signals, public labels: 0.10 of power behind all" in words
    assert "NOT MET: FDR of us" in words


def test_raw_cells_are_chosen_and_checked():
    """Very many columns are simulated for few kinds alone, and a kind that does not exist is refused."""
    large = [cell for cell in raw.cells() if cell.m == 5_000]
    assert {cell.kind for cell in large} == {"uniform", "yes/no .1"}
    assert {cell.share for cell in large} == {0.01, 0.05, 0.5}
    assert raw.Cell("yes/no .01", 500, 0.5, labels="protected").target == pytest.approx(6.0)
    assert raw.Cell("uniform", 500, 0.5, epsilon=3.0).target is None
    with pytest.raises(InputError, match="kind"):
        raw.cells(["unifrom"])


@pytest.mark.slow
def test_few_hypotheses_run_small():
    """One setting prints power of everyone, and the verdict beside noise-aware BH."""
    words = few.in_words(few.run(2, 1.0, lambda _: None, [("uniform", 10, 2_000)]), 1.0)
    assert "2,000" in words
    assert "beside noise-aware BH" in words


def test_tables_are_read_as_declared(tmp_path):
    """One row for each person of either group; missing stays missing, undeclared levels are "other"."""
    n = small_table(tmp_path)
    people = surveys.read(SMALL, tmp_path, "columns")
    assert people.names == ("age", "smokes=1", "town=A", "town=B", "town=other")
    assert people.rows == n - 1
    assert np.isnan(people.values[3, :2]).all()
    assert np.isnan(people.values[4, 2:]).all()
    assert people.values[6, 2:].sum() == 1
    assert people.questions[0].bounds == (0, 100)
    assert people.questions[2].places == slice(2, 5)
    assert {"age", "town=A"} <= {people.names[i] for i in not_private(people)}


def test_copies_are_somebody_elses_answers(tmp_path):
    """Copies of one question move together, keep their totals, and say nothing about the group."""
    small_table(tmp_path)
    people = surveys.read(SMALL, tmp_path, "columns")
    doubled = tables.with_copies(people, np.random.default_rng(1))
    assert doubled.questions[-1].places == slice(7, 10)
    copied = doubled.values[:, 5:]
    assert np.nansum(copied, axis=0) == pytest.approx(np.nansum(people.values, axis=0))
    assert np.nanmax(copied[:, 2:].sum(axis=1)) == 1
    assert not np.array_equal(copied[:, 0], people.values[:, 0], equal_nan=True)


@pytest.mark.slow
def test_tables_bench_runs_small(tmp_path, monkeypatch):
    """A table that is there is compared and checked; the words give shares and verdicts."""
    small_table(tmp_path)
    monkeypatch.setattr(surveys, "SURVEYS", {"small": SMALL})
    how = tables.How(epsilons=(1.0,), people=(500, 10_000, None), releases=1, checks=1)
    task = tables.Task(tmp_path, "small", 500, how)
    found = {"small": [tables.compare(task), tables.compare(replace(task, people=None))]}
    assert tables.compare(replace(task, people=10_000)) is None
    words = tables.in_words(found, {"small": tables.check(task)}, how)
    assert "small: 5 hypotheses" in words
    assert "beside noise by hand" in words
    assert "labels permuted" in words


def test_tables_bench_skips_what_is_not_there(tmp_path):
    """Without the tables it says so, names the files, and is no failure."""
    done = CliRunner().invoke(app, ["bench", "tables", "--folder", str(tmp_path / "nowhere")])
    assert done.exit_code == 0
    assert "skipped" in done.output
    assert "brfss2015_diabetes.parquet" in done.output


def test_a_mixed_table_is_invented_and_printed():
    """Half of its columns differ, others do not; the table has a row for each size, and people needed."""
    people, real = mixed_table.invented(4_000, np.random.default_rng(1))
    means = [np.nanmean(people.values[people.group == side], axis=0) for side in (0, 1)]
    apart = np.abs(means[1] - means[0]) / np.nanstd(people.values, axis=0)
    assert np.median(apart[real]) > 2 * np.median(apart[~real])
    assert real.mean() == 0.5
    steps = [dict.fromkeys(mixed_table.WAYS, power) for power in (0.2, 0.6)]
    results = [
        mixed_table.Result(n, 9.0, power, power, power) for n, power in zip((100, 10_000), steps, strict=True)
    ]
    assert mixed_table.needed(results, "default") == "3,200"
    assert mixed_table.needed(results[:1], "default") == "over 100"
    assert mixed_table.needed(results[1:], "default") == "fewer than 10,000"
    assert "3,200" in mixed_table.in_words(results, 2, 1.0)


@pytest.mark.parametrize(
    "shape", ["normal", "yes/no", "skewed", "counts", "uniform", "correlated", "heavy-tailed"]
)
def test_calibration_invents_the_effect_it_states(shape):
    """The first columns differ by about the effect, in standard deviations, whatever they look like."""
    setting = calibration.Setting(4_000, 6, 0.5, 3, shape)
    people = calibration.invented(setting, np.random.default_rng(2))
    means = [people.values[people.group == side].mean(axis=0) for side in (0, 1)]
    apart = np.abs(means[1] - means[0]) / people.values.std(axis=0)
    assert (np.abs(apart[:3] - 0.5) < 0.2).all()
    assert (apart[3:] < 0.2).all()


def test_calibration_says_what_is_off():
    """Ten points off is told, and counted."""
    setting = calibration.SETTINGS[0]
    good, bad = (calibration.Result(setting, 0.5, power, 0.01) for power in (0.55, 0.75))
    assert "target met: 1 of 1" in calibration.in_words([good], 8)
    assert "NOT MET: 1 of 2" in calibration.in_words([good, bad], 8)
    assert "+0.25" in calibration.in_words([good, bad], 8)
    assert len(calibration.SETTINGS) == 30


def test_what_is_assumed_of_public_tables_is_of_their_columns():
    """Every column that something is assumed of is one of the table, and has as many answers as rates."""
    for survey, assumed in lifelike.PUBLISHED.items():
        columns = surveys.SURVEYS[survey].columns
        assert set(assumed) <= set(columns)
        for name, said in assumed.items():
            rates = said.get("rate")
            assert not isinstance(rates, tuple) or len(rates) == len(columns[name])


def test_a_register_is_planned_by_an_earlier_year():
    """The planner is told round figures of other people, and names the columns that differ."""
    said = lifelike.INVENTED[0].stated()
    assert len(said["signals"]) == lifelike.INVENTED[0].signals
    assert set(said["assume"]) == {column.name for column in said["columns"]}
    missing = [own["missing"] for own in said["assume"].values()]
    assert all(round(10 * share) == pytest.approx(10 * share) for share in missing)


@pytest.mark.parametrize("setting", lifelike.UNSEEN, ids=str)
def test_unseen_tables_are_about_as_they_are_said_to_be(setting):
    """Signals differ by about the effect, entries are missing and answers given about as often as is said."""
    people = setting.invented(np.random.default_rng(3))
    means = [np.nanmean(people.values[people.group == side], axis=0) for side in (0, 1)]
    apart = np.abs(means[1] - means[0]) / np.nanstd(people.values, axis=0)
    assert np.mean(apart[: setting.signals]) == pytest.approx(setting.effect, abs=0.05)
    said = {question.column: place for place, question in enumerate(people.questions)}
    for name, column in setting.stated()["assume"].items():
        entries = people.values[:, said[name]]
        assert np.isnan(entries).mean() == pytest.approx(column.get("missing", 0.0), abs=0.08)
        if "rate" in column:
            assert np.nanmean(entries) == pytest.approx(column["rate"], abs=0.15)
    assert len(unseen.described(setting.source, setting.m)) == setting.m
