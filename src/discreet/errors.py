"""One family of errors; each says what was wrong, which public value caused it, and what to do.

No message carries a private value: not a score, not a row, not a count of people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class DiscreetError(Exception):
    """Anything this library refuses to do, with the reason and the remedy.

    Its kinds are in `discreet.errors`: InputError, BudgetError, LedgerError, ClusterError and
    MissingExtraError.

    Notes
    -----
    A message names public things only: arguments, columns, limits; never a score, a row or a count of people.

    Examples
    --------
    >>> import discreet
    >>> try:
    ...     discreet.step_up([0.2], q=2)
    ... except discreet.DiscreetError as refusal:
    ...     print(type(refusal).__name__)
    InputError
    """


class InputError(DiscreetError, ValueError):
    """An argument or a file cannot be used as it is. Nothing was computed and nothing was spent."""


class BudgetError(DiscreetError):
    """A release would cost more than its data set has left. Nothing was released and nothing was spent."""


class LedgerError(DiscreetError):
    """A ledger file cannot be read, written or trusted, so no release may rely on it."""


class ClusterError(DiscreetError):
    """A cluster could not finish a job. If it was reading data, nothing was released and nothing spent."""


class MissingExtraError(DiscreetError, ImportError):
    """An optional package is needed for this and is not installed."""


def missing_extra(extra: str, for_what: str) -> MissingExtraError:
    """Return the error that names the extra to install."""
    return MissingExtraError(f'{for_what} needs the extra "{extra}": pip install "discreet[{extra}]"')


def no_column(where: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error that a column is missing, and which one may have been meant: names are public."""
    return InputError(f"{where} has no column {name!r}{perhaps(name, known)}")


_LONGEST = 100  # characters of a name that are compared
_MOST_NAMES = 5_000


def perhaps(name: str, known: Iterable[str]) -> str:
    """Return a hint at which of the known names may have been meant; empty if none is near."""
    from difflib import get_close_matches

    name = name[:_LONGEST]
    lower: dict[str, str] = {}
    for candidate in known:
        lower.setdefault(candidate.lower(), candidate)
    if len(lower) > _MOST_NAMES:  # a hint is not worth seconds
        return ""
    near = (
        get_close_matches(name.lower(), lower, n=1)
        or [candidate for candidate in lower if name.lower() in candidate][:1]
    )
    return f"; did you mean {lower[near[0]]!r}?" if near else ""
