"""`discreet bench contest`: each rival in its own setting, with its published figure, beside ours."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.contest import (
    dprivstats,
    families,
    joint_flip,
    knockoffs,
    offline,
    one_question,
    online_rivals,
    packages,
    paprika,
    peeled_knockoffs,
    synthetic_tables,
)
from discreet.lab.bench.contest.lines import NONE, Line, cell, cost, peak, summary
from discreet.lab.bench.power import published
from discreet.lab.bench.timing import most_memory
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Tick = Callable[[int], None]
    Part = tuple[str, list[Line]]


def selection(studies: int, tick: Tick) -> Part:
    """Return accuracy, time and memory of choosing k of 5,000 variants, as joint permute-and-flip does."""
    contenders = {**joint_flip.CONTENDERS, **packages.choosers()}
    rows, lines = list[list[str]](), list[Line]()
    for setting in joint_flip.SETTINGS:
        marks: dict[str, NDArray[np.float64]] = {}
        for name, choose in contenders.items():
            runs = studies * joint_flip.more_studies(setting, name)
            start = time.process_time()
            marks[name] = joint_flip.accuracies(setting, {name: choose}, runs, seed=1)[name]
            seconds = (time.process_time() - start) / runs
            memory = peak(partial(joint_flip.accuracies, setting, {name: choose}, 1, 1))
            known = f"{setting.published:.3f}" if name == "joint permute-and-flip" else ""
            head = [f"{setting.k}", f"{setting.epsilon:g}", name]
            rows.append([*head, f"{runs:,}", cell(marks[name]), known, f"{1e3 * seconds:.1f}", memory])
        where = f"k = {setting.k}, epsilon {setting.epsilon:g}"
        lines.append(
            Line(
                "Joint permute-and-flip",
                where,
                f"{setting.published:.3f}",
                marks["joint permute-and-flip"],
                marks["ours"],
            )
        )
        lines += [
            Line(name, where, "-", marks[name], marks["ours"]) for name in packages.NAMES if name in marks
        ]
        tick(1)
    header = ["k", "epsilon", "contender", "studies", "accuracy (se)", "published", "ms a study", "MiB"]
    words = "Which k of 5,000 variants, pure epsilon; nobody gives intervals:"
    return f"{words}\n\n{table(header, rows)}", lines


def in_families(studies: int, tick: Tick) -> Part:
    """Return the accuracy of choosing ten of a million variants by their transmissions."""
    rows, lines = list[list[str]](), list[Line]()
    for setting in families.SETTINGS:
        printed = "" if setting.printed is None else f"{setting.printed:.3f}"
        marks, rng = families.accuracies(setting.epsilon, studies, seed=1), np.random.default_rng(1)
        counts = families.study(rng)
        for name, shares in marks.items():
            known = [printed, f"{setting.named:.3f}"] if name in families.RIVALS else ["", ""]
            spent = cost(partial(families.CONTENDERS[name], counts, setting.epsilon, rng))
            rows.append([f"{setting.epsilon:g}", name, cell(shares), *known, *spent])
        figures = f"{setting.named:.3f}" + (f", {printed}" if printed else "")
        where = f"10 of 10^6, epsilon {setting.epsilon:g}"
        lines += [
            Line("Private TDT", f"{where}{how}", figures, marks[families.RIVALS[0]], marks[name])
            for name, how in (("ours, joint", ""), ("ours, one by one", ", one by one"))
        ]
        tick(1)
    header = ["epsilon", "contender", "accuracy (se)", "in its repository", "quoted", "ms", "MiB"]
    words = (
        f"Which 10 of 10^6 variants by transmissions, pure epsilon, {studies} studies; "
        "nobody gives intervals:"
    )
    return f"{words}\n\n{table(header, rows)}", lines


def one(studies: int, tick: Tick) -> Part:
    """Return power and error at level .05, and the coverage of 95% intervals, in the rivals' settings."""
    rows, lines = list[list[str]](), list[Line]()
    for setting in one_question.SETTINGS:
        marks, again = one_question.run(setting, studies, seed=1), one_question.again(setting)
        null = one_question.run(setting, studies, seed=2, effect=0.0)
        head = [
            setting.rival,
            f"{setting.n}",
            f"{setting.groups}",
            f"{setting.published:.3f}",
            f"{again:.3f}",
        ]
        took, held = f"{1e3 * float(np.median(marks.seconds)):.1f}", np.concatenate((null.held, marks.held))
        memory = peak(partial(one_question.run, setting, 1, 1))
        rows.append([*head, cell(marks.rejected), cell(null.rejected), cell(held), took, memory])
        where = f"n = {setting.n}, groups {setting.groups}"
        lines.append(Line(setting.rival, where, f"{setting.published:.3f}", again, marks.rejected))
        tick(1)
    header = [
        "rival",
        "people",
        "groups",
        "published",
        "by its definition",
        "ours (se)",
        "type I (se)",
        "coverage (se)",
        "ms",
        "MiB",
    ]
    words = (
        f"One hypothesis, level .05, epsilon 1, {studies} studies; our type I error, coverage of 95% "
        "intervals, time and memory:"
    )
    return f"{words}\n\n{table(header, rows)}", lines


