"""A small cohort and a server's home for it, with ways to work on both inside a test."""

import warnings
from dataclasses import dataclass

from sqlalchemy import select

from discreet.server import config as configs
from discreet.server.accounts import credentials, people
from discreet.server.datasets import registry, shares
from discreet.server.jobs import accept, queue
from discreet.server.jobs.run import run
from discreet.server.operate.home import init
from discreet.server.store import Store
from discreet.server.store.tables import job

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about which httpx it prefers
    from starlette.testclient import TestClient

PEOPLE = 2_000
ABOUT = {
    "title": "A cohort",
    "people": PEOPLE,
    "columns": {
        "treated": {"type": "answers", "levels": [0, 1]},
        "sleep": {"bounds": [0.0, 1.0]},
        "diet": {"bounds": [0.0, 1.0]},
        "arm": {"type": "answers", "levels": ["a", "b"], "public": True},
    },
}
ASK = {"test": {"name": "compare", "group": "treated"}, "epsilon": 0.5}


@dataclass
class Place:
    """A home with a custodian, an analyst, a data set `cohort`, and ways to work on it in this process."""

    config: configs.Config
    store: Store
    ana: people.Account

    def submit(self, body=None, **options):
        """Ask as ana."""
        return accept.submit(self.store, self.config, self.ana, "cohort", body or ASK, **options)

    def work(self):
        """Run everything that waits; return how many jobs that were."""
        count = 0
        while (claim := queue.claim(self.store, self.config, "test")) is not None:
            run(self.store, self.config, claim)
            count += 1
        return count

    def row(self, job_id):
        """Return all that is stored of a job."""
        with self.store.reading() as db:
            return db.execute(select(job).where(job.c.id == job_id)).one()

    def token(self, name="ana", scopes=credentials.SCOPES):
        """Return an API token."""
        with self.store.writing() as db:
            return credentials.token(db, name, "test", scopes, 1)

    def change(self, **settings):
        """Return the same place under other settings."""
        self.config = configs.read(self.config.home, **{**SETTINGS, **settings})
        return self


SETTINGS = {
    "workers": 0,
    "trial_workers": 0,
    "first_answer_seconds": 0.01,
    "requests_per_minute": 100_000,
    "password_memory_mb": 1,
}


def make_place(folder, cohort, database=None, epsilon=2.0, share=2.0, about=ABOUT):
    """Return a server's home with everything in it."""
    init(folder / "home", database=database)
    place = open_place(folder / "home")
    with place.store.writing() as db:
        people.create(db, "test", "ana", "analyst")
        registry.register(db, "test", "cohort", {"path": str(cohort)}, about, epsilon=epsilon, delta=1e-6)
        shares.grant(db, "test", "cohort", "analyst:ana", share, 1e-6)
    return place


def open_place(home):
    """Return a home that was made before."""
    config = configs.read(home, **SETTINGS)
    return Place(config, Store(config.url), people.Account("ana", "analyst"))


__all__ = ["ABOUT", "ASK", "PEOPLE", "SETTINGS", "Place", "TestClient", "make_place", "open_place"]
