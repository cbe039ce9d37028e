"""Every denied request is in the log, with who sent it; strangers cannot fill it."""

import json
import re

import pytest
from places import ASK, TestClient

from discreet.server import audit
from discreet.server.accounts import credentials, people
from discreet.server.http.app import build
from discreet.server.http.denials import Denial, Denials
from discreet.server.store.memory import StoreError

CHROME = {"Sec-Fetch-Site": "cross-site"}


@pytest.fixture
def web(both):
    """Return a client of a server on each kind of database."""
    both.change(oidc_issuer="http://127.0.0.1:9", oidc_client="discreet", request_bytes=1000)
    with TestClient(build(both.config), follow_redirects=False) as client:
        client.place = both
        yield client


def denied(web):
    """Return who was denied what, how often, by the log; counts are written down first."""
    web.app.state.denials.flush(everything=True)
    found = {}
    with web.place.store.reading() as db:
        for row in audit.rows(db):
            if row.kind == "denied":
                body = json.loads(row.body)
                kind = (body["actor"], body["method"], body["status"])
                found[kind] = found.get(kind, 0) + body.get("count", 1)
    return found


def bearer(token):
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


def pieces():
    """Yield a body that does not say how long it is."""
    for _ in range(5):
        yield b"x" * 500


DENIED = {
    "no token": (lambda web, **_: web.get("/api/v1/jobs"), "nobody", 401),
    "a token made up": (lambda web, **_: web.get("/api/v1/jobs", headers=bearer("x")), "nobody", 401),
    "a lesser token": (lambda web, read, **_: web.get("/metrics", headers=bearer(read)), "ana", 403),
    "another's question": (
        lambda web, read, job, **_: web.get(f"/api/v1/jobs/{job}", headers=bearer(read)),
        "ana",
        404,
    ),
    "another's answer": (
        lambda web, read, job, **_: web.get(f"/api/v1/jobs/{job}/answer", headers=bearer(read)),
        "ana",
        404,
    ),
    "another data set": (
        lambda web, read, **_: web.get("/api/v1/datasets/secret", headers=bearer(read)),
        "ana",
        404,
    ),
    "a stranger on a page": (lambda web, **_: web.get("/audit"), "nobody", 303),
    "a cookie made up": (lambda web, **_: web.get("/", headers={"Cookie": "discreet=x"}), "nobody", 303),
    "a wrong link": (lambda web, **_: web.get("/invite/invite-x"), "nobody", 404),
    "a wrong link used": (lambda web, **_: web.post("/invite/x", data={"password": "a"}), "nobody", 404),
    "a page for others": (
        lambda web, session, **_: web.get("/audit", headers={"Cookie": f"discreet={session}"}),
        "ana",
        403,
    ),
    "a forged form": (
        lambda web, session, **_: web.post("/logout", headers={"Cookie": f"discreet={session}"}),
        "ana",
        403,
    ),
    "a form from elsewhere": (lambda web, **_: web.post("/login", headers=CHROME), "nobody", 403),
    "a wrong password": (
        lambda web, **_: web.post("/login", data={"name": "ana", "password": "b"}),
        "nobody",
        401,
    ),
    "a name with a null character": (
        lambda web, **_: web.post("/login", data={"name": "an\0a", "password": "b\0"}),
        "nobody",
        401,
    ),
    "too large": (lambda web, **_: web.post("/login", content=b"x" * 2000), "nobody", 413),
    "too large in pieces": (
        lambda web, both, **_: web.post(
            "/api/v1/datasets/cohort/ask", content=pieces(), headers=bearer(both)
        ),
        "ana",
        413,
    ),
    "beyond the budget": (
        lambda web, both, **_: web.post(
            "/api/v1/datasets/cohort/ask", json={**ASK, "epsilon": 9.0}, headers=bearer(both)
        ),
        "ana",
        409,
    ),
    "a forged return": (lambda web, **_: web.get("/oidc/back?code=a&state=b"), "nobody", 401),
    "a null character in a path": (lambda web, **_: web.get("/jobs/a%00b"), "nobody", 404),
    "nothing there": (lambda web, **_: web.get("/wp-login.php"), "nobody", 404),
}


