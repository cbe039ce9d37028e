"""The discoveries as rows: the columns of every table that leaves, and data frames of any make."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from discreet import check
from discreet.errors import missing_extra
from discreet.report.intervals import columns as told_columns
from discreet.report.intervals import limits, of_discoveries, told_of
from discreet.typing import Frame

if TYPE_CHECKING:
    from discreet.report.release import Release

KINDS: tuple[str, ...] = get_args(Frame)
_EXTRAS = {"pandas": "pandas", "polars": "polars", "pyarrow": "files"}


def columns(release: Release) -> dict[str, list[Any]]:
    """Return the columns of a release: rank (when ordered), hypothesis, index, and the numbers it has.

    What was told of the discoveries, else value and noise_sd, else none.
    """
    count, values = len(release), release.values
    rank = {"rank": list(range(1, count + 1))} if release.ordered else {}
    result: dict[str, list[Any]] = rank | {
        "hypothesis": [valid(name) for name in release.discoveries],
        "index": [int(i) for i in release.indices],
    }
    if release.told is not None:
        result |= {name: column.tolist() for name, column in of_discoveries(release).items()}
        result["effect"] = [valid(name) for name in result["effect"]]
    elif values is not None:
        result |= {"value": [float(x) for x in values.noisy], "noise_sd": [float(x) for x in values.noise]}
    return result


def to_frame(release: Release, kind: str | None = None) -> Any:
    """Return the columns as a data frame of `kind`, else of the caller's, else of the first installed."""
    if kind is not None and find_spec(check.choice(kind, "kind", KINDS)) is None:
        raise missing_extra(_EXTRAS[kind], f'to_frame("{kind}")')
    return frame_of(columns(release), release.frame if kind is None else kind)


def estimates(release: Release) -> Any:
    """Return the frame of `Release.estimates`."""
    told = told_columns(release)
    return frame_of(_names(release) | told | {"effect": list(map(valid, told["effect"]))}, release.frame)


def confidence_interval(release: Release, level: float) -> Any:
    """Return the frame of `Release.confidence_interval`."""
    told, miss = told_of(release), 1 - check.level(level, "level")
    low, high = limits(told, np.full(len(told), miss))
    return frame_of(_names(release) | {"low": low, "high": high}, release.frame)


def _names(release: Release) -> dict[str, Any]:
    return {"hypothesis": [valid(name) for name in told_of(release).hypotheses]}


def frame_of(columns: dict[str, Any], first: str | None) -> Any:
    """Return columns as a data frame of the kind `first` where it is installed, else of another."""
    import narwhals as nw

    types = {"rank": nw.Int64(), "index": nw.Int64(), "discovered": nw.Boolean()}
    types |= dict.fromkeys(("hypothesis", "effect"), nw.String())
    schema = {name: types.get(name, nw.Float64()) for name in columns}
    backend: Any = _installed(first)
    return nw.from_dict(columns, schema, backend=backend).to_native()


def _installed(first: str | None) -> str:
    for kind in (first, *KINDS):
        if kind in KINDS and find_spec(kind) is not None:
            return kind
    raise missing_extra("pandas", "to_frame()")


def valid(name: str) -> str:
    r"""Return a name that UTF-8 can hold: half a character becomes its code, such as \udc80."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
