"""`discreet bench ledger`: charges a second, whatever the history, beside bare commits of SQLite."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.lab.bench.timing import interleaved, verdict
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger import Ledger, file
from discreet.privacy.ledger.book import Book
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (100, 10_000, 100_000)
TARGET = 100.0
_COST = (Gaussian(1e-6),)
_REQUEST = {"test": {"name": "two-groups", "group": "treated"}, "q": 0.1, "epsilon": 1.0, "delta": 1e-6}
_AT_A_TIME, _TURNS = 20, 5


def in_words(sizes: tuple[int, ...] = SIZES) -> str:
    """Return rates at each number of rows, their ratio to bare commits on the same disk, and the targets."""
    rows: list[list[str]] = []
    lines: list[str] = []
    least = float("inf")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        for size in sizes:
            ledger = grown(Path(folder) / f"{size}.ledger", size)
            jobs: dict[str, Callable[[], object]] = {
                "charge": lambda ledger=ledger: _repeated(lambda: _charge(ledger)),
                "release": lambda ledger=ledger: _repeated(lambda: _release(ledger)),
                "commit": lambda: _repeated(lambda: _commit(Path(folder) / "bare")),
            }
            charge, release, commit = (cost.wall / _AT_A_TIME for cost in interleaved(jobs, _TURNS).values())
            start = time.perf_counter()
            good = ledger.verify().good
            whole = time.perf_counter() - start
            rates = [f"{1 / charge:.0f}", f"{1 / release:.0f}", f"{1 / commit:.0f}"]
            rows.append([f"{size:,}", *rates, f"{charge / commit:.1f}", f"{whole / charge:,.0f}"])
            lines.append(
                verdict(1 / charge >= TARGET, f"{size:,} rows: at least {TARGET:.0f} charges a second")
            )
            lines.append(verdict(good, f"{size:,} rows: the whole chain verifies"))
            least = min(least, charge)
            lines.append(
                verdict(charge <= 2 * least, f"{size:,} rows: at most twice the least time of a charge")
            )
    header = ["rows", "charges/s", "releases/s", "bare commits/s", "charge/bare commit", "verify all/charge"]
    return "\n".join([table(header, rows), "", *lines])


def grown(path: Path, rows: int) -> Ledger:
    """Return a ledger with so many rows, written in one transaction."""
    ledger = Ledger(path)
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    with file.opened(path) as opened, opened.transaction("IMMEDIATE") as db:
        book = Book.read(db)
        for _ in range(rows - 1):
            book.charge("cohort", _COST, "replace", _REQUEST, None)
    return ledger


def _repeated(job: Callable[[], object]) -> None:
    for _ in range(_AT_A_TIME):
        job()


def _charge(ledger: Ledger) -> object:
    return ledger.charge("cohort", _COST, "replace", _REQUEST)


def _release(ledger: Ledger) -> object:
    # Another request each time, for an equal one would complete a charge made above.
    asked = {**_REQUEST, "at": time.perf_counter()}
    return ledger.pay("cohort", _COST, "replace", asked, lambda _charge, _state: '{"discoveries": []}')


def _commit(path: Path) -> Any:
    """Write one row with the same promises of the disk, and nothing else."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = EXTRA")
        db.execute("CREATE TABLE IF NOT EXISTS t (text TEXT)")
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO t VALUES (?)", ("x" * 600,))
        db.execute("COMMIT")