def official(studies: int, tick: Tick) -> Part:
    """Return type I error, power and coverage of DPrivStats and ours."""
    rows, lines = list[list[str]](), list[Line]()
    for setting in dprivstats.SETTINGS:
        null = dprivstats.run(setting, 0.0, studies, seed=1)
        real = dprivstats.run(setting, setting.shift, studies, seed=2)
        for name in null:
            held = np.concatenate((null[name][:, 1], real[name][:, 1]))
            level, power = cell(null[name][:, 0]), cell(real[name][:, 0])
            rng = np.random.default_rng(3)
            spent = cost(partial(setting.contenders()[name], *setting.people(0.0, rng), rng))
            covered = NONE if np.isnan(held).all() else cell(held)
            rows.append([setting.question, f"{setting.n}", name, level, power, covered, *spent])
        wrong = float(null["DPrivStats"][:, 0].mean()) > 2 * dprivstats.LEVEL
        note = "not valid: type I error above .1" if wrong else ""
        where = f"{setting.question}, n = {setting.n}"
        lines.append(Line("DPrivStats", where, "-", real["DPrivStats"][:, 0], real["ours"][:, 0], note))
        tick(1)
    header = ["question", "people", "contender", "type I (se)", "power (se)", "coverage (se)", "ms", "MiB"]
    words = f"DPrivStats, level .05, pure epsilon 1, {studies} studies without and {studies} with an effect:"
    return f"{words}\n\n{table(header, rows)}", lines


def at_once(studies: int, tick: Tick) -> Part:
    """Return FDR, power and time of methods for many p-values, in the setting of DP-AdaPT."""
    theirs, rows, lines = published(), list[list[str]](), list[Line]()
    rivals = {
        "DP-BH": "ours, aware, proved",
        offline.PUBLISHED: "ours, aware, proved",
        "DP-AdaPT": "ours, mirror",
        "e-values, noise on all": "ours, mirror",
        "e-values, 500 peeled": "ours, mirror",
    }
    for point in offline.POINTS:
        marks = offline.run(point, studies, seed=1)
        for name, mark in marks.items():
            by_epsilon = point.eta == 1e-4
            value = point.epsilon if by_epsilon else point.eta
            called = "DP-BH" if name == offline.PUBLISHED else name
            known = (
                None if name == "DP-BH" else theirs.get(("epsilon" if by_epsilon else "eta", value, called))
            )
            figure = f"{known[0]:.3f}/{known[1]:.3f}" if known else ""
            head = [f"{point.eta:g}", f"{point.epsilon:g}", name, cell(mark[:, 0]), cell(mark[:, 1])]
            z, rng = offline.scores(np.random.default_rng(1)), np.random.default_rng(2)
            memory = peak(partial(offline.CONTENDERS[name], z, point, rng))
            rows.append([*head, figure, f"{1e3 * float(np.median(mark[:, 2])):.0f}", memory])
            ours = rivals.get(name)
            if ours in marks:
                where = f"eta {point.eta:g}, epsilon {point.epsilon:g}"
                lines.append(
                    Line(name, where, f"{known[1]:.3f}" if known else "-", mark[:, 1], marks[ours][:, 1])
                )
        tick(1)
    header = ["eta", "epsilon", "contender", "FDR (se)", "power (se)", "published", "ms", "MiB"]
    words = (
        f"100,000 p-values, 100 of them real, delta 0.001, q = 0.1, {studies} studies; "
        "published: FDR/power;\n"
        "p-values have no effect to give an interval of, and nobody does:"
    )
    return f"{words}\n\n{table(header, rows)}", lines


