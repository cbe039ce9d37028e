"""Examples in docstrings and README do what they show."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import discreet

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
def test_docstring_examples():
    """Every doctest of the package passes, and there are some."""
    tried = 0
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if not module.name.endswith("__main__") and ".migrations" not in module.name:  # run by Alembic alone
            result = doctest.testmod(importlib.import_module(module.name))
            assert result.failed == 0, module.name
            tried += result.attempted
    assert tried >= 4


def test_readme_example(capsys):
    """The README's Python example prints what the README says it prints."""
    code, printed = re.search(
        r"```python\n(.*?)```\n\n```text\n(.*?)```", README.read_text(), re.DOTALL
    ).groups()
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 (our own README)
    assert capsys.readouterr().out == printed


@pytest.mark.slow
def test_readme_shows_the_real_demo(tmp_path):
    """The output under `make demo` is what the demo prints, but for numbers and names under noise."""
    from discreet.lab.demo import demo

    def shape(text):
        text = re.sub(r"p-value first: .*?\n(?=Asked)", "p-value first: ...\n", text, flags=re.DOTALL)
        text = re.sub(r"at\s+level\s+[\d.]+%", "at level", text)  # of intervals: it follows the number found
        text = re.sub(r"  measure .*? in the cohort", "  measure ...", text)
        text = re.sub(r"\d+\s+[A-Z][a-z]+\s+20\d\d\.\n", "today ", text)
        text = re.sub(r"browser: .*/report", "browser: .../report", text)
        return " ".join(re.sub(r"\d+ (discoveries|of|with|without)", r"# \1", text).split())

    shown = re.search(r"\$ make demo\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    assert shape(shown) == shape(demo(tmp_path / "demo"))
