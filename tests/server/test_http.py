"""Pages and JSON: who may do what, safe headers, no forged forms, nothing too large or too often."""

import html
import json
import re
import time

import jsonschema
import pytest
from places import ABOUT, ASK, TestClient

import discreet
from discreet.server import audit
from discreet.server.accounts import credentials, people
from discreet.server.datasets import metadata
from discreet.server.http import openapi
from discreet.server.http.app import build

PASSWORD = "correct horse battery"  # noqa: S105


@pytest.fixture
def web(place):
    """Return a client of a running server without workers, and its place."""
    with TestClient(build(place.config), follow_redirects=False) as client:
        client.place = place
        yield client


def bearer(token):
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


def enter(web, name):
    """Log somebody in by a one-time link; return the word that forms must carry."""
    with web.place.store.writing() as db:
        link = credentials.invite(db, "test", name)
    web.cookies.clear()
    assert web.get(f"/invite/{link}").status_code == 200
    answer = web.post(f"/invite/{link}", data={"password": PASSWORD, "again": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert web.get(f"/invite/{link}").status_code == 404
    return re.search(r'name="csrf" value="([^"]+)"', web.get("/").text)[1]


def wait(place, job):
    """Run the queue, and wait for the slot."""
    place.work()
    time.sleep(max(0.0, place.row(job).visible - time.time()))


def test_the_whole_story_by_json(web):
    """List, look, ask, wait, read; the answer is a release, its CSV too, and the budget moves."""
    head = bearer(web.place.token())
    assert web.get("/api/v1/datasets", headers=head).json()["datasets"][0]["name"] == "cohort"
    before = web.get("/api/v1/datasets/cohort", headers=head).json()
    assert before["budget"]["share"]["spent"] == 0
    asked = web.post("/api/v1/datasets/cohort/ask", json={**ASK, "request_id": "one"}, headers=head)
    assert (asked.status_code, asked.json()["state"]) == (202, "working")
    job = asked.json()["id"]
    assert web.get(f"/api/v1/jobs/{job}/answer", headers=head).status_code == 404
    wait(web.place, job)
    shown = web.get(f"/api/v1/jobs/{job}", headers=head).json()
    jsonschema.validate(shown, openapi.document()["components"]["schemas"]["Job"])
    release = discreet.Release.from_json(web.get(f"/api/v1/jobs/{job}/answer", headers=head).text)
    assert release.budget.release == job
    assert web.get(f"/api/v1/jobs/{job}/answer.csv", headers=head).text.startswith('"rank","hypothesis"')
    assert len(web.get("/api/v1/datasets/cohort/releases", headers=head).json()["releases"]) == 1
    after = web.get("/api/v1/datasets/cohort", headers=head).json()
    assert after["budget"]["share"]["spent"] == pytest.approx(0.5, rel=1e-3)


def test_what_is_left_is_told_in_releases_everywhere(web):
    """By programs before and after asking, and on the page: as many as can be asked, and no more."""
    head = bearer(web.place.token())
    path, cost = "/api/v1/datasets/cohort", "?epsilon=0.5"
    before = web.get(path + cost, headers=head).json()["budget"]["more"]
    job = web.post(f"{path}/ask", json=ASK, headers=head).json()
    assert job["more_like_this"] == before - 1
    assert web.get(f"{path}{cost}&delta=1e-6", headers=head).json()["budget"]["more"] == before - 1
    for wrong in ("?epsilon=x", "?epsilon=0", "?epsilon=nan", "?epsilon=1&delta=2"):
        assert web.get(path + wrong, headers=head).status_code == 400
    wait(web.place, job["id"])
    enter(web, "ana")
    shown = web.get(f"/jobs/{job['id']}").text
    assert f"about {before - 1} more release" in shown
    granted = 0
    while web.post(f"{path}/ask", json={**ASK, "again": True}, headers=bearer(web.place.token())).is_success:
        granted += 1
    assert granted == before - 1


def test_a_plan_file_can_be_sent_as_it_is(web):
    """TOML is taken like JSON."""
    text = 'epsilon = 0.5\n[test]\nname = "compare"\ngroup = "treated"\n'
    head = {**bearer(web.place.token()), "Content-Type": "application/toml"}
    assert web.post("/api/v1/datasets/cohort/ask", content=text, headers=head).status_code == 202


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b"{", 400, "input"),
        (b"[" * 100_000, 400, "input"),
        (b"[]", 400, "input"),
        (json.dumps({**ASK, "epsilon": 1.99}).encode(), 202, None),
        (json.dumps({**ASK, "epsilon": 2.5}).encode(), 409, "budget"),
        (json.dumps({**ASK, "data": "/etc/passwd"}).encode(), 400, "input"),
        (json.dumps({**ASK, "request_id": "../x"}).encode(), 400, "input"),
        (json.dumps({**ASK, "columns": ["\ud800"]}).encode(), 400, "input"),
        (json.dumps({**ASK, "columns": ["*"] * 40_000}).encode(), 202, None),
        (b"x" * 300_000, 413, None),
    ],
)
def test_bodies_are_checked(web, body, status, kind):
    """Each refusal has its status and kind, and says nothing private."""
    answer = web.post("/api/v1/datasets/cohort/ask", content=body, headers=bearer(web.place.token()))
    assert answer.status_code == status
    if kind is not None:
        assert answer.json()["kind"] == kind


