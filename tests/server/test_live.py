"""A server that really runs: the Python client, the command line, workers killed with -9, time and memory."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
from live import Live
from places import ASK
from sqlalchemy import update
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.errors import BudgetError, InputError
from discreet.server.client import ServerError
from discreet.server.jobs import ending, queue, run
from discreet.server.jobs.supervisor import Supervisor, Worker
from discreet.server.operate.verify import verify
from discreet.server.store.tables import job

pytestmark = pytest.mark.slow
TEST = discreet.Compare(group="treated")


def test_what_the_page_for_analysts_types_works_as_it_stands(place, tmp_path, monkeypatch, capsys):
    """Its release_id was one that the server refuses."""
    page = Path(__file__).parents[2].joinpath("docs/how-to/analyst.md").read_text()
    (script,) = re.findall(r"^```text\n(import discreet\n.*?)^```", page, re.DOTALL | re.MULTILINE)
    (command,) = re.findall(r"^(discreet discover --server.*?)\n```", page, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    with Live(place) as live:
        token = place.token()
        mine = {"https://data.example.org": live.url, "token-...": token}
        mine |= {'"trial"': '"cohort"', "--dataset trial": "--dataset cohort"}
        for theirs, ours in mine.items():
            script, command = script.replace(theirs, ours), command.replace(theirs, ours)
        exec(compile(script, "analyst.md", "exec"), {})  # noqa: S102 - of our own page
        monkeypatch.setenv("DISCREET_TOKEN", token)
        out = CliRunner().invoke(app, shlex.split(command.replace("\\\n", " "))[1:])
    assert out.exit_code == 0, out.output
    said = capsys.readouterr().out
    assert "among 5 hypotheses" in said
    assert "A plan for" in said
    assert (tmp_path / "results/release.json").exists()


def test_python_and_the_command_line_get_the_same_release(place, tmp_path):
    """One question from Python, the same by a command for nothing; refusals are the library's own."""
    with Live(place) as live:
        token = place.token()
        remote = discreet.connect(live.url, token=token).dataset("cohort")
        release = remote.discover(TEST, q=0.1, epsilon=0.5)
        assert isinstance(release, discreet.Release)
        again = remote.discover(TEST, q=0.1, epsilon=0.5)
        assert again == release
        common = [
            "discover",
            "--server",
            live.url,
            "--token",
            token,
            "--dataset",
            "cohort",
            "--epsilon",
            "0.5",
        ]
        out = CliRunner().invoke(app, [*common, "--group", "treated", "--out", str(tmp_path / "out")])
        assert out.exit_code == 0, out.output
        assert discreet.Release.from_json((tmp_path / "out/release.json").read_text()) == release
        more = remote.more(0.5)
        assert f"room for about {more} more release" in out.stderr
        dry = CliRunner().invoke(app, [*common, "--group", "treated", "--dry-run"])
        assert (dry.exit_code, f"about {more} more release" in dry.output) == (0, True), dry.output
        assert remote.rehearse(TEST).m == 5
        assert "people" in remote.plan(TEST)
        assert [each["id"] for each in remote.releases()] == [release.budget.release]
        assert remote.release(release.budget.release) == release
        assert remote.about["version"] == 1
        with pytest.raises(BudgetError, match="nothing was spent"):
            remote.discover(TEST, q=0.1, epsilon=3)
        with pytest.raises(InputError, match="declared column"):
            remote.discover(discreet.Compare(group="secret"), q=0.1, epsilon=0.1)
        with pytest.raises(InputError, match="token"):
            discreet.connect(live.url, token="token-wrong").datasets()  # noqa: S106
        out = CliRunner().invoke(app, [*common, "people.csv", "--group", "treated"])
        assert (out.exit_code, "leave it out" in out.output) == (2, True)
    assert verify(place.store, [release.budget.head]).faults == ()
    with pytest.raises(ServerError, match="cannot be reached"):
        discreet.connect(live.url, token=token).datasets()


@pytest.mark.parametrize(
    "url", ["http://data.example.org", "ftp://x", "https://", "data", "https://a:b@c", 3]
)
def test_addresses_that_would_give_the_token_away_are_refused(url):
    """A token travels over https, or stays on this machine."""
    with pytest.raises(InputError, match="url"):
        discreet.connect(url, token="token")  # noqa: S106


def test_workers_killed_at_random_lose_nothing(place):
    """Under kill -9 every accepted question is answered and charged once."""
    place.change(workers=1, queue_per_account=100)
    supervisor = Supervisor(place.store, place.config)
    supervisor.start()
    jobs = [place.submit({**ASK, "epsilon": 0.2 + number / 1000}) for number in range(4)]
    until, killed = time.time() + 100, 0
    while any(place.row(job_id).state not in {"done", "failed"} for job_id in jobs) and time.time() < until:
        time.sleep(0.05)
        if killed < 1 and any(place.row(job_id).state in {"running", "charged"} for job_id in jobs):
            victim = supervisor.workers[0].process
            os.kill(victim.pid, signal.SIGKILL)
            killed += 1
    supervisor.stop()
    assert killed == 1
    assert {place.row(job_id).state for job_id in jobs} == {"done"}
    verdict = verify(place.store)
    assert (verdict.faults, verdict.charges, verdict.results) == ((), 4, 4)


