"""Sums of people's rows by the constants that were learned: how far one person moves them, and the sums."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.clipping import pull_of, reach_of
from discreet.methods.all.rows import FINE, boxes_of
from discreet.methods.all.sums import Totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.clipping import Reach
    from discreet.methods.all.record import Learned


def reach_by(people: People, known: Learned) -> Reach:
    """Return how far one person can move the sums of these rows.

    Around two centres an entry is at most the largest entry plus the distance of the centres, and the length
    of a row is bounded by its ball alone: `can_be_apart`.
    """
    boxes = boxes_of(people, known.rows)
    if known.apart.any():
        entry = known.rows.most * FINE + float(np.max(np.abs(known.offsets)))
        signed = replace(boxes[1], entry=max(boxes[1].entry, entry), squares=math.inf)
        boxes = boxes[0], signed
    pull = pull_of(known.shares, known.rows.positive)
    return reach_of(boxes, known.balls, pull, protected=people.protect == "everything", seen=people.seen)


def totals_by(people: People, known: Learned, left: NDArray[np.bool_] | None = None) -> Totals:
    """Return the sums of people's rows around their group's centre, of columns that are `left`. Private."""
    sides = known.sides if known.apart.any() else (known.rows, known.rows)
    rules = np.stack([rows.rules(known.scaling, known.columns) for rows in sides])
    return Totals.of(people.values, people.group, known.balls, known.rows.positive, rules, left)
