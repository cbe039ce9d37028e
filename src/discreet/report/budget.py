"""Where a release leaves the budget of its data set."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from discreet import check
from discreet.errors import InputError
from discreet.privacy.events import down
from discreet.report.markup import visible


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """The budget of a data set right after one release.

    Attributes
    ----------
    data_set : str
        Its name in the ledger.
    epsilon : float
        The total.
    delta : float
        The total's slack.
    spent : float
        epsilon spent by all releases so far, this one included, at the total delta.
    release : str
        The identifier of this release.
    head : str
        Hash of the ledger's row that seals this result: who keeps it can tell later whether the ledger was
        edited up to there.
    next : float
        The largest epsilon that one more release may have at the total delta: more than what is not spent,
        for costs do not simply add up.

    Notes
    -----
    Made by a release with a ledger. That the total is never exceeded: docs/proofs/ledger.md.

    References
    ----------
    Rogers, Roth, Ullman & Vadhan (2016), Privacy Odometers and Filters, NeurIPS 2016.

    Examples
    --------
    >>> import discreet
    >>> line = discreet.BudgetLine("cohort", 3.0, 1e-6, 1.0, "scan", "9f2c", next=2.6)
    >>> print(line)
    Budget of "cohort": epsilon 1 of 3 spent, delta = 1e-06; release scan. Next release: epsilon up to 2.6.
    """

    data_set: str
    epsilon: float
    delta: float
    spent: float
    release: str
    head: str
    next: float

    def __post_init__(self) -> None:
        check.delta(self.delta)
        for name in ("epsilon", "spent", "next"):
            if check.real(getattr(self, name), name) < 0:
                raise InputError(f"{name} must be at least 0; got {getattr(self, name)}")

    @property
    def room(self) -> str:
        """What the next release may have, in words."""
        return f"epsilon up to {down(self.next)}" if self.next > 0 else "nothing is left"

    def _repr_html_(self) -> str:
        share = min(1.0, self.spent / self.epsilon) if self.epsilon > 0 else 1.0
        return (
            f"<div class='discreet'><progress max='1' value='{share:.3f}'></progress>"
            f"<p>{escape(visible(str(self)))}</p></div>"
        )

    def __str__(self) -> str:
        return (
            f'Budget of "{self.data_set}": epsilon {self.spent:.4g} of {self.epsilon:.4g} spent, '
            f"delta = {self.delta:.3g}; release {self.release}. Next release: {self.room}."
        )
