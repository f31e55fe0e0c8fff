"""ASGI middleware that records refused requests. Separate from `refusals`, which the gateway loads too."""

from collections.abc import Mapping

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.audit.refusals import NOTED
from carrel.audit.services import AuditServices
from carrel.http.auth import ACTION
from carrel.http.services import services_of

_SAFE = ("GET", "HEAD", "OPTIONS")


class NoteRefusals:
    """Wraps the application: records a refusal before its response is sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _SAFE:
            await self._app(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in NOTED:
                await _note(scope)
            await send(message)

        await self._app(scope, receive, noting)


async def _note(scope: Scope) -> None:
    state = scope.get("state", {})
    error, actor = state.get("error"), state.get("actor")
    action = _action(scope.get("route"))
    # Sign-in steps are recorded separately, for known and unknown users.
    if error is None or actor is None or action in (None, "auth.login"):
        return
    await services_of(scope, AuditServices).refusals.note(
        actor, action, _object(scope.get("path_params", {})), error
    )


def _action(route: BaseRoute | None) -> str | None:
    extra: Mapping[str, str] = getattr(route, "openapi_extra", None) or {}
    return extra.get(ACTION)


def _object(params: Mapping[str, object]) -> str:
    """The object of the path, as sent by the client: its last path parameter."""
    return str(list(params.values())[-1]) if params else ""
