"""Around every request: limited in size and rate, denied in the log, answered with the same safe headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from discreet.server.http.denials import STATUSES, denial

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from discreet.server.config import Config
    from discreet.server.http.denials import Denials
    from discreet.server.http.rates import Rates

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_PER_ADDRESS = 50
_LOGINS = 5  # of what one address may send in a minute, a fifth may be passwords
_STRANGERS = ("/login", "/invite/", "/oidc/")
_LONGEST_NUMBER = 12


class Guard:
    """Refuses what is too large or too often, writes down what is denied, and adds the headers."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        config: Config,
        rates: Rates,
        denials: Denials,
        broken: Callable[[Request, Exception], Response],
    ) -> None:
        self.app, self.config, self.rates, self.denials, self.broken = app, config, rates, denials, broken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        started = False

        async def safe(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                await self._noted(scope, message["status"])
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self.config.is_secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        try:
            await self._passed(scope, receive, safe)
        except Exception as error:
            if started:
                raise
            answer = await run_in_threadpool(self.broken, Request(scope), error)
            await answer(scope, receive, safe)

    async def _noted(self, scope: Scope, status: int) -> None:
        """Write a denied request down before it is answered; one sent to the login was denied."""
        if status in STATUSES or scope.get("state", {}).get("denied"):
            kind, path = denial(scope, status)
            if self.denials.is_first(kind, path):
                await run_in_threadpool(self.denials.write, kind, path)

    async def _passed(self, scope: Scope, receive: Receive, safe: Send) -> None:
        """Pass a request on that is neither too large nor one too many."""
        if "\0" in scope["path"]:  # no name has one, and not every database can look it up
            await PlainTextResponse("Not found.\n", 404)(scope, receive, safe)
            return
        headers = dict(scope["headers"])
        client = scope.get("client") or ("", 0)
        # Whoever comes with a credential is counted by it: many people share one address. Who is about to log
        # in has none that counts: made-up ones would be as many strangers.
        known = headers.get(b"authorization") or headers.get(b"cookie")
        if scope["path"].startswith(_STRANGERS):
            known = None
        visitor = str(client[0]) if known is None else f"{client[0]} {known.decode('latin-1')}"
        most = self.config.requests_per_minute
        # One address counts as a whole as well, whatever it brings along; and passwords by themselves.
        limits = {f"all of {client[0]}": _PER_ADDRESS * most, visitor: most}
        if known is None and scope["method"] == "POST":
            limits[f"passwords from {client[0]}"] = max(_LOGINS, most // _LOGINS)
        if not all(self.rates.allows(who, limit) for who, limit in limits.items()):
            refused = PlainTextResponse("Too many requests: wait a minute.\n", 429, {"Retry-After": "60"})
            await refused(scope, receive, safe)
            return
        declared = headers.get(b"content-length", b"0")
        short = declared.isdigit() and len(declared) <= _LONGEST_NUMBER
        if not short or int(declared) > self.config.request_bytes:
            await PlainTextResponse("The request is too large.\n", 413)(scope, receive, safe)
            return
        await self.app(scope, self._counted(receive), safe)

    def _counted(self, receive: Receive) -> Receive:
        """Return `receive`, cut off when a body turns out longer than it was said to be."""
        total = 0

        async def counted() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self.config.request_bytes:
                raise HTTPException(413, "The request is too large.")
            return message

        return counted
