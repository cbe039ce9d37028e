"""The drawing of the house is the house."""

import re
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
NOT_DRAWN = {"__main__", "locate", "version"}  # the program's start, a helper of the report, a constant


def drawn():
    """Return the lines of the drawing, top to bottom, as lists of names."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    drawing = re.search(r"```text\n(.*?)```", text, re.DOTALL).group(1)
    return [re.split(r" {2,}", line[:46].strip()) for line in drawing.splitlines()]


def imports():
    """Return all pairs (importer, imported) of members of the package, by their first name."""
    graph = grimp.build_graph("discreet", cache_dir=None)
    found = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            pair = tuple(name.split(".")[1] for name in (importer, imported) if "." in name)
            if len(pair) == 2 and pair[0] != pair[1]:
                found.add(pair)
    return found, {name.split(".")[1] for name in graph.modules if "." in name}


def upward(lines, pairs):
    """Return the imports that do not go down the drawing."""
    place = {name: line for line, names in enumerate(lines) for name in names}
    return {pair for pair in pairs if {*pair} <= place.keys() and place[pair[0]] >= place[pair[1]]}


def test_every_member_is_drawn_and_imports_go_down():
    """No package is missing, none is invented, and no line imports from its own line or above."""
    lines = drawn()
    pairs, members = imports()
    names = [name for line in lines for name in line]
    assert len(names) == len(set(names))
    assert {*names} == members - NOT_DRAWN
    assert upward(lines, pairs) == set()


def test_a_drawing_upside_down_is_noticed():
    """Wrong twin: the same comparison refuses two lines exchanged."""
    lines = drawn()
    pairs, _ = imports()
    place = lines.index(["api"])
    lines[place], lines[place + 1] = lines[place + 1], lines[place]
    assert upward(lines, pairs) == {("api", "measure"), ("api", "request")}


def test_the_contract_has_the_same_lines():
    """The layers that CI enforces are those that are drawn."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert [{name.removeprefix("discreet.") for name in line.split(" | ")} for line in layers] == [
        {*line} for line in drawn()
    ]
