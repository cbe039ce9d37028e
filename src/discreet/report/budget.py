"""Where a release leaves the budget of its data set."""

from __future__ import annotations

from dataclasses import dataclass

from discreet import check
from discreet.errors import InputError


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
        Hash of the ledger's last entry: who keeps it can tell later whether the ledger was edited.

    Examples
    --------
    >>> import discreet
    >>> line = discreet.BudgetLine("cohort", 3.0, 1e-6, 1.0, "first look", "9f2c")
    >>> line.epsilon - line.spent
    2.0
    """

    data_set: str
    epsilon: float
    delta: float
    spent: float
    release: str
    head: str

    def __post_init__(self) -> None:
        check.delta(self.delta)
        for name in ("epsilon", "spent"):
            if check.real(getattr(self, name), name) < 0:
                raise InputError(f"{name} must be at least 0; got {getattr(self, name)}")

    @property
    def left(self) -> float:
        """Epsilon that is left."""
        return max(0.0, self.epsilon - self.spent)

    def __str__(self) -> str:
        return (
            f'Budget of "{self.data_set}": epsilon {self.spent:.4g} of {self.epsilon:.4g} spent, '
            f"delta = {self.delta:.3g}; release {self.release}."
        )
