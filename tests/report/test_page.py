"""The report, read as text: complete, self-contained, and closed to markup in names."""

import base64
import dataclasses
import hashlib
import math
import re
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_releases import HOSTILE, releases, sample, told
from scipy import stats

import discreet
from discreet.report.markup import printable
from discreet.report.page import page
from discreet.report.pictures import Axis, bands_of
from discreet.report.words import percent, right_guess


class Reader(HTMLParser):
    """Collects every tag with its attributes, and the text outside of style and script."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "input", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Elements close in turn."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Note text."""
        if self.open and self.open[-1] not in {"style", "script"}:
            self.words.append(data)

    def count(self, *but):
        """Count elements by name and attributes."""
        return Counter((tag, *sorted(attributes)) for tag, attributes in self.tags if tag not in but)


def test_hostile_names_are_only_text():
    """The page has the same elements and attributes whatever the names, and shows each name."""
    quiet = Reader(page(sample(len(HOSTILE), names=[f"name {i}" for i in range(len(HOSTILE))])))
    loud = Reader(page(sample(len(HOSTILE), names=HOSTILE)))
    assert loud.count() == quiet.count()
    assert not loud.open
    assert {printable(name) for name in HOSTILE if name} <= set(loud.words)


@pytest.mark.slow
def test_every_other_text_is_only_text():
    """No field of a record, not just its names, can add an element."""
    for nasty in HOSTILE:
        release = sample(
            3,
            method=nasty,
            version=nasty,
            privacy=discreet.Privacy(1.0, 1e-6, (), nasty),
            fdr=discreet.FdrPromise(0.1, "proved", nasty, nasty),
            parameters={"guarantee": nasty, "k": None},
            values=discreet.Values(nasty, np.array([3.0, -1.0, 2.0]), np.full(3, 0.4)),
            budget=discreet.BudgetLine(nasty, 3.0, 1e-5, 1.0, nasty, nasty, 2.1),
        )
        plain = sample(3, method="x", privacy=discreet.Privacy(1.0, 1e-6, (), "x"))
        pictures = ("path", "text", "rect")  # how many ticks fit depends on the numbers
        assert Reader(page(release)).count(*pictures) == Reader(page(plain)).count(*pictures)


@pytest.mark.slow
@given(releases())
@settings(max_examples=60)
def test_any_release_has_a_page(release):
    """Whatever the record holds, the page is well-formed, is valid UTF-8 and hides no character."""
    text = page(release)
    assert text.encode()
    assert not re.search(
        "[\0-\x08\x0b-\x1f\x7f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]", text
    )
    reader = Reader(text)
    assert not reader.open
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "nan" not in "".join(str(attributes.get("d")) for _, attributes in reader.tags)


def test_nothing_comes_from_outside():
    """No element loads anything, and the policy forbids it; style and script are the only code."""
    reader = Reader(page(sample(20)))
    for tag, attributes in reader.tags:
        assert tag not in {"img", "iframe", "object", "embed", "video", "audio", "form", "base"}
        assert not {"src", "srcset", "style", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#")[:1] == "#" or attributes["href"] == "data:,"
    policy = next(a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    for name in ("page.css", "page.js"):
        code = (files("discreet.report") / name).read_text("utf-8")
        assert code in page(sample())
        assert base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() in policy
        assert not re.search(r"https?:|//\w|@import|url\(|fetch|XMLHttp|innerHTML|eval", code)


@pytest.mark.parametrize("name", ["a measure with a name of usual length", "x" * 10_000])
def test_a_thousand_discoveries_stay_small(name):
    """Under 1 MB for 1,000 discoveries, long names included."""
    names = [f"{i} {name}" for i in range(1000)]
    assert len(page(sample(1000, m=10**6, names=names)).encode()) < 10**6


@pytest.mark.slow
def test_very_many_are_cut_and_said_so():
    """The table stops at 5,000 rows, and says where the rest is."""
    text = page(sample(5001, m=10**6))
    assert text.count("<tr>") == 5001
    assert "These are the first 5,000" in text


def test_what_is_said():
    """Every part of the record is on the page, in words and exactly."""
    release = sample(3)
    text = " ".join(Reader(page(release)).words)
    for words in (
        "3 discoveries among 400 hypotheses", "at most 10% on average", "This is proved", "cohort",
        "at most 73.1% of the time", "E[ V / max(R, 1) ] ≤ 0.1", "ε = 1.0 and δ = 1e-06", "rho = 0.006",
        "null scores are independent", "scan 1", "9f2c", "ε ≤ 2.1", "1.62 of 3 spent", discreet.__version__,
        "arXiv:1511.03803", "Guarantee",
    ):  # fmt: skip
        assert words in text
    assert all(name in text for name in release.discoveries)


def test_what_is_not_promised_is_said():
    """No level, a simulated one, a raised one, no limit on privacy, nothing found: each in its words."""
    none = discreet.FdrPromise(math.inf, "none", "the noise is too large", "docs/errata.md, 5")
    assert "No level is promised for this list: the noise is too large" in page(sample(fdr=none))
    simulated = discreet.FdrPromise(0.1, "simulated", "a", "b")
    assert "it is not proved" in page(sample(fdr=simulated))
    raised = discreet.FdrPromise(0.15, "proved", "a", "b")
    assert "The level asked for was 10%" in page(sample(fdr=raised))
    assert "Nothing limits" in page(sample(privacy=discreet.Privacy(math.inf, 0.0, (), "replace")))
    empty = page(sample(0, budget=False))
    assert "No discoveries among 400 hypotheses" in empty
    assert "does not show that nothing is there" in empty
    assert 'id="rows"' not in empty
    assert 'id="budget"' not in empty


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        (discreet.Values("z", np.arange(5.0), np.arange(5.0)), True),
        (discreet.Values("z", np.zeros(5), np.zeros(5)), True),
        (discreet.Values("z", np.full(5, 5e-324), np.zeros(5)), True),
        (discreet.Values("z", np.full(5, np.nan), np.ones(5)), False),
        (discreet.Values("z", np.array([1.7e308, -1.7e308, 0, 0, 0]), np.ones(5)), False),
        (discreet.Values("z", np.arange(5.0), np.full(5, math.inf)), False),
        (None, False),
    ],
)
def test_pictures_need_values(values, drawn):
    """Values are drawn only when they were released; what cannot be drawn is left out."""
    assert ("effects-720-title" in page(sample(values=values))) is drawn