def test_a_job_that_takes_too_long_is_killed(place, monkeypatch):
    """Its worker is killed and replaced, the analyst reads the sentence, and nothing is spent.

    A clock that somebody sets, or that is put right, makes no job late.
    """

    def sleeper(*_):
        return Worker(uuid.uuid4().hex, subprocess.Popen(["sleep", "1000"]))

    now = [0.0]
    monkeypatch.setattr("discreet.server.jobs.supervisor.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Supervisor, "_spawn", sleeper)
    supervisor = Supervisor(place.store, place.config)
    supervisor.workers = [supervisor._spawn("ask")]
    slow = supervisor.workers[0]
    made = place.submit()
    claim = queue.claim(place.store, place.config, slow.name)
    assert claim.id == made
    supervisor._look()
    now[0] += place.config.trial_seconds - 1  # an analyst fills the time on invented people
    supervisor._look()
    assert queue.begin_reading(place.store, claim)  # which takes nothing from the time for data
    with place.store.writing() as db:  # and the clock of the machine jumps by a day
        db.execute(update(job).values(started=time.time() - 86_400))
    for passed in (1.0, place.config.job_seconds - 1):
        now[0] += passed
        supervisor._look()
        assert (slow.process.poll(), place.row(made).state) == (None, "running")
    now[0] += 2.0
    supervisor._look()
    assert slow.process.poll() == -signal.SIGKILL
    assert supervisor.workers[0] is not slow
    supervisor.stop()
    assert (place.row(made).state, place.row(made).message) == ("overran", ending.OVERRAN)
    assert verify(place.store).charges == 0


def test_a_worker_prints_nothing_about_people(place):
    """What it or a library prints goes nowhere; of an error the server's log has the kind, and no word."""
    script = (
        "import os, sys; from discreet.server.jobs import worker; line = worker._hushed(); print('row 7'); "
        "os.write(1, b'row 7'); os.write(2, b'row 7'); print('row 7', file=sys.stderr); line.write('a word')"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("", "a word")
    script = (
        "from discreet.server.jobs import worker\n"
        "def fail(*_): raise ValueError('row 7')\n"
        "worker._work = fail\n"
        f"worker.main({str(place.config.home)!r}, 'w', 'ask')"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    told = json.loads(ended.stderr)
    assert (ended.returncode, ended.stdout, "row 7" in ended.stderr) == (1, "", False)
    assert (told["level"], told["message"]) == ("error", "worker w ended: ValueError")


def test_a_server_without_workers_that_live_is_not_ready(place, monkeypatch):
    """Readiness says whether questions can be answered; one that cannot start is not hurried."""
    spawned = []

    def stillborn(_, lane):
        spawned.append(lane)
        return Worker(uuid.uuid4().hex, subprocess.Popen(["false"]), lane)

    with Live(place) as live:
        assert httpx.get(f"{live.url}/readyz").status_code == 200
    monkeypatch.setattr(Supervisor, "_spawn", stillborn)
    monkeypatch.setattr("discreet.server.jobs.supervisor._YOUNG_SECONDS", 1000.0)
    with Live(place) as live:
        live.app.state.supervisor.workers[0].process.wait()
        for _ in range(3):
            live.app.state.supervisor._look()
        assert httpx.get(f"{live.url}/readyz").status_code == 503
        assert len(spawned) == 2


def test_answers_come_on_the_grid_and_not_before(place):
    """Measured over HTTP: whoever looks all the time sees nothing before the slot, the answer after it."""
    with Live(place, first_answer_seconds=0.5) as live:
        head = {"Authorization": f"Bearer {place.token()}"}
        asked = httpx.post(f"{live.url}/api/v1/datasets/cohort/ask", json=ASK, headers=head).json()
        looks = []
        while not looks or looks[-1][1] == "working":
            before = time.time()
            state = httpx.get(f"{live.url}/api/v1/jobs/{asked['id']}", headers=head).json()["state"]
            looks.append((before, state, time.time()))
    row = place.row(asked["id"])
    slots = (row.visible - row.submitted) / 0.5
    assert slots == pytest.approx(2 ** round(np.log2(slots)), rel=1e-6)
    assert looks[-1][1] == "answered"
    for before, state, after in looks:
        if after < row.visible:
            assert state == "working"
        if before > row.visible:
            assert state == "answered"
    assert looks[0][2] < row.visible


def test_a_worker_has_no_more_memory_than_it_is_given(place, monkeypatch):
    """Beyond the limit an allocation fails, and a job that meets it ends in a public sentence."""
    script = "from discreet.server.jobs.worker import _limit_memory as limit; limit(900); bytearray(2**30)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "MemoryError" in ended.stderr

    def exhausted(data, *_, **options):
        if "ledger" in options:
            raise MemoryError("row 7")
        return discover(data, *_, **options)

    discover = run.discover
    monkeypatch.setattr(run, "discover", exhausted)
    made = place.submit()
    place.work()
    assert (place.row(made).state, place.row(made).message) == ("overran", ending.OVERRAN)
    assert "row 7" in place.row(made).detail
