"""Evidence in blocks of hypotheses: made where the data is, joined, or left there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np

from discreet.evidence.core.certificate import Certificate
from discreet.evidence.core.effect import Effect
from discreet.evidence.core.effect import joined as effects
from discreet.evidence.core.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Null

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Part:
    """The scores of one block of hypotheses, for the way between processes of one cluster. Private."""

    score: NDArray[np.float64] = field(repr=False)
    null: Null
    certificate: Certificate
    signed: NDArray[np.float64] | None = None
    effect: tuple[str, NDArray[np.float64], float, NDArray[np.float64]] | None = None

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        """Return the evidence of one block."""
        effect = evidence.effect
        told = None if effect is None else (effect.name, effect.share, effect.sensitivity, effect.unit)
        return cls(evidence.score, evidence.null, evidence.certificate, evidence.signed, told)

    def bare(self) -> Part:
        """Return the scores alone: all that a selection needs."""
        return Part(self.score, self.null, self.certificate)

    def __repr__(self) -> str:
        return "Part(private)"


class Held(Protocol):
    """Blocks of scores somewhere else."""

    def reduce(self, work: Callable[[NDArray[np.float64], int], T], merge: Callable[[Sequence[T]], T]) -> T:
        """Return merge([work(scores, place of the first), ...]) over all blocks of scores."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sharded:
    """Evidence whose scores stay in blocks where they were made; names, null and certificate are public."""

    names: Sequence[str]
    null: Null
    certificate: Certificate
    held: Held

    def reduce(self, work: Callable[[NDArray[np.float64], int], T], merge: Callable[[Sequence[T]], T]) -> T:
        """Return merge([work(scores, place of the first), ...]) over all blocks of scores."""
        return self.held.reduce(work, merge)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Sharded({len(self):,} hypotheses, scores private)"


def law_of(parts: Sequence[Part], test: object) -> tuple[Null, Certificate]:
    """Return the null law and certificate of all blocks together (docs/proofs/blocks.md).

    Where the test treats all columns alike, all blocks have the same and it holds for any number of columns.
    Otherwise one block may rise where another falls: scores then move against one another by up to twice
    the sensitivity.
    """
    null = replace(parts[0].null, ceiling=max(part.null.ceiling for part in parts))
    widest = max((part.certificate for part in parts), key=lambda certificate: certificate.sensitivity)
    if _alike(test) and all(part.certificate == widest for part in parts):
        return null, widest
    sensitivity = widest.sensitivity
    return null, Certificate(sensitivity, 2 * sensitivity, widest.adjacency, widest.proof, widest.public)


def joined(names: Sequence[str], parts: Sequence[Part], test: object) -> Evidence:
    """Return the evidence of all blocks, in order."""
    null, certificate = law_of(parts, test)
    score = np.concatenate([part.score for part in parts])
    signed = [part.signed for part in parts if part.signed is not None]
    known = [Effect(*part.effect) for part in parts if part.effect is not None]
    return Evidence(
        names,
        score,
        null,
        certificate,
        np.concatenate(signed) if len(signed) == len(parts) else None,
        effects(known) if len(known) == len(parts) else None,
    )


def _alike(test: object) -> bool:
    """Say whether no public argument of the test differs between columns."""
    if not is_dataclass(test):
        return False
    return not any(isinstance(getattr(test, field.name), Mapping) for field in fields(test))