def test_noises_that_differ_have_a_column():
    """One noise is said once; several stand beside their values, with as many digits as each deserves."""
    one, several = (
        page(sample(3, values=discreet.Values("z", np.array([12.3456, -3.21, 0]), np.array(noise))))
        for noise in ([0.5, 0.5, 0.5], [0.5, 0.02, 0.1])
    )
    assert ">Noise sd<" not in one
    assert "(0.5)" in one
    assert ">Noise sd<" in several
    assert "(0.02 to 0.5)" in several
    assert ">12.35<" in several
    assert ">\u22123.210<" in several


@pytest.mark.parametrize("count", [0, 2, 8])
def test_what_is_told_is_on_the_page(count):
    """Estimates, errors, intervals, p and q of the discoveries; levels in words; pictures of intervals."""
    release = told(count)
    text = page(release)
    assert (">Estimate, interval<" in text) is (count > 0)
    assert ("The discoveries, with intervals" in text) is (count > 2)
    assert "Estimates of all 30 hypotheses, noise included: in the file release.json, in Python " in text
    level = {0: "at level 90% each.", 2: "at level 99.3% each,", 8: "at level 97.3% each,"}[count]
    assert level in text
    assert "hold noise" not in text
    assert level.split()[2] in str(release)


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_discoveries_are_not_drawn(count):
    """Their table says it all, and the noise of values is said under it."""
    text = page(sample(count))
    assert "effects-720" not in text
    assert "places-720" not in text
    assert "Values hold noise of standard deviation 0.4." in text
    assert "hold noise" not in page(sample(count, values=False))
    assert "places-720" in page(sample(3, values=False))


@given(st.integers(3, 5000), st.integers(1, 12))
def test_ranks_have_no_fractions(count, about):
    """Ticks between whole ranks would be ranks of nothing; without `whole` there are some."""
    ends = (0.5, count + 0.5, 48, 340)
    assert all(tick == int(tick) for tick in Axis(*ends, whole=True).ticks(about))
    assert any(tick != int(tick) for tick in Axis(0.5, 1.5, 48, 340).ticks(5))


def test_a_right_guess_is_exact():
    """The bound is (1 + t)/2 with t the total variation of the worst pair, from its definition."""
    for epsilon, delta in [(0.0, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 1e-6), (0.0, 0.2)]:
        # The worst pair: delta reveals all, the rest is randomised response.
        odds = math.exp(epsilon) / (1 + math.exp(epsilon))
        worst = delta + (1 - delta) * odds
        promise = discreet.Privacy(epsilon, delta, (), "replace")
        assert right_guess(promise) == pytest.approx(worst, abs=1e-12)
    assert right_guess(discreet.Privacy(math.inf, 0.0, (), "replace")) == 1
    assert percent(right_guess(discreet.Privacy(20.0, 0.0, (), "replace"))) != "100%"


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast():
    """Text is at least 4.5 to 1 and marks at least 3 to 1 on what lies under them: light, dark, paper."""
    style = (files("discreet.report") / "page.css").read_text("utf-8")
    light, dark, paper = (
        dict(re.findall(r"--([\w-]+): (#\w{6})", root))
        for root in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    )
    for look in (light, light | dark, light | paper):
        for text, under in [
            ("ink", "page"), ("ink", "card"), ("ink", "wash"), ("soft", "page"), ("soft", "card"),
            ("accent", "card"), ("accent", "page"), ("accent", "wash"),
            ("warn", "warn-wash"), ("bad", "bad-wash"),
        ]:  # fmt: skip
            assert contrast(look[text], look[under]) >= 4.5, (text, under)
        for mark in ("before", "accent"):
            assert contrast(look[mark], look["card"]) >= 3, mark


