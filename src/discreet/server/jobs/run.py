"""One job, from question to answer, inside a worker: the only place where data are read."""

from __future__ import annotations

import json
import tempfile
import traceback
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from discreet.api import discover
from discreet.data.plink.plink import PEDIGREE, PHENOTYPE, STRATUM, Plink
from discreet.data.source import is_genotypes
from discreet.data.tables.person import Person
from discreet.errors import BudgetError, DiscreetError, InputError
from discreet.planner.forecast import forecast
from discreet.server.datasets import metadata, question, registry
from discreet.server.datasets.invented import invented, invented_genotypes
from discreet.server.jobs import ending, queue
from discreet.server.jobs.payment import Payment, TakenOverError
from discreet.server.store.memory import StoreError
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.evidence.core.protocol import Test
    from discreet.report.release import Release
    from discreet.server.config import Config
    from discreet.server.datasets.metadata import Metadata
    from discreet.server.datasets.question import Question
    from discreet.server.jobs.queue import Claim
    from discreet.server.store import Store


def run(store: Store, config: Config, claim: Claim) -> None:
    """Answer, refuse or fail one job; every way to end it is written down here.

    What an analyst sees is a function of the question and of public things, or one fixed sentence.
    """
    with store.reading() as db:
        dataset = registry.find(db, claim.dataset, claim.version)
        newest = registry.find(db, claim.dataset).version
        drawn = db.execute(select(job.c.draws).where(job.c.id == claim.id)).scalar_one()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning may speak of the data
        try:
            asked = question.load(claim.question, dataset.about)
            # What is charged was rehearsed before it was.
            rehearsed = "" if drawn else _rehearse(claim, asked, dataset.about, newest)
        except Exception as error:  # noqa: BLE001  (the data were not touched: the reason is public)
            ending.end(store, config, claim, ending.refused(_public(error), _detail(error)))
            return
        if claim.kind != "ask":
            ending.end(store, config, claim, ending.done(rehearsed))
            return
        if not queue.begin_reading(store, claim):
            return  # somebody else has the job
        try:
            _answer(Payment(store, config, claim, review=dataset.about.review), claim, asked, dataset)
        except (TakenOverError, StoreError):
            return  # somebody else has the job, or will: its lease runs out
        except BudgetError as refusal:
            ending.end(store, config, claim, ending.refused(str(refusal)))
        except MemoryError as error:
            ending.end(store, config, claim, ending.overran(_detail(error)))
        except BaseException as error:
            ending.end(store, config, claim, ending.failed(_detail(error)))
            if not isinstance(error, Exception):
                raise


def _answer(payment: Payment, claim: Claim, asked: Question, dataset: registry.DataSet) -> Release:
    source, about = dataset.source, dataset.about
    return discover(
        _data(source, asked.test),
        asked.test,
        **asked.asked.to_dict(),
        columns=asked.columns,
        person=_person(about),
        engine=source.get("engine", "local"),
        scheduler=source.get("scheduler"),
        ledger=payment,
        dataset=f"{claim.dataset}, metadata version {claim.version}",
        release_id=claim.id,
    )


def _rehearse(claim: Claim, asked: Question, about: Metadata, newest: int) -> str:
    """Return a plan, or the release that the question gets on invented data; a refusal is a public one."""
    if newest != claim.version:
        raise InputError(ending.CHANGED)
    if claim.kind == "plan":
        return _planned(asked, about)
    return _rehearsed(claim.question, json.dumps(about.to_dict()))


@lru_cache(maxsize=64)
def _rehearsed(text: str, body: str) -> str:
    about = metadata.read(json.loads(body))
    asked = question.load(text, about)
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        genotypes = about.genotypes
        people = invented_genotypes(about, asked.test, Path(folder)) if genotypes else invented(about)
        release = discover(
            people, asked.test, **asked.asked.to_dict(), columns=asked.columns, person=_person(about)
        )
    named = asked.test.public_labels if about.genotypes else asked.test.labels
    labels = [name for name in named if not about.is_public(name)]
    if release.privacy.public and labels:
        raise InputError(
            f"this test does not protect {release.privacy.public}, and {labels[0]!r} is not declared public "
            "here: take compare, which protects it"
        )
    return release.to_json()


def _planned(asked: Question, about: Metadata) -> str:
    """Return what such a release would find, from public numbers alone."""
    planned = forecast(asked.test, asked.asked, about.people, asked.hypotheses, asked.columns)
    return json.dumps({"words": str(planned), "plan": json.loads(planned.to_json())})


def _data(source: Mapping[str, Any], test: Test) -> Any:
    """Return where the data lie; strata and covariates only for a test that asks for them: others refuse."""
    path = source["path"]
    if not is_genotypes(path):
        return registry.table_of(source)
    left_out = {"path", "engine", "scheduler", *(() if STRATUM in test.labels else ("within",))}
    if {PHENOTYPE, STRATUM, *PEDIGREE}.issuperset(test.labels):
        left_out.add("covar")
    return Plink(path, **{name: value for name, value in source.items() if name not in left_out})


def _person(about: Metadata) -> Person | None:
    return None if about.person is None else Person(about.person, about.reduce)


def _public(error: Exception) -> str:
    """Return what an analyst may read of an error on invented people."""
    if isinstance(error, MemoryError):
        return ending.TOO_LARGE
    return str(error) if isinstance(error, DiscreetError) else ending.SENTENCE


def _detail(error: BaseException) -> str:
    """Return what the custodian needs to know; analysts never see it."""
    return "".join(traceback.format_exception(error))