def test_a_body_that_hides_its_length_is_cut_off(web):
    """Sent in pieces without a length, it is refused as soon as it is too long."""

    def pieces():
        for _ in range(100):
            yield b"x" * 10_000

    head = bearer(web.place.token())
    assert web.post("/api/v1/datasets/cohort/ask", content=pieces(), headers=head).status_code == 413


def test_without_a_token_or_with_a_lesser_one_nothing_is_done(web):
    """401, 403, 404; and the log has every denial."""
    read_only = bearer(web.place.token(scopes=("read",)))
    assert web.get("/api/v1/datasets").status_code == 401
    assert web.get("/api/v1/datasets", headers=bearer("token-wrong")).status_code == 401
    assert web.post("/api/v1/datasets/cohort/ask", json=ASK, headers=read_only).status_code == 403
    assert web.get("/metrics", headers=read_only).status_code == 403
    assert web.get("/api/v1/datasets/other", headers=read_only).status_code == 404
    assert web.get("/api/v1/jobs/" + "0" * 32, headers=read_only).status_code == 404
    web.app.state.denials.flush(everything=True)
    with web.place.store.reading() as db:
        bodies = [json.loads(row.body) for row in audit.rows(db) if row.kind == "denied"]
    assert sum(body.get("count", 1) for body in bodies) == 6
    session = enter(web, "ana")
    assert session
    assert web.get("/api/v1/datasets").status_code == 401  # a cookie is no token


def test_every_answer_carries_safe_headers(web):
    """A strict policy, no framing, no sniffing, nothing cached; whatever the status."""
    for path in ("/login", "/nowhere", "/api/v1/datasets", "/healthz"):
        headers = web.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "script-src" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_forged_forms_are_refused(web):
    """Without the word, with a wrong one, or from another site: nothing is done."""
    word = enter(web, "custodian")
    form = {"action": "create", "name": "eve", "role": "custodian"}
    assert web.post("/custody/accounts", data=form).status_code == 403
    assert web.post("/custody/accounts", data={**form, "csrf": "x" * 43}).status_code == 403
    foreign = {"Origin": "https://evil.example"}
    assert web.post("/custody/accounts", data={**form, "csrf": word}, headers=foreign).status_code == 403
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert web.post("/login", data={"name": "a", "password": "b"}, headers=cross).status_code == 403
    with web.place.store.writing() as db:
        link = credentials.invite(db, "test", "ana")
    assert web.post(f"/invite/{link}", data={}, headers=foreign).status_code == 403
    with web.place.store.reading() as db:
        assert link not in "".join(audit.export(db))  # auditors read it
        assert {row.name for row in people.listed(db)} == {"custodian", "ana"}
    assert web.post("/custody/accounts", data={**form, "csrf": word}).status_code == 200


