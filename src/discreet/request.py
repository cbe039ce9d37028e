"""Which data a release was asked of, in public words: a release id stands for one question to one table.

What is public of a source it says itself (`Source.public`): files by name, column names, variants.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.source import hashed, open_source
from discreet.measure import is_table

if TYPE_CHECKING:
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.protocol import Test
    from discreet.spending import Spending


def about(data: Any, test: Test) -> dict[str, Any]:
    """Return what is public about data that is given to `discover`; no more than its head is read."""
    source = open_source(data)
    if "p-values" in test.sources and not is_table(source.data):
        return {"kind": "p-values", "names": hashed(test.of(source.data).names)}
    return source.public()


def circumstances(data: Any, purse: Spending | None) -> dict[str, Any]:
    """Return the public name of the data, if it is a file, and the day: settled before any data is read."""
    path = getattr(data, "path", data)
    name = Path(path).name if isinstance(path, (str, Path)) else None
    known = {"data": name, "date": datetime.now(UTC).date().isoformat()}
    return tells({key: value for key, value in known.items() if value}, purse)


def tells(known: dict[str, Any], purse: Spending | None) -> dict[str, Any]:
    """Return what the record of a release may say of how it was made."""
    return known if purse is None else {**purse.ledger.tells(known)}


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
