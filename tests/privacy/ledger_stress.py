"""Processes that charge one ledger and are killed at random moments; what they did is then compared with it.

Run as a program, in a process of its own without threads, because it forks: `ledger_stress.py kill KILLS
WORKERS FAULT`. Every worker plays the pipeline: look for a stored result, charge, draw noise (told to the
parent, which cannot be taken back), settle. Prints the findings as JSON.
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

from discreet.errors import BudgetError, InputError, LedgerError
from discreet.privacy.events import ZCDP
from discreet.privacy.filter import Filter
from discreet.privacy.ledger import Ledger, book, ledger

COST = (ZCDP(0.002),)
TOTAL = Filter(1.0, 1e-6)
MOST = next(n for n in range(1, 100) if not TOTAL.admits([COST] * (n + 1)))
IDS = 20
REPLACED = 10
LONGEST = 0.008
MOMENT = 0.002


def release(held, release_id, tell, fault):
    """Make one release as the pipeline does, or with a planted fault."""
    asked = {"release": release_id}
    try:
        if held.stored("cohort", release_id, asked) is not None:
            return
    except LedgerError as error:
        if "has no result" not in str(error):
            raise
        return
    noise = os.urandom(8).hex()
    if fault == "noise before charge":
        tell(f"drew {release_id} {noise}")
    with suppress(BudgetError, InputError):
        charge = held.charge("cohort", COST, "replace", asked, release_id)
        if fault != "noise before charge":
            tell(f"drew {release_id} {noise}")
        held.settle(charge, json.dumps(noise))


class CheckedBefore(Ledger):
    """The planted fault: the total is checked in one transaction and the charge written in another."""

    __slots__ = ()

    def charge(self, name, events, neighbours, *rest):
        """Check, then write without a check."""
        self.affords(name, events, neighbours)
        time.sleep(MOMENT)
        real, ledger._refuse_excess = ledger._refuse_excess, lambda *_: None
        try:
            return super().charge(name, events, neighbours, *rest)
        finally:
            ledger._refuse_excess = real


def torn_append(self, kind, dataset, content, whole=book.Book.append):
    """Write a row with the planted fault: whatever is in it reaches the disk in two transactions."""
    row = whole(self, kind, dataset, content)
    previous = self.rows[-2] if len(self.rows) > 1 else None
    if previous:
        self.db.execute("UPDATE head SET position = ?, hash = ?", (previous.position, previous.hash))
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
    try:
        with suppress(InputError):
            held.create("cohort", epsilon=TOTAL.epsilon, delta=TOTAL.delta)
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


def hear(pipe, drawn, found):
    """Take in all that the workers wrote: which noise was drawn for which release, and errors."""
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
            drawn.setdefault(release_id, []).append(noise)


def check(path, drawn, found):
    """Compare a ledger that nobody uses any more with what the workers told; count what is wrong."""
    held = Ledger(path)
    try:
        faults = held.verify().faults
        found["overspent"] += sum("exceed" in fault for fault in faults)
        found["broken chain"] += any("exceed" not in fault for fault in faults)
        entries = {entry.release_id: entry for entry in held.history("cohort")}
    except LedgerError:
        # Killed before the file was made; or broken, and counted.
        entries = {}
    found["charges"] += len(entries)
    found["overspent"] += len(entries) > MOST
    found["exhausted"] += len(entries) == MOST
    found["lost charge"] += len(drawn.keys() - entries.keys())
    found["double spend"] += sum(len(noises) > 1 for noises in drawn.values())
    for release_id, entry in entries.items():
        if entry.state == "released":
            found["results"] += 1
            result = json.loads(held.stored("cohort", release_id, entry.request))
            found["wrong result"] += drawn.get(release_id) != [result]


def kill(home, kills, workers, fault):
    """Keep `workers` processes at work and kill one after the other at random moments."""
    rng, found = random.Random(5), Counter()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    seeds = iter(range(10**9))
    while found["killed"] < kills:
        path, drawn = home / f"{found['killed']}.ledger", {}
        pids = [start(path, writing, next(seeds), fault, 10**9) for _ in range(workers)]
        replaced = 0
        while pids:
            time.sleep(rng.uniform(0, LONGEST))
            victim = pids.pop(rng.randrange(len(pids)))
            os.kill(victim, signal.SIGKILL)
            found["killed"] += os.WIFSIGNALED(os.waitpid(victim, 0)[1])
            hear(reading, drawn, found)
            # A slow machine gets more time before its ledger is taken away.
            if replaced < REPLACED or (not drawn and replaced < 10 * REPLACED):
                pids.append(start(path, writing, next(seeds), fault, 10**9))
                replaced += 1
        check(path, drawn, found)
    return found


def crowd(home, _, workers, fault):
    """Let all workers run to the end on one ledger."""
    found, drawn, path = Counter(), {}, home / "crowd.ledger"
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    for pid in [start(path, writing, seed, fault, 1) for seed in range(workers)]:
        os.waitpid(pid, 0)
    hear(reading, drawn, found)
    check(path, drawn, found)
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
