"""Errors for access to sessions, and their WebSocket close codes."""

import json

from carrel.core.errors import CarrelError, Conflict, Forbidden, Unavailable
from carrel.engines.port import ContainerGone, EngineError, EngineUnavailable
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import Session

_LONGEST_REASON = 123
"""RFC 6455, 5.5.1: a close frame's reason in bytes."""


def not_running(session: Session) -> Conflict:
    """The error for accessing a session that is not running."""
    ended = session.state in LIFECYCLE.final or session.state == SessionState.TERMINATING
    return Conflict(
        "session.not_running",
        f"{session.name} is not running: it is {session.state}.",
        hint="Start another session." if ended else "Wait until it runs.",
        details={"state": session.state},
    )


def stopped_running() -> Conflict:
    """The error for a session that left RUNNING during access."""
    return Conflict("session.not_running", "The session is no longer running.")


def no_longer_shared() -> Forbidden:
    """The error for a share that was revoked or has expired during access."""
    return Forbidden(
        "share.revoked",
        "This session is no longer shared with you for this.",
        hint="Ask its owner to share it again.",
    )


def of_engine(error: EngineError) -> CarrelError:
    """An engine error as a `CarrelError`."""
    if isinstance(error, ContainerGone):
        return stopped_running()
    if isinstance(error, EngineUnavailable) or error.retriable:
        return Unavailable("engine.unavailable", error.message, hint="Try again in a moment.")
    return Conflict(error.code, error.message)


def close_code(error: CarrelError) -> int:
    """WebSocket close code: 4000 plus the HTTP status."""
    return 4000 + error.status


def close_reason(error: CarrelError) -> str:
    """{"code", "detail", "hint"} as JSON, truncated to a close frame: the hint is dropped first."""
    detail, hint = error.message, {"hint": error.hint} if error.hint else {}
    while True:
        reason = json.dumps({"code": error.code, "detail": detail, **hint}, ensure_ascii=False)
        surplus = len(reason.encode()) - _LONGEST_REASON
        if surplus > 0 and hint:
            hint = {}
            continue
        if surplus <= 0 or not detail:
            return reason
        detail = detail[: -max(surplus // 4, 1)]
