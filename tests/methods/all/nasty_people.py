"""Invented people for the methods that ask several times, and one of them replaced by somebody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.evidence.core.people import People, Question

ALTERNATIVES = ("two-sided", "greater", "less")
BOUNDS = ((0.0, 1.0), (-3.0, 50.0), (0.0, 1e-300), (0.0, 5e-324), (-1e308, 1e308), (1e15, 1e15 + 2))
ODD = (0.0, -0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 5e-324, 3e-9, 2.0**70, np.inf, -np.inf, np.nan)


def invent(rng: np.random.Generator, *, most: int = 12, protect: str | None = None) -> People:
    """Return some people: few or more, with columns of every kind, of which some are awkward."""
    rows = int(rng.choice([1, 2, 3, 5, 20, 60]))
    questions: list[Question] = []
    start = 0
    for number in range(int(rng.integers(1, most))):
        kind = rng.integers(4)
        width = int(rng.integers(2, 6)) if kind == 0 else 1
        bounds = BOUNDS[rng.integers(len(BOUNDS))] if kind == 2 else None
        questions.append(Question(f"q{number}", slice(start, start + width), bool(kind < 2), bounds))
        start += width
    protect = protect or str(rng.choice(["everything", "columns"]))
    kind = rng.choice([np.float32, np.float64])
    group = rng.choice([-1, 0, 1], size=rows, p=rng.dirichlet((0.3, 1, 1))).astype(np.int8)
    styles = rng.integers(5, size=len(questions))
    with np.errstate(all="ignore"):
        values = np.array([row_of(rng, questions, styles) for _ in range(rows)], dtype=kind)
    if protect == "columns":  # refused when data is read, if it is public that a group is empty
        rows = max(rows, 2)
        values, group = np.resize(values, (rows, start)), np.resize(group, rows)
        group[:2] = 0, 1
    values[group < 0] = np.nan
    names = [f"h{place}" for place in range(start)]
    return People(names, tuple(questions), str(rng.choice(ALTERNATIVES)), protect, values, group)  # type: ignore[arg-type]


def lopsided(rng: np.random.Generator) -> People:
    """Return a few people of one group, most of the other: these have no entry in the first column."""
    group = (np.arange(60) < 12).astype(np.int8)
    values = rng.choice([0.0, 1.0], size=(60, 3))
    values[16:, 0] = np.nan
    questions = tuple(Question(f"q{place}", slice(place, place + 1), False, (0.0, 1.0)) for place in range(3))
    return People(["a", "b", "c"], questions, "two-sided", "columns", values, group)


def unlike(rng: np.random.Generator) -> tuple[People, list[People]]:
    """Return a few people with numbers of every size, a few answers, and others in the place of the first.

    Some of them have as large numbers as there are in all columns, or as small ones.
    """
    rows, columns = int(rng.choice([12, 30, 60])), int(rng.integers(6, 12))
    scale = 10.0 ** rng.uniform(-6, 6, columns)
    values = rng.normal(3, 1, size=(rows, columns)) * scale
    values[:, 0] = rng.random(rows) < 0.5
    values[rng.random(values.shape) < rng.choice([0.0, 0.3])] = np.nan
    values[0] = 1.0
    group = rng.integers(0, 2, rows).astype(np.int8)
    group[1:3] = 0, 1
    questions = tuple(Question(f"q{place}", slice(place, place + 1), place == 0) for place in range(columns))
    names, protect = [f"h{place}" for place in range(columns)], str(rng.choice(["everything", "columns"]))
    people = People(names, questions, str(rng.choice(ALTERNATIVES)), protect, values, group)  # type: ignore[arg-type]
    others = []
    for row in (np.nan, 0.0, 1.0, -np.inf, np.inf, 1e9 * scale, -1e9 * scale):
        other, side = values.copy(), group.copy()
        other[0] = row
        side[0] = 1 - side[0] if protect == "everything" and rng.random() < 0.5 else side[0]
        others.append(replace(people, values=other, group=side))
    return people, others


def two_centres(rng: np.random.Generator) -> tuple[People, People]:
    """Return people whose groups are 2 to 8 deviations apart in a few columns, and a neighbour of theirs.

    Somebody of the smaller group is far on the other group's side in half of these columns, the neighbour in
    the other half: around two centres, no entries are larger.
    """
    rows, columns, half = 200, 20, int(rng.integers(1, 3))
    group = (np.arange(rows) < rows * rng.uniform(0.1, 0.25)).astype(np.int8)
    apart = np.zeros(columns)
    apart[: 2 * half] = rng.uniform(2, 8, 2 * half) * rng.choice([-1.0, 1.0], 2 * half)
    values = rng.normal(size=(rows, columns)) + apart * group[:, None]
    questions = tuple(Question(f"q{place}", slice(place, place + 1), False) for place in range(columns))
    names = [f"h{place}" for place in range(columns)]
    protect = str(rng.choice(["everything", "columns"]))
    both = []
    for some in (slice(half), slice(half, 2 * half)):
        values = values.copy()
        values[0] = apart
        values[0, some] = -1e3 * np.sign(apart[some])
        both.append(People(names, questions, "two-sided", protect, values, group))  # type: ignore[arg-type]
    return both[0], both[1]


def row_of(rng: np.random.Generator, questions: Any, styles: Any = None) -> np.ndarray:
    """Return one person's entries; styles: tame, extreme, odd, missing, constant."""
    row: list[float] = []
    chance = rng.choice([0.0, 0.1, 0.5, 0.9])
    for number, asked in enumerate(questions):
        style = rng.integers(5) if styles is None else styles[number]
        width = asked.places.stop - asked.places.start
        missing = style == 3 or rng.random() < chance
        if asked.answers:
            said = np.zeros(width)
            place = 0 if style == 4 else rng.integers(width + 1)
            said[place : place + 1] = 1.0
            row += (said if not missing else said * np.nan).tolist()
            continue
        low, high = asked.bounds or (-10.0, 10.0)
        tame = low + rng.random() * (high - low) if np.isfinite(high - low) else low * rng.random()
        entry = [tame, rng.choice([-1e300, 1e300, low, high]), rng.choice(ODD), np.nan, low][style]
        row.append(np.nan if missing else float(entry))
    return np.array(row)


def neighbours(rng: np.random.Generator, people: People, count: int = 6) -> list[People]:
    """Return the same people with one replaced; with public groups, by somebody of the same group."""
    at = int(rng.integers(people.rows))
    return [replaced(rng, people, at) for _ in range(count)]


def replaced(rng: np.random.Generator, people: People, at: int) -> People:
    """Return the same people but for one."""
    values, group = people.values.copy(), people.group.copy()
    if people.protect == "everything" and rng.random() < 0.6:
        group[at] = rng.integers(-1, 2)
    styles = None if rng.random() < 0.6 else np.full(len(people.questions), rng.integers(5))
    with np.errstate(all="ignore"):
        values[at] = row_of(rng, people.questions, styles) if group[at] >= 0 else np.nan
    return replace(people, values=values, group=group)
