"""The ledger keeps its totals, says what it refuses, and fails closed."""

import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest

from discreet.errors import BudgetError, DiscreetError, InputError, LedgerError
from discreet.privacy.account import account
from discreet.privacy.events import ZCDP, Approximate, Pure
from discreet.privacy.ledger import Charge, Ledger, file

COST = [ZCDP(0.005)]
ASKED = {"q": 0.1, "method": "aware", "columns": ["a", "b"]}


@pytest.fixture
def ledger(tmp_path):
    """Return a ledger with one data set, "cohort", of (1, 1e-6)."""
    made = Ledger(tmp_path / "budget.ledger")
    made.create("cohort", epsilon=1.0, delta=1e-6)
    return made


def edit(ledger, *statements):
    """Change the file behind the ledger's back."""
    with closing(sqlite3.connect(ledger.path)) as db, db:
        for statement in statements:
            db.execute(statement)


def every_use(ledger):
    """Yield every operation that needs a file, as a function of nothing."""
    yield ledger.budgets
    yield lambda: ledger.budget("cohort")
    yield lambda: ledger.history("cohort")
    yield ledger.head
    yield lambda: ledger.affords("cohort", COST, "replace")
    yield lambda: ledger.stored("cohort", "first", ASKED)
    yield lambda: ledger.charge("cohort", COST, "replace", ASKED)
    yield lambda: ledger.settle(Charge("cohort", "first", 2, "0"), "{}")
    yield lambda: ledger.pay("cohort", COST, "replace", ASKED, lambda *_: "{}")
    yield lambda: ledger.entry("cohort", "first", ASKED)
    yield lambda: ledger.result("cohort", "first")


def test_a_release_from_charge_to_result(ledger):
    """Charge, settle, ask again: the stored result, and one entry that tells everything."""
    charge = ledger.charge("cohort", COST, "replace", ASKED, "first")
    assert [entry.state for entry in ledger.history("cohort")] == ["charged"]
    ledger.settle(charge, '{"discoveries": ["a"]}')
    (entry,) = ledger.history("cohort")
    assert (entry.release_id, entry.state, entry.position, entry.hash) == (
        "first",
        "released",
        2,
        charge.hash,
    )
    assert (entry.request, entry.events) == (ASKED, tuple(COST))
    assert ledger.stored("cohort", "first", dict(reversed(ASKED.items()))) == '{"discoveries": ["a"]}'
    assert ledger.stored("cohort", "second", ASKED) is None
    budget = ledger.budget("cohort")
    assert budget.spent == account(COST, delta=1e-6)
    assert (budget.releases, budget.unfinished) == (1, 0)
    assert "Epsilon 0.4299 of 1 at delta = 1e-06 is spent, by 1 release." in str(budget)
    assert ledger.verify().good
    assert ledger.verify(charge.hash).good
    assert ledger.head() == ledger.verify().head != charge.hash


def test_releases_compose_tightly_up_to_the_total(ledger):
    """Four charges fit where their epsilons sum to 1.7; the fifth is refused with what is left."""
    for _ in range(4):
        ledger.affords("cohort", COST, "replace")
        ledger.charge("cohort", COST, "replace", ASKED)
    head = ledger.head()
    for refused in (ledger.affords, lambda *a: ledger.charge(*a, ASKED)):
        with pytest.raises(
            BudgetError, match=r"Epsilon 0\.\d+ of 1 .* by 4 .*up to 0\.\d+ at delta"
        ) as caught:
            refused("cohort", COST, "replace")
    assert ledger.head() == head
    left = float(re.search(r"up to (\S+) at", str(caught.value))[1])
    assert 0 < left <= ledger.budget("cohort").left
    assert len({entry.release_id for entry in ledger.history("cohort")}) == 4


def test_a_charge_without_a_result_is_spent(ledger):
    """After a crash the charge stands, its id is not charged twice, and a new id charges anew."""
    ledger.charge("cohort", COST, "replace", ASKED, "first")
    assert ledger.stored("cohort", "first", ASKED) is None
    with pytest.raises(LedgerError, match="has no result"):
        ledger.result("cohort", "first")
    with pytest.raises(InputError, match="already charged"):
        ledger.charge("cohort", COST, "replace", ASKED, "first")
    assert ledger.budget("cohort").unfinished == 1
    assert "(1 of them without a result)" in str(ledger.budget("cohort"))
    assert ledger.stored("cohort", "second", ASKED) is None


