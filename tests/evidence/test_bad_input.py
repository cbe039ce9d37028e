"""Every test of the registry on data that say nothing: a clear word or a score of 0, and nothing private."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.evidence.core.registry import own_classes

NAN = np.nan
PEOPLE = 240
# p-values are nobody's rows; TDT reads families, not columns.
KINDS = [kind for kind in own_classes() if kind.name not in {"p-values", "tdt"}]
PROTECTED = {"everything", "both"}


def table(**changed):
    """Return people with labels of all roles, and columns that say nothing: constant, empty, known of one."""
    rng = np.random.default_rng(1)
    place = np.arange(PEOPLE)
    data = {
        "group": place % 3,
        "stratum": place // 3 % 2,
        "event": place % 2,
        "partner": rng.random(PEOPLE),
        "phenotype": 1 + place % 2,
        "covariate": place % 2,
        "constant": np.ones(PEOPLE),
        "empty": np.full(PEOPLE, NAN),
        "alone": np.where(place == 7, 1.0, NAN),
    }
    return pd.DataFrame(data | changed)


SILENT = ["constant", "empty", "alone"]


def made(kind, **more):
    """Return a test with what it needs, and options by their names where it has them."""
    own = {"group": "group", "stratum": "stratum", "event": "event", "partner": "partner"}
    needed = dict(kind.example()) | ({"bounds": (1, 2)} if kind.name == "score" else {})
    named = {name: value for name, value in (own | more).items() if name in kind.arguments()}
    return kind(**(needed | {name: named[name] for name in named if name in needed or name in more}))


def scored(test, data, columns=SILENT):
    """Return the scores, or None after a clear word; warnings would speak of people."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = {name: ["0", "1"] for name in columns} if test.name == "contingency" else list(columns)
        try:
            return discreet.measure(data, test, columns=asked).score
        except InputError:
            return None


def protections(kind):
    """Return the choices of what is protected that a test has."""
    if "protect" not in kind.arguments():
        return [{}]
    words = ("both", "genotypes") if kind.sources[0] == "genotypes" else ("everything", "columns")
    return [{"protect": word} for word in words]


ALL = [(kind, more) for kind in KINDS for more in protections(kind)]
IDS = [f"{kind.name}-{more.get('protect', 'own')}" for kind, more in ALL]
every = pytest.mark.parametrize(("kind", "more"), ALL, ids=IDS)


def one_sample(kind):
    """Say whether columns are tested by themselves: what is constant may well differ from a null value."""
    return (
        kind.groups == 0 and not {"partner", "trait", "event"} & {*kind.arguments()} and kind.name != "pairs"
    )


@every
def test_columns_that_say_nothing_score_nothing(kind, more):
    """Constant and empty columns, and one that a single person has."""
    score = scored(made(kind, **more), table())
    assert score is not None
    assert np.all(np.isfinite(score))
    if not one_sample(kind):
        assert not score.any()
    elif kind.name != "vote":
        assert not score[1:].max() > 2


@every
def test_levels_that_nobody_has(kind, more):
    """Protected groups score 0 without a word, as any would; public ones may be refused."""
    if "levels" not in kind.arguments():
        return
    test = made(kind, levels=tuple(range(7, 7 + max(2, kind.groups))), **more)
    data = table()
    data["some"] = np.arange(PEOPLE, dtype=float) % 5
    score = scored(test, data, ["some"])
    if more.get("protect") in PROTECTED:
        assert score is not None, "a refusal would speak of people"
    if score is not None:
        assert not score.any()


@every
def test_a_group_of_one_person(kind, more):
    """It is refused where groups are public; else nothing follows from one person alone."""
    if kind.groups == 0 or "levels" not in kind.arguments():
        return
    group = np.zeros(PEOPLE, dtype=int)
    group[5], group[6::2] = 2, 0 if kind.groups == 2 else 1
    group[5] = 1 if kind.groups == 2 else 2
    data = table(group=group)
    data["some"] = (group == group[5]) * 1.0
    score = scored(made(kind, **more), data, ["some"])
    if more.get("protect") in PROTECTED:
        assert score is not None, "a refusal would speak of people"
    if score is not None:
        assert np.all(np.isfinite(score))
        assert score.max() < 4.5


ADJUSTING = [(kind, more) for kind, more in ALL if "adjust" in kind.arguments() and kind.name != "score"]
ADJUSTING += [(kind, {"protect": "genotypes"}) for kind in KINDS if kind.name == "score"]
NAMES = [f"{kind.name}-{more.get('protect', 'own')}" for kind, more in ADJUSTING]


@pytest.mark.parametrize(("kind", "more"), ADJUSTING, ids=NAMES)
def test_covariates_that_explain_the_label_perfectly(kind, more):
    """Nobody is left to compare with: nothing is found, or it is refused where all of it is public."""
    place = np.arange(PEOPLE)
    bare = kind.name == "score"
    data = table(group=place % 2, partner=place % 2 * 1.0, some=place % 2 * 1.0)
    data["covariate"] = place % 2 if bare else np.where(place % 2, "yes", "no")
    test = made(kind, adjust=("covariate",) if bare else {"covariate": ("no", "yes")}, **more)
    said, found = "", ()
    try:
        # At this q noise alone finds nothing, but for once in a billion times.
        found = discreet.discover(data, test, columns=["some"], q=1e-9, epsilon=1, delta=1e-6).discoveries
    except InputError as error:
        said = str(error)
    assert not found
    assert not said or "leave some" in said
    assert not said or more["protect"] not in PROTECTED, "a refusal would speak of people"