def test_headings_and_pictures_have_names():
    """One h1, sections named by their headings, every picture with a title and a description."""
    reader = Reader(page(sample(30)))
    tags = Counter(tag for tag, _ in reader.tags)
    assert tags["h1"] == 1
    assert tags["section"] == tags["h2"] == 6
    assert tags["svg"] == tags["title"] - 1 == tags["desc"] == 8
    ids = {attributes.get("id") for _, attributes in reader.tags}
    for tag, attributes in reader.tags:
        if tag in {"svg", "section"}:
            assert set(attributes["aria-labelledby"].split()) <= ids
        if tag == "svg":
            assert attributes["role"] == "img"


def mixed(**changes):
    """Return a release of a number in the thousands, a rate and a small number, with what was asked."""
    size = {"pay": (2000.0, 5000.0), "smokes": (-0.03, 0.4), "bmi": (0.5, 4.0)}
    estimate, deviation = np.array([*size.values()]).T
    error = 0.01 * deviation
    kinds = ("difference of means", "difference of rates", "difference of means")
    numbers = (estimate, error, np.full(3, np.inf), np.array([1e-9, 1e-8, 1e-8]))
    record = discreet.Told(np.arange(3), tuple(size), kinds, *numbers, "BH", deviation=deviation)
    asked = {
        "question": "Differences between two groups, arm drug against placebo",
        "compared": {"group": "arm", "first": "placebo", "second": "drug"},
        "test": {"name": "compare", "levels": ["placebo", "drug"], "bounds": None},
        "people": 20_000,
        "data": "trial.parquet",
        "date": "2026-11-18",
    }
    fields = {"indices": np.arange(3), "names": tuple(size), "told": record, "parameters": asked}
    return sample(3, m=30, values=False, **(fields | changes))


def test_columns_of_all_units_share_an_axis():
    """In standard deviations, with own units, direction and kind in the table; it is read back the same."""
    release = mixed()
    assert bands_of(release).ends[1] < 1
    assert bands_of(release).each[0][1] == pytest.approx(0.4)
    text = " ".join(Reader(page(release)).words)
    for words in (
        "20,000 people · trial.parquet · 18 November 2026", "If arm = drug", "higher", "less often", "2,000",
        "difference of rates", "Right of 0: higher, or more often, if arm = drug", "It cost epsilon = 1",
        "smallest p-value first", "2 of them have equal p-values", "name: compare; levels: placebo, drug",
    ):  # fmt: skip
        assert words in text
    assert "{" not in text
    again = discreet.Release.from_json(release.to_json())
    assert again == release
    assert page(again) == page(release)
    assert list(release.to_frame("pandas")["standardised"]) == pytest.approx([0.4, -0.075, 0.125])


def test_noises_of_several_units_share_an_axis():
    """Noisy values whose noises differ are drawn over their noise; one noise leaves them as they are."""
    noisy, noise = np.array([2000.0, 3.0, 0.2]), np.array([100.0, 1.0, 0.02])
    assert bands_of(sample(3, values=discreet.Values("difference", noisy, noise))).ends[1] < 30
    assert bands_of(sample(3, values=discreet.Values("difference", noisy, np.ones(3)))).ends[1] > 2000


def test_nothing_found_says_what_was_needed():
    """How large a difference had to be, from what was told, on the page and in print; and how to plan."""
    release = told(0)
    deviation = np.full(len(release.told), 10.0)
    release = dataclasses.replace(
        release, told=dataclasses.replace(release.told, deviation=deviation), parameters={"people": 900}
    )
    reach = stats.t.isf(0.1 / 30 / 2, release.told.degrees) * release.told.standard_error / 10
    words = f"had to be about {np.quantile(reach, 0.1):.2g} times the standard deviation of its column"
    plan = "discreet plan --n 900 --m 30 --epsilon 1 --q 0.1"
    for text in (" ".join(str(release).split()), page(release)):
        assert words in text
        assert plan in text
    assert "weaker effects" in str(sample(0))
    assert "1 hypothesis by" in str(sample(1, m=1))
