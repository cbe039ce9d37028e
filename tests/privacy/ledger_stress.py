"""Processes that release against one ledger and are killed at random moments; the ledger is then checked.

Run as a program, in a process of its own without threads, because it forks: `ledger_stress.py kill KILLS
WORKERS FAULT`. Every worker plays the pipeline: it pays for releases, telling the parent when noise is drawn
and when a result is shown, which cannot be taken back. Prints the findings as JSON.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from discreet.errors import BudgetError, LedgerError
from discreet.privacy.events import ZCDP
from discreet.privacy.filter import Filter
from discreet.privacy.ledger import Ledger, book
from discreet.privacy.ledger.chain import DataSet
from discreet.privacy.ledger.records import MOST_DRAWS

COST = (ZCDP(0.002),)
TOTAL = Filter(1.0, 1e-6)
MOST = next(n for n in range(1, 100) if not TOTAL.admits([COST] * (n + 1)))
IDS = 20
REPLACED = 10
LONGEST = 0.008
MOMENT = 0.002


def release(held, release_id, tell, fault):
    """Make one release as the pipeline does, or with a planted fault."""
    noise = os.urandom(8).hex()
    if fault == "shown before charge":
        tell(f"shown {release_id} {noise}")

    def draw(*_):
        tell(f"drew {release_id} {noise}")
        if fault == "shown before result":
            tell(f"shown {release_id} {noise}")
        return json.dumps(noise)

    with suppress(BudgetError):
        try:
            paid = held.pay("cohort", COST, "replace", {"release": release_id}, draw, release_id)
        except LedgerError as error:
            if "interrupted" not in str(error):
                raise
            return
        tell(f"shown {release_id} {json.loads(paid.result)}")


class CheckedBefore(Ledger):
    """The planted fault: the total is checked in one transaction and the charge written in another."""

    __slots__ = ()

    def pay(self, name, events, neighbours, request, draw, release_id=None):
        """Check, then pay without a check."""
        if self.entry(name, release_id, request) is None:
            self.affords(name, events, neighbours)
        time.sleep(MOMENT)
        real, DataSet.refuse_excess = DataSet.refuse_excess, lambda *_: None
        try:
            return super().pay(name, events, neighbours, request, draw, release_id)
        finally:
            DataSet.refuse_excess = real


def torn_append(self, kind, name, content, state, whole=book.Book.append):
    """Write a row with the planted fault: whatever is in it reaches the disk in two transactions."""
    before = self.head
    row = whole(self, kind, name, content, state)
    if before.position:
        self.db.execute("UPDATE head SET position = ?, hash = ?", (before.position, before.hash))
        self.db.execute("COMMIT")
        time.sleep(MOMENT)
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("UPDATE head SET position = ?, hash = ?", (row.position, row.hash))
    return row


def work(path, pipe, seed, fault, rounds):
    """Release ids in random order, for some rounds or until killed."""

    def tell(line):
        os.write(pipe, f"{line}\n".encode())

    rng = random.Random(seed)
    held = (CheckedBefore if fault == "check before transaction" else Ledger)(path)
    if fault == "torn write":
        book.Book.append = torn_append
    if fault == "two names" and seed % 2:
        held = Ledger(path.with_suffix(".second"))
    try:
        for _ in range(rounds):
            for number in rng.sample(range(IDS), IDS):
                release(held, f"r{number}", tell, fault)
    except Exception as error:  # noqa: BLE001 (whatever it is, the parent must hear of it)
        tell(f"error {type(error).__name__}: {error}")
    os._exit(0)


def start(path, pipe, seed, fault, rounds):
    """Fork a worker; return its process id."""
    pid = os.fork()
    if pid == 0:
        work(path, pipe, seed, fault, rounds)
    return pid


def hear(pipe, told, found):
    """Take in all that the workers wrote: what was drawn and what was shown for which release, and errors."""
    text = b""
    with suppress(BlockingIOError):
        while part := os.read(pipe, 1 << 16):
            text += part
    for line in text.decode().splitlines():
        what, _, rest = line.partition(" ")
        if what == "error":
            found[line] += 1
        else:
            release_id, noise = rest.split()
            told[what].setdefault(release_id, []).append(noise)


def check(path, told, found):
    """Compare a ledger that nobody uses any more with what the workers told; count what is wrong."""
    held = Ledger(path)
    drawn, shown = told["drew"], told["shown"]
    try:
        faults = held.verify().faults
        found["overspent"] += sum("exceed" in fault for fault in faults)
        found["broken chain"] += any("exceed" not in fault for fault in faults)
        found["interrupted"] += held.budget("cohort").unfinished
        # Whoever asks again completes what was interrupted, at no further cost.
        before = len(held.history("cohort"))
        for entry in held.history("cohort"):
            release(held, entry.release_id, lambda _: None, "none")
        entries = {entry.release_id: entry for entry in held.history("cohort")}
        found["lost charge"] += before - len(entries)
    except LedgerError:
        entries = {}  # broken, and counted
    found["charges"] += len(entries)
    found["overspent"] += len(entries) > MOST
    found["exhausted"] += len(entries) == MOST
    found["lost charge"] += len((drawn.keys() | shown.keys()) - entries.keys())
    found["shown twice"] += sum(len(set(noises)) > 1 for noises in shown.values())
    found["drawn too often"] += sum(len(noises) > MOST_DRAWS for noises in drawn.values())
    found["worn out"] += sum(len(noises) >= MOST_DRAWS for noises in drawn.values())
    for release_id, entry in entries.items():
        if entry.state == "released":
            found["results"] += 1
            result = json.loads(held.stored("cohort", release_id, entry.request))
            found["wrong result"] += any(noise != result for noise in shown.get(release_id, []))
        else:
            found["lost result"] += len(drawn.get(release_id, [])) < MOST_DRAWS


def begin(path, fault):
    """Make a ledger; with a planted fault, under two names."""
    Ledger(path).create("cohort", epsilon=TOTAL.epsilon, delta=TOTAL.delta)
    if fault == "two names":
        os.link(path, path.with_suffix(".second"))


def kill(home, kills, workers, fault):
    """Keep `workers` processes at work and kill one after the other at random moments."""
    rng, found = random.Random(5), Counter()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    seeds = iter(range(10**9))
    while found["killed"] < kills:
        path, told = home / f"{found['killed']}.ledger", {"drew": {}, "shown": {}}
        begin(path, fault)
        pids = [start(path, writing, next(seeds), fault, 10**9) for _ in range(workers)]
        replaced = 0
        while pids:
            time.sleep(rng.uniform(0, LONGEST))
            victim = pids.pop(rng.randrange(len(pids)))
            os.kill(victim, signal.SIGKILL)
            found["killed"] += os.WIFSIGNALED(os.waitpid(victim, 0)[1])
            hear(reading, told, found)
            # A slow machine gets more time before its ledger is taken away.
            if replaced < REPLACED or (not told["shown"] and replaced < 10 * REPLACED):
                pids.append(start(path, writing, next(seeds), fault, 10**9))
                replaced += 1
        check(path, told, found)
    return found


def crowd(home, _, workers, fault):
    """Let all workers run to the end on one ledger."""
    found, told, path = Counter(), {"drew": {}, "shown": {}}, home / "crowd.ledger"
    begin(path, fault)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    for pid in [start(path, writing, seed, fault, 1) for seed in range(workers)]:
        os.waitpid(pid, 0)
    hear(reading, told, found)
    check(path, told, found)
    return found


def main(kind, kills, workers, fault):
    """Run one of the two and print what was found."""
    fast = Path("/dev/shm")  # noqa: S108 (only to be fast; the folder in it is ours alone)
    home = Path(tempfile.mkdtemp(dir=fast if os.access(fast, os.W_OK) else None))
    try:
        found = {"kill": kill, "crowd": crowd}[kind](home, int(kills), int(workers), fault)
    finally:
        shutil.rmtree(home)
    print(json.dumps({"most": MOST, **found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
