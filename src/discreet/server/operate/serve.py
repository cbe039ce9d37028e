"""Run the server until it is told to stop."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

import uvicorn

from discreet.server.http.app import build
from discreet.server.operate.home import first_link
from discreet.server.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.applications import Starlette

    from discreet.server.config import Config


class Lines(logging.Formatter):
    """One JSON object a line; what is logged is about requests and workers, never about data."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        content: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            content["trace"] = self.formatException(record.exc_info)
        return json.dumps(content)


def run(config: Config, say: Callable[[str], Any], *, invited: bool = False, note: str = "") -> None:
    """Serve until Ctrl-C or SIGTERM: running jobs end, or are taken up again by the next start.

    `invited` if the custodian has a link already: a new one would end it. A `note` is said last.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells which database it looks at
    app = build(config)
    with Store(config.url) as store:
        link = None if invited else first_link(store, config.site)
    say(f"The server answers at {config.site}")
    if link is not None:
        say(f"The first custodian chooses a password here, once: {link}")
    if note:
        say(note)
    uvicorn.Server(listening(app, config)).run()


def listening(app: Starlette, config: Config) -> uvicorn.Config:
    """Return how the server listens: no word about itself, no trust in proxies but those named, TLS."""
    return uvicorn.Config(
        app,
        host=config.address,
        port=config.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(config.trusted_proxies),
        forwarded_allow_ips=config.trusted_proxies or None,
        timeout_graceful_shutdown=10,
        ssl_certfile=str(config.home / config.tls_certificate) if config.tls_certificate else None,
        ssl_keyfile=str(config.home / config.tls_key) if config.tls_key else None,
    )