def test_one_release_id_one_request_one_result(ledger):
    """Another request under a used id, a second result, and a result without a charge are refused."""
    charge = ledger.charge("cohort", COST, "replace", ASKED, "first")
    ledger.settle(charge, "{}")
    with pytest.raises(InputError, match="other parameters"):
        ledger.stored("cohort", "first", ASKED | {"q": 0.2})
    with pytest.raises(InputError, match="results are final"):
        ledger.settle(charge, '{"better": true}')
    for wrong in (Charge("cohort", "other", 2, charge.hash), Charge("cohort", "first", 2, "0" * 64)):
        with pytest.raises(InputError, match="was not charged"):
            ledger.settle(wrong, "{}")
    for wrong in ("not json", b"{}", None, '"\ud800"'):
        with pytest.raises(InputError, match="JSON text"):
            ledger.settle(charge, wrong)
    assert ledger.stored("cohort", "first", ASKED) == "{}"


def test_neighbours_do_not_mix(ledger):
    """A release about other neighbours is refused with the reason."""
    with pytest.raises(BudgetError, match="costs for different neighbours do not add up"):
        ledger.charge("cohort", COST, "add-remove", ASKED)
    ledger.create("other", epsilon=1.0, delta=1e-6, adjacency="add-remove")
    assert ledger.charge("other", COST, "add-remove", ASKED).name == "other"
    assert "one person added or removed" in str(ledger.budget("other"))


def test_approximate_events_need_delta_aside(ledger):
    """Without a part of delta set aside they are refused and told so; with it they fit up to that part."""
    ledger.charge("cohort", COST, "replace", ASKED)
    with pytest.raises(BudgetError, match="needs a part of delta set aside"):
        ledger.charge("cohort", [Approximate(0.1, 1e-7)], "replace", ASKED)
    ledger.create("basic", epsilon=1.0, delta=1e-6, aside=1e-6)
    for _ in range(2):
        ledger.charge("basic", [Approximate(0.4, 4e-7)], "replace", ASKED)
    assert "Further releases may have epsilons of up to 0.1999 in sum" in str(ledger.budget("basic"))
    assert "Of delta, 1e-06 is kept" in str(ledger.budget("basic"))
    with pytest.raises(BudgetError):
        ledger.charge("basic", [Approximate(0.1, 4e-7)], "replace", ASKED)
    ledger.charge("basic", [Pure(0.1)], "replace", ASKED)