def test_pages_of_custodians_are_theirs_alone(web):
    """An analyst gets 403, a stranger the login."""
    for path in (
        "/custody/register",
        "/custody/accounts",
        "/custody/datasets/cohort",
        "/audit",
        "/audit.jsonl",
    ):
        web.cookies.clear()
        assert web.get(path).headers["location"] == "/login"
    enter(web, "ana")
    for path in (
        "/custody/register",
        "/custody/accounts",
        "/custody/datasets/cohort",
        "/audit",
        "/audit.jsonl",
    ):
        assert web.get(path).status_code == 403


def test_cookies_are_out_of_reach(web):
    """HttpOnly, same site; with TLS also secure, for this host alone. Logging out ends the session."""
    with web.place.store.writing() as db:
        people.set_password(db, "ana", "ana", people.hashed(PASSWORD, web.place.config))
    answer = web.post("/login", data={"name": "ana", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    word = re.search(r'name="csrf" value="([^"]+)"', web.get("/").text)[1]
    kept = dict(web.cookies)
    web.post("/logout", data={"csrf": word})
    web.cookies.update(kept)
    assert web.get("/").headers["location"] == "/login"
    web.place.change(public_url="https://data.example.org")
    with TestClient(build(web.place.config), base_url="https://data.example.org") as secure:
        answer = secure.post("/login", data={"name": "ana", "password": PASSWORD}, follow_redirects=False)
        assert answer.headers["set-cookie"].startswith("__Host-discreet=")
        assert "secure" in answer.headers["set-cookie"].lower()
        assert "strict-transport-security" in answer.headers


def test_the_whole_story_on_pages(web):
    """Register, share, plan, see the cost, ask, read the report, and be refused when nothing is left."""
    word = enter(web, "custodian")
    about = 'people = 2000\n[columns.treated]\ntype = "answers"\nlevels = [0, 1]\n[columns.diet]\n'
    with web.place.store.reading() as db:
        from discreet.server.datasets import registry

        path = registry.find(db, "cohort").source["path"]
    form = {"csrf": word, "name": "second", "path": path, "epsilon": "1", "delta": "1e-6", "metadata": about}
    refused = web.post("/custody/register", data=form)
    assert (refused.status_code, "registered as" in refused.text) == (400, True)
    form["second_total"] = "yes"
    assert web.post("/custody/register", data=form).status_code == 303
    share = {"csrf": word, "action": "share", "holder": "analyst:ana", "epsilon": "1", "delta": "1e-6"}
    assert web.post("/custody/datasets/second", data=share).status_code == 303
    word = enter(web, "ana")
    assert "second" in web.get("/").text
    form = {
        "csrf": word,
        "test": "compare",
        "group": "treated",
        "epsilon": "0.9",
        "q": "0.1",
        "delta": "1e-6",
    }
    cost = web.post("/datasets/second/ask", data={**form, "action": "cost"}).text
    assert "about 1 release like this one" in cost, re.findall(r"wrong.*", cost)
    request_id = re.search(r'name="request_id" value="([^"]+)"', cost)[1]
    asked = {**form, "action": "ask", "request_id": request_id}
    first = web.post("/datasets/second/ask", data=asked).headers["location"]
    assert web.post("/datasets/second/ask", data=asked).headers["location"] == first
    assert "refresh" in web.get(first).headers
    wait(web.place, first.rsplit("/", 1)[1])
    assert "1 discovery among 1" in web.get(first).text or "No discover" in web.get(first).text
    report = web.get(f"{first}/report")
    assert "sandbox" in report.headers["content-security-policy"]
    assert "script-src 'sha256-" in report.headers["content-security-policy"]
    assert web.get(f"{first}/release.json").headers["content-disposition"].startswith("attachment")
    refused = web.post("/datasets/second/ask", data={**form, "action": "ask", "again": "yes"})
    assert refused.status_code == 409
    assert "would exceed the budget" in refused.text


def test_what_is_public_changes_on_a_page_and_releases_name_the_version(web):
    """The text in force can be changed and sent back; old versions can be seen, the new one asked."""
    word = enter(web, "custodian")
    page = html.unescape(web.get("/custody/datasets/cohort").text)
    text = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[1]
    assert metadata.read(metadata.from_toml(text)) == metadata.read(ABOUT)
    form = {"csrf": word, "action": "metadata", "metadata": text.replace("A cohort", "Our cohort")}
    assert web.post("/custody/datasets/cohort", data=form).status_code == 303
    wrong = web.post("/custody/datasets/cohort", data={**form, "metadata": "people = -1"})
    assert (wrong.status_code, "people = -1" in wrong.text) == (400, True)
    head = bearer(web.place.token())
    job = web.post("/api/v1/datasets/cohort/ask", json=ASK, headers=head).json()
    assert job["version"] == 2
    wait(web.place, job["id"])
    release = discreet.Release.from_json(web.get(f"/api/v1/jobs/{job['id']}/answer", headers=head).text)
    assert release.budget.data_set == "cohort, metadata version 2"
    titles = [
        web.get(f"/api/v1/datasets/cohort{which}", headers=head).json()["metadata"]["title"]
        for which in ("?version=1", "?version=2", "")
    ]
    assert titles == ["A cohort", "Our cohort", "Our cohort"]
    for wrong in ("0", "3", "x", "9" * 5000, "²"):
        status = web.get(f"/api/v1/datasets/cohort?version={wrong}", headers=head).status_code
        assert status in {400, 404}
    enter(web, "ana")
    assert 'action="/datasets/cohort/ask"' not in web.get("/datasets/cohort?version=1").text
    assert 'action="/datasets/cohort/ask"' in web.get("/datasets/cohort").text


def test_a_password_is_changed_by_whoever_knows_it(web):
    """Then other sessions and tokens end; a role that a custodian changes holds at the next click."""
    word = enter(web, "ana")
    token, old = web.place.token(), dict(web.cookies)
    form = {"csrf": word, "old": PASSWORD, "password": "another long one", "again": "another long one"}
    assert web.post("/password", data={**form, "old": "not this one"}).status_code == 400
    assert web.post("/password", data={**form, "again": "mistyped"}).status_code == 400
    assert web.post("/password", data={**form, "password": "short", "again": "short"}).status_code == 400
    assert web.get("/api/v1/jobs", headers=bearer(token)).status_code == 200
    assert web.post("/password", data=form).headers["location"] == "/"
    assert web.get("/").status_code == 200
    assert web.get("/api/v1/jobs", headers=bearer(token)).status_code == 401
    mine = dict(web.cookies)
    web.cookies.clear()
    web.cookies.update(old)
    assert web.get("/").headers["location"] == "/login"
    word = enter(web, "custodian")
    for action in ({"action": "role", "role": "auditor"}, {"action": "end"}):
        assert web.post("/custody/accounts", data={"csrf": word, "name": "ana", **action}).status_code == 200
        kept = dict(web.cookies)
        web.cookies.clear()
        web.cookies.update(mine)
        assert web.get("/audit").status_code == (200 if "role" in action else 303)
        web.cookies.clear()
        web.cookies.update(kept)


def test_a_body_that_takes_the_parser_for_ever_is_refused(web):
    """A TOML key of a hundred thousand parts, ten thousand patterns, a hint among very many names."""
    head = {**bearer(web.place.token()), "Content-Type": "application/toml"}
    endless = ".".join(["a"] * 30_000) + " = 1"
    answer = web.post("/api/v1/datasets/cohort/ask", content=endless, headers=head)
    assert (answer.status_code, "64 parts" in answer.json()["error"]) == (400, True)
    assert (
        web.post("/api/v1/datasets/cohort/ask", content="a = 1\n" * 20_000, headers=head).status_code == 400
    )
    many = {**ASK, "columns": [f"*{number}" for number in range(10_000)]}
    answer = web.post("/api/v1/datasets/cohort/ask", json=many, headers=bearer(web.place.token()))
    assert "too many patterns" in answer.json()["error"]


def test_words_of_people_are_escaped(web):
    """A script in a title, a reason or an error is text."""
    evil = "<script>alert(1)</script>"
    word = enter(web, "custodian")
    with web.place.store.writing() as db:
        from discreet.server.datasets import registry

        about = registry.find(db, "cohort").about.to_dict()
        about["columns"][evil] = {"type": "number", "about": evil}
        registry.change(db, "test", "cohort", {**about, "title": evil, "about": evil})
        registry.set_state(db, "test", "cohort", "paused", evil)
    for path in ("/", "/datasets/cohort", "/custody/datasets/cohort", "/audit"):
        assert evil not in web.get(path).text
    assert (
        evil not in web.post("/custody/accounts", data={"csrf": word, "action": "invite", "name": evil}).text
    )
    assert evil not in web.get(f"/jobs/{evil}").text


@pytest.mark.usefixtures("one_minute")
def test_too_many_requests_wait(place):
    """One visitor's bucket empties; another's does not."""
    place.change(requests_per_minute=5)
    with TestClient(build(place.config)) as web:
        codes = [web.get("/login").status_code for _ in range(8)]
        assert codes == [200] * 5 + [429] * 3
        assert web.get("/api/v1/datasets", headers=bearer("other")).status_code == 401
        assert web.post("/login", headers={"Cookie": "made=up"}).status_code == 429


@pytest.mark.usefixtures("one_minute")
def test_many_tokens_are_one_person(place):
    """What somebody may send in a minute does not grow with their tokens and sessions."""
    place.change(requests_per_minute=6)
    tokens = [place.token() for _ in range(4)]
    with TestClient(build(place.config)) as web:
        codes = [web.get("/api/v1/jobs", headers=bearer(tokens[n % 4])).status_code for n in range(9)]
        assert codes == [200] * 6 + [429] * 3
        other = bearer(place.token("custodian"))
        assert web.get("/api/v1/jobs", headers=other).status_code == 200
        with place.store.writing() as db:
            web.cookies.set("discreet", credentials.session(db, "ana", 100.0))
        assert web.get("/nowhere").status_code == 404
        assert web.get("/").status_code == 429


def test_health_readiness_and_figures(web):
    """Alive, ready, and measured: the last for custodians, auditors and whoever has the token."""
    assert web.get("/healthz").text == "ok\n"
    assert web.get("/readyz").json() == {"ready": True}
    text = web.get("/metrics", headers=bearer(web.place.token("custodian"))).text
    assert "discreet_audit_rows" in text
    assert web.get("/metrics").status_code == 401


def test_the_description_names_every_route(web):
    """OpenAPI lists what the server answers under /api/v1, no more and no less."""
    from discreet.server.http import api

    document = web.get("/api/v1/openapi.json").json()
    assert {*document["paths"]} == {route.path for route in api.routes}
    question = document["components"]["schemas"]["Question"]
    jsonschema.validate({**ASK, "columns": ["a"], "request_id": "x"}, question)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**ASK, "data": "/etc/passwd"}, question)
    enter(web, "ana")
    assert "/api/v1/jobs/{id}/answer" in web.get("/api").text


def test_tokens_are_made_and_ended_on_a_page(web):
    """Shown once, listed by label, ended by a button."""
    word = enter(web, "ana")
    page = web.post("/tokens", data={"csrf": word, "label": "laptop", "read": "on"}).text
    token = re.search(r"<code>(token-[^<]+)</code>", page)[1]
    assert web.get("/api/v1/jobs", headers=bearer(token)).status_code == 200
    assert token not in web.get("/tokens").text
    ending = re.search(r'name="end" value="([^"]+)"', web.get("/tokens").text)[1]
    web.post("/tokens", data={"csrf": word, "end": ending})
    assert web.get("/api/v1/jobs", headers=bearer(token)).status_code == 401


def test_a_fault_of_ours_tells_nothing(web, monkeypatch):
    """An error nobody expected becomes one sentence; its words stay in the log."""
    from discreet.server.http import pages

    def broken(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(pages.registry, "open_to", broken)
    with web.place.store.writing() as db:
        secret = credentials.session(db, "ana", 100)
    quiet = TestClient(web.app, raise_server_exceptions=False, cookies={"discreet": secret})
    answer = quiet.get("/")
    assert answer.status_code == 500
    assert "a secret" not in answer.text
