"""Run the stories of the gallery and keep the picture that each one draws: `python docs/gallery/draw.py`."""

import os
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "docs"))


def main() -> None:
    """Run each page in a folder of its own; its picture has its name."""
    import blocks

    mpl.use("agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "discreet"})
    for page in sorted(HERE.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            blocks.run(page.read_text(encoding="utf-8"))
            drawn = Path(folder) / f"{page.stem}.svg"
            if drawn.exists():
                (HERE / drawn.name).write_bytes(drawn.read_bytes())
            os.chdir(HERE)


if __name__ == "__main__":
    main()