@pytest.mark.filterwarnings("ignore")
def test_every_denied_request_is_in_the_log(web):
    """Each way to be denied, with its status and whoever sent it, and nothing else."""
    place = web.place
    with place.store.writing() as db:
        people.create(db, "test", "bob", "analyst")
        session = credentials.session(db, "ana", 1000.0)
    tokens = {"read": place.token(scopes=("read",)), "both": place.token()}
    job = "0" * 32
    for name, (send, actor, status) in DENIED.items():
        before = denied(web)
        web.cookies.clear()
        answer = send(web, session=session, job=job, **tokens)
        assert answer.status_code == status, name
        kind = (actor, answer.request.method, status)
        assert denied(web) == {**before, kind: before.get(kind, 0) + 1}, name
    before = denied(web)
    for path in ("/login", "/healthz", "/readyz", "/api/v1"):
        assert web.get(path).status_code == 200
    assert denied(web) == before
    with place.store.reading() as db:
        text = "".join(audit.export(db))
    assert "invite-x" not in text
    assert not any(secret in text for secret in (session, *tokens.values()))


@pytest.mark.usefixtures("one_minute")
def test_too_many_requests_and_waiting_questions_are_in_the_log(both):
    """Who comes too often is denied, and so is who has too many questions waiting."""
    both.change(requests_per_minute=30, queue_per_account=1)
    with TestClient(build(both.config), follow_redirects=False) as web:
        web.place, head = both, bearer(both.token())
        for epsilon in (0.1, 0.2, 0.3):
            body = {**ASK, "epsilon": epsilon}
            web.post("/api/v1/datasets/cohort/ask", json=body, headers=head)
        codes = [web.post("/login", data={"name": "x", "password": "y"}).status_code for _ in range(8)]
        assert codes == [401] * 6 + [429] * 2  # a fifth of thirty
        assert denied(web) == {
            ("ana", "POST", 429): 2,
            ("nobody", "POST", 401): 6,
            ("nobody", "POST", 429): 2,
        }


def test_made_up_tokens_cannot_fill_the_log(web):
    """Many of them, whatever they say and wherever: two rows, and their number."""
    with web.place.store.reading() as db:
        before = audit.end(db).position
    for number in range(120):
        web.get(f"/api/v1/jobs/{number}", headers=bearer(f"token-{number}"))
        web.request(f"M{number}", f"/x{number}")
    found = denied(web)
    assert (found["nobody", "GET", 401], found["nobody", "OTHER", 404]) == (120, 120)
    with web.place.store.reading() as db:
        assert audit.end(db).position == before + 4


def test_what_the_database_cannot_take_now_is_counted_later(place, monkeypatch):
    """A denial stays a denial while the database is away, and is written down when it is back."""
    denials, kind = Denials(place.store), Denial("nobody", "GET", "/audit", 303)

    def away():
        raise StoreError("away")

    with monkeypatch.context() as patch:
        patch.setattr(place.store, "writing", away)
        assert denials.is_first(kind, "/audit")
        denials.write(kind, "/audit")
        assert not denials.is_first(kind, "/audit")
        denials.flush(everything=True)
    assert not denials.is_first(kind, "/audit")
    denials.flush(everything=True)
    with place.store.reading() as db:
        assert [json.loads(row.body)["count"] for row in audit.rows(db) if row.kind == "denied"] == [3]


def test_a_fault_of_ours_has_the_safe_headers_too(both, monkeypatch):
    """An error nobody expected is one sentence with the same headers, on pages and for programs."""

    def broken(*_):
        raise RuntimeError("a secret")

    with TestClient(build(both.config), follow_redirects=False) as web:
        for place in ("discreet.server.http.login.page", "discreet.server.http.api.openapi.document"):
            monkeypatch.setattr(place, broken)
        for path in ("/login", "/api/v1/openapi.json"):
            answer = web.get(path)
            assert (answer.status_code, "a secret" in answer.text) == (500, False)
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert re.search("custodian", answer.text)
