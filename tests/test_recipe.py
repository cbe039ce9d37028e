"""The conda recipe asks for what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_recipe_follows_the_project():
    """Same version, same dependencies with the same bounds, same program."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / "conda/meta.yaml").read_text()
    assert f'set version = "{project["version"]}"' in recipe
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    asked = {line.strip("- ").replace(" ", "") for line in run.splitlines()} - {"python>=3.11"}
    assert asked == set(project["dependencies"])
    assert f"python {project['requires-python']}" in run
    (program,) = re.findall(r"discreet = (\S+)", recipe)
    assert program == project["scripts"]["discreet"]
