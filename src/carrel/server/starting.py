"""The API's response between listening and serving: 503 while its database starts or recovers; and its probes."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.core.errors import Unavailable
from carrel.http import problems

_RETRY_AFTER_S = 1
_ALIVE, _READY = "/healthz", "/readyz"
_HEALTH = "/api/v1/health"


class Starting:
    """An ASGI application that rejects all requests until `start` sets the real one.

    /healthz is 200 as long as the process responds, /readyz only while it can serve requests.
    """

    def __init__(self) -> None:
        self._app: ASGIApp | None = None

    def start(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        if path == _ALIVE:
            await PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})(scope, receive, send)
        elif self._app is not None and path == _READY:
            await self._app({**scope, "path": _HEALTH, "raw_path": _HEALTH.encode()}, receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _refusal(scope)(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "The server is starting."})


def _refusal(scope: Scope) -> ASGIApp:
    error = Unavailable(
        "database.unavailable",
        "The server is starting and waits for its database.",
        hint="Try again in a moment; an administrator can run `carrel status`.",
    )
    return problems.respond(
        Request(scope), problems.of_error(error), {"Retry-After": str(_RETRY_AFTER_S), "Connection": "close"}
    )
