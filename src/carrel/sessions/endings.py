"""How sessions of any kind end, and which condition of a dependency that meets. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class ArrayEndings:
    """How many sessions an array has, how many of them have ended, and how many of these succeeded or failed."""

    count: int
    ended: int
    succeeded: int
    failed: int


def endings_of(counts: Iterable[tuple[str, str | None, int]]) -> ArrayEndings:
    """counts: how many sessions of the array have this state and result."""
    ends = [(ending(SessionKind.BATCH, state, result), count) for state, result, count in counts]

    def number(condition: DependencyCondition) -> int:
        return sum(count for how, count in ends if is_met(condition, how))

    return ArrayEndings(
        sum(count for _, count in ends),
        number(DependencyCondition.ENDED),
        number(DependencyCondition.SUCCEEDED),
        number(DependencyCondition.FAILED),
    )


def is_met_by_array(condition: str, endings: ArrayEndings) -> bool | None:
    """Whether all sessions of an array ended such that the condition is met; None: it is open."""
    ended = endings.ended == endings.count
    if condition == DependencyCondition.SUCCEEDED and endings.succeeded < endings.ended:
        return False
    if condition == DependencyCondition.FAILED and ended and not endings.failed:
        return False
    return ended or None
