"""Columns that a test reads as numbers beside those it tests: text there would leave everybody out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.data.tables.column import Column


def asked_numbers(test: object) -> dict[str, str]:
    """Return the columns that a test reads as numbers, and as what: a partner, an event, a covariate."""
    partner, event, adjust = (getattr(test, name, None) for name in ("partner", "event", "adjust"))
    asked = {partner: "partner"} if isinstance(partner, str) else {}
    events = cast("Mapping[str, str]", event).values() if isinstance(event, Mapping) else [event]
    asked |= {name: "event" for name in events if isinstance(name, str)}
    if isinstance(adjust, Mapping):
        pairs = cast("Mapping[str, Any]", adjust).items()
        asked |= {name: "covariate with bounds" for name, given in pairs if _are_bounds(given)}
    return asked


def _are_bounds(given: Any) -> bool:
    """Say whether a covariate is given by bounds: two numbers, not 0 and 1 or the like, which are answers."""
    if not isinstance(given, (list, tuple)) or len(cast("Sequence[Any]", given)) != 2:
        return False
    low, high = cast("Sequence[Any]", given)
    return isinstance(low, (int, float)) and isinstance(high, (int, float)) and abs(high - low) != 1


def check_numbers(columns: Sequence[Column], asked: Mapping[str, str]) -> None:
    """Refuse a column that is text by its declared type where a test reads numbers."""
    for column in columns:
        if column.name in asked and column.kind == "text" and column.declared and column.levels is None:
            raise InputError(
                f"column {column.name!r} is text, and is read as numbers here ({asked[column.name]}): name "
                "another column, or make it one of numbers"
            )
