"""Does any test flicker? The two errors of every statistical test, and repetitions of them.

`python tests/flicker.py` prints, for each test that is marked statistical, a bound on the chance that a right
assertion fails, a bound on the chance that a wrong twin escapes, and whether it draws from the operating
system's randomness or from a seed. A seeded test gives the same answer every time; the sums over those that
draw afresh bound the chance that a run of the suite fails without a reason.

`--repeat 300 --seconds 20` runs each test that draws afresh so many times, or as often as the seconds of
processor time allow. `--reseed` gives every run of a seeded test other seeds, so that those are repeated too,
and the column `truth` becomes telling: by how many standard errors, over all runs, the samples of twins lie
on the safe side of the mean that is declared true of them. Where that mean is exact it is about 0; a truth
that holds of one seed only would show as far below 0.
`--all` repeats every test that draws afresh, marked or not. What follows `--` goes to pytest.
"""

import argparse
import math
import os
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

from budget import ALPHA, Ledger
from discreet.noise import entropy


@dataclass
class Row:
    """What is known of one test after all its runs."""

    name: str
    assertions: int = 0
    twins: int = 0
    escapes: float = 0.0
    afresh: bool = False
    runs: int = 0
    failures: int = 0
    seconds: float = 0.0
    truths: list = field(default_factory=list)

    def add(self, seconds, failed):
        """Add a run to the account."""
        self.runs += 1
        self.failures += failed
        self.seconds += seconds
        self.assertions = max(self.assertions, Ledger.spent)
        self.twins = max(self.twins, Ledger.twins)
        self.escapes = max(self.escapes, Ledger.escapes)
        if Ledger.truths:
            self.truths.append(Ledger.truths)

    def margin(self):
        """Return the least margin of a declared truth in standard errors, over all runs."""
        whole = [run for run in self.truths if len(run) == max(map(len, self.truths))]
        if not whole:
            return math.nan
        truth, mean, error = np.moveaxis(np.array(whole), 2, 0)
        deviation = np.sqrt(error.sum(axis=0)) / len(whole)
        return float(np.min((mean - truth).mean(axis=0) / np.maximum(deviation, 1e-12)))


def watched(seen):
    """Return the kind of stream of randomness that calls `seen` whenever it is drawn from."""

    class Watched(entropy._Stream):
        def __init__(self):
            super().__init__()
            encrypt = self.encrypt

            def update(*given):
                seen()
                return encrypt(*given)

            self.encrypt = update

    return Watched


class Repeater:
    """A plugin that runs each test as often as it may, and keeps the account."""

    def __init__(self, repeat, seconds, reseed, everything):
        self.repeat, self.seconds, self.reseed, self.everything = repeat, seconds, reseed, everything
        self.rows = []
        self.drawn = False
        self.run = 0
        self._watch()

    def _watch(self):
        """See when a test draws afresh, and give seeded generators another seed in each run."""
        seeded = np.random.default_rng

        def seen():
            self.drawn = True

        def other(seed=None):
            if self.run and isinstance(seed, (int, list, tuple)):
                return seeded([self.run, *np.atleast_1d(seed)])
            return seeded(seed)

        entropy._Stream, entropy._local.stream = watched(seen), None
        if self.reseed:
            np.random.default_rng = other

    def pytest_collection_modifyitems(self, items):
        """Keep the tests that are marked, unless all are asked for."""
        if not self.everything:
            items[:] = [item for item in items if item.get_closest_marker("statistical")]

    def pytest_runtest_protocol(self, item, nextitem):
        """Run one test, and again while it draws afresh and there is time."""
        row = Row(item.nodeid)
        self.run = 0
        while self.run == 0 or (
            (row.afresh or self.reseed) and row.runs < self.repeat and row.seconds < self.seconds
        ):
            self.drawn = False
            start = sum(os.times()[:4])
            if self.run:
                item._initrequest()
            reports = runtestprotocol(item, nextitem=None if self.reseed else nextitem, log=self.run == 0)
            if any(report.skipped for report in reports):
                return True
            failed = [report for report in reports if report.failed]
            for report in failed if self.run else ():
                report.longrepr = f"run {self.run}\n{report.longreprtext}"
                item.ihook.pytest_runtest_logreport(report=report)
            row.add(sum(os.times()[:4]) - start, bool(failed))
            row.afresh |= self.drawn
            self.run += 1
        self.rows.append(row)
        return True

    def pytest_terminal_summary(self, terminalreporter):
        """Print the table and its sums."""
        rows = [row for row in self.rows if row.afresh or not self.everything]
        write = terminalreporter.write_line
        write("false alarm  twin escapes    truth  draws        runs  failures  seconds/run  test")
        for row in sorted(rows, key=lambda row: (not row.afresh, row.name)):
            chances = f"{row.assertions * ALPHA:11.0e}  {row.escapes:12.1e} {row.margin():8.1f}"
            runs = f"{'afresh' if row.afresh else 'by seed':<8} {row.runs:8d} {row.failures:9d}"
            write(f"{chances}  {runs} {row.seconds / row.runs:12.2f}  {row.name}")
        for afresh, words in ((True, "draw afresh"), (False, "draw by a seed")):
            kind = [row for row in rows if row.afresh == afresh]
            write(
                f"{len(kind)} tests {words}: false alarms {sum(row.assertions for row in kind) * ALPHA:.1e}, "
                f"escapes {sum(row.escapes for row in kind):.1e}, {sum(row.runs for row in kind)} runs, "
                f"{sum(row.failures for row in kind)} failures"
            )


def main():
    """Run the tests and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--reseed", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("options", nargs="*", help="for pytest, after --")
    asked = parser.parse_args()
    plugin = Repeater(asked.repeat, asked.seconds, asked.reseed, asked.all)
    sys.exit(pytest.main(["-p", "no:xdist", *asked.options], plugins=[plugin]))


if __name__ == "__main__":
    main()