def in_turn(studies: int, tick: Tick) -> Part:
    """Return FDR and power of hypotheses in turn: the same people in none, then PAPRIKA's setting."""
    held, spent = cell(online_rivals.coverage(studies, 2)), cost(partial(online_rivals.run, 1, 1))
    rows = [
        [name, cell(false), cell(real), held, *spent]
        for name, (false, real) in online_rivals.run(studies, 1).items()
    ]
    header = ["rule", "realised FDR (se)", "power (se)", "coverage (se)", "ms", "MiB"]
    words = (
        f"200 sign tests in turn, 20 real, 400 people each, epsilon 1 each, q = 0.1, {studies} studies; "
        "intervals, time and memory are the same for all:"
    )
    parts, rows, lines = [f"{words}\n\n{table(header, rows)}"], list[list[str]](), list[Line]()
    for share in paprika.SHARES:
        marks, held = paprika.run(share, studies, 1), cell(paprika.coverage(share, studies, 3))
        for name, (false, real) in marks.items():
            known = paprika.PUBLISHED.get((name, share))
            figure = f"{known[0]:.3f}/{known[1]:.3f}" if known else ""
            rng = np.random.default_rng(2)
            spent = cost(partial(paprika.contenders(share, rng)[name], paprika.study(share, rng)[0]))
            covered = held if name in paprika.BY_QUESTION else NONE
            rows.append([f"{share:g}", name, cell(false), cell(real), covered, figure, *spent])
        where = f"{share:g} of 800 in turn real"
        ours = marks[paprika.OURS][1]
        lines += [
            Line(name, where, f"{paprika.PUBLISHED[name, share][1]:.3f}", marks[name][1], ours)
            for name in ("PAPRIKA", "PAPRIKA AI")
        ]
        tick(1)
    rates = ["realised FDR (se)", "power (se)", "coverage (se)"]
    header = ["real", "contender", *rates, "its code", "ms", "MiB"]
    moved = ", ".join(f"{paprika.moved(p):.2f} at p = {p:g}" for p in (1e-1, 1e-3, 1e-5))
    words = (
        f"PAPRIKA's setting, 800 questions to the same people, epsilon 5 in all, q = 0.05, {studies} "
        "studies.\n"
        f"It declares that one person moves log p by {paprika.ETA:.2f}; one person moves it by {moved}:"
    )
    return "\n\n".join([*parts, f"{words}\n\n{table(header, rows)}"]), lines


