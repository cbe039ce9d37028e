"""Refuse pages that fetch anything from elsewhere: nobody is to count our readers."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_FETCHES = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|(?:@import|url\()\s*["']?((?:https?:)?//[^"')\s]+)"""
)
_logger = logging.getLogger(__name__)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fetches(text: str) -> list[str]:
    """Return the outside addresses that a page or style sheet would load by itself."""
    return [page or style for page, style in _FETCHES.findall(text)]


def check(app: "Sphinx", failure: Exception | None) -> None:
    """Warn of every file that reaches outside; warnings are errors here."""
    if failure is None:
        for file in sorted(Path(app.outdir).rglob("*")):
            if file.suffix in {".html", ".css"}:
                for address in fetches(file.read_text(encoding="utf-8")):
                    _logger.warning("%s fetches %s", file.name, address)
