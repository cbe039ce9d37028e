"""Faults planted in the method: an audit that finds no fault in it must find each of these."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.methods.all import after, clipping, in_numpy, learn, method, rows, scores, sums, where


def everywhere(patch: Any, real: Any, faulty: Any) -> None:
    """Replace a function wherever the methods have imported it."""
    for key, module in list(sys.modules.items()):
        if (
            key.startswith("discreet.methods")
            and key != real.__module__
            and getattr(module, real.__name__, None) is real
        ):
            patch.setattr(module, real.__name__, faulty)


def charged_by(patch: Any, faulty: Any) -> None:
    """Have sensitivities computed by another function, in the module that defines them too."""
    everywhere(patch, clipping.sensitivities_of, faulty)
    patch.setattr(clipping, "sensitivities_of", faulty)


def question_charged_as_one_column(patch: Any) -> None:
    """Charge the answers to one question as the first of them."""
    for name in ("_from_zero", "_centred"):
        real = getattr(rows, name)

        def faulty(rows: Any, size: Any, places: slice, real: Any = real) -> Any:
            return real(rows, size, slice(places.start, places.start + 1))

        patch.setattr(rows, name, faulty)


def missing_counts_for_nothing(patch: Any) -> None:
    """Forget that a row of answers is at their centre where they are missing."""
    real = rows._from_zero

    def faulty(rows: Any, size: Any, places: slice) -> Any:
        return real(replace(rows, centre=np.where(rows.answers, 0.0, rows.centre)), size, places)

    patch.setattr(rows, "_from_zero", faulty)


def centred_answers_shrunk_as_they_are(patch: Any) -> None:
    """Forget that centred answers, shrunk each by itself, may be farther apart than before."""
    real = rows._centred

    def faulty(rows: Any, size: Any, places: slice) -> Any:
        apart, _, *rest = real(rows, size, places)
        return (apart, apart, *rest)

    patch.setattr(rows, "_centred", faulty)


def clipped_before_centred(patch: Any) -> None:
    """Clip shares to the largest entry first, and subtract the centre then."""

    def faulty(self: Any, share: Any) -> Any:
        end = self.most * rows.FINE
        entry = np.where(self.turned, 1 - share, share) * self.scale * rows.FINE
        steps = np.clip(entry, -end, end) - np.where(self.answers, 0.0, self.centre * self.scale * rows.FINE)
        return np.where(np.isnan(steps), self.shift, np.trunc(np.clip(steps, -32000, 32000))).astype(np.int16)

    patch.setattr(rows.Rows, "whole", faulty)


def entries_clipped_but_not_rows(patch: Any) -> None:
    """Weigh each entry by the others, and leave the row as long as it then is."""

    def faulty(rows: Any, room: float, radius: float) -> Any:  # noqa: ARG001
        squared = rows * rows
        others = np.maximum(squared.sum(axis=1)[:, None] - squared, room)
        return np.trunc(rows * np.sqrt(room / others)), np.ones(len(rows))

    everywhere(patch, in_numpy.clipped, faulty)
    patch.setattr(in_numpy, "clipped", faulty)
    patch.setattr(sums, "compiled", None)  # the kernel, compared with NumPy elsewhere, has a clip of its own


def squares_charged_as_sums(patch: Any) -> None:
    """Charge squares with the sensitivity of sums."""
    real = clipping.sensitivities_of

    def faulty(*args: Any, **options: Any) -> Any:
        reach = real(*args, **options)
        return replace(reach, squares=reach.sums)

    charged_by(patch, faulty)


def ball_of_one_radius(patch: Any) -> None:
    """Forget that two people of one group may lie on opposite sides of the ball."""
    real = clipping.sensitivities_of

    def faulty(boxes: Any, balls: Any, *given: Any, **options: Any) -> Any:
        reach = real(boxes, balls, *given, **options)
        return replace(reach, sums=min(reach.sums, np.hypot(balls.positive.radius, balls.signed.radius)))

    charged_by(patch, faulty)


def labels_forgotten(patch: Any) -> None:
    """Charge protected labels as if they were public."""
    real = clipping.sensitivities_of
    charged_by(patch, lambda *args, protected, **more: real(*args, protected=False, **more))  # noqa: ARG005


def groups_by_one_count(patch: Any) -> None:
    """Charge both counts of the groups as one."""
    _less(patch, learn, lambda total, _: total.shape == (2,), np.sqrt(0.5))


def histogram_by_one_bin(patch: Any) -> None:
    """Charge a histogram as if nobody left one bin for another."""
    _less(patch, learn, lambda total, unit: unit == 1 and total.size > 2, np.sqrt(0.5))


def pooled_columns_as_one(patch: Any) -> None:
    """Charge the sum over all columns as if a person had an entry in one of them."""
    real = where._Numbers.sums

    def faulty(self: Any, what: Any, some: Any) -> Any:
        total, moved = real(self, what, some)
        return total, moved / some.size if self.pooled else moved

    patch.setattr(where._Numbers, "sums", faulty)


def sizes_of_all_columns_as_of_one(patch: Any) -> None:
    """Charge the histogram of all columns together as if a person had an entry in one of them."""
    _less(patch, method, lambda _, unit: unit == 1.0, 0.5)  # counts; sums are told in parts of one


def scores_one_by_one(patch: Any) -> None:
    """Charge the scores of two columns and more as those of one."""
    real = scores._moved
    patch.setattr(scores, "_moved", lambda evidence, _, step: real(evidence, 1, step))


def shares_that_differ_forgotten(patch: Any) -> None:
    """Charge every column as if all had the mean share."""
    real = clipping.largest_labels

    def faulty(shares: Any, positive: Any) -> Any:
        return real(np.full(shares.size, shares.mean()), positive)

    everywhere(patch, real, faulty)


def remains_of_one_group(patch: Any) -> None:
    """Charge what is left of both groups as if nobody left one for the other."""
    _less(patch, learn, lambda total, _: total.shape == (2, 2), np.sqrt(0.5))


def sums_of_a_stage_for_less(patch: Any) -> None:
    """Charge the sums of later stages as half a row."""
    real = method.staged

    def faulty(*given: Any) -> Any:
        with patch.context() as inside:
            _less(inside, method, lambda _, unit: unit == 1 / rows.FINE, 0.5)
            return real(*given)

    patch.setattr(method, "staged", faulty)


def missing_at_no_angle(patch: Any) -> None:
    """Forget that two people may miss different answers."""
    _less(patch, learn, lambda _, unit: unit == 1 / (rows.PARTS * rows.FINE), np.sqrt(0.5))


def noise_looks_at_its_sums(patch: Any) -> None:
    """Give small sums less noise."""

    def faulty(total: Any, moved: float, rho: float, unit: float = 1.0) -> Any:
        return sums.with_noise(total, min(moved, float(np.abs(total).max()) + 1), rho, unit)

    everywhere(patch, sums.with_noise, faulty)


def exact_presence(patch: Any) -> None:
    """Divide by how many people are really present."""
    real = where.learn_means

    def faulty(share: Any, *given: Any) -> Any:
        return replace(real(share, *given), present=np.maximum((~np.isnan(share)).sum(axis=0), 1.0))

    everywhere(patch, real, faulty)


def dropped_by_exact_sums(patch: Any) -> None:
    """Drop columns that nobody has an entry in."""
    real = method.staged

    def faulty(people: Any, *given: Any) -> Any:
        contrast, found = real(people, *given)
        there = ~np.isnan(people.values).all(axis=0)
        return replace(contrast, active=contrast.active & there), found

    patch.setattr(method, "staged", faulty)


def _less(patch: Any, module: Any, which: Any, share: float) -> None:
    def faulty(total: Any, moved: float, rho: float, unit: float = 1.0) -> Any:
        return sums.with_noise(total, moved * share if which(np.asarray(total), unit) else moved, rho, unit)

    patch.setattr(module, "with_noise", faulty)


def two_centres_without_a_ball(patch: Any) -> None:
    """Take rows around two centres though nothing clips them, and charge them as rows around one."""

    def faulty(contrast: Any, _: Any, size: Any, positive: Any) -> Any:
        return np.where(positive, 0.0, np.clip(contrast / np.maximum(size, 1e-9), -3.0, 3.0))

    everywhere(patch, after.clear_difference, faulty)
    everywhere(patch, clipping.two_centres_are_free, lambda *_: True)


def two_centres_charged_as_one(patch: Any) -> None:
    """Forget that entries around two centres are larger by the distance of these."""
    real = clipping.row_sensitivities

    def of_one_centre(people, known):
        return real(people, replace(known, difference=0 * known.difference))

    everywhere(patch, real, of_one_centre)


FAULTS = (
    two_centres_charged_as_one,
    two_centres_without_a_ball,
    entries_clipped_but_not_rows,
    squares_charged_as_sums,
    ball_of_one_radius,
    labels_forgotten,
    groups_by_one_count,
    histogram_by_one_bin,
    pooled_columns_as_one,
    sizes_of_all_columns_as_of_one,
    scores_one_by_one,
    shares_that_differ_forgotten,
    missing_at_no_angle,
    remains_of_one_group,
    sums_of_a_stage_for_less,
    noise_looks_at_its_sums,
    exact_presence,
    dropped_by_exact_sums,
)
"""Found by neighbouring tables, within some dozens."""
BOXES = (question_charged_as_one_column, missing_counts_for_nothing, clipped_before_centred)
"""Found by brute force over what one person can be."""
