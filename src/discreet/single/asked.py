"""What became of one question of a sequence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.single.tested import from_record

if TYPE_CHECKING:
    from discreet.single.tested import Tested


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a sequence: its answer, the level it was held against, and the decision, for good.

    Attributes
    ----------
    hypothesis : str
        What was asked, in the words of who asked.
    answer : Tested or None
        The p-value, the estimate and the interval; None where every draw was interrupted, and where a
        sequence pays by discovery: there the decision is all that is released.
    level : float
        What the p-value was compared with; settled before it was drawn.
    rejected : bool
        Whether this is a discovery.
    interrupted : bool
        Whether every draw was interrupted; counts as no discovery.

    Notes
    -----
    Returned by `Sequence.ask`. Proof: docs/proofs/online.md.

    References
    ----------
    Ramdas, Yang, Wainwright & Jordan (2017), Online Control of the False Discovery Rate with Decaying Memory.

    Examples
    --------
    >>> import discreet
    >>> asked = discreet.Sequence(q=0.1).ask("diet", [1.0] * 400, epsilon=1)
    >>> asked.rejected
    True
    """

    hypothesis: str
    answer: Tested | None
    level: float
    rejected: bool
    interrupted: bool = False

    @property
    def p_value(self) -> float:
        """The p-value; 1 without an answer."""
        return 1.0 if self.answer is None else self.answer.p_value

    def to_json(self) -> str:
        """Return the text that a ledger keeps."""
        answer = None if self.answer is None else self.answer.to_record()
        record = {"hypothesis": self.hypothesis, "level": self.level, "rejected": self.rejected}
        return json.dumps(record | {"answer": answer, "interrupted": self.interrupted})

    def __str__(self) -> str:
        if self.interrupted:
            return f"{self.hypothesis}: interrupted, counts as no discovery (p = 1)."
        verdict = "a discovery" if self.rejected else "no discovery"
        if self.answer is None:
            return f"{self.hypothesis}: {verdict} (level {self.level:.3g})."
        return f"{self.hypothesis}: {verdict} (p = {self.p_value:.3g}, level {self.level:.3g})."


def asked_from_json(text: str) -> Asked:
    """Return the question that `to_json` wrote."""
    record = json.loads(text)
    answer = None if record["answer"] is None else from_record(record["answer"])
    # Before sequences could pay by discovery, no answer was an interrupted one.
    interrupted = record.get("interrupted", answer is None)
    return Asked(record["hypothesis"], answer, record["level"], record["rejected"], interrupted)
