"""The API's response between listening and serving: 503 while its database starts or recovers."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.core.errors import Unavailable
from carrel.http import problems

_RETRY_AFTER_S = 1


class Starting:
    """An ASGI application that rejects all requests until `start` sets the real one."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None

    def start(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is not None:
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