def with_knockoffs(studies: int, tick: Tick) -> Part:
    """Return FDR and power of private knockoffs, which ask a question of their own."""
    rows, lines = list[list[str]](), list[Line]()
    for setting in knockoffs.SETTINGS:
        false, power, seconds = knockoffs.run(setting, studies, 1).T
        fdr, figure = (
            ("-", "-") if setting.published is None else (f"{part:.3f}" for part in setting.published)
        )
        known = "" if setting.published is None else f"{fdr}/{figure}"
        version = "projected" if setting.private else "below, not private"
        head = [
            version,
            f"{setting.real} of {setting.columns}",
            f"{setting.epsilon:g}",
            cell(false),
            cell(power),
        ]
        rng = np.random.default_rng(2)
        memory = peak(partial(knockoffs.filtered, knockoffs.moments(setting, rng)[0], setting, rng))
        rows.append([*head, known, f"{1e3 * float(np.median(seconds)):.0f}", memory])
        where = f"{setting.real} of {setting.columns}, epsilon {setting.epsilon:g}"
        note = "another question" if setting.private else "not private, and another question"
        lines.append(Line("Knockoffs by JLT", where, figure, power, None, note))
        tick(1)
    header = ["identity", "real", "epsilon", "FDR (se)", "power (se)", "in its repository", "ms", "MiB"]
    words = (
        f"Private knockoffs by random projection, 150,000 people, q = 0.2, {studies} studies; no intervals:"
    )
    return f"{words}\n\n{table(header, rows)}", lines


def with_peeled_knockoffs(studies: int, tick: Tick) -> Part:
    """Return FDR and power of the other private knockoffs, and ours where both ask the same question."""
    rows, lines = list[list[str]](), list[Line]()
    name, setting = "Knockoffs by peeling", peeled_knockoffs
    for n in setting.PEOPLE:
        marks, rng = setting.run(n, studies, 1), np.random.default_rng(2)
        x, y, _ = setting.study(n, rng)
        for contender, (false, power, held, seconds) in ((key, mark.T) for key, mark in marks.items()):
            memory = peak(partial(setting.CONTENDERS[contender], x, y, rng))
            took, covered = (
                f"{1e3 * float(np.median(seconds)):.0f}",
                NONE if np.isnan(held).all() else cell(held),
            )
            rows.append([f"{n:,}", contender, cell(false), cell(power), covered, took, memory])
        lines.append(Line(name, f"n = {n:,}", "-", marks[name][:, 1], marks["ours"][:, 1]))
        tick(1)
    header = ["people", "contender", "FDR (se)", "power (se)", "coverage (se)", "ms", "MiB"]
    words = (
        f"Private knockoffs by mirror peeling, {setting.REAL} of {setting.COLUMNS} independent columns, "
        f"mu = 1 (epsilon {setting.epsilon():.2f}), q = {setting.Q:g}, {studies} studies;\n"
        "coverage of 95% intervals for the mean of each z score that is told:"
    )
    return f"{words}\n\n{table(header, rows)}", lines


NOT_RUN = (Line("SUP (2512.03859)", "-", "-", note="not run: its transformation could not be had"),)
"""Rivals of which no more than the abstract could be had."""
STEPS = (
    len(joint_flip.SETTINGS)
    + len(one_question.SETTINGS)
    + len(families.SETTINGS)
    + len(dprivstats.SETTINGS)
    + len(offline.POINTS)
    + len(paprika.SHARES)
    + len(knockoffs.SETTINGS)
    + len(peeled_knockoffs.PEOPLE)
    + 2
)


def run(studies: int, tick: Tick) -> Iterator[str]:
    """Yield all tables, and at the end every rival in one."""
    parts: tuple[tuple[Callable[[int, Tick], Part], int], ...] = (
        (selection, studies),
        (one, 10 * studies),
        (official, 4 * studies),
        (in_turn, min(studies, 100)),
        (synthetic_tables.from_synthetic, min(studies, 100)),
        (with_peeled_knockoffs, min(studies, 40)),
        (with_knockoffs, min(studies, 8)),
        (at_once, min(studies, 12)),
        (in_families, min(studies, 40)),
    )
    lines: list[Line] = []
    for part, runs in parts:
        words, more = part(runs, tick)
        lines += more
        yield f"{words}\n"
    yield summary([*lines, *NOT_RUN])
    yield f"\nThe most memory held by all of it: {most_memory() / 2**20:.0f} MiB."
