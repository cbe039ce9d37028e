"""Every code block of the README and the documentation runs, and prints what the page says it prints."""

import shlex
from pathlib import Path

import blocks
import pytest
from typer.testing import CliRunner

from discreet.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", *(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)]
)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    """Blocks of one page share names and a folder; commands exit with 0."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert not blocks.unknown(text), "a block is python, console, or only shown: text or toml"
    blocks.run(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paragraphs_stay_paragraphs(page):
    """A formula broken before `-`, `+` or `>` would be printed as something else."""
    assert not blocks.strays(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_text_exist(page):
    """What is written as `discreet ...` is a command, with the options it is given."""
    for command, options in blocks.named_commands(page.read_text(encoding="utf-8")):
        said = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
        assert said.exit_code == 0, command
        assert all(option in said.stdout for option in options), (command, options)


@pytest.mark.parametrize("file", sorted((ROOT / "docs/printed").glob("*.txt")), ids=lambda file: file.stem)
def test_printed_tables_name_their_command(file):
    """What takes minutes is kept as it was printed; its first line is a command that exists."""
    [(command, shown)] = blocks.commands(file.read_text())
    assert shown.strip()
    assert CliRunner().invoke(app, [*shlex.split(command)[1:], "--help"]).exit_code == 0


def test_wrong_pages_are_noticed(tmp_path, monkeypatch):
    """A block that fails, prints something else or exits with an error is refused; so is a strange kind."""
    monkeypatch.chdir(tmp_path)
    good = (
        "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n\n"
        "```console\n$ discreet bench --help\n...Usage...\n```\n"
    )
    assert blocks.run(good) == 2
    for old, new in (
        ("1 + 1", "1 + 2"),
        ("1 + 1", "1 + one"),
        ("bench --help", "bench nothing"),
        ("Usage", "Misusage"),
    ):
        with pytest.raises((AssertionError, NameError)):
            blocks.run(good.replace(old, new))
    assert blocks.strays("x\n- y\n\n- z\n- w\n\nx\n>= y") == ["- y", ">= y"]
    assert blocks.strays("x\n\n$$\ny\n+ z\n$$\n\nx\n+ y") == ["+ y"]
    assert blocks.named_commands("`discreet bench topk --quick` and `discreet discover people.csv`") == [
        (["bench", "topk"], ["--quick"]),
        (["discover"], []),
    ]
    assert blocks.named_commands("```text\n$ discreet plan --n 5 \\\n    --m 3\n```\n") == [
        (["plan"], ["--n", "--m"])
    ]
    assert blocks.unknown("```bash\nls\n```\n") == {"bash"}
    assert blocks.unknown("```\nx\n```\n") == {""}
