"""The reference knows every public name, each with an example; the site fetches nothing from elsewhere."""

import dataclasses
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import discreet
from discreet.evidence.core.registry import own_classes

DOCS = Path(__file__).parents[2] / "docs"
NAMES = [name for name in discreet.__all__ if name[0] != "_"]


def extension(name):
    """Return a Sphinx extension of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "extensions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_an_example_and_a_place(name):
    """Its docstring shows an example, which test_examples runs, and one reference page has it, once."""
    assert ">>> " in getattr(discreet, name).__doc__, f"{name} has no example"
    pages = "".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    listed = re.findall(r"^\.\. auto(?:class|function|exception):: discreet\.(\w+)$", pages, re.MULTILINE)
    assert listed.count(name) == 1


@pytest.mark.parametrize("name", [kind.__name__ for kind in own_classes()])
def test_every_parameter_of_a_test_is_documented(name):
    """Its docstring has each argument by its own name under Parameters, and no other."""
    doc = inspect.getdoc(getattr(discreet, name))
    section = doc.split("Parameters\n----------\n")[1].split("\n\n")[0]
    listed = re.findall(r"^(\w+) : ", section, re.MULTILINE)
    assert sorted(listed) == sorted(field.name for field in dataclasses.fields(getattr(discreet, name)))


def test_the_reference_lists_only_what_exists():
    """No page of the reference names something that is gone."""
    pages = "".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    assert set(re.findall(r":: discreet\.(\w+)$", pages, re.MULTILINE)) == set(NAMES)


def test_the_page_of_commands_is_the_programs_own_help():
    """Every command becomes a section with its options; usage blocks, which cannot run, become lines."""
    commands = extension("commands")
    said = (
        "# `x`\n\n**Commands**:\n\n* `a`: A.\n\n## `x a`\n\nDo it&#x27;s way.\n\n**Usage**:\n\n"
        "```console\n$ x a [OPTIONS]\n```\n\n* `--k <int>`: K.\n* `--help`: Show this message and exit.\n"
    )
    bare = said.replace("* `--k <int>`: K.\n", "").replace(
        "[OPTIONS]\n```\n\n", "[OPTIONS]\n```\n\n**Options**:\n\n"
    )
    assert commands.tidy(bare) == "## `x a`\n\nDo it's way.\n\n`x a [OPTIONS]`\n\n"
    assert commands.tidy(said) == "## `x a`\n\nDo it's way.\n\n`x a [OPTIONS]`\n\n* `--k <int>`: K.\n"


def test_the_first_mention_of_a_public_name_is_a_link():
    """Code that names something public leads to the reference, once; headings and links stay as they are."""
    link, names = extension("crosslinks")._to_reference, {"Mean"}
    assert link("`Mean`", "## On ", names) == link("`Mean`", "[", names) == "`Mean`"
    assert link("`mean`", "", names) == "`mean`"
    assert link("`Mean`", "", names) == "{py:obj}`Mean <discreet.Mean>`"
    assert link("`Mean`", "", names) == "`Mean`"


def test_outside_requests_are_noticed():
    """Scripts, style sheets, pictures and fonts from elsewhere are found; links to follow are not."""
    fetches = extension("offline").fetches
    assert fetches('<script async src="https://cdn.example/x.js"></script>') == ["https://cdn.example/x.js"]
    assert fetches('<img alt="" src="//example.org/y.png">') == ["//example.org/y.png"]
    assert fetches("@font-face { src: url(https://fonts.example/z.woff2) }") == [
        "https://fonts.example/z.woff2"
    ]
    assert not fetches('<a href="https://example.org">read on</a><img src="_images/x.svg">')
