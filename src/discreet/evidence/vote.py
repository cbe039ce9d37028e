"""Any test at all: let disjoint blocks of people vote, and count the votes."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.block import as_read
from discreet.errors import InputError
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import MOST, settle
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.scores import conclude
from discreet.evidence.proportion import binomial_score_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import NullCase, NullColumns
    from discreet.typing import Adjacency, RawArray

_KEY = b"discreet"
_LONGEST_KEY = 64  # bytes, of the hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(Test):
    """Run any test on disjoint blocks of people; a block votes for a column when its p-value is <= `level`.

    The score is the z of P(Bin(blocks, level) >= votes). One person sits in one block, so votes move by at
    most 1 and the certificate is enumerated over 0..blocks, whatever the test makes of its block.

    Parameters
    ----------
    test : callable
        test(values) -> p-values: values, double precision, of shape (rows, m), p of shape (m,). With `reads`,
        test(values, labels), labels a mapping from column to array. If it fails or returns no number, the
        block does not vote. It must depend on its block alone: a seeded generator or a cache that blocks
        share would carry one person into other blocks, and void the certificate. Its direction is its own.
    blocks : int
        How many blocks, 100 by default. More blocks: a smaller certificate, weaker votes.
    level : float
        The level at which a block votes, 0.1 by default.
    reads : tuple of str
        Columns to hand over beside the measurements, none by default; numbers where all of a block's entries
        are, else text.
    adjacency : {"replace", "add-remove"}
        Neighbouring tables differ in one person's values, "replace" (default), or in one person more or less.
    key : bytes
        Blocks are drawn by a keyed hash of the person's id; without ids by row number, and a key is refused.

    Notes
    -----
    "add-remove" needs ids (measure(..., person=...)), since removing a row would move all later rows; with
    ids and "replace", two blocks can change and the certificate says so. Null hypothesis: in each block P(p
    <= level) <= level, and blocks are independent. All values are kept in memory; your function sees
    private data. Proof: docs/proofs/vote.md.

    References
    ----------
    K. Nissim, S. Raskhodnikova and A. Smith (2007), Smooth sensitivity and sampling in private data analysis,
    STOC, 75-84: sample and aggregate.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> from scipy import stats
    >>> def skewed(values):
    ...     return stats.skewtest(values).pvalue
    >>> table = np.random.default_rng(1).normal(size=(20_000, 3))
    >>> table[:, 1] = np.exp(table[:, 1])
    >>> vote = discreet.Vote(test=skewed, blocks=200)
    >>> discreet.discover(table, vote, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    '1'
    """

    name = "vote"
    label_arguments = ("reads",)
    question = "Votes of blocks of people"
    proof = "vote"

    test: Callable[..., object] = field(repr=False)
    blocks: int = 100
    level: float = 0.1
    reads: tuple[str, ...] = ()
    adjacency: Adjacency = "replace"
    key: bytes = field(default=_KEY, repr=False)

    def __post_init__(self) -> None:
        settle(self)
        if not callable(self.test):
            raise InputError("test must be a function of the values of a block")
        read = [self.reads] if isinstance(self.reads, str) else check.entries(self.reads, "reads")
        check.settle(self, reads=tuple(check.text(name, "a column of reads") for name in read))
        check.made(self.key, bytes, "key must be bytes")
        if len(self.key) > _LONGEST_KEY:
            raise InputError(f"key must be at most {_LONGEST_KEY} bytes")

    @classmethod
    def example(cls) -> Mapping[str, object]:
        """Return a function to vote with."""
        return {"test": _largest}

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return the null case of a user's own test that is exact, one person in a block."""
        from discreet.evidence.core.invented import NullCase

        test = cls(test=_largest, blocks=50, level=columns.rate)
        return [NullCase("Vote, 50 blocks", test, {-0.5: 1 - columns.rate, 0.5: columns.rate}, (50,))]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def _conclude(self, rows: Rows) -> Evidence:
        values, people = rows.values, rows.people
        if people is not None:
            block = np.array([self._hashed(person) for person in people.tolist()], dtype=np.int64)
        elif self.key != _KEY:
            raise InputError("key draws blocks by people's ids: name their column, person=, or leave it out")
        elif self.adjacency == "replace":
            block = np.arange(values.shape[0], dtype=np.int64) % np.int64(self.blocks)
        else:
            raise InputError('adjacency "add-remove" needs ids: name the column with person=')
        labels = {name: rows.label(name) for name in self.reads}
        votes = np.zeros(values.shape[1])
        for number in range(self.blocks):
            chosen = block == number
            own = {name: as_read(label[chosen]) for name, label in labels.items()}
            votes += self._votes(values[chosen].astype(np.float64), own)
        steps = binomial_score_map(self.blocks, self.level, MOST)
        moved = 2.0 if people is not None and self.adjacency == "replace" else 1.0
        return conclude(
            rows.names,
            steps(votes),
            alternative="greater",
            steps=[steps],
            sensitivity=steps.move(moved),
            adjacency=self.adjacency,
            proof="enumerated",
        )

    def _hashed(self, person: object) -> int:
        digest = hashlib.blake2b(
            str(person).encode("utf-8", "surrogatepass"), digest_size=8, key=self.key
        ).digest()
        return int.from_bytes(digest, "big") % self.blocks

    def _votes(self, values: NDArray[np.generic], labels: dict[str, RawArray]) -> NDArray[np.float64]:
        silent = np.zeros(values.shape[1])
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                p = np.asarray(
                    self.test(values, labels) if self.reads else self.test(values), dtype=np.float64
                )
        except Exception:  # noqa: BLE001 - whatever the test raises would speak of the block's people
            return silent
        return (p <= self.level).astype(np.float64) if p.shape == silent.shape else silent


def _largest(block: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return a p-value that is exactly uniform for values uniform on [-1/2, 1/2]."""
    return 1 - (block.max(axis=0) + 0.5) ** block.shape[0]
