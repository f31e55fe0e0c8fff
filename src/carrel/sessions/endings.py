"""How sessions of any kind end, and which condition of a dependency that meets. Pure."""

from carrel.tables.dependencies import DependencyCondition
from carrel.tables.session_states import LIFECYCLE, Result, SessionKind, SessionState


def ending(kind: str, state: str, result: str | None) -> Result | None:
    """How a session ended, of any kind; None: it has not."""
    if state not in LIFECYCLE.final:
        return None
    if kind == SessionKind.BATCH:
        return Result(result or Result.CANCELLED)
    return {SessionState.TERMINATED: Result.SUCCESS, SessionState.ERROR: Result.FAILURE}.get(
        SessionState(state), Result.CANCELLED
    )


def is_met(condition: str, how: Result | None) -> bool | None:
    """Whether a session that ended like this meets the condition; None: it has not ended."""
    if how is None:
        return None
    match condition:
        case DependencyCondition.SUCCEEDED:
            return how is Result.SUCCESS
        case DependencyCondition.FAILED:
            return how in (Result.FAILURE, Result.TIMED_OUT)
    return True
