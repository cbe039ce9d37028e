"""The report in a real browser: Debian's chromium, without a window. Skipped where there is none."""

import html
import json
import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from sample_releases import HOSTILE, sample

import discreet
from discreet.report.page import page

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def browse(tmp_path, text):
    """Return the page as the browser ends up seeing it, and what it wrote to its console."""
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    command = [
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'me'}",
    ]
    command += ["--enable-logging=stderr", "--v=0", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    console = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    return done.stdout.decode(), console


def drive(tmp_path, text, script, width=1200):
    """Return what `script` reports of the page, which sits untouched in a frame of this width."""
    outer = f"""<!doctype html><meta charset="utf-8">
      <iframe srcdoc="{html.escape(text)}" style="width:{width}px;height:900px;border:0"></iframe><pre></pre>
      <script>addEventListener("load", () => {{
        const frame = document.querySelector("iframe");
        const page = frame.contentDocument, view = frame.contentWindow;
        const report = (() => {{ {script} }})();
        document.querySelector("pre").textContent = JSON.stringify(report);
        frame.remove();
      }});</script>"""
    dom, console = browse(tmp_path, outer)
    assert console == []
    return json.loads(html.unescape(re.search(r"<pre>(.*)</pre>", dom, re.DOTALL)[1]))


@pytest.mark.slow
def test_no_console_errors_and_hostile_names(tmp_path):
    """The page as it is runs its script under its own policy; nasty names stay text."""
    dom, console = browse(tmp_path, page(sample(len(HOSTILE), names=HOSTILE)))
    assert console == []
    assert dom.count('<button type="button">') == 4
    assert "<img" not in dom
    assert dom.count("<script") == 1


@pytest.mark.slow
def test_the_console_is_heard(tmp_path):
    """The wrong twin: one changed letter of code breaks the policy, and the test above would see it."""
    dom, console = browse(tmp_path, page(sample()).replace('"use strict";', '"use  strict";'))
    assert console
    assert "<button" not in dom


@pytest.mark.slow
def test_sorting_filtering_printing(tmp_path):
    """Buttons sort both ways and say so, the box filters, folded parts open for paper, nothing is fetched."""
    names = ["b 10", "b 9", "Ä", "a"]
    script = """
      const rows = () => [...page.querySelectorAll("#rows tbody tr")];
      const column = (i) => rows().map((row) => row.cells[i].textContent);
      const heads = [...page.querySelectorAll("#rows th")], buttons = heads.map((head) => head.firstChild);
      const sorts = () => heads.map((head) => head.getAttribute("aria-sort"));
      const steps = [[column(1), sorts()]];
      for (const i of [1, 1, 3, 2, 0]) { buttons[i].click(); steps.push([column(i), sorts()]); }
      buttons[1].focus();
      const focused = page.activeElement === buttons[1];
      const box = page.getElementById("search");
      box.value = " B "; box.dispatchEvent(new view.Event("input"));
      const left = rows().filter((row) => row.getClientRects().length).length;
      const said = page.getElementById("count").textContent;
      const open = () => [...page.querySelectorAll("details")].map((part) => part.open);
      view.dispatchEvent(new view.Event("beforeprint"));
      const printed = open();
      view.dispatchEvent(new view.Event("afterprint"));
      const loaded = view.performance.getEntriesByType("resource").length;
      return { steps, focused, left, said, printed, after: open(), loaded };
    """
    release = sample(4, names=names)
    report = drive(tmp_path, page(release), script)
    steps = report["steps"]
    assert steps[0] == [names, ["ascending", None, None, None]]
    assert steps[1] == [["a", "Ä", "b 9", "b 10"], [None, "ascending", None, None]]
    assert steps[2] == [["b 10", "b 9", "Ä", "a"], [None, "descending", None, None]]
    values = [float(value.replace("\u2212", "-")) for value in steps[3][0]]
    assert values == sorted(values)
    assert [int(index) for index in steps[4][0]] == sorted(release.indices.tolist())
    assert steps[5] == [["1", "2", "3", "4"], ["ascending", None, None, None]]
    assert report["focused"]
    assert (report["left"], report["said"]) == (2, "2 of 4 shown")
    assert report["printed"] == [True, True]
    assert report["after"] == [False, False]
    assert report["loaded"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(("width", "shown"), [(1280, "wide"), (390, "narrow")])
def test_it_fits_the_screen(tmp_path, width, shown):
    """Nothing sticks out on a laptop or a phone, letters in pictures stay readable, one drawing shows."""
    script = """
      const inside = page.documentElement.clientWidth;
      const out = [...page.querySelectorAll("body *")].filter((one) => !one.closest(".scroll, svg")
        && one.getBoundingClientRect().right > inside + 1).map((one) => one.tagName);
      const scroll = page.querySelector(".scroll");
      const seen = [...page.querySelectorAll("svg")].filter((one) => one.getClientRects().length);
      const wide = (one) => one.getBoundingClientRect().width;
      const letters = Math.min(...seen.map((one) => 12 * wide(one) / one.viewBox.baseVal.width));
      return { out, letters, table: scroll.scrollWidth - scroll.clientWidth,
               looks: [...new Set(seen.map((one) => one.getAttribute("class")))] };
    """
    names = ["systolic blood pressure, second visit", "x" * 10_000, *(f"measure {i}" for i in range(35))]
    values = discreet.Values("difference of means", np.linspace(2000, 5, 37), np.linspace(1, 2, 37))
    report = drive(tmp_path, page(sample(37, m=10**6, names=names, values=values)), script, width)
    assert report["out"] == []
    assert report["table"] <= 1
    assert report["letters"] >= 10
    assert report["looks"] == [shown]


@pytest.mark.slow
def test_loci_fit_a_phone(tmp_path):
    """Long positions wrap between words: no column of the table of loci is out of sight."""
    names = [f"rs{123_456_789 + i}" for i in range(9)]
    variants = tuple(
        SimpleNamespace(chromosome="11", position=100_000_000 + 400_000 * i, name=name)
        for i, name in enumerate(names)
    )
    located = discreet.Located(sample(9, names=names), variants, 500_000, {"11": 135_000_000})
    script = """
      const scroll = page.querySelector("#map .scroll");
      return [scroll.scrollWidth - scroll.clientWidth, scroll.textContent];
    """
    beyond, text = drive(tmp_path, located.report(), script, 390)
    assert beyond <= 1
    assert "100,000,000 to 103,200,000" in text
