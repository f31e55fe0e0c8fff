"""Dependencies: a session starts after others have ended in a certain way.

A request can name existing sessions only, hence the dependencies form no cycle; `inherit`, the only change of a stored
dependency, refuses one. What a session waits for, and whether it still can start, is computed from the rows each time.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import CarrelError, Invalid, Refused
from carrel.core.ids import ProjectId, SessionId
from carrel.permissions.decide import Actor, Target, require
from carrel.sessions import queries, transitions
from carrel.sessions.endings import ending, is_met
from carrel.sessions.spec import DependencyRequest, SchedulingSpec
from carrel.tables.dependencies import DependencyCondition, DependencyFailure, SessionDependency
from carrel.tables.session_states import Result, SessionState

_HAPPENED = {
    Result.SUCCESS: "succeeded",
    Result.FAILURE: "failed",
    Result.TIMED_OUT: "reached its time limit",
    Result.CANCELLED: "was cancelled",
}
_NEEDED = {DependencyCondition.SUCCEEDED: "success", DependencyCondition.FAILED: "failure"}
_VERBS = {
    DependencyCondition.SUCCEEDED: "succeed",
    DependencyCondition.FAILED: "fail",
    DependencyCondition.ENDED: "end",
}


@dataclass(frozen=True, slots=True)
class Dependency:
    """One dependency of a session. id, name: of the session that must end. ending: how it ended; None: it has not."""

    id: SessionId
    name: str
    condition: DependencyCondition
    ending: Result | None
    ended_at: datetime | None = None

    @property
    def met(self) -> bool | None:
        """Whether the condition is met; None: not known yet."""
        return is_met(self.condition, self.ending)


def sentence(dependencies: Iterable[Dependency]) -> str:
    """Why a session that has these does not start; "" if all are met. Names the first unmet one."""
    unmet = [one for one in dependencies if not one.met]
    if never := next((one for one in unmet if one.met is False), None):
        return f"{_what_happened(never)}, and this session starts only after its {_NEEDED[never.condition]}."
    if not unmet:
        return ""
    first, others = unmet[0], len(unmet) - 1
    more = f", and for {others} other session{'s' * (others > 1)}" if others else ""
    return f"It waits for {first.name} to {_VERBS[first.condition]}{more}."


def _what_happened(one: Dependency) -> str:
    return f"{one.name} {_HAPPENED[one.ending]}" if one.ending else one.name


async def resolve(
    tx: AsyncSession,
    actor: Actor,
    project: ProjectId,
    spec: SchedulingSpec,
    *,
    replaced: SessionId | None = None,
) -> Sequence[Dependency]:
    """The requested dependencies of a new session in the project. replaced: the session whose place it takes.

    Raises: NotFound, Conflict when several match; Invalid for a session of another owner and project, one that is named
    twice, or the replaced one; Refused if one can never be met and the request says to cancel the session then.
    """
    resolved: dict[SessionId, Dependency] = {}
    for number, request in enumerate(spec.after):
        try:
            one = await _resolved(tx, actor, project, request, replaced)
            if one.id in resolved:
                raise Invalid("session.dependency_repeated", f"{one.name} is listed twice.")
            if one.met is False and spec.on_dependency_failure == DependencyFailure.CANCEL:
                raise Refused(
                    "session.dependency_failed",
                    f"{_what_happened(one)}, so a session cannot start after its {_NEEDED[one.condition]}.",
                    hint="Choose another condition or session, or none.",
                )
        except CarrelError as error:
            error.field = f"after.{number}.session"
            raise
        resolved[one.id] = one
    return tuple(resolved.values())


async def _resolved(
    tx: AsyncSession, actor: Actor, project: ProjectId, request: DependencyRequest, replaced: SessionId | None
) -> Dependency:
    session = await queries.resolve(tx, actor, request.session)
    require(
        actor,
        "session.read",
        Target(session.owner_id, session.project_id, session.domain_id),
        read="session.read",
        missing=queries.not_found(request.session),
    )
    if session.id == replaced:
        raise _cycle([session.name, session.name])
    if session.owner_id != actor.user_id and session.project_id != project:
        raise Invalid(
            "session.dependency_elsewhere",
            f"{session.name} belongs to another user and to another project.",
            hint="A session can start after your own sessions, and after those of its project.",
        )
    how = ending(session.kind, session.state, session.result)
    return Dependency(session.id, session.name, request.condition, how, session.ended_at)


def add(tx: AsyncSession, session: SessionId, dependencies: Iterable[Dependency]) -> None:
    """Store the dependencies of a new session."""
    tx.add_all(
        SessionDependency(session_id=session, after_id=one.id, condition=one.condition)
        for one in dependencies
    )


_INHERIT = text("""
    UPDATE session_dependencies d SET after_id = :successor
    FROM sessions s WHERE s.id = d.session_id AND s.state = 'PENDING' AND d.after_id = :former
