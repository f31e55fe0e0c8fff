"""Noting what was refused: who wanted to change what, and why they may not or it could not be.

Requests that only read leave no row. Who is refused over and over fills the table with nothing but a count.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.audit import service
from carrel.core.errors import CarrelError, Unavailable
from carrel.db.database import Database
from carrel.http.auth import ACTION
from carrel.policy.decide import Actor

log = structlog.get_logger()

WINDOW_S = 300.0
MOST = 20
_MOST_KINDS = 50
_SAFE = ("GET", "HEAD", "OPTIONS")
_NOTED = (403, 404, 409, 422)

_Kind = tuple[str, str, str]
"""Action, object and code: the same again says nothing new."""


@dataclass
class _Window:
    """What one person was refused within WINDOW_S. more: what had no row of its own."""

    actor: Actor
    written: set[_Kind] = field(default_factory=set)
    more: Counter[_Kind] = field(default_factory=Counter)


class Refusals:
    """Lives in `app.state.refusals`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._windows: dict[str, _Window] = {}

    async def note(self, actor: Actor, action: str, object_id: str, error: CarrelError) -> None:
        """A row for it, in a transaction of its own; only counted when there are many, or it is the same again.

        What is no refusal (a part that does not answer, say) is left out.
        """
        if error.status not in _NOTED:
            return
        window = self._windows.setdefault(actor.user_id, _Window(actor))
        kind = (action, object_id, error.code)
        if kind in window.written or len(window.written) >= MOST:
            window.more[kind if kind in window.more or len(window.more) < _MOST_KINDS else ("", "", "")] += 1
            return
        window.written.add(kind)
        try:
            async with self._database.transaction() as tx:
                service.record_refusal(tx, actor, action, object_id, reason=f"{error.code}: {error.message}")
        except Unavailable:
            log.warning("audit.refusal_not_noted", actor=actor.user_id, action=action, code=error.code)

    async def run(self) -> None:
        """Write down at the end of each window what was only counted, until cancelled."""
        try:
            while True:
                await asyncio.sleep(WINDOW_S)
                await self.close_window()
        finally:
            await self.close_window()

    async def close_window(self) -> None:
        """One row for each person with refusals that have none; then everybody has a clean slate."""
        windows, self._windows = self._windows, {}
        crowded = [window for window in windows.values() if window.more]
        if not crowded:
            return
        try:
            async with self._database.transaction() as tx:
                for window in crowded:
                    _sum_up(tx, window)
        except Unavailable:
            log.warning("audit.refusals_not_noted", actors=len(crowded))


def _sum_up(tx: Any, window: _Window) -> None:
    (action, _, _), _ = window.more.most_common(1)[0]
    count = window.more.total()
    service.record_refusal(
        tx,
        window.actor,
        action or "auth.login",
        "",
        reason=f"audit.many: {count} more refusals within {round(WINDOW_S / 60)} minutes.",
        details={
            "refusals": [
                {"action": action, "object": object_id, "code": code, "times": times}
                for (action, object_id, code), times in window.more.most_common()
            ]
        },
    )


class NoteRefusals:
    """Wraps the application: has what it refuses noted before the answer leaves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _SAFE:
            await self._app(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in _NOTED:
                await _note(scope)
            await send(message)

        await self._app(scope, receive, noting)


async def _note(scope: Scope) -> None:
    state = scope.get("state", {})
    error, actor = state.get("error"), state.get("actor")
    action = _action(scope.get("route"))
    # Steps of signing in leave rows of their own, whether anybody is known or not.
    if error is None or actor is None or action in (None, "auth.login"):
        return
    refusals: Refusals = scope["app"].state.refusals
    await refusals.note(actor, action, _object(scope.get("path_params", {})), error)


def _action(route: BaseRoute | None) -> str | None:
    extra: Mapping[str, str] = getattr(route, "openapi_extra", None) or {}
    return extra.get(ACTION)


def _object(params: Mapping[str, object]) -> str:
    """What the path means, as it was written: the last part of it that is open."""
    return str(list(params.values())[-1]) if params else ""