def test_names_and_arguments_are_checked(ledger, tmp_path):
    """Hostile names, values that are not JSON, repeated and missing data sets are refused by name."""
    for name in ("", "a\nb", "\x1b[31m", "\u202eabc", "x" * 201, "\ud800", None):
        with pytest.raises(InputError, match="name must be printable"):
            ledger.create(name, epsilon=1.0, delta=1e-6)
    with pytest.raises(InputError, match="release_id must be printable"):
        ledger.charge("cohort", COST, "replace", ASKED, "a\tb")
    for request in ({"x": object()}, {"x": float("nan")}, {"x": b"bytes"}):
        with pytest.raises(InputError, match="request must hold plain JSON"):
            ledger.charge("cohort", COST, "replace", request)
    for events in ([], (), iter(()), ["free"], [None]):
        with pytest.raises(InputError, match="events must hold privacy events, at least one"):
            ledger.charge("cohort", events, "replace", ASKED)
    with pytest.raises(BudgetError):
        ledger.charge("cohort", iter([ZCDP(1.0)]), "replace", ASKED)
    with pytest.raises(InputError, match="already has a data set 'cohort'"):
        ledger.create("cohort", epsilon=5.0, delta=1e-6)
    with pytest.raises(InputError, match="no data set 'absent'; it has 'cohort'"):
        ledger.budget("absent")
    for wrong in ({"epsilon": -1}, {"delta": 2}, {"adjacency": "nobody"}, {"aside": 1}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Ledger(tmp_path / "new").create("x", **({"epsilon": 1.0, "delta": 1e-6} | wrong))
    assert not (tmp_path / "new").exists()
    assert ledger.verify().rows == 1


def test_a_change_of_folder_does_not_change_the_ledger(tmp_path, monkeypatch):
    """A relative path is read once."""
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("budget.ledger")
    monkeypatch.chdir("/")
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    assert (tmp_path / "budget.ledger").is_file()
    with pytest.raises(LedgerError):
        Ledger("/dev/null").budgets()


def test_odd_paths_work(tmp_path):
    """Spaces, percent signs, question marks and hashes in a path are part of the path."""
    ledger = Ledger(str(tmp_path / "a b%20?mode=memory#c.ledger"))
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["a b%20?mode=memory#c.ledger"]
    assert Ledger(ledger.path).budgets() == ("cohort",)
    assert repr(ledger) == f"Ledger({str(ledger.path)!r})"


def test_missing_files_are_not_made(tmp_path):
    """No operation but `create` makes a file; folders and missing folders are named."""
    for use in every_use(Ledger(tmp_path / "absent")):
        with pytest.raises(LedgerError, match="there is no ledger"):
            use()
    with pytest.raises(LedgerError, match="is a folder"):
        Ledger(tmp_path).budgets()
    with pytest.raises(LedgerError, match=r"folder .* does not exist"):
        Ledger(tmp_path / "no" / "where").create("x", epsilon=1.0, delta=1e-6)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not a ledger at all" * 100, b"SQLite format 3\0" + b"x" * 4096])
def test_files_that_are_not_ledgers(tmp_path, content):
    """Empty files, other files and broken headers are refused and left as they are."""
    path = tmp_path / "other"
    path.write_bytes(content)
    for use in every_use(Ledger(path)):
        with pytest.raises(LedgerError, match=r"not a ledger|damaged"):
            use()
    with pytest.raises(LedgerError, match=r"not a ledger|damaged"):
        Ledger(path).verify()
    assert path.read_bytes() == content


def test_other_databases_are_refused(tmp_path):
    """Another program's SQLite file is neither read nor extended."""
    path = tmp_path / "other"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE mine (x)")
    for use in (*every_use(Ledger(path)), lambda: Ledger(path).create("x", epsilon=1.0, delta=1e-6)):
        with pytest.raises(LedgerError, match="is not a ledger"):
            use()


def test_an_empty_file_becomes_a_ledger(tmp_path):
    """A process killed right after making the file leaves it empty: `create` may go on from there."""
    (tmp_path / "empty").touch()
    Ledger(tmp_path / "empty").create("cohort", epsilon=1.0, delta=1e-6)
    assert Ledger(tmp_path / "empty").verify().good


@pytest.mark.parametrize(("version", "words"), [(0, "older"), (file.VERSION + 1, "newer.*upgrade")])
def test_other_layouts_are_refused(ledger, version, words):
    """A file of an older or newer layout is never guessed at."""
    edit(ledger, f"PRAGMA user_version = {version}")
    for use in (*every_use(ledger), ledger.verify, lambda: ledger.create("x", epsilon=1.0, delta=1e-6)):
        with pytest.raises(LedgerError, match=words):
            use()


def test_a_tampered_ledger_releases_nothing(ledger):
    """With a broken chain every use but `verify` is refused."""
    ledger.charge("cohort", COST, "replace", ASKED, "first")
    edit(ledger, "UPDATE chain SET body = replace(body, '0.005', '0.001')")
    for use in every_use(ledger):
        with pytest.raises(LedgerError, match="changed or damaged"):
            use()
    assert not ledger.verify().good


def test_a_damaged_file_is_reported(ledger):
    """Bytes overwritten in the middle of the file: no release, and `verify` says damaged."""
    for _ in range(4):
        ledger.settle(ledger.charge("cohort", COST, "replace", ASKED | {"i": "x" * 3000}), "{}")
    content = bytearray(ledger.path.read_bytes())
    content[4096:12288] = bytes([0xA5]) * 8192
    ledger.path.write_bytes(content)
    with pytest.raises(LedgerError, match="damaged"):
        ledger.charge("cohort", COST, "replace", ASKED)
    verdict = ledger.verify()
    assert not verdict.good
    assert "damaged" in str(verdict)


def test_text_that_is_not_text_is_damage(ledger):
    """A column with bytes that are no UTF-8 is refused in words."""
    edit(ledger, "UPDATE chain SET body = CAST(x'ff22fe' AS TEXT)")
    with pytest.raises(LedgerError, match="damaged"):
        ledger.budget("cohort")
    assert not ledger.verify().good


def test_a_full_disk_charges_nothing(ledger, monkeypatch):
    """When the file cannot grow the charge is refused in words and nothing of it stays."""
    head, connect = ledger.head(), file._connect

    def full(path, *, create):
        db = connect(path, create=create)
        db.execute("PRAGMA max_page_count = 1")
        return db

    with monkeypatch.context() as patch:
        patch.setattr(file, "_connect", full)
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.charge("cohort", COST, "replace", {"x": "y" * 20_000})
    assert ledger.head() == head
    assert ledger.budget("cohort").releases == 0


def test_a_write_that_fails_half_way_charges_nothing(ledger):
    """The kernel refuses to let the file grow in the middle of a commit: refused, rolled back, whole."""
    head = ledger.head()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ledger.path.stat().st_size + 6000, limits[1]))
    try:
        with pytest.raises(LedgerError, match="disk"):
            ledger.charge("cohort", COST, "replace", {"x": "y" * 60_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert ledger.head() == head
    assert ledger.verify().good


def test_an_unwritable_journal_charges_nothing(ledger):
    """Where the journal cannot be written there is no charge."""
    journal = ledger.path.with_name(ledger.path.name + "-journal")
    journal.mkdir()
    with pytest.raises(LedgerError, match="the disk reports an error"):
        ledger.charge("cohort", COST, "replace", ASKED)
    journal.rmdir()
    assert ledger.budget("cohort").releases == 0


def test_a_ledger_someone_switched_to_wal(ledger):
    """A file put into WAL mode still charges; if its log cannot be written, it refuses."""
    edit(ledger, "PRAGMA journal_mode = WAL")
    ledger.charge("cohort", COST, "replace", ASKED)
    log = ledger.path.with_name(ledger.path.name + "-wal")
    assert not log.exists()
    log.mkdir()
    with pytest.raises(LedgerError, match="journal or its folder"):
        ledger.charge("cohort", COST, "replace", ASKED)
    log.rmdir()
    assert ledger.budget("cohort").releases == 1


READ_ONLY = """
import os, sys, urllib.parse  # what may be out of reach later: the interpreter can be root's own
from discreet.errors import LedgerError
from discreet.privacy.events import ZCDP
from discreet.privacy.ledger import Ledger
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
ledger = Ledger(sys.argv[1])
print(ledger.budget("cohort").releases, ledger.verify().good)
try:
    ledger.charge("cohort", [ZCDP(0.005)], "replace", {})
except LedgerError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "mode"), [(0o555, 0o666), (0o777, 0o444)])
def test_read_only_ledgers_can_be_read(folder, mode):
    """A read-only file or folder shows and verifies, and refuses to charge, also for one who is not root."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "budget.ledger"
        Ledger(path).create("cohort", epsilon=1.0, delta=1e-6)
        path.chmod(mode)
        path.parent.chmod(folder)
        ran = subprocess.run(
            [sys.executable, "-c", READ_ONLY, path], capture_output=True, text=True, check=False
        )
        path.parent.chmod(0o700)
    first, second = ran.stdout.splitlines()
    assert first == "0 True"
    assert re.search("read-only|cannot be opened", second)


def test_a_lock_that_stays_is_reported(ledger, monkeypatch):
    """When another process never lets go, the charge is refused in words, after a wait."""
    monkeypatch.setattr(file, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked for too long; try again"):
            ledger.charge("cohort", COST, "replace", ASKED)
        assert ledger.budget("cohort").releases == 0


def test_unknown_failures_are_still_refusals(ledger):
    """A file with a table missing is refused, not a traceback from SQLite."""
    edit(ledger, "DROP TABLE head")
    for use in (*every_use(ledger), ledger.verify):
        with pytest.raises(DiscreetError):
            use()


def test_threads_share_one_ledger(ledger):
    """Eight threads on one object: every admitted charge is there, and not one more than fits."""
    refused = []

    def work():
        for _ in range(3):
            try:
                ledger.charge("cohort", [ZCDP(0.0025)], "replace", ASKED)
            except BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.history("cohort")) == 24 - len(refused) == 9
    assert ledger.verify().good


def test_a_path_with_a_null_character_is_refused(tmp_path):
    """SQLite would end the name there and use another file."""
    with pytest.raises(InputError, match="null character"):
        Ledger(f"{tmp_path}/one\0two")
    assert list(tmp_path.iterdir()) == []
