"""Who gets in: passwords, lock-out, one-time links, tokens with scopes."""

import time

import pytest
from sqlalchemy import select, update

from discreet.errors import InputError
from discreet.server import audit
from discreet.server.accounts import credentials, people
from discreet.server.store.tables import account, credential

PASSWORD = "correct horse battery"  # noqa: S105


@pytest.fixture
def ana(place):
    """Return the place, after ana chose a password by her link."""
    with place.store.writing() as db:
        link = credentials.invite(db, "test", "ana")
        assert credentials.owner_of_link(db, link).name == "ana"
        people.set_password(db, "ana", "ana", people.hashed(PASSWORD, place.config))
        assert credentials.owner_of_link(db, link) is None
    return place


def test_the_right_password_gets_in_and_nothing_secret_is_stored(ana):
    """Passwords are argon2 hashes, credentials sha256 hashes."""
    assert people.log_in(ana.store, ana.config, "ana", PASSWORD).role == "analyst"
    assert people.log_in(ana.store, ana.config, "ana", PASSWORD + "x") is None
    assert people.log_in(ana.store, ana.config, "nobody", PASSWORD) is None
    assert people.log_in(ana.store, ana.config, "custodian", "") is None
    token = ana.token()
    with ana.store.reading() as db:
        stored = str(db.execute(select(account)).all()) + str(db.execute(select(credential)).all())
        stored += str(audit.rows(db))
    assert "$argon2id$" in stored
    assert PASSWORD not in stored
    assert token not in stored


def test_after_failed_logins_even_the_right_password_waits(ana):
    """The lock holds for its time, and every attempt is in the log."""
    ana.change(logins_before_lock=2, lock_minutes=10.0)
    for _ in range(2):
        assert people.log_in(ana.store, ana.config, "ana", "wrong password") is None
    assert people.log_in(ana.store, ana.config, "ana", PASSWORD) is None
    with ana.store.writing() as db:
        kinds = [row.kind for row in audit.rows(db)][-3:]
        db.execute(update(account).values(locked_until=time.time() - 1))
    assert kinds == ["login-failed", "login-failed", "login-locked"]
    assert people.log_in(ana.store, ana.config, "ana", PASSWORD) is not None


def test_tokens_have_scopes_and_an_end(place):
    """A token works until it expires or is revoked, for what it was made for, and only as a token."""
    token = place.token(scopes=("read",))
    with place.store.writing() as db:
        assert credentials.visitor(db, token, "token").scopes == ("read",)
        assert credentials.visitor(db, token, "session") is None
        credentials.revoke_token(db, "custodian", credentials.tokens(db, "ana")[0].hash)
        assert credentials.visitor(db, token, "token") is not None
        credentials.revoke_token(db, "ana", credentials.tokens(db, "ana")[0].hash)
        assert credentials.visitor(db, token, "token") is None
    token = place.token()
    with place.store.writing() as db:
        db.execute(update(credential).values(expires=time.time() - 1))
        assert credentials.visitor(db, token, "token") is None
        with pytest.raises(InputError, match="scopes"):
            credentials.token(db, "ana", "label", ("everything",), 1)


def test_nobody_has_endless_tokens(place, monkeypatch):
    """Some have to end before others are made."""
    monkeypatch.setattr(credentials, "_MOST_TOKENS", 2)
    for _ in range(2):
        place.token()
    with pytest.raises(InputError, match="end some"):
        place.token()
    with place.store.writing() as db:
        credentials.revoke_token(db, "ana", credentials.tokens(db, "ana")[0].hash)
    place.token()


def test_a_closed_account_is_closed_everywhere(ana):
    """Its tokens, sessions and password stop working."""
    token = ana.token()
    with ana.store.writing() as db:
        session = credentials.session(db, "ana", 100)
        people.disable(db, "custodian", "ana")
        assert credentials.visitor(db, token, "token") is None
        assert credentials.visitor(db, session, "session") is None
    assert people.log_in(ana.store, ana.config, "ana", PASSWORD) is None


def test_a_new_password_ends_all_that_the_old_one_opened(ana):
    """Sessions, tokens and links of the account stop working, those of others do not; nothing else has to."""
    ends = {
        "a new password": lambda db: people.set_password(db, "ana", "ana", "hash"),
        "a custodian's word": lambda db: people.end_sessions(db, "custodian", "ana"),
    }
    for end in ends.values():
        with ana.store.writing() as db:
            other = credentials.session(db, "custodian", 100)
            token = credentials.token(db, "ana", "laptop", ("read",), 1)
            mine = {"session": credentials.session(db, "ana", 100), "token": token}
            mine["invite"] = credentials.invite(db, "custodian", "ana")
            assert all(credentials.visitor(db, secret, kind) for kind, secret in mine.items())
            end(db)
            assert [credentials.visitor(db, secret, kind) for kind, secret in mine.items()] == [None] * 3
            assert credentials.visitor(db, other, "session") is not None


def test_a_role_holds_from_the_next_request_on(ana):
    """Whatever credential somebody comes with, the account says what they may do."""
    token = ana.token()
    with ana.store.writing() as db:
        people.change(db, "custodian", "ana", "auditor", "ethics")
        assert credentials.visitor(db, token, "token").account == people.Account("ana", "auditor", "ethics")
        with pytest.raises(InputError, match="only custodian"):
            people.change(db, "ana", "custodian", "analyst")
        with pytest.raises(InputError, match="only custodian"):
            people.disable(db, "ana", "custodian")
        people.change(db, "custodian", "ana", "custodian")
        people.disable(db, "ana", "custodian")


@pytest.mark.parametrize("name", ["", "a b", "../x", "a" * 65, "é", "<script>", "-x", "a\n"])
def test_odd_names_are_refused(place, name):
    """Names are plain, so that no page, log or path has to fear them."""
    with place.store.writing() as db, pytest.raises(InputError, match="name must be"):
        people.create(db, "test", name, "analyst")


def test_short_passwords_unknown_roles_and_second_accounts_are_refused(place):
    """Each with its reason."""
    with place.store.writing() as db:
        with pytest.raises(InputError, match="10 to 200"):
            people.hashed("short", place.config)
        with pytest.raises(InputError, match="role must be"):
            people.create(db, "test", "bob", "king")
        with pytest.raises(InputError, match="already"):
            people.create(db, "test", "ana", "analyst")
