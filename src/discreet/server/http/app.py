"""The application: routes, errors in words, and the life of the server's parts."""

from __future__ import annotations

import contextlib
import logging
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from discreet.errors import BudgetError, DiscreetError
from discreet.server.datasets.registry import UnknownError
from discreet.server.http import api, asking, custody, login, operations, pages
from discreet.server.http.denials import Denials
from discreet.server.http.guard import Guard
from discreet.server.http.rates import Rates
from discreet.server.http.render import failure, page
from discreet.server.http.session import visitor
from discreet.server.jobs.accept import QueueError
from discreet.server.jobs.supervisor import Supervisor
from discreet.server.operate import heads
from discreet.server.operate.running import running
from discreet.server.store import Store, migrate
from discreet.server.store.memory import ForkedError, StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request

    from discreet.server.config import Config

log = logging.getLogger("discreet.server")


def build(config: Config) -> Starlette:
    """Return the server as an ASGI application; it starts its workers when it is started."""
    store = Store(config.url)
    try:
        migrate.check(store)
        heads.check(store, config)
    except BaseException:
        store.close()
        raise
    rates, denials = Rates(store), Denials(store)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncGenerator[None]:
        with store, running(config.home):
            supervisor, witness = Supervisor(store, config), heads.Witness(store, config)
            app.state.supervisor = supervisor
            for part in (supervisor, witness, rates, denials):
                part.start()
            yield
            for part in (supervisor, rates, denials, witness):
                part.stop()

    guard = Middleware(Guard, config=config, rates=rates, denials=denials, broken=broken)
    app = Starlette(
        routes=[
            Route("/static/style.css", style),
            *api.routes,
            *login.routes,
            *pages.routes,
            *asking.routes,
            *custody.routes,
            *operations.routes,
        ],
        middleware=[guard, *login.middleware(config)],
        exception_handlers={DiscreetError: refused, HTTPException: denied},
        lifespan=life,
    )
    app.state.store, app.state.config = store, config
    app.state.rates, app.state.denials = rates, denials
    login.prepare(app, config)
    return app


def style(_: Request) -> Response:
    """Return the one style sheet."""
    text = (files("discreet.server.http") / "static" / "style.css").read_text("utf-8")
    return Response(text, media_type="text/css", headers={"Cache-Control": "max-age=3600"})


def refused(request: Request, error: Exception) -> Response:
    """Turn a refusal of the library, which says public things alone, into an answer."""
    status, kind = 400, "input"
    if isinstance(error, UnknownError):
        status, kind = 404, "unknown"
    elif isinstance(error, BudgetError):
        status, kind = 409, "budget"
    elif isinstance(error, QueueError):
        status, kind = 429, "queue"
    elif isinstance(error, ForkedError):
        return _refused(request, 503, "unavailable", _forked(request, error))
    elif isinstance(error, StoreError):
        log.error("the database cannot be used", exc_info=error.__cause__)
        status, kind = 503, "unavailable"
    return _refused(request, status, kind, str(error))


def _forked(request: Request, error: ForkedError) -> str:
    """Return what is said when an old copy lies in the place of the database: the reason to custodians."""
    try:
        who = None if request.url.path.startswith("/api/") else visitor(request, anyway=True)
    except DiscreetError:
        who = None
    trusted = who is not None and who.account.role == "custodian"
    return str(error) if trusted else "Nothing is answered here for now. The custodian has been told."


def denied(request: Request, error: Any) -> Response:
    """Answer a request that is not allowed, or for nothing that is there."""
    if error.status_code == 303:
        return RedirectResponse(error.headers["Location"], 303)
    return _refused(request, error.status_code, "denied", str(error.detail))


def broken(request: Request, error: Exception) -> Response:
    """Say nothing about a fault but that there was one; the custodian's log has the rest."""
    log.error("a fault in the server", exc_info=error)
    words = "Something went wrong here. The custodian's log has the details."
    if request.url.path.startswith("/api/"):
        return _refused(request, 500, "fault", words)
    return page("message.html", None, 500, title="This cannot be done", words=words)  # looks nothing up


def _refused(request: Request, status: int, kind: str, words: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": words, "kind": kind}, status)
    return failure(request, status, words)
