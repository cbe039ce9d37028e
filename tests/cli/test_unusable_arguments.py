"""Arguments that no system can use are refused in words."""

import pytest
from typer.testing import CliRunner

from discreet.cli import app


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "init", "9" * 4000], "longer than any path"),
        (["serve", "init", "home\0"], "null"),
        (["serve", "charges", "home", "\udcff"], "no text"),
    ],
)
def test_they_are_refused_in_words(arguments, words, tmp_path, monkeypatch):
    """A path that is too long or holds a null character, and a name that is no text: no traceback."""
    monkeypatch.chdir(tmp_path)
    if "charges" in arguments:
        assert CliRunner().invoke(app, ["serve", "init", "home"]).exit_code == 0
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert words in result.output
