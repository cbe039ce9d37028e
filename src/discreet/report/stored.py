"""A release that a ledger holds, once more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import InputError
from discreet.report.record import FORMAT, from_json, with_head

if TYPE_CHECKING:
    from discreet.privacy.ledger.ledger import LedgerLike
    from discreet.report.release import Release


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
    >>> ledger = discreet.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.ledger")
    >>> _ = ledger.create("cohort", epsilon=1.0, delta=1e-6)
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> asked = {"q": 0.1, "epsilon": 1, "delta": 1e-6, "ledger": ledger, "dataset": "cohort"}
    >>> found = discreet.release(evidence, **asked)
    >>> discreet.stored(ledger, "cohort") == found
    True
    """
    from discreet.privacy.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    released = [entry for entry in book.history(dataset) if entry.state == "released"]
    made = [entry.release_id for entry in released if not entry.failed]
    for name in reversed(made) if release_id is None else [release_id]:
        paid = book.result(dataset, name)
        if _is_release(paid.result):
            return with_head(from_json(paid.result), paid.hash)
        if release_id is not None:
            raise InputError(
                f"{release_id!r} is the answer to a single test, or to a question of your own: ask the same "
                "again, with this ledger and release_id; it is answered from the ledger and costs nothing"
            )
    raise InputError(f"no release of {dataset!r} has a result yet")


def _is_release(result: str) -> bool:
    """Say whether a stored result is a release: single tests and payments by hand store other things."""
    try:
        held = json.loads(result)
    except ValueError:
        return False
    return isinstance(held, dict) and cast("dict[str, Any]", held).get("format") == FORMAT
