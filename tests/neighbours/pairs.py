"""Two neighbouring tables side by side: what was delivered about everyone else, and how far scores moved."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

import discreet.measure  # noqa: F401  the module, which its function hides
from discreet import gather
from discreet.block import Block, numbers, spelled
from discreet.data.source import Genotypes
from discreet.errors import DiscreetError
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOM = 1 + 1e-9
_MEASURE: Any = sys.modules["discreet.measure"]
_DOORS = _MEASURE.gathered, _MEASURE.entries_of
_COMPARED = _MEASURE.compared
SEEN: list[list[Block]] = []  # what finished accumulators had been given; a cluster returns them to us


@dataclass
class Recording:
    """An accumulator that keeps what it is given, beside the one that counts."""

    counting: Any
    blocks: list[Block] = field(default_factory=list)

    def update(self, block: Block) -> None:
        """Take in some people."""
        self.blocks.append(_copied(block))
        self.counting.update(block)

    def merge(self, other: Recording) -> None:
        """Take in what another has seen."""
        self.blocks += other.blocks
        self.counting.merge(other.counting)

    def finish(self) -> Evidence:
        """Return the evidence, and leave what was seen."""
        SEEN.append(sorted(self.blocks, key=lambda block: block.first))
        return self.counting.finish()


@dataclass(frozen=True)
class Recorder(Test):
    """A test that records what a source delivers to it."""

    test: Any
    seen: bool = True

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of the test."""
        return self.test.labels

    def start(self, names: Sequence[str]) -> Recording:
        """Return an empty accumulator."""
        return Recording(self.test.start(names))


@dataclass(frozen=True)
class Outcome:
    """What became of a table: evidence and rows by person, or a refusal, or something worse."""

    evidence: Any = None
    people: int = 0
    rows: dict[Any, tuple[bytes, ...]] = field(default_factory=dict)
    types: tuple[Any, ...] = ()
    labels: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    refusal: str = ""
    broken: str = ""


def observe(measure: Callable[[Any], Any], test: Any) -> Outcome:
    """Return what measuring with a test gives; a warning, or any exception but a refusal, is a fault."""
    SEEN.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=ResourceWarning)
            evidence, given = _gathered(measure, test) if test.needs_rows else (measure(Recorder(test)), [])
    except DiscreetError as refusal:
        return Outcome(refusal=str(refusal) or "(no words)")
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return Outcome(broken=f"{type(error).__name__}: {error}")
    blocks = [block for blocks in SEEN for block in blocks]
    if not blocks:
        return Outcome(broken="nobody's rows were recorded")
    columns = [np.concatenate(parts) for parts in zip(*(block.columns for block in blocks), strict=True)]
    beside = {
        name: [one for block in blocks for one in zip(*_as_taken(block.labels[name]), strict=True)]
        for name in blocks[0].labels
    }
    people: Any = range(columns[0].size)
    if blocks[0].people is not None:
        people = np.concatenate([block.people for block in blocks]).tolist()
    mixed = [{block.columns[place].dtype.str for block in blocks} for place in range(len(columns))]
    if any(len(kinds) > 1 or not kinds <= {"<f4", "<f8"} for kinds in mixed):
        return Outcome(broken=f"columns were delivered as {mixed}")
    bits = [[one.tobytes() for one in column] for column in [*columns, *given]]
    return Outcome(
        evidence,
        len(set(people)),
        {who: tuple(column[place] for column in bits) for place, who in enumerate(people)},
        tuple(column.dtype.str for column in columns),
        {who: tuple(label[place] for label in beside.values()) for place, who in enumerate(people)},
    )


def _gathered(measure: Callable[[Any], Any], test: Any) -> tuple[Any, list[np.ndarray]]:
    """Return the evidence of a test that looks at everyone's rows at once, and what it was given of each.

    What was read is left where an accumulator would leave it.
    """
    given: list[np.ndarray] = []
    read, genotyped, people_of, entries_of = gather._read, gather._genotyped, *_DOORS

    def reading(*args: Any, **options: Any) -> Any:
        result = (genotyped if isinstance(args[0], Genotypes) else read)(*args, **options)
        SEEN.append([_copied(block) for block in result[1]])
        return result

    def kept(door: Any) -> Callable[..., Any]:
        def open_door(*args: Any, **options: Any) -> Any:
            rows = door(*args, **options)
            parts = (rows.values, getattr(rows, "group", None), getattr(rows, "subgroup", None))
            given.extend(np.array(part) + 0 for part in parts if part is not None)  # zeros have one sign
            covariates = getattr(rows, "covariates", None)
            given.extend([] if covariates is None else [np.array(covariates.values)])
            return rows

        return open_door

    def compared(people: Any) -> Any:
        """Return scores, or nothing in their place: where groups are adjusted there are none."""
        if people.covariates is None:
            return _COMPARED(people)
        return Evidence.from_z([0.0] * len(people), sensitivity=1.0, adjacency="replace")

    with (
        mock.patch.object(_MEASURE, "compared", compared),
        mock.patch.object(gather, "_read", reading),
        mock.patch.object(gather, "_genotyped", reading),
        mock.patch.object(_MEASURE, "gathered", kept(people_of)),
        mock.patch.object(_MEASURE, "entries_of", kept(entries_of)),
    ):
        return measure(test), given


def _copied(block: Block) -> Block:
    columns = block.columns.T if isinstance(block.columns, np.ndarray) else block.columns
    return Block([np.array(one) for one in columns], dict(block.labels), block.people, block.first)


def _as_taken(label: np.ndarray) -> tuple[list[str], list[str]]:
    """Return what a label column is taken for, entry by entry: its numbers, and its text."""
    return [float(one).hex() for one in numbers(label)], [spelled(one) for one in label.tolist()]


def compare(before: Outcome, after: Outcome, person: set[Any], *, neighbours: bool) -> list[str]:
    """Return what is wrong with two tables that differ in one person, known as any of `person`.

    Where what differs is public, only everyone else's rows are compared.
    """
    faults: list[str] = []
    others = before.rows.keys() - person
    if others != after.rows.keys() - person:
        return ["other people are there"]
    if before.types != after.types:
        faults.append(f"columns have other types: {before.types} and {after.types}")
    if any(before.rows[who] != after.rows[who] for who in others):
        faults.append("somebody else's values changed")
    if any(before.labels[who] != after.labels[who] for who in others):
        faults.append("somebody else's labels changed")
    return faults + _moved(before, after) if neighbours else faults


def _moved(before: Outcome, after: Outcome) -> list[str]:
    """Return what is wrong with the evidence of two neighbouring tables."""
    faults: list[str] = []
    one, two = before.evidence.certificate, after.evidence.certificate
    if one != two or before.evidence.null != after.evidence.null:
        faults.append(f"the certificate changed: {one} and {two}")
    if before.people != after.people or one.people != two.people:
        faults.append("the number of people changed")
    if tuple(before.evidence.names) != tuple(after.evidence.names):
        return [*faults, "the hypotheses changed"]
    moved = after.evidence.score - before.evidence.score
    if np.max(np.abs(moved)) > one.sensitivity * ROOM:
        faults.append(f"a score moved by {np.max(np.abs(moved)):.4g}, certified {one.sensitivity:.4g}")
    if max(moved.max(), 0) - min(moved.min(), 0) > one.spread * ROOM:
        faults.append(f"scores moved apart by more than {one.spread:.4g}")
    return faults
