"""What was asked for, what the release records about it, and the budget it is charged to.

With a ledger, the cost is reserved on disk before anything is drawn, and the result is stored before anybody
sees it (docs/proofs/ledger.md). A release id identifies one question about one data set: a public description
of the question and of the data is stored with the charge. Each source describes itself (`Source.public`): the
names of its files, columns and variants.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from discreet import check
from discreet.data.source import hashed, is_table
from discreet.errors import InputError
from discreet.evidence.core.people import People
from discreet.evidence.core.protocol import described, plain
from discreet.methods.registry import METHODS
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import BudgetLine
from discreet.report.record import from_json, to_json, with_head
from discreet.report.stored import stored
from discreet.typing import Frame

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from discreet.data.source import Source
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.pending import Pending
    from discreet.evidence.core.protocol import Test
    from discreet.evidence.core.sharded import Sharded
    from discreet.methods.method import Parameters
    from discreet.privacy.events import Event
    from discreet.privacy.ledger import Charge, Ledger
    from discreet.privacy.ledger.chain import DataSet
    from discreet.privacy.ledger.ledger import LedgerLike
    from discreet.report.release import Release

_INTERRUPTED = (
    "Nothing was released. The charge of release {} stands; asked again, the same is completed for nothing."
)
_FAILED = (
    "Nothing was released. The charge of release {} counts as spent, and it is not drawn again: an error may "
    "depend on what was drawn. Please report it."
)


@dataclass(frozen=True, slots=True)
class Request:
    """What one call asks for. All of it is public except the data behind `source`.

    Attributes
    ----------
    asked : Parameters
        The options of the release. The method is settled once the size of the data is known.
    public : mapping
        What identifies the request in the ledger: options, test, columns and data, as plain JSON.
    facts : mapping
        What the release will record about how it was asked.
    source : Source or None
        The data; None where evidence was given.
    ledger, dataset, release_id
        What to charge, and under which id. Without a ledger nothing is charged.
    adjacency : str
        Which tables count as neighbours in the privacy guarantee.
    """

    asked: Parameters
    public: Mapping[str, Any] = field(default_factory=dict[str, Any])
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: Source | None = None
    ledger: Ledger | None = None
    dataset: str = ""
    release_id: str | None = None
    adjacency: str = "replace"

    def stored(self) -> Release | None:
        """Return the stored result if the same request was made before under the same release id."""
        if self.ledger is None or self.release_id is None:
            return None
        if self.ledger.stored(self.dataset, self.release_id, self.public) is None:
            return None
        return stored(self.ledger, self.dataset, self.release_id)

    def refuse_early(self) -> None:
        """Refuse, before any data are read, what the budget clearly cannot pay for.

        A request that was charged already is not refused.
        """
        if self.ledger is None or self.ledger.entry(self.dataset, self.release_id, self.public) is not None:
            return
        if METHODS[self.asked.method].gaussian:
            rho = gaussian_budget(self.asked.epsilon, self.asked.delta) * (1 - 2.0**-40)
            self.ledger.affords(self.dataset, gaussian_events([rho]), self.adjacency)

    def choosing(self, data: People | Evidence | Sharded | Pending) -> Request:
        """Return the request with a method: the one asked for, or one chosen from public numbers."""
        asked, why = METHODS[self.asked.method].settle(self.asked, data)
        return replace(self, asked=asked, facts={**self.facts, **({"chosen": why} if why else {})})

    def of_people(self, data: People | Evidence | Sharded | Pending) -> Request:
        """Return the request with the number of people, if that is public, and what their neighbours are.

        Warns where the budget hardly protects that many people.
        """
        if isinstance(data, People):
            people, adjacency = data.rows, "replace"
        else:
            people, adjacency = data.certificate.people, data.certificate.adjacency
        self.asked.warn(people)
        facts = dict(self.facts)
        if people is not None and adjacency == "replace":  # all neighbours have this size: it is public
            facts |= _recorded({"people": people}, self.ledger)
        return replace(self, facts=facts, adjacency=adjacency)

    @contextmanager
    def paying(self, events: tuple[Event, ...]) -> Generator[Payment]:
        """Reserve the cost on disk, let the caller draw the release, and store it.

        Inside the block the caller draws if `Payment.is_new`, and hands the result to `Payment.keep`. Only
        after the block may `Payment.release` be shown. Without a ledger nothing is reserved or stored.
        """
        payment = Payment(self)
        if self.ledger is None:
            yield payment
            return
        about = self.dataset, events, self.adjacency, self.public, self.release_id
        with self.ledger.paying(*about) as reserved:
            paid = reserved.paid
            if paid is not None:
                payment.is_new, payment.release = False, from_json(paid.result)
                yield payment
            else:
                payment.line = _budget_line(reserved.charge, reserved.state)
                try:
                    yield payment
                    result = to_json(payment.release)
                except BaseException as error:
                    from discreet.privacy.ledger.steps import may_tell

                    words = _FAILED if may_tell(error) else _INTERRUPTED
                    error.add_note(words.format(reserved.charge.release_id))
                    raise
                paid = reserved.store(result)
        if not paid.kept:
            with warnings.catch_warnings():
                warnings.simplefilter("always")  # raised as an error it would lose the result
                warnings.warn(
                    "the disk has no room for this result in the ledger: save it elsewhere now, for it is "
                    "paid for and cannot be had again",
                    stacklevel=4,
                )
        payment.release = with_head(payment.release, paid.hash)


@dataclass(slots=True)
class Payment:
    """A release that is being paid for, with the request it answers."""

    request: Request
    line: BudgetLine | None = None
    is_new: bool = True  # False where the ledger holds the result already: nothing is drawn then
    release: Release = field(init=False)

    def keep(self, drawn: Release) -> None:
        """Keep the release that was drawn, and add to it what was asked and where the budget stands."""
        source, facts = self.request.source, self.request.facts
        if source is None:
            labels, frame = {}, None
        else:
            hypotheses = drawn.discoveries if drawn.told is None else drawn.told.hypotheses
            labels = source.labels([*hypotheses, *_groups(facts.get("compared"))])
            frame = type(source.data).__module__.partition(".")[0]
        parameters = {**facts, **drawn.parameters, **({"labels": labels} if labels else {})}
        # Results come back in the kind of data frame that the caller uses.
        frame = frame if frame in get_args(Frame) else None
        self.release = replace(drawn, parameters=parameters, frame=frame, budget=self.line)


def about_data(
    source: Source,
    test: Test,
    asked: Parameters,
    *,
    columns: object,
    person: object,
    ledger: LedgerLike | None,
    dataset: str | None,
    release_id: str | None,
) -> Request:
    """Return the request behind `discover`. Of the data, only the head is read."""
    question = {"test": described(test), "columns": plain(columns), "person": plain(person)}
    record = {name: value for name, value in question.items() if value is not None}
    book = open_ledger(ledger, dataset, release_id)
    public = {**record, **asked.to_dict()}
    if book is not None:
        if "p-values" in test.sources and not is_table(source.data):
            public["data"] = {"kind": "p-values", "names": hashed(test.of(source.data).names)}
        else:
            public["data"] = source.public()
    record |= {"question": test.in_words(), **_compared(test), **_circumstances(source.data, book)}
    adjacency = getattr(test, "adjacency", "replace")
    return Request(asked, public, record, source, book, dataset or "", release_id, adjacency)


def about_evidence(
    evidence: Evidence,
    asked: Parameters,
    *,
    ledger: LedgerLike | None,
    dataset: str | None,
    release_id: str | None,
) -> Request:
    """Return the request behind `release`, described so that other evidence is not mistaken for this."""
    book = open_ledger(ledger, dataset, release_id)
    public = asked.to_dict()
    if book is not None:
        names = sha256()
        for name in evidence.names:
            names.update(repr(name).encode())
        effect = "" if evidence.effect is None else evidence.effect.name
        known = {"evidence": str(evidence), "null": str(evidence.null), "names": names.hexdigest()}
        public = {**known, "effect": effect, **public}
    facts = _circumstances(None, book)
    return Request(asked, public, facts, None, book, dataset or "", release_id)


def open_ledger(ledger: LedgerLike | None, dataset: str | None, release_id: str | None) -> Ledger | None:
    """Return the ledger to charge, or None; refuse names that a ledger could not hold."""
    if ledger is None:
        if dataset is not None or release_id is not None:
            raise InputError("dataset and release_id belong to a ledger: give `ledger` too")
        return None
    from discreet.privacy.ledger import Ledger

    if dataset is None:
        raise InputError(
            "a ledger keeps the budgets of several data sets: say which, --dataset or dataset=..."
        )
    for name, value in (("dataset", dataset), ("release_id", release_id)):
        if value is not None:
            check.printable(value, name)
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def _budget_line(charge: Charge, dataset: DataSet) -> BudgetLine:
    """Return what a charge leaves of the budget of its data set."""
    budget = dataset.budget(charge.name)
    # Where all of delta is set aside, epsilons add up.
    room = budget.left if budget.delta > budget.aside else max(0.0, budget.epsilon - budget.spent)
    total = (budget.epsilon, budget.delta, budget.spent)
    return BudgetLine(charge.name, *total, charge.release_id, charge.hash, room)


def _circumstances(data: object, ledger: Ledger | None) -> dict[str, Any]:
    """Return the name of the file, if the data are one, and today's date; neither depends on the data."""
    path = getattr(data, "path", data)
    name = Path(path).name if isinstance(path, (str, Path)) else None
    facts = {"data": name, "date": datetime.now(UTC).date().isoformat()}
    return _recorded({key: value for key, value in facts.items() if value}, ledger)


def _recorded(facts: dict[str, Any], ledger: Ledger | None) -> dict[str, Any]:
    """Return the facts that a release may record: a custodian may withhold some."""
    return facts if ledger is None else {**ledger.may_record(facts)}


def _groups(compared: Any) -> list[str]:
    """Return the names that a data dictionary has for the two groups."""
    if compared is None:
        return []
    return [f"{compared['group']}={compared[which]}" for which in ("first", "second")]


def _compared(test: Test) -> dict[str, dict[str, str]]:
    """Return the two groups that a test compares, if it compares two; differences are second minus first."""
    group, levels = getattr(test, "group", None), getattr(test, "levels", ())
    if group is None or len(levels) != 2:
        return {}
    return {"compared": {"group": str(group), "first": str(levels[0]), "second": str(levels[1])}}
