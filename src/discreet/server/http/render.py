"""Pages from templates; every word that is put in is escaped."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from discreet.privacy.events import down
from discreet.server.http.session import visitor
from discreet.server.store.memory import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

    from discreet.server.accounts.credentials import Visitor


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("discreet.server.http"), autoescape=True, undefined=StrictUndefined
    )
    ours: dict[str, Any] = {
        "when": _when,
        "down": down,
        "blocks": _blocks,
        "in_order": _in_order,
        "short": "{:.4g}".format,
    }
    made.filters.update(ours)
    return made


def _when(time: float | None) -> str:
    return "" if not time else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _blocks(words: str) -> list[tuple[str, str]]:
    """Return what a plan or a release says as paragraphs, and tables made of characters, in order."""
    found: list[tuple[str, str]] = []
    for part in words.split("\n\n"):
        if re.search(r"^-{3,} ", part, re.MULTILINE):
            found.append(("table", part.strip("\n")))
        else:  # a line that is not indented begins a paragraph
            found += [("words", line) for line in re.sub(r"\n +", " ", part).splitlines() if line.strip()]
    return found


def _in_order(names: Iterable[str]) -> list[str]:
    """Return names as people count: measure 2 before measure 10."""
    return sorted(names, key=lambda name: [part.zfill(20) for part in re.split(r"(\d+)", name)])


def page(template: str, who: Visitor | None, status: int = 200, **words: Any) -> HTMLResponse:
    """Return a page; `who` is logged in."""
    text = _templates().get_template(template).render(who=who, **words)
    return HTMLResponse(text, status)


def failure(request: Request, status: int, words: str) -> HTMLResponse:
    """Return a page that says why something cannot be."""
    try:
        who = visitor(request)
    except (StoreError, HTTPException):  # away, or a visitor who comes too often
        who = None
    return page("message.html", who, status, title="This cannot be done", words=words)
