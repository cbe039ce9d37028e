"""For those who run the server: is it alive, can it work, and how is it doing."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from discreet.server import audit
from discreet.server.http.session import bearer, config_of, store_of
from discreet.server.store import migrate
from discreet.server.store.memory import StoreError
from discreet.server.store.tables import account, job, purse

if TYPE_CHECKING:
    from starlette.requests import Request


def healthz(_: Request) -> Response:
    """Say that the process answers."""
    return PlainTextResponse("ok\n")


def readyz(request: Request) -> Response:
    """Say whether the database answers, is the one it was, has the right schema, and workers are alive."""
    try:
        ready = migrate.revision(store_of(request)) == migrate.newest() and request.app.state.supervisor.works
    except (StoreError, AttributeError):  # away, or the server is starting
        ready = False
    return JSONResponse({"ready": ready}, 200 if ready else 503)


def metrics(request: Request) -> Response:
    """Return figures for Prometheus; how jobs are doing is no analyst's business."""
    config = config_of(request)
    sent = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not (config.metrics_token and hmac.compare_digest(sent.encode(), config.metrics_token.encode())):
        bearer(request, "read", "custodian", "auditor")
    with store_of(request).reading(anyway=True) as db:
        states = db.execute(select(job.c.kind, job.c.state, func.count()).group_by(job.c.kind, job.c.state))
        lines = [
            "# HELP discreet_jobs Jobs by kind and state.",
            "# TYPE discreet_jobs gauge",
            *(f'discreet_jobs{{kind="{kind}",state="{state}"}} {count}' for kind, state, count in states),
            "# HELP discreet_audit_rows Rows of the audit log.",
            "# TYPE discreet_audit_rows counter",
            f"discreet_audit_rows {audit.end(db).position}",
            "# HELP discreet_log_followed 1, or 0 if the database is an old copy and nothing is answered.",
            "# TYPE discreet_log_followed gauge",
            f"discreet_log_followed {int(not store_of(request).memory.fault)}",
            "# HELP discreet_accounts Accounts.",
            "# TYPE discreet_accounts gauge",
            f"discreet_accounts {db.execute(select(func.count()).select_from(account)).scalar_one()}",
            "# HELP discreet_purses Budgets and shares.",
            "# TYPE discreet_purses gauge",
            f"discreet_purses {db.execute(select(func.count()).select_from(purse)).scalar_one()}",
        ]
    supervisor = getattr(request.app.state, "supervisor", None)
    if supervisor is None:
        raise HTTPException(503, "the server is starting")
    alive = sum(worker.process.poll() is None for worker in supervisor.workers)
    lines += [
        "# HELP discreet_workers Workers alive.",
        "# TYPE discreet_workers gauge",
        f"discreet_workers {alive}",
    ]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]
