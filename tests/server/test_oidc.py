"""Logging in by another party's word, against a real provider run in the test."""

import logging
import re
import warnings

import httpx
import pytest
from places import TestClient
from sqlalchemy import select

from discreet.server.http.app import build
from discreet.server.store.tables import account

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it is built on parts that have newer names
    import oidc_provider_mock as mock


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def issuer():
    """Run a provider that lets everybody in by the name they type."""
    logging.getLogger("oidc_provider_mock").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with mock.run_server_in_thread() as server:
            yield f"http://localhost:{server.server_port}"


def come_in(place, issuer, subject, **settings):
    """Walk through the login as a browser does; return the last answer and the client."""
    place.change(oidc_issuer=issuer, oidc_client="discreet", oidc_secret="word", **settings)  # noqa: S106
    web = TestClient(build(place.config), base_url=place.config.site, follow_redirects=False)
    assert "/oidc/login" in web.get("/login").text
    there = web.get("/oidc/login").headers["location"]
    assert there.startswith(issuer)
    assert "code_challenge_method=S256" in there
    assert "nonce=" in there
    back = httpx.post(there, data={"sub": subject}).headers["location"]
    return web.get(back.removeprefix(place.config.site)), web, back.removeprefix(place.config.site)


@pytest.mark.filterwarnings("ignore")
def test_somebody_new_gets_the_role_that_is_set_and_nothing_more(place, issuer):
    """The account is tied to the subject; the same subject comes back to it; a code works once."""
    answer, web, back = come_in(place, issuer, "mia", oidc_role="analyst")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "None is open to you yet" in web.get("/").text
    come_in(place, issuer, "mia", oidc_role="analyst")
    with place.store.reading() as db:
        rows = db.execute(select(account.c.name, account.c.role, account.c.subject)).all()
    made = [row for row in rows if row.subject]
    assert len(made) == 1
    assert made[0].role == "analyst"
    assert web.get(back).status_code == 401


@pytest.mark.filterwarnings("ignore")
def test_a_name_proves_nothing(place, issuer):
    """Somebody called like a local account does not become it."""
    answer, web, _ = come_in(place, issuer, "custodian", oidc_role="analyst")
    assert answer.status_code == 303
    assert web.get("/custody/accounts").status_code == 403
    assert re.search(r"Log out custodian-2", web.get("/").text)
    # Cut off, two such subjects would be one account.
    assert come_in(place, issuer, "m" * 400, oidc_role="analyst")[0].status_code == 401


@pytest.mark.filterwarnings("ignore")
def test_without_a_role_strangers_stay_out(place, issuer):
    """Known there, unknown here: refused, and written down."""
    answer, web, _ = come_in(place, issuer, "mia")
    assert answer.status_code == 403
    assert web.get("/").headers["location"] == "/login"


@pytest.mark.filterwarnings("ignore")
def test_a_forged_return_is_refused(place, issuer):
    """Another state, no state, no cookie: nobody gets in."""
    _, web, back = come_in(place, issuer, "mia", oidc_role="analyst")
    for forged in (re.sub(r"state=[^&]+", "state=x", back), "/oidc/back", "/oidc/back?code=a&state=b"):
        web.cookies.clear()
        assert web.get(forged).status_code == 401
