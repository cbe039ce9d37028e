"""Nothing after the last draw sees data: entries and groups that are spoiled then change no release."""

import os
from dataclasses import replace

import numpy as np
import pytest

from discreet.evidence.core.covariates import Covariates
from discreet.evidence.core.people import People, Question
from discreet.methods.method import Parameters
from discreet.methods.registry import METHODS
from discreet.noise import entropy

COLUMNS = 6
CASES = [("all", "approximate"), ("all", "proved"), ("focus", "approximate")]
COVARIATES = 2


class Watched:
    """Repeatable noise that spoils the data once `last` requests for it were made."""

    left = float("inf")  # the key is never spent

    def __init__(self, people, last=None):
        self.rng, self.people, self.last, self.asked = np.random.default_rng(5), people, last, 0
        self.born = os.getpid(), entropy._forks

    def encrypt(self, zeros, out):
        """Hand noise out; after the last request the data are gone."""
        out[: len(zeros)] = self.rng.bytes(len(zeros))
        self.asked += 1
        if self.asked == self.last:
            self.people.values[:] = 0.25
            self.people.group[:] = np.arange(self.people.rows) % 3 == 0


def everyone(protect):
    """Return 3,000 people: answers and numbers, some of which differ, some missing."""
    rng = np.random.default_rng(2)
    group = (rng.random(3000) < 0.5).astype(np.int8)
    values = rng.random((3000, COLUMNS)) + 0.3 * np.outer(group, np.arange(COLUMNS) < 3)
    values[:, :2] = values[:, :2] > 0.6
    values[rng.random(values.shape) < 0.02] = np.nan
    bounds = [None, None, (0.0, 1.3), (0.0, 1.3), None, None]
    questions = [Question(str(i), slice(i, i + 1), i < 2, bounds[i]) for i in range(COLUMNS)]
    return People(tuple(map(str, range(COLUMNS))), tuple(questions), "two-sided", protect, values, group)


def drawn(asked, protect, monkeypatch, last=None):
    """Return a release with repeatable noise, and how often noise was asked for."""
    people = everyone(protect)
    ready = METHODS[asked.method].ready(asked, people)
    with monkeypatch.context() as patched:
        stream = Watched(people, last)
        patched.setattr(entropy._local, "stream", stream)
        return ready.draw(), stream.asked


@pytest.mark.parametrize("protect", ["everything", "columns"])
@pytest.mark.parametrize(("method", "guarantee"), CASES)
def test_data_spoiled_after_the_last_draw_change_nothing(method, guarantee, protect, monkeypatch):
    """Of methods that ask people several times; wrong twin: data spoiled at the first draw do."""
    k = 3 if method == "focus" else None
    asked = Parameters(q=0.1, epsilon=3.0, delta=1e-6, method=method, guarantee=guarantee, k=k, values=True)
    release, requests = drawn(asked, protect, monkeypatch)
    assert drawn(asked, protect, monkeypatch, last=requests)[0] == release
    assert drawn(asked, protect, monkeypatch, last=1)[0] != release
    assert replace(release, q=0.2) != release


@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_so_do_covariates(protect, monkeypatch):
    """Of adjusted comparisons, entries, groups and covariates; wrong twin: spoiled at the first draw."""

    def adjusted(protect):
        people = everyone(protect)
        z = np.random.default_rng(3).uniform(-1, 1, (people.rows, COVARIATES))
        return replace(people, covariates=Covariates(np.zeros(COVARIATES, dtype=bool), z))

    class Spoiled(Watched):
        def encrypt(self, zeros, out):
            super().encrypt(zeros, out)
            if self.asked == self.last:
                self.people.covariates.values[:] = 0.5

    def draw(last=None):
        people = adjusted(protect)
        asked = Parameters(q=0.1, epsilon=3.0, delta=1e-6, method="all", values=True)
        ready = METHODS["all"].ready(asked, people)
        with monkeypatch.context() as patched:
            stream = Spoiled(people, last)
            patched.setattr(entropy._local, "stream", stream)
            return ready.draw(), stream.asked

    release, requests = draw()
    assert draw(requests)[0] == release
    assert draw(1)[0] != release
