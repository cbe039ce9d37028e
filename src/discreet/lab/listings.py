"""Lists that follow from the registry of tests: `python -m discreet.lab.listings` writes them anew.

They are the page of the reference on tests, the public names in the package's stub, and the options of the
command line that are arguments of tests.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.evidence.core.arguments import HELP
from discreet.evidence.core.registry import own_classes

if TYPE_CHECKING:
    from discreet.evidence.core.protocol import Test

_ROOT = Path(__file__).parents[3]
PAGE = _ROOT / "docs/reference/tests.md"
STUB = Path(__file__).parents[1] / "__init__.pyi"
OPTIONS = Path(__file__).parents[1] / "cli/test_options.json"
_TAKEN = ("method", "test", "within")  # the command has options of these names
_TAKES = {
    r"Callable|bytes": None,
    r"Bounds|tuple\[float": "two numbers",
    r"Levels|tuple\[str": "texts",
    r"float|PerColumn": "number",
    r"int": "whole number",
    r"str|Literal|Alternative|Tail|Protect|Adjacency": "text",
}
_ORDER = ("tables", "genotypes", "p-values")
_HEAD = """# Tests

What to test, with its public arguments. Hand one to `discover` or `measure`. This page is written by
`python -m discreet.lab.listings`.

| test | `--test` | what it compares | reads | effect | proof |
|---|---|---|---|---|---|
"""


def page() -> str:
    """Return the page of the reference on tests: a table of all, then the arguments of each."""
    kinds = sorted(
        own_classes(), key=lambda kind: (_ORDER.index(kind.sources[0]), len(kind.sources), kind.name)
    )
    rows = "".join(
        f"| `{kind.__name__}` | `{kind.name}` | {kind.question} | {', '.join(kind.sources)} "
        f"| {kind.effect or 'none'} | [{kind.proof}](../proofs/{kind.proof}.md) |\n"
        for kind in kinds
    )
    listed = "\n\n".join(f".. autoclass:: discreet.{kind.__name__}" for kind in kinds)
    return f"{_HEAD}{rows}\n```{{eval-rst}}\n{listed}\n```\n"


def stub() -> str:
    """Return the stub of the package with every test of the library among its names."""
    lines = STUB.read_text(encoding="utf-8").splitlines()
    tests = {f".{kind.__module__.partition('.')[2]}": kind.__name__ for kind in own_classes()}
    own = [f"from {module} import {name} as {name}" for module, name in tests.items()]
    return "\n".join(sorted({*lines, *own}, key=_place)) + "\n"


def _place(line: str) -> tuple[str, bool, str]:
    """Return where an import stands in a sorted stub: by its module, names in capitals first."""
    module, _, name = line.removeprefix("from ").split(maxsplit=2)
    return module, not name.partition(" ")[0].isupper(), name


def options() -> str:
    """Return the arguments of all tests that can be options of the command line, as JSON.

    What is no text or number, or called as an option of the command itself, is left to --option.
    """
    listed: dict[str, dict[str, object]] = {}
    for kind in own_classes():
        for name, field in kind.arguments().items():
            takes = next(
                (word for pattern, word in _TAKES.items() if re.search(pattern, str(field.type))), None
            )
            if name in _TAKEN or takes is None:
                continue
            takes = "two texts" if name == "levels" else takes
            genotypes = kind.sources[0] == "genotypes"
            option = listed.setdefault(
                name, {"takes": takes, "genotypes": True, "help": HELP.get(name) or _described(kind, name)}
            )
            option["genotypes"] = option["genotypes"] and genotypes
    order = [*(name for name in HELP if name in listed), *sorted(set(listed) - set(HELP))]
    return json.dumps({name: listed[name] for name in order}, indent=1) + "\n"


def _described(kind: type[Test], name: str) -> str:
    """Return the first sentence that the docstring of a test says of an argument."""
    section = re.search(rf"^{name} : .*\n((?: {{4,}}.*\n)+)", inspect.getdoc(kind) or "", re.MULTILINE)
    words = " ".join(section[1].split()) if section else ""
    return f"{kind.name}: {words.partition('. ')[0].rstrip('.')}."


def write() -> None:
    """Write them all."""
    OPTIONS.write_text(options(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    STUB.write_text(stub(), encoding="utf-8")


if __name__ == "__main__":
    write()