""")

_ABOVE = text("""
    WITH RECURSIVE above AS (
        SELECT session_id, after_id FROM session_dependencies WHERE session_id = :session
        UNION
        SELECT d.session_id, d.after_id
        FROM above a JOIN session_dependencies d ON d.session_id = a.after_id
        JOIN sessions s ON s.id = d.session_id AND s.state = 'PENDING'
    ) SELECT a.session_id, a.after_id, s.name FROM above a JOIN sessions s ON s.id = a.session_id
""")


async def inherit(tx: AsyncSession, former: SessionId, successor: SessionId) -> None:
    """Make the pending sessions that were to start after `former` start after its successor.

    Raises: Invalid if the successor is to start after one of them.
    """
    await tx.execute(_INHERIT, {"former": former, "successor": successor})
    # After the update, so that a concurrent request that closes the cycle is seen.
    rows = (await tx.execute(_ABOVE, {"session": successor})).all()
    names = {row.session_id: row.name for row in rows}
    if path := _path_back([(row.session_id, row.after_id) for row in rows], successor):
        raise _cycle([names[one] for one in path])


def _path_back(edges: Iterable[tuple[str, str]], start: str) -> Sequence[str]:
    """The shortest cycle through the start, which is its first and last entry; empty if there is none."""
    after = defaultdict(list)
    for session, other in edges:
        after[session].append(other)
    paths, seen = [[start]], set[str]()
    for path in paths:
        for other in after[path[-1]]:
            if other == start:
                return [*path, start]
            if other not in seen:
                seen.add(other)
                paths.append([*path, other])
    return []


def _cycle(names: Sequence[str]) -> Invalid:
    first, *others = names
    return Invalid(
        "session.dependency_cycle",
        f"That is a cycle: {first} starts after {', which starts after '.join(others)}.",
        hint="Remove one of these dependencies.",
        field="after",
    )


# Built once, for the scheduler's passes.
_OF_PENDING = text("""
    SELECT d.session_id, d.after_id, d.condition, p.name, p.kind, p.state, p.result, p.ended_at
    FROM sessions s
    JOIN session_dependencies d ON d.session_id = s.id
    JOIN sessions p ON p.id = d.after_id
    WHERE s.state = 'PENDING' ORDER BY p.created_at, p.id
""")

_UNMET = text("""
    SELECT d.session_id, d.after_id, d.condition, p.name, p.kind, p.state, p.result, p.ended_at
    FROM sessions s
    JOIN session_dependencies d ON d.session_id = s.id AND d.condition <> 'ended'
    JOIN sessions p ON p.id = d.after_id AND p.ended_at IS NOT NULL
    WHERE s.state = 'PENDING' AND coalesce(s.spec ->> 'on_dependency_failure', 'cancel') = 'cancel'
    ORDER BY p.ended_at, p.id
""")


def _dependency(row: Any) -> Dependency:
    how = ending(row.kind, row.state, row.result)
    return Dependency(row.after_id, row.name, DependencyCondition(row.condition), how, row.ended_at)


async def of_pending(tx: AsyncSession) -> Mapping[SessionId, Sequence[Dependency]]:
    """The dependencies of each pending session that has any, oldest first."""
    by_session: defaultdict[SessionId, list[Dependency]] = defaultdict(list)
    for row in await tx.execute(_OF_PENDING):
        by_session[row.session_id].append(_dependency(row))
    return by_session


async def cancel_failed(tx: AsyncSession, now: datetime) -> Collection[SessionId]:
    """Cancel the pending sessions with a condition that can no longer be met, unless they are to keep waiting.

    Returns those that were cancelled; call again for the sessions that were to start after them.
    """
    failed: dict[SessionId, str] = {}
    for row in await tx.execute(_UNMET):
        one = _dependency(row)
        if one.met is False:
            reason = (
                f"{_what_happened(one)}, and this session was to start after its {_NEEDED[one.condition]}."
            )
            failed.setdefault(row.session_id, reason)
    by_reason: defaultdict[str, list[SessionId]] = defaultdict(list)
    for session, reason in failed.items():
        by_reason[reason].append(session)
    cancelled: list[SessionId] = []
    for reason, sessions in by_reason.items():
        cancelled += await transitions.move(
            tx,
            sessions,
            SessionState.CANCELLED,
            sources=[SessionState.PENDING],
            cause="dependency_failed",
            reason=reason,
            now=now,
        )
    return cancelled
