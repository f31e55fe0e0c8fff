"""Outermost middleware: request id, security headers, body size limit, and the response to unhandled errors.

Plain ASGI, because this is a hot path.
"""

import secrets
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.core.host_names import is_this_machine
from carrel.http import problems

MAX_BODY_BYTES = 1 << 20
MAX_BODY_PIECES = 4096
"""The framework keeps every chunk of a body: a million one-byte chunks would take 40 MiB."""
UNBOUNDED = "unbounded"
"""Key in the request state: the reader limits the body itself. HEADERS: extra headers for any response."""
HEADERS = "headers"
LATE_HEADERS = "late_headers"
"""Key in the request state: an async function, called once when the response starts; returns extra headers."""

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; frame-src blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; "
    "object-src 'none'"
)
_HEADERS = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin-allow-popups",
    b"cross-origin-resource-policy": b"same-origin",
}
_ALWAYS = list(_HEADERS.items())
_TOO_LARGE = "The request body is larger than 1 MiB."
_TOO_MANY_PIECES = "The request body has too many chunks; send larger ones."
_STAY_ENCRYPTED = (b"strict-transport-security", b"max-age=15552000")
"""HSTS: browsers refuse plain HTTP for this host for half a year."""
_NO_STORE = (b"cache-control", b"no-store")


class Shell:
    """Wraps the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = secrets.token_hex(8)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(
            send,
            state,
            is_api=scope["path"].startswith("/api/"),
            encrypted=scope["scheme"] == "https" and not _is_local(scope),
        )
        try:
            await self._app(scope, _bounded(receive, scope), answer.send)
        except ClientDisconnect:
            return  # the client disconnected during its request
        except Exception as error:
            # Last resort: no handler is left above this. A response that has started can only be aborted.
            problems.log_unexpected(scope["path"], request_id, error)
            if answer.begun:
                raise
            await problems.unexpected(Request(scope))(scope, receive, answer.send)


def _bounded(receive: Receive, scope: Scope) -> Receive:
    state = scope["state"]
    seen = pieces = 0

    async def bounded() -> Message:
        nonlocal seen, pieces
        if UNBOUNDED in state:
            return await receive()
        if not pieces and _announced(scope) > MAX_BODY_BYTES:
            raise HTTPException(413, _TOO_LARGE)
        message = await receive()
        seen += len(message.get("body", b""))
        pieces += 1
        if UNBOUNDED not in state and (seen > MAX_BODY_BYTES or pieces > MAX_BODY_PIECES):
            # The framework raises this error only while it reads a body.
            raise HTTPException(413, _TOO_LARGE if seen > MAX_BODY_BYTES else _TOO_MANY_PIECES)
        return message

    return bounded


def _is_local(scope: Scope) -> bool:
    """True if the Host is "localhost", where other programs listen on other ports."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"")
    return is_this_machine(urlsplit(f"//{host.decode('latin-1')}").hostname or "")


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


class _Answer:
    """Adds our headers to the response. begun: the response has started."""

    def __init__(self, send: Send, state: dict[str, Any], *, is_api: bool, encrypted: bool) -> None:
        self._send = send
        self._state = state
        self._own = (b"x-request-id", state["request_id"].encode())
        self._is_api = is_api
        self._encrypted = encrypted
        self.begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            late = self._state.pop(LATE_HEADERS, None)
            more = await late() if late else ()
            self.begun = True
            headers = [*message["headers"], self._own, *_ALWAYS, *self._state.get(HEADERS, ()), *more]
            rate_limit = self._state.get("rate_limit")
            if rate_limit:
                headers += (
                    (b"x-ratelimit-limit", b"%d" % rate_limit.limit),
                    (b"x-ratelimit-remaining", b"%d" % rate_limit.remaining),
                    (b"x-ratelimit-reset", b"%d" % rate_limit.reset_s),
                )
            if self._encrypted:
                headers.append(_STAY_ENCRYPTED)
            if self._is_api and not any(name == b"cache-control" for name, _ in headers):
                headers.append(_NO_STORE)
            message["headers"] = headers
        await self._send(message)
