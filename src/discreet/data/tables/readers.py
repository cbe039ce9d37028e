"""Files that other packages read, by their endings.

A reader joins by an entry point of the group "discreet.readers": its name is the ending without the dot, its
value a function of the path that returns a data frame, or anything else that gives an Arrow stream. Nothing
of it is loaded before a file of that ending is opened. What it delivers about a person must be a function of
that person's own rows and of public things (docs/proofs/reading); its authors vouch for that, and releases
say so.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from discreet.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from discreet.typing import FrameLike

ENTRY_POINTS = "discreet.readers"


def reader_of(name: str) -> EntryPoint | None:
    """Return who reads files of this name, the longest ending first; None if nobody does."""
    points = [point for point in entry_points(group=ENTRY_POINTS) if name.lower().endswith(f".{point.name}")]
    if not points:
        return None
    longest = max(points, key=lambda point: len(point.name))
    if len({point.value for point in points if point.name == longest.name}) > 1:
        raise InputError(f"files that end in .{longest.name} are read by two packages: keep one installed")
    return longest


def package_of(point: EntryPoint) -> str:
    """Return the package whose reader it is."""
    return point.dist.name if point.dist is not None else point.module


def read_by(point: EntryPoint, path: Path) -> FrameLike:
    """Return the table that a reader makes of a file.

    What goes wrong in it may speak of people, so that its words are not passed on.
    """
    try:
        return point.load()(path)
    except Exception:  # noqa: BLE001 - another package's code may raise anything
        raise InputError(
            f"{path}: the reader of {package_of(point)} cannot read it: check the file, or tell its authors"
        ) from None
