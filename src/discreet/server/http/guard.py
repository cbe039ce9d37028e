"""Around every request: its size and rate are limited, and every answer carries the same safe headers."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
_MOST_VISITORS = 50_000
_PER_ADDRESS = 50
_STRANGERS = ("/login", "/invite/", "/oidc/")


class Rates:
    """How many requests each visitor made in the last minute; forgotten when the server stops."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._seen: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, visitor: str) -> bool:
        """Count a request, and tell whether it may be answered: a bucket that fills up once a minute."""
        now = time.monotonic()
        left, before = self._seen.pop(visitor, (float(self.most), now))
        left = min(self.most, left + (now - before) * self.most / 60)
        allowed = left >= 1
        self._seen[visitor] = (left - 1 if allowed else left, now)
        if len(self._seen) > _MOST_VISITORS:
            self._seen.popitem(last=False)
        return allowed


class Guard:
    """Refuses what is too large or too often, and adds the headers."""

    def __init__(self, app: ASGIApp, *, request_bytes: int, rates: Rates, secure: bool) -> None:
        self.app, self.request_bytes, self.rates, self.secure = app, request_bytes, rates, secure
        self.addresses = Rates(_PER_ADDRESS * rates.most)  # one address, whatever it brings along

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self.secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        headers = dict(scope["headers"])
        client = scope.get("client") or ("", 0)
        # Whoever comes with a credential is counted by it: many people share one address. Who is about to log
        # in has none that counts: made-up ones would be as many strangers.
        known = headers.get(b"authorization") or headers.get(b"cookie")
        if scope["path"].startswith(_STRANGERS):
            known = None
        visitor = str(client[0]) if known is None else f"{client[0]} {hash(known)}"
        if not (self.addresses.allows(str(client[0])) and self.rates.allows(visitor)):
            refused = PlainTextResponse("Too many requests: wait a minute.\n", 429, {"Retry-After": "60"})
            await refused(scope, receive, safe)
            return
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self.request_bytes:
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
            if total > self.request_bytes:
                raise HTTPException(413, "The request is too large.")
            return message

        return counted
