"""Every public function with wrong arguments: a refusal of the library or an answer, in time and in memory.

Run as a program, for as many calls as you like: `python tests/fuzz/api_fuzzer.py 100000 [SEED]`. The first
calls try every wrong value in every place, one at a time; those after them put wrong values into several
places at once, and into lists, pairs and mappings. Prints how many calls were made and every fault once.
"""

import contextlib
import io
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

from targets import targets
from wrong_values import WRONG

from discreet import DiscreetError

SECONDS, BYTES = 20, 3 * 2**30
_PYTHON = ("unexpected keyword argument", "required keyword", "required positional", "positional argument")
SECRET = "SECRET"  # noqa: S105 - what the bombs say: nothing of a value may reach a message
_NESTED = {
    "[{}]": lambda x: [x],
    "({}, 1)": lambda x: (x, 1),
    "(0, {})": lambda x: (0, x),
    "{{'a': {}}}": lambda x: {"a": x},
}


class Slow(BaseException):
    """A call that takes too long."""


def ring(*_):
    raise Slow


def plans(known, count, seed):
    """Yield which target to call, and with what wrong: {parameter: (words, value)}."""
    singles = [(one, name, wrong) for one in known for name in one.parameters for wrong in WRONG]
    rng = random.Random(seed)
    if count < len(singles):
        singles = rng.sample(singles, count)
    for target, name, wrong in singles:
        yield target, {name: (wrong, WRONG[wrong]())}
    for _ in range(count - len(singles)):
        target = rng.choice(known)
        chosen = rng.sample(target.parameters, min(len(target.parameters), rng.choice((1, 2, 2, 3))))
        yield target, {name: _any(rng) for name in chosen}


def _any(rng):
    words = rng.choice(list(WRONG))
    value = WRONG[words]()
    if rng.random() < 0.4:
        shape = rng.choice(list(_NESTED))
        return shape.format(words), _NESTED[shape](value)
    return words, value


def fault(target, wrong):
    """Return what is wrong with the answer to one call, or None."""
    arguments = target.right | {name: value for name, (_, value) in wrong.items()}
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            _look_at(target.call(**arguments))
    except DiscreetError as refusal:
        words = str(refusal)
        return "says a value" if SECRET in words else "no words" if len(words) < 10 else None
    except TypeError as error:
        own = (
            any(word in str(error) for word in _PYTHON)
            and len(traceback.extract_tb(error.__traceback__)) <= 3
        )
        return None if own else where(error)
    except Slow:
        return f"more than {SECONDS} seconds"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return where(error)
    finally:
        signal.alarm(0)
    return None


def _look_at(answer):
    """Print what was returned."""
    if type(answer).__module__.startswith("discreet"):
        str(answer)
        repr(answer)


def where(error):
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if "/discreet/" in one.filename] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    return f"{type(error).__name__} at {place} ({ours[-1].line})"


def run(count, seed=0):
    """Return the number of calls and the faults, each with how often it came and an example."""
    signal.signal(signal.SIGALRM, ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    faults, examples, calls = Counter(), {}, 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, hard))
        try:
            for target, wrong in plans(targets(Path(folder)), count, seed):
                calls += 1
                found = fault(target, wrong)
                if found is not None:
                    faults[found] += 1
                    words = ", ".join(f"{name}={words}" for name, (words, _) in wrong.items())
                    examples.setdefault(found, f"{target.name}({words})")
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return calls, {f"{found}, e.g. {examples[found]}": often for found, often in faults.most_common()}


if __name__ == "__main__":
    made, found = run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for what, often in found.items():
        print(f"{often:6} {what}")
    print(f"{made:,} calls, {sum(found.values()):,} faults of {len(found)} kinds")
    sys.stdout.flush()
    os._exit(bool(found))  # no thread of a call that hangs is waited for
