"""Whatever somebody changes behind the server's back, `verify` says so; and honest work leaves it whole."""

import pytest
from places import ABOUT, ASK, make_place
from sqlalchemy import inspect, text, update
from typer.testing import CliRunner

from discreet.cli import app
from discreet.server import records
from discreet.server.accounts import credentials, people
from discreet.server.datasets import registry, shares
from discreet.server.jobs import ending, queue, view
from discreet.server.operate.verify import verified, verify
from discreet.server.store import tables

ANSWERED = "WHERE id = (SELECT min(id) FROM job WHERE kind = 'ask' AND state = 'done')"
TAMPERINGS = {
    "a total": "UPDATE purse SET state = replace(state, '2.0', '9.0') WHERE holder = ''",
    "a share made up": "INSERT INTO purse SELECT dataset, 'analyst:eve', state FROM purse WHERE holder = ''",
    "a charge forgotten": "DELETE FROM audit WHERE kind = 'charge'",
    "the end of the log": "DELETE FROM audit WHERE position = (SELECT max(position) FROM audit)",
    "a row of the log": "UPDATE audit SET body = replace(body, '0.5', '0.1') WHERE kind = 'ask'",
    "a row that is no JSON": "UPDATE audit SET body = '[' WHERE position = 3",
    "a role": "UPDATE account SET role = 'custodian' WHERE name = 'ana'",
    "a team": "UPDATE account SET team = 'rich' WHERE name = 'ana'",
    "an account made up": "INSERT INTO account SELECT 'eve', 'custodian', '', NULL, NULL, 'active', 0, 0 "
    "FROM account WHERE name = 'ana'",
    "a closed account opened": "UPDATE account SET state = 'active' WHERE name = 'bob'",
    "a password": "UPDATE account SET password = '$argon2id$x' WHERE name = 'ana'",
    "an issuer's word": "UPDATE account SET subject = 'https://issuer me' WHERE name = 'custodian'",
    "a token that had ended": "UPDATE credential SET revoked = NULL WHERE kind = 'token'",
    "a token that may more": "UPDATE credential SET scopes = 'read ask' WHERE kind = 'token'",
    "a token that lasts": "UPDATE credential SET expires = expires + 1 WHERE kind = 'token'",
    "somebody else's session": "UPDATE credential SET account = 'ana' WHERE kind = 'session'",
    "a credential made up": "INSERT INTO credential SELECT 'abc', kind, account, label, scopes, csrf, "
    "created, expires, NULL FROM credential WHERE kind = 'session'",
    "where the data lie": "UPDATE dataset SET source = '{}'",
    "a data set opened": "UPDATE dataset SET state = 'open'",
    "why it is paused": "UPDATE dataset SET reason = 'nothing'",
    "when a pause is seen": "UPDATE dataset SET since = since + 1000",
    "the version in force": "UPDATE dataset SET version = 1",
    "metadata": "UPDATE metadata SET body = replace(body, 'A cohort', 'Another')",
    "a version made up": "INSERT INTO metadata SELECT dataset, 9, body, hash, author, time FROM metadata "
    "WHERE version = 1",
    "who may see releases": "UPDATE metadata SET body = replace(body, '\"shared\"', '\"own\"')",
    "a result": "UPDATE job SET result = replace(result, 'diet', 'luck') @",
    "a result removed": "UPDATE job SET result = NULL @",
    "a rejected result shown": "UPDATE job SET state = 'approved' WHERE state = 'rejected'",
    "a held result shown": "UPDATE job SET state = 'approved' WHERE state = 'held'",
    "an answer before its time": "UPDATE job SET visible = visible - 1 @",
    "somebody else's question": "UPDATE job SET account = 'custodian' @",
    "another share's question": "UPDATE job SET holder = 'everyone' @",
    "a question": "UPDATE job SET question = '{}' @",
    "a cost": "UPDATE job SET cost = '{}' @",
    "a question called a trial": "UPDATE job SET kind = 'try' @",
    "a trial called a question": "UPDATE job SET kind = 'ask' WHERE kind = 'try'",
    "what was left": "UPDATE job SET standing = '' @",
    "a charge undone": "UPDATE job SET draws = 0 @",
    "a question begun again": "UPDATE job SET state = 'queued' @",
    "a failure": "UPDATE job SET state = 'done' WHERE state = 'failed'",
    "a message": "UPDATE job SET message = 'row 7' WHERE state = 'failed'",
    "a reason": "UPDATE job SET reason = 'no reason' WHERE state = 'rejected'",
    "a reviewer": "UPDATE job SET reviewer = 'nobody' WHERE state = 'rejected'",
    "the seal of a result": "UPDATE job SET settled = 'abc' @",
    "a job removed": "DELETE FROM job @",
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def used(request, tmp_path_factory, cohort):
    """Return a server on which everything was done once."""
    database = request.getfixturevalue("database_of_module") if request.param == "postgres" else None
    folder = tmp_path_factory.mktemp("used")
    place = make_place(folder, cohort, database)
    place.submit()
    place.submit(kind="try")
    place.work()
    with place.store.writing() as db:
        people.create(db, "custodian", "bob", "analyst", "team")
        shares.grant(db, "custodian", "cohort", "everyone", 1.0, 1e-6)
        people.set_password(db, "ana", "ana", people.hashed("a long password", place.config))
        credentials.session(db, "custodian", 1000.0)
        credentials.token(db, "ana", "laptop", ("read",), 9)
        credentials.revoke_token(db, "ana", credentials.tokens(db, "ana")[0].hash)
        people.change(db, "custodian", "bob", "auditor")
        people.disable(db, "custodian", "bob")
        registry.change(db, "custodian", "cohort", {**ABOUT, "review": True})
    held = [place.submit({**ASK, "epsilon": 0.1 + number / 100}) for number in range(2)]
    place.work()
    place.submit({**ASK, "epsilon": 0.15}, kind="ask")
    claim = queue.claim(place.store, place.config, "w")
    queue.begin_reading(place.store, claim)
    ending.end(place.store, place.config, claim, ending.failed("broken"))
    with place.store.writing() as db:
        view.review(db, "custodian", held[0], "reject", "too narrow")
    yield place
    place.store.close()


def test_honest_work_leaves_the_records_whole(used):
    """Every kind of change is in the log, and adds up to what the tables hold."""
    assert verify(used.store).faults == ()


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS)
def test_whatever_is_changed_is_noticed(used, change):
    """Each table is checked against the log, and the log against itself."""
    with used.store.engine.connect().execution_options(writes=True) as db:
        if used.store.is_postgres:
            db.execute(text("SET CONSTRAINTS ALL DEFERRED"))
        assert db.execute(text(change.replace("@", ANSWERED))).rowcount
        faults = verified(db).faults
        db.rollback()
    assert faults
    assert verify(used.store).faults == ()


def test_an_honest_change_does_not_hide_a_forged_one(place):
    """The log records what was set, not what the row held: a forged role stays forged."""
    with place.store.writing() as db:
        db.execute(update(tables.account).where(tables.account.c.name == "ana").values(role="custodian"))
        people.set_password(db, "ana", "ana", people.hashed("a long password", place.config))
    assert [words for words in verify(place.store).faults if "account ana" in words and "role" in words]
    told = CliRunner().invoke(app, ["serve", "verify", str(place.config.home)])
    assert (told.exit_code, "account ana" in told.output) == (1, True)


def test_every_column_that_decides_something_is_vouched_for():
    """A new column must be put under the log, or listed here as deciding nothing."""
    free = {
        "account": {"failures", "locked_until"},
        "credential": {"csrf", "created"},
        "dataset": {"created"},
        "metadata": {"hash", "time"},
        "job": {"worker", "lease", "attempts", "started", "reading", "detail", "settled"},
    }
    for name, columns in free.items():
        table = tables.schema.tables[name]
        keys = {column.name for column in inspect(table).primary_key}
        assert columns | keys | {*records._SEALED[name]} == {column.name for column in table.c}
    assert {*free, "purse", "audit", "head", "rate"} == {*tables.schema.tables}
