"""Numbers in the docs are numbers a command prints."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli import app

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "command", "numbers"),
    [
        ("docs/proofs/adaptive.md", "bounds", ["2.431", "1.862", "1.327", "2.4287", "7.91", "10.12"]),
        ("docs/errata.md", "bounds", ["7.91", "10.12", "1.862", "1.327"]),
        ("docs/errata.md", "audit --errata", ["0.84", "7.91", "10.12"]),
    ],
)
def test_numbers_are_printed(page, command, numbers):
    """Each number stands both on the page and in the command's output."""
    page, printed = (ROOT / page).read_text(), CliRunner().invoke(app, command.split()).stdout
    assert all(number in page and number in printed for number in numbers)
