"""One job, from question to answer, inside a worker: the only place where data are read."""

from __future__ import annotations

import json
import traceback
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.api import discover
from discreet.data.plink.plink import Plink
from discreet.data.source import is_genotypes
from discreet.data.tables.person import Person
from discreet.errors import BudgetError, DiscreetError, InputError
from discreet.planner import plan
from discreet.server.datasets import metadata, question, registry
from discreet.server.datasets.invented import invented
from discreet.server.jobs import queue
from discreet.server.jobs.payment import Payment, TakenOverError
from discreet.server.store.database import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.report.release import Release
    from discreet.server.config import Config
    from discreet.server.datasets.metadata import Metadata
    from discreet.server.datasets.question import Question
    from discreet.server.jobs.queue import Claim
    from discreet.server.store import Store
    from discreet.typing import Planned

_EFFECTS = (0.1, 0.05, 0.2)
_PLANNED: tuple[Planned, ...] = ("bh", "aware", "calibrated")


def run(store: Store, config: Config, claim: Claim) -> None:
    """Answer, refuse or fail one job; every way to end it is written down here.

    What an analyst is told is a function of the question and of public things, or one fixed sentence.
    """
    with store.reading() as db:
        found = registry.find(db, claim.dataset, claim.version)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning may speak of the data
        try:
            asked = question.load(claim.question, found.about)
            rehearsed = _planned(asked, found.about) if claim.kind == "plan" else _try(claim, found.about)
        except Exception as error:  # noqa: BLE001  (the data were not touched: the reason is public)
            told = str(error) if isinstance(error, DiscreetError) else queue.SENTENCE
            queue.end(store, config, claim, "refused", message=told, detail=_detail(error))
            return
        if claim.kind != "ask":
            queue.end(store, config, claim, "done", result=rehearsed)
            return
        try:
            _answer(Payment(store, config, claim, review=found.about.review), claim, asked, found)
        except (TakenOverError, StoreError):
            return  # somebody else has the job, or will: its lease runs out
        except BudgetError as refusal:
            queue.end(store, config, claim, "refused", message=str(refusal))
        except BaseException as error:
            queue.end(store, config, claim, "failed", message=queue.SENTENCE, detail=_detail(error))
            if not isinstance(error, Exception):
                raise


def _answer(payment: Payment, claim: Claim, asked: Question, found: registry.DataSet) -> Release:
    source, about = found.source, found.about
    return discover(
        _data(source),
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


def _try(claim: Claim, about: Metadata) -> str:
    """Return the release that the question gets on invented data; a refusal there is a public one."""
    if about.genotypes:
        return ""  # nothing to rehearse with; `question` has checked all that is public
    return _rehearsed(claim.question, json.dumps(about.to_dict()))


@lru_cache(maxsize=64)
def _rehearsed(text: str, body: str) -> str:
    about = metadata.read(json.loads(body))
    asked = question.load(text, about)
    release = discover(
        invented(about), asked.test, **asked.asked.to_dict(), columns=asked.columns, person=_person(about)
    )
    labels = [name for name in asked.test.labels if not about.columns[name].public]
    if release.privacy.public and labels:
        raise InputError(
            f"this test does not protect {release.privacy.public}, and {labels[0]!r} is not declared public "
            "here: take compare, which protects it"
        )
    return release.to_json()


def _planned(asked: Question, about: Metadata) -> str:
    """Return what such a release would find, from public numbers alone."""
    release = asked.asked
    planned = plan(
        about.people,
        asked.hypotheses,
        epsilon=release.epsilon,
        delta=release.delta,
        q=release.q,
        effects=_EFFECTS[: asked.hypotheses],
        test=_plannable(asked),
        methods=_PLANNED,
        quick=True,
    )
    return json.dumps({"words": str(planned), "plan": json.loads(planned.to_json())})


def _plannable(asked: Question) -> Any:
    """Return the test, with one pair of bounds: what columns are called does not matter for a plan."""
    from dataclasses import fields, replace

    from discreet.evidence.compare import Compare

    test: Any = asked.test
    if isinstance(test, Compare):
        return None  # two groups, as the planner's default
    if any(field.name == "bounds" for field in fields(test)) and isinstance(test.bounds, dict):
        return replace(test, bounds=(0.0, 1.0))
    return test


def _data(source: Mapping[str, Any]) -> Any:
    path = source["path"]
    options = {name: value for name, value in source.items() if name not in {"path", "engine", "scheduler"}}
    return Plink(path, **options) if is_genotypes(path) else path


def _person(about: Metadata) -> Person | None:
    return None if about.person is None else Person(about.person, about.reduce)


def _detail(error: BaseException) -> str:
    """Return what the custodian needs to know; analysts never see it."""
    return "".join(traceback.format_exception(error))
