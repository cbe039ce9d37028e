"""Ctrl-C while a release is drawn: held back until its result is stored; a second one passes."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType


@contextmanager
def held_back() -> Generator[list[int]]:
    """Yield a list that is empty until Ctrl-C is pressed; without a handler of Python's, nothing is held."""
    held: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield held
        return

    def hold(number: int, frame: FrameType | None) -> None:
        if held:
            handler(number, frame)
        held.append(number)

    signal.signal(signal.SIGINT, hold)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, handler)
