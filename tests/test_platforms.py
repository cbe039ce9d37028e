"""Other systems, as far as one can see them from here: fewer functions, another locale, awkward paths."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "discreet"
FUNCTIONS = (
    *("sched_getaffinity", "sched_setaffinity", "pread", "preadv", "pwrite", "pwritev", "fork", "forkpty"),
    *("register_at_fork", "fchmod", "fchown", "chown", "lchown", "getuid", "geteuid", "getgid", "getegid"),
    *(
        "setuid",
        "setgid",
        "umask",
        "uname",
        "nice",
        "getloadavg",
        "sendfile",
        "statvfs",
        "fstatvfs",
        "mkfifo",
    ),
    *("fdatasync", "sync", "posix_fadvise", "posix_fallocate", "killpg", "setsid", "memfd_create"),
    *("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_SYNC", "O_DSYNC", "O_NONBLOCK"),
)
MODULES = ("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog")

ELSEWHERE = """
import os, signal, sys, warnings
from pathlib import Path
import cryptography.hazmat.primitives.ciphers, narwhals, numpy as np, pandas, pgenlib
import pyarrow.csv, pyarrow.parquet, rich.console, scipy.special, sqlite3, tempfile, typer.testing, uuid

functions, modules, folder = sys.argv[1].split(), sys.argv[2].split(), Path(sys.argv[3])
for name in functions:
    if hasattr(os, name):
        delattr(os, name)
del signal.SIGKILL, signal.SIGHUP
for name in modules:
    sys.modules[name] = None
warnings.filterwarnings("error", category=EncodingWarning, module="discreet")

import discreet
from discreet.cli import app
from discreet.lab.cohort import Simulated
from discreet.privacy.ledger import Ledger

rng = np.random.default_rng(1)
group = np.arange(4000) % 2
frame = pandas.DataFrame({"arm": group, "x": rng.random(4000)})
frame["gr\\u00f6\\u00dfe"] = (rng.random(4000) + group) / 2
frame.to_parquet(folder / "people.parquet")
for name, end in (("people.csv", "\\n"), ("crlf.csv", "\\r\\n")):
    frame.to_csv(folder / name, index=False, lineterminator=end, encoding="utf-8")
bed = Simulated(2000, 60).write(folder / "people.bed")

ledger = folder / "budget.ledger"
Ledger(ledger).create("cohort", epsilon=40, delta=1e-4)
groups = discreet.TwoGroups(group="arm", levels=(0, 1), bounds=(0, 1))
asked = {"q": 0.1, "epsilon": 5.0, "delta": 1e-6, "ledger": ledger, "dataset": "cohort", "method": "aware"}
for name in ("people.csv", "crlf.csv", "people.parquet"):
    found = discreet.discover(folder / name, groups, release_id=name, **asked)
    assert found.discoveries == ("gr\\u00f6\\u00dfe",), found
discreet.discover(bed, discreet.Allelic(), release_id="bed", **asked)
assert Ledger(ledger).verify().good
first, second = (discreet.measure(folder / name, groups).score for name in ("people.csv", "crlf.csv"))
assert np.array_equal(first, second)
words = ["discover", folder / "people.csv", "--test", "two-groups", "--group", "arm", "--levels", 0, 1]
words += ["--bounds", 0, 1, "--epsilon", 5, "--out", folder / "out"]
done = typer.testing.CliRunner().invoke(app, [str(word) for word in words])
assert done.exit_code == 0, (done.output, done.stderr, done.exception)
assert discreet.Release.from_json((folder / "out" / "release.json").read_text(encoding="utf-8")).discoveries
"""


def run(folder, script):
    """Run a script without what only POSIX has, where text is ASCII unless said otherwise."""
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-8"}
    command = sys.executable, "-X", "warn_default_encoding", "-c"
    return subprocess.run(
        [*command, script, " ".join(FUNCTIONS), " ".join(MODULES), folder],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | plain,
        check=False,
    )


@pytest.mark.slow
def test_files_and_ledger_without_what_only_linux_has(tmp_path):
    """CSV with either line end, Parquet, .bed, the ledger and the command line, in a folder with spaces."""
    folder = tmp_path / "a folder, with spaces & more"
    folder.mkdir()
    done = run(folder, ELSEWHERE)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("len(os.sched_getaffinity(0))", "sched_getaffinity"),
        ("import resource", "resource"),
        ("warnings.simplefilter('error'); (folder / 'x').open('w')", "EncodingWarning"),
    ],
)
def test_what_is_missing_would_be_missed(tmp_path, fault, seen):
    """Wrong twins: the same script stops at a function, a module or an encoding that is not there."""
    head = ELSEWHERE.partition("import discreet\n")[0]
    done = run(tmp_path, head + fault)
    assert done.returncode == 1
    assert seen in done.stderr


def unguarded(text):
    """Return what a module uses of POSIX without asking first whether it is there."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os" and node.attr in FUNCTIONS:
            found |= set() if f'hasattr(os, "{node.attr}")' in text else {node.attr}
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names} & {*MODULES}
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found.add(node.module)
    return found


@pytest.mark.slow
def test_nothing_is_used_unguarded():
    """No module of the library uses a POSIX function that it has not asked for, or imports such a module."""
    assert unguarded("import os\nimport resource\nos.pread(1, 2, 3)") == {"resource", "pread"}
    guilty = {path.name: unguarded(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert {name: found for name, found in guilty.items() if found} == {}


def unencoded(text):
    """Return the lines that open a text file without its encoding; packed ones and genotypes hold bytes."""
    found = []
    for node in (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)):
        owner, _, name = ast.unparse(node.func).rpartition(".")
        words = [ast.unparse(one) for one in node.args] + [one.arg for one in node.keywords]
        opens = (
            name == "open"
            and owner not in {"os", "packed", "self.plink"}
            and words
            and not any("b" in word for word in words[:2])
        )
        if (opens or name in {"read_text", "write_text"}) and not {"encoding", "'utf-8'"} & {*words}:
            found.append(node.lineno)
    return found


@pytest.mark.slow
def test_text_is_written_and_read_in_one_encoding():
    """Every text file of the library is opened with its encoding, whatever the machine's locale."""
    assert unencoded("a.open('w')\na.read_text()\na.open('rb')\na.open('w', encoding='ascii')") == [1, 2]
    guilty = {path.name: unencoded(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert {name: found for name, found in guilty.items() if found} == {}
