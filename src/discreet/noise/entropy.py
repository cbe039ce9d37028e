"""The only door to randomness: AES-256 in counter mode, keyed by the operating system.

One stream for each thread, re-keyed after a fork and after every 4 GiB, never pickled, never printed, never
seeded. `lab` may replace the source to replay a run; what it then releases is marked as not private.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Word = TypeVar("_Word", np.uint8, np.uint16, np.uint32, np.uint64)

_REKEY_AFTER = 1 << 32
_CHUNK = 1 << 18
_SLACK = 16  # update_into wants room for one more block
_ZEROS = bytes(_CHUNK)


class _Stream:
    """One keyed stream. Knows which process and fork generation it belongs to, and how much it may give."""

    __slots__ = ("born", "encrypt", "left")

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES
        from cryptography.hazmat.primitives.ciphers.modes import CTR

        self.encrypt = Cipher(AES(os.urandom(32)), CTR(os.urandom(16))).encryptor().update_into
        self.left = _REKEY_AFTER
        self.born = os.getpid(), _forks

    def __reduce__(self) -> NoReturn:
        raise TypeError("a randomness stream cannot be copied or pickled: two copies would repeat noise")

    def __repr__(self) -> str:
        return "<randomness>"


class _Local(threading.local):
    stream: _Stream | None = None


_local = _Local()
_forks: int = 0


def _after_fork() -> None:
    global _forks  # noqa: PLW0603  the one counter a forked child must move
    _forks += 1
    _local.stream = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def process() -> tuple[int, int]:
    """Return what tells this process from all copies of it, also where a number is used again."""
    return os.getpid(), _forks


def words(count: int, dtype: type[_Word]) -> NDArray[_Word]:
    """Return `count` independent uniform words of an unsigned dtype; shape (count,)."""
    stream = _local.stream
    # No key is used by another process, after a fork, or for more than so many bytes.
    if stream is None or stream.left <= 0 or stream.born != (os.getpid(), _forks):
        stream = _local.stream = _Stream()
    size = count * np.dtype(dtype).itemsize
    buffer = np.empty(size + _SLACK, dtype=np.uint8)
    for start in range(0, size, _CHUNK):
        length = min(_CHUNK, size - start)
        zeros = _ZEROS if length == _CHUNK else _ZEROS[:length]
        stream.encrypt(zeros, buffer.data[start : start + length + _SLACK])
    stream.left -= size
    return buffer[:size].view(dtype)


def integer(bits: int) -> int:
    """Return a uniform integer in [0, 2**bits)."""
    size = -(-bits // 8)
    drawn = int.from_bytes(words(size, np.uint8).tobytes(), "little")
    return drawn >> (8 * size - bits)


def __getattr__(name: str) -> Any:
    if name in {"seed", "set_state", "get_state"}:
        raise AttributeError(
            "private randomness has no seed and no state; simulations belong in discreet.lab"
        )
    raise AttributeError(name)
