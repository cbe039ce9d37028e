"""The one door to randomness."""

import ast
import os
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import discreet
from budget import assert_mean_is
from discreet.noise import entropy

SOURCE = Path(discreet.__file__).parent


def test_child_of_a_fork_draws_other_bytes():
    """A forked child must not repeat its parent's stream, nor its sibling's."""
    entropy.words(8, np.uint64)  # the stream exists before the fork
    drawn = []
    for _ in range(2):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, entropy.words(4, np.uint64).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        drawn.append(os.read(read, 64))
    drawn.append(entropy.words(4, np.uint64).tobytes())
    assert len(set(drawn)) == 3
    assert {len(d) for d in drawn} == {32}


def test_a_fork_unseen_by_python_is_noticed_too(monkeypatch):
    """The process id alone re-keys a stream, should the fork hook not have run."""
    entropy.words(1, np.uint8)
    before = entropy._local.stream
    monkeypatch.setattr(entropy.os, "getpid", lambda: -1)
    entropy.words(1, np.uint8)
    assert entropy._local.stream is not before


def test_threads_have_streams_of_their_own():
    """No two threads share a key."""
    found = []

    def draw():
        entropy.words(4, np.uint64)
        found.append(
            (id(entropy._local.stream), entropy.words(4, np.uint64).tobytes(), entropy._local.stream)
        )

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({stream for stream, _, _ in found}) == len({bytes_ for _, bytes_, _ in found}) == 4


def test_keys_are_replaced_after_enough_bytes(monkeypatch):
    """A key is used for a bounded number of bytes."""
    monkeypatch.setattr(entropy, "_REKEY_AFTER", 10)
    entropy._local.stream = None
    entropy.words(16, np.uint8)
    first = entropy._local.stream
    entropy.words(1, np.uint8)
    assert entropy._local.stream is not first


def test_streams_are_never_copied_or_shown():
    """Pickling is refused, printing tells nothing, and there is no seed."""
    entropy.words(1, np.uint8)
    with pytest.raises(TypeError, match="repeat noise"):
        pickle.dumps(entropy._local.stream)
    assert repr(entropy._local.stream) == "<randomness>"
    with pytest.raises(AttributeError, match="no seed"):
        entropy.seed(1)


@pytest.mark.statistical(8)
def test_words_are_uniform():
    """Every bit position of the words is fair, in small draws and across chunks."""
    words = entropy.words(200_000, np.uint64)
    for bit in range(0, 64, 8):
        assert_mean_is((words >> np.uint64(bit)) & np.uint64(1), 0.5)
    assert words.shape == (200_000,)
    assert entropy.words(0, np.uint16).shape == (0,)


def test_integers_have_the_bits_asked_for():
    """integer(bits) stays below 2**bits and reaches its upper half."""
    for bits in (1, 7, 8, 9, 80, 1000):
        drawn = [entropy.integer(bits) for _ in range(64)]
        assert min(drawn) >= 0
        assert 1 << (bits - 1) <= max(drawn) < 1 << bits


OTHER = re.compile(
    r"np\.random(?!\.Generator\b)|numpy\.random|default_rng|urandom|secrets|^import random|from random",
    re.MULTILINE,
)


SERVER = {
    "server/accounts/credentials.py",
    "server/accounts/people.py",
    "server/datasets/invented.py",
    "server/http/oidc.py",
}


def code_of(text):
    """Return a module's code without its docstrings, whose examples invent data."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node) is not None
        ):
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def test_a_hidden_source_of_randomness_would_be_found():
    """In code it is seen, in a docstring's example it is not."""
    assert OTHER.search(code_of('def f():\n    """np.random"""\n    return np.random.default_rng()'))
    assert not OTHER.search(code_of('def f():\n    """>>> np.random.default_rng(1)"""\n    return 1'))


@pytest.mark.slow
def test_no_other_source_of_randomness():
    """Outside `lab`, invented data and login secrets, only the door touches a random number generator."""
    guilty = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "lab" not in path.relative_to(SOURCE).parts
        and path.relative_to(SOURCE).as_posix()
        not in {
            "noise/entropy.py",
            "planner/comparison.py",
            "planner/people.py",
            "planner/study.py",
            "methods/auto/method.py",
            *SERVER,
        }
        and OTHER.search(code_of(path.read_text(encoding="utf-8")))
    ]
    assert guilty == []
