"""Faults planted in the method: an audit that finds no fault in it must find each of these."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.methods.all import geometry, learn, measure, noisy, norms, reading, stages


def everywhere(patch: Any, real: Any, faulty: Any) -> None:
    """Replace a function wherever the methods have imported it."""
    for key, module in list(sys.modules.items()):
        if (
            key.startswith("discreet.methods")
            and key != real.__module__
            and getattr(module, real.__name__, None) is real
        ):
            patch.setattr(module, real.__name__, faulty)


def question_charged_as_one_column(patch: Any) -> None:
    """Charge the answers to one question as the widest of them."""
    real = geometry.box_of

    def faulty(people: Any, rows: Any) -> Any:
        widest = [asked.places.start for asked in people.questions]
        some = np.zeros(len(people), dtype=bool)
        some[widest] = True
        kept = replace(rows, centre=rows.centre[some], scale=rows.scale[some])
        return replace(real(people.asked(some), kept), entry=real(people, rows).entry)

    everywhere(patch, real, faulty)


def no_row_of_none_of_the_answers(patch: Any) -> None:
    """Forget that a person may give none of the answers that are left."""
    patch.setattr(geometry, "_longest", lambda below, above: float(np.sum(below) + np.max(above - below)))


def clipped_before_centred(patch: Any) -> None:
    """Clip shares to the largest entry first, and subtract the centre then."""

    def faulty(self: Any, share: Any) -> Any:
        end = self.most * reading.FINE
        steps = np.clip(share * self.scale * reading.FINE, -end, end)
        steps = steps - self.centre * self.scale * reading.FINE
        return np.where(np.isnan(steps), 0.0, np.trunc(np.clip(steps, -32000, 32000))).astype(np.int16)

    patch.setattr(reading.Rows, "whole", faulty)


def clipped_without_leaving_one_out(patch: Any) -> None:
    """Give every entry the room of a ball, its own square not counted."""

    def faulty(self: Any, whole: Any) -> Any:
        rows = whole.astype(np.float64)
        squared = rows * rows
        others = np.maximum(squared.sum(axis=1)[:, None] - squared, self.radius**2)
        return np.trunc(rows * np.sqrt(self.radius**2 / others)) if np.isfinite(self.radius) else rows

    patch.setattr(geometry.Ball, "clip", faulty)


def squares_charged_as_sums(patch: Any) -> None:
    """Charge squares with the sensitivity of sums."""
    real = geometry.reach_of

    def faulty(*args: Any, **options: Any) -> Any:
        reach = real(*args, **options)
        return replace(reach, squares=reach.sums)

    everywhere(patch, real, faulty)


def ball_of_one_radius(patch: Any) -> None:
    """Forget that two people of one group may lie on opposite sides of the ball."""
    real = geometry.reach_of

    def faulty(box: Any, ball: Any, share: float, *, protected: bool) -> Any:
        reach = real(box, ball, share, protected=protected)
        return replace(reach, contrast=reach.contrast / 2) if np.isfinite(ball.radius) else reach

    everywhere(patch, real, faulty)


def labels_forgotten(patch: Any) -> None:
    """Charge protected labels as if they were public."""
    real = geometry.reach_of
    everywhere(patch, real, lambda *args, protected: real(*args, protected=False))  # noqa: ARG005


def groups_by_one_count(patch: Any) -> None:
    """Charge both counts of the groups as one."""
    _less(patch, learn, lambda total, _: total.shape == (2,), np.sqrt(0.5))


def histogram_by_one_bin(patch: Any) -> None:
    """Charge a histogram as if nobody left one bin for another."""
    _less(patch, norms, lambda total, _: total.shape == (40,), np.sqrt(0.5))


def missing_at_no_angle(patch: Any) -> None:
    """Forget that two people may miss different answers."""
    _less(patch, measure, lambda _, unit: unit == 1 / (measure.PARTS * measure.FINE), np.sqrt(0.5))


def noise_looks_at_its_sums(patch: Any) -> None:
    """Give small sums less noise."""

    def faulty(total: Any, moved: float, rho: float, unit: float = 1.0) -> Any:
        return noisy.told(total, min(moved, float(np.abs(total).max()) + 1), rho, unit)

    everywhere(patch, noisy.told, faulty)


def exact_presence(patch: Any) -> None:
    """Divide by how many people are really present."""
    real = learn.learn_means

    def faulty(share: Any, people: Any, rho: float) -> Any:
        return replace(real(share, people, rho), present=np.maximum((~np.isnan(share)).sum(axis=0), 1.0))

    everywhere(patch, real, faulty)


def dropped_by_exact_sums(patch: Any) -> None:
    """Drop columns that nobody has an entry in."""
    real = stages.staged

    def faulty(people: Any, known: Any, first: Any, rho: float) -> Any:
        contrast, found = real(people, known, first, rho)
        there = ~np.isnan(people.values).all(axis=0)
        return replace(contrast, left=contrast.left & there), found

    everywhere(patch, real, faulty)


def _less(patch: Any, module: Any, which: Any, share: float) -> None:
    def faulty(total: Any, moved: float, rho: float, unit: float = 1.0) -> Any:
        return noisy.told(total, moved * share if which(np.asarray(total), unit) else moved, rho, unit)

    patch.setattr(module, "told", faulty)


FAULTS = (
    question_charged_as_one_column,
    clipped_before_centred,
    clipped_without_leaving_one_out,
    squares_charged_as_sums,
    ball_of_one_radius,
    labels_forgotten,
    groups_by_one_count,
    histogram_by_one_bin,
    missing_at_no_angle,
    noise_looks_at_its_sums,
    exact_presence,
    dropped_by_exact_sums,
)
