"""`discreet serve run` and `demo` as they are started: what they print, what they log, how they stop."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import ASK, TestClient, make_place
from sqlalchemy import select

import discreet
from discreet.server.accounts.people import Account
from discreet.server.http.app import build
from discreet.server.jobs import accept, queue
from discreet.server.jobs.run import run
from discreet.server.operate.demo import prepare
from discreet.server.operate.verify import verify
from discreet.server.store import Store
from discreet.server.store.tables import job

pytestmark = pytest.mark.slow


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_it_says_where_it_is_logs_nothing_private_and_stops_when_told(tmp_path, cohort):
    """Address and one-time link; JSON lines without an entry of the data; nothing is half done at the end."""
    spoiled = tmp_path / "spoiled.parquet"
    table = pq.read_table(cohort)
    place_of_diet = table.schema.get_field_index("diet")
    words = pa.array(["Zebedee"] * table.num_rows)
    pq.write_table(table.set_column(place_of_diet, "diet", words), spoiled)
    place = make_place(tmp_path, spoiled)
    token, port = place.token(), free_port()
    place.store.close()
    command = [sys.executable, "-m", "discreet", "serve", "run", str(place.config.home), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        logged = []
        reader = threading.Thread(target=lambda: logged.extend(server.stderr))
        reader.start()
        said = [server.stdout.readline() for _ in range(2)]
        url = re.search(r"http://\S+", said[0])[0]
        assert url.endswith(f":{port}")
        link = re.search(r"http://\S+/invite/invite-\S+", said[1])[0]
        wait_for(f"{url}/healthz")
        assert "password" in urllib.request.urlopen(link).read().decode()  # noqa: S310
        remote = discreet.connect(url, token=token).dataset("cohort")
        with pytest.raises(discreet.DiscreetError, match="custodian has been told"):
            remote.discover(discreet.Compare(group="treated"), q=0.1, epsilon=0.5)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) in (0, -signal.SIGTERM)
        reader.join()
    lines = [json.loads(line) for line in logged]
    assert lines
    assert "Zebedee" not in "".join(logged)
    assert token not in "".join(logged)
    assert verify(place.store).faults == ()
    with place.store.reading() as db:
        assert set(db.execute(select(job.c.state)).scalars()) == {"failed"}
    place.store.close()


def test_told_to_stop_while_a_question_is_answered_it_loses_nothing(tmp_path, cohort):
    """The job ends, or is taken up by the next start: one charge, one result, and its asker waits for it."""
    place = make_place(tmp_path, cohort)
    token, port, answers = place.token(), free_port(), []
    command = [sys.executable, "-m", "discreet", "serve", "run", str(place.config.home), "--port", str(port)]

    def ask():
        remote = discreet.connect(f"http://127.0.0.1:{port}", token=token).dataset("cohort")
        test = discreet.Compare(group="treated")
        answers.append(remote.discover(test, q=0.1, epsilon=0.5, release_id="stopped"))

    asker = threading.Thread(target=ask)
    for stops in (True, False):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            wait_for(f"http://127.0.0.1:{port}/healthz")
            if stops:
                asker.start()
                for _ in range(600):
                    if states(place):
                        break
                    threading.Event().wait(0.02)
            else:
                asker.join(120)
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) in (0, -signal.SIGTERM)
    assert [answer.privacy.epsilon for answer in answers] == [0.5]
    assert states(place) == ["done"]
    assert verify(place.store).faults == ()
    place.store.close()


def states(place):
    """Return how far all questions are that were ever asked."""
    with place.store.reading() as db:
        return list(db.execute(select(job.c.state)).scalars())


def wait_for(url):
    """Wait until a server answers."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310
                assert answer.status == 200
                return
        except OSError:
            threading.Event().wait(0.1)
    raise AssertionError(f"{url} does not answer")


def test_the_demonstration_can_be_clicked_through(tmp_path):
    """The invented cohort is there, each link works once, and what differs is found; starting again works."""
    config, words = prepare(tmp_path / "demo", free_port())
    links = re.findall(r"/invite/\S+", words)
    with TestClient(build(config)) as web:
        assert [web.get(link).status_code for link in links] == [200, 200]
    store = Store(config.url)
    made = accept.submit(store, config, Account("analyst", "analyst"), "cohort", {**ASK, "epsilon": 1.5})
    run(store, config, queue.claim(store, config, "test", "ask"))
    with store.reading() as db:
        release = discreet.Release.from_json(
            db.execute(select(job.c.result).where(job.c.id == made)).scalar_one()
        )
    assert {f"measure {place}" for place in range(1, 7)} <= {*release.discoveries}
    store.close()
    assert len(set(links) & {*re.findall(r"/invite/\S+", prepare(tmp_path / "demo", 1)[1])}) == 0


def test_the_links_of_the_demonstration_work_on_the_server_it_starts(tmp_path):
    """The server made the custodian a link of its own, which ended the one that was printed."""
    port = free_port()
    command = [sys.executable, "-m", "discreet", "serve", "demo", str(tmp_path / "demo"), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        said = "".join(server.stdout.readline() for _ in range(5))
        wait_for(f"http://127.0.0.1:{port}/healthz")
        links = re.findall(r"http://\S+/invite/\S+", said)
        pages = [urllib.request.urlopen(link).read().decode() for link in links]  # noqa: S310
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) in (0, -signal.SIGTERM)
        assert "/invite/" not in server.stdout.read()
    assert len(pages) == 2
    assert all("Choose a password" in page for page in pages)
