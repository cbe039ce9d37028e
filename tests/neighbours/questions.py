"""Every test of the library, with public arguments drawn at random by their names."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.alternative import ALTERNATIVES
from discreet.errors import InputError
from discreet.evidence.core.protocol import is_needed
from discreet.evidence.core.registry import own_classes

if TYPE_CHECKING:
    from nasty import Study

    from discreet.evidence.core.protocol import Test

BOUNDS = ((0.0, 1.0), (0.0, 30.0), (-1e3, 1e3), (1e6, 1e6 + 1), (-1e-3, 1e3), (0.0, 1e30))
# p-values are nobody's rows, and neighbours of TDT differ in families: tests/evidence/test_tdt.py.
TESTS = {kind.__name__: kind for kind in own_classes() if kind.name not in {"p-values", "tdt"}}
# Drawn always; other options now and then.
_OFTEN = ("group", "trait", "levels", "alternative", "protect", "blocks", "level")
_TRIES = 50


def coin_of(values: np.ndarray, labels: dict[str, np.ndarray] | None = None) -> np.ndarray:
    """Return a hash of the block for p-values: the least change of it, even of a type, may turn a vote."""
    beside = "".join(f"{name}{label.dtype}{label.tolist()!r}" for name, label in (labels or {}).items())
    start = zlib.crc32(f"{values.dtype}{values.shape}{beside}".encode())
    return np.array([zlib.crc32(np.ascontiguousarray(one).tobytes(), start) % 2 for one in values.T])


def ask(rng: np.random.Generator, name: str, columns: dict[str, Any]) -> tuple[Any, frozenset[str]]:
    """Return a test by name, and the label columns it does not protect.

    Options that exclude one another are drawn anew; a test is asked with what it needs at the latest.
    `columns` says what columns are called, and which levels they have.
    """
    kind = TESTS[name]
    for attempt in range(_TRIES):
        drawn = _values(rng, kind) | columns
        rare = 0.3 if attempt < _TRIES - 1 else 0.0
        options = {
            argument: drawn[argument] if argument in drawn else kind.example()[argument]
            for argument, field in kind.arguments().items()
            if is_needed(field)
            or (argument in drawn and (argument in _OFTEN or rng.random() < rare))
            or (argument == "tail" and rng.random() < 0.8)
        }
        try:
            test = kind(**options)
        except InputError:
            continue
        return test, frozenset(test.public_labels)
    raise AssertionError(f"no arguments of {name} were drawn that it takes: see _values")


def columns_of(study: Study, name: str) -> dict[str, Any]:
    """Return the columns of a table that a test can be asked about, and their levels."""
    group = "s" if TESTS[name].groups > 2 else "g"
    return {
        "group": group,
        "levels": study.levels[group],
        "stratum": "s",
        "strata": study.levels["s"],
        "within": "s",
        "adjust": {"s": study.levels["s"]},
        "levels_within": study.levels["s"],
        "partner": "y",
        "trait": "y",
        "event": "y",
        "reads": ("g",),
    }


def _values(rng: np.random.Generator, kind: type[Test]) -> dict[str, Any]:
    """Return a value for each other argument that tests have, by its name."""
    low, high = BOUNDS[rng.integers(len(BOUNDS))]
    genetic = kind.sources[0] == "genotypes"
    null = low + 0.4 * (high - low) if "bounds" in kind.arguments() else 0.3
    return {
        "bounds": (0.0, 3.0) if genetic else (low, high),
        "partner_bounds": (0.0, 1.0),
        "method": str(rng.choice(["kendall", "product"])),
        "null": null if kind.yes_or_no or is_needed(kind.arguments().get("null", _NONE)) else _middle(rng),
        "sd": 0.3,
        "floor": 0.1,
        "alternative": str(rng.choice(ALTERNATIVES)),
        "protect": str(rng.choice(["both", "genotypes"] if genetic else ["everything", "columns"])),
        "test": coin_of,
        "blocks": int(rng.integers(2, 9)),
        "level": 0.5,
        "tail": "normal" if genetic else "safe",
        "ceiling": float(rng.choice([3.0, 10.0, 40.0])),
        "maf_floor": 0.2,
        "case_floor": 0.2,
        "sd_floor": 0.2,
    }


def _middle(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, 0.3, 14.0]))


class _NONE:
    """No argument."""

    default = default_factory = None
