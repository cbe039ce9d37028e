"""A release against a ledger: its cost reserved first, its result stored before anybody sees it.

A release id stands for one question to one table: what was asked and which data it was asked of, in public
words, is stored with the charge. What is public of a source it says itself (`Source.public`): files by name,
column names, variants.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.data.source import hashed, is_table
from discreet.errors import InputError
from discreet.methods.registry import METHODS
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import BudgetLine
from discreet.report.record import FORMAT
from discreet.report.release import Release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from discreet.data.source import Source
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.protocol import Test
    from discreet.methods.method import Ready
    from discreet.methods.parameters import Parameters
    from discreet.privacy.ledger import Charge, Ledger, Paid
    from discreet.privacy.ledger.state import DataSet

LedgerLike: TypeAlias = "Ledger | str | PathLike[str]"
"""A ledger, or the path of its file."""

_INTERRUPTED = (
    "Nothing was released. The charge of release {} stands; asked again, the same is completed for nothing."
)


@dataclass(frozen=True, slots=True)
class Spending:
    """One request against the budget of one data set; `request` holds its public parameters as plain JSON."""

    ledger: Ledger
    dataset: str
    release_id: str | None
    request: Mapping[str, Any]

    def stored(self) -> Release | None:
        """Return the result of the same request under the same release id, if it was made before."""
        if self.release_id is None:
            return None
        if self.ledger.stored(self.dataset, self.release_id, self.request) is None:
            return None
        return stored(self.ledger, self.dataset, self.release_id)

    def refuse_early(self, asked: Parameters, adjacency: str) -> None:
        """Refuse, before any data is read, what the budget clearly cannot pay; what is charged is paid."""
        if self.ledger.entry(self.dataset, self.release_id, self.request) is not None:
            return
        if METHODS[asked.method].gaussian:
            rho = gaussian_budget(asked.epsilon, asked.delta) * (1 - 2.0**-40)
            self.ledger.affords(self.dataset, gaussian_events([rho]), adjacency)

    def spend(self, ready: Ready, adjacency: str, complete: Callable[[Release], Release]) -> Release:
        """Reserve the cost on disk, draw the release, store it; what was interrupted before is completed.

        `complete` adds what was asked to what was drawn, before it is stored.
        """
        made: list[Release] = []

        def draw(charge: Charge, dataset: DataSet) -> str:
            budget = dataset.budget(charge.name)
            # Where all of delta is set aside, epsilons add up.
            room = budget.left if budget.delta > budget.aside else max(0.0, budget.epsilon - budget.spent)
            total = (budget.epsilon, budget.delta, budget.spent)
            line = BudgetLine(charge.name, *total, charge.release_id, charge.hash, room)
            try:
                made.append(replace(complete(ready.draw()), budget=line))
            except BaseException as error:
                error.add_note(_INTERRUPTED.format(charge.release_id))
                raise
            return made[0].to_json()

        paid = self.ledger.pay(self.dataset, ready.events, adjacency, self.request, draw, self.release_id)
        if not paid.kept:
            warnings.warn(
                "the disk has no room for this result in the ledger: save it elsewhere now, for it is paid "
                "for and cannot be had again",
                stacklevel=5,
            )
        return _with_head(made[0] if paid.fresh else Release.from_json(paid.result), paid)


def stored(ledger: LedgerLike, dataset: str, release_id: str | None = None) -> Release:
    """Return a release that a ledger holds, once more; nothing is spent.

    Parameters
    ----------
    ledger : Ledger or path
        The ledger that the release was charged to.
    dataset : str
        The data set's name in it.
    release_id : str, optional
        Which release, as `Release.budget` or `discreet budget history` names it; if None, the last one.

    Returns
    -------
    Release
        Equal to the one that was made.

    Raises
    ------
    InputError
        The data set has no such release.
    LedgerError
        The ledger cannot be read, or holds no result under this name.

    Notes
    -----
    The result of a release is stored before anybody sees it: docs/proofs/ledger.md.

    References
    ----------
    Rogers, Roth, Ullman & Vadhan (2016), Privacy Odometers and Filters, NeurIPS 2016: what the ledger keeps.

    Examples
    --------
    >>> import pathlib, tempfile, discreet
    >>> from discreet.privacy.ledger import Ledger
    >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.ledger")
    >>> _ = ledger.create("cohort", epsilon=1.0, delta=1e-6)
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> asked = {"q": 0.1, "epsilon": 1, "delta": 1e-6, "ledger": ledger, "dataset": "cohort"}
    >>> found = discreet.release(evidence, **asked)
    >>> discreet.stored(ledger, "cohort") == found
    True
    """
    from discreet.privacy.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    made = [entry.release_id for entry in book.history(dataset) if entry.state == "released"]
    for name in reversed(made) if release_id is None else [release_id]:
        paid = book.result(dataset, name)
        if json.loads(paid.result).get("format") == FORMAT:
            return _with_head(Release.from_json(paid.result), paid)
        if release_id is not None:
            raise InputError(
                f"{release_id!r} is the answer to a single test: ask discreet.test the same again, with this "
                "ledger and release_id; it is answered from the ledger and costs nothing"
            )
    raise InputError(f"no release of {dataset!r} has a result yet")


def _with_head(release: Release, paid: Paid) -> Release:
    """Return the release with the hash that seals its stored text, which therefore cannot hold it."""
    line = release.budget
    return release if line is None else replace(release, budget=replace(line, head=paid.hash))


def spending(
    ledger: LedgerLike | None, dataset: str | None, release_id: str | None, request: Mapping[str, Any]
) -> Spending | None:
    """Return what to charge, or None without a ledger."""
    if ledger is None:
        if dataset is not None or release_id is not None:
            raise InputError("dataset and release_id belong to a ledger: give `ledger` too")
        return None
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.ledger.payment import check_name

    if dataset is None:
        raise InputError(
            "a ledger keeps the budgets of several data sets: say which, --dataset or dataset=..."
        )
    for name, value in (("dataset", dataset), ("release_id", release_id)):
        if value is not None:
            check_name(value, name)
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return Spending(book, dataset, release_id, request)


def about_data(source: Source, test: Test) -> dict[str, Any]:
    """Return what is public about data that is given to `discover`; no more than its head is read."""
    if "p-values" in test.sources and not is_table(source.data):
        return {"kind": "p-values", "names": hashed(test.of(source.data).names)}
    return source.public()


def circumstances(data: Any, purse: Spending | None) -> dict[str, Any]:
    """Return the public name of the data, if it is a file, and the day: settled before any data is read."""
    path = getattr(data, "path", data)
    name = Path(path).name if isinstance(path, (str, Path)) else None
    facts = {"data": name, "date": datetime.now(UTC).date().isoformat()}
    return recorded({key: value for key, value in facts.items() if value}, purse)


def recorded(facts: dict[str, Any], purse: Spending | None) -> dict[str, Any]:
    """Return what the record of a release may say of how it was made: a custodian may keep facts back."""
    return facts if purse is None else {**purse.ledger.may_record(facts)}


def about_evidence(evidence: Evidence) -> dict[str, str]:
    """Return what is public about evidence, so that no other evidence is taken for it."""
    names = sha256()
    for name in evidence.names:
        names.update(repr(name).encode())
    effect = "" if evidence.effect is None else evidence.effect.name
    return {
        "evidence": str(evidence),
        "null": str(evidence.null),
        "names": names.hexdigest(),
        "effect": effect,
    }
