"""What tests of several groups share: their groups, how sharp they may be, and the evidence of a norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.certificate import Certificate, Null
from discreet.evidence.core.effect import effect
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.groups import MEMBERSHIP, Grouped
from discreet.evidence.core.scores import ceiling_for
from discreet.evidence.core.several import PROOF, even, full_size, usual_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.invented import Invented
    from discreet.typing import Levels

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralGroups(Grouped):
    """A test whose statistic is the length t of a vector with an entry for each group."""

    proof = "several-groups"
    groups = 3
    unit = "the deviation of the groups' means, in standard deviations of the column"

    levels: Levels

    def influence(self, people: int, full: float) -> tuple[float, float]:
        """Return how far one person moves t: by the first number, and by the second times t."""
        raise NotImplementedError

    def sizes(self, counts: Floats, people: int) -> tuple[float, int]:
        """Return the size of full weight, and the most people who may be present; both public."""
        if self.protect == "everything":
            return usual_size(people, counts.size), people
        return full_size(counts), int(counts.sum())

    def refuse_empty(self, counts: Floats) -> None:
        """Refuse a group that nobody is in, where that is public."""
        if self.protect != "everything" and not counts.all():
            raise InputError(f"levels: nobody is in {self.levels[int(np.argmin(counts))]!r}; leave it out")

    def evidence(self, names: Sequence[str], t: Floats, counts: Floats, people: int) -> Evidence:
        """Return the evidence of columns with these t, (m,), in groups of these sizes."""
        full, total = self.sizes(counts, people)
        influence, grow = self.influence(total, full)
        clip = ceiling_for(self.ceiling, total)
        # Half of what one person moves is room for a law on a lattice.
        score, sensitivity = even(np.maximum(t - influence / 2, 0.0), influence, grow)
        longest = math.sqrt(max(total - 1, 1))
        public = "" if self.protect == "everything" else MEMBERSHIP
        return Evidence(
            names,
            np.minimum(score, clip),
            Null("chi", clip, "checked", counts.size - 1),
            Certificate(sensitivity, 2 * sensitivity, "replace", PROOF, public),
            effect=effect(self.effect, t / longest, min(1.0, influence / longest + grow)),
        )

    def invented(self, z: Floats, people: Invented) -> Evidence:
        """Return the evidence of invented people in groups of one size, beside z as much as by chance."""
        count = len(self.levels)
        t = np.sqrt(np.maximum(z, 0.0) ** 2 + count - 2)
        return self.evidence(("",) * z.size, t, np.full(count, people.n / count), people.n)
