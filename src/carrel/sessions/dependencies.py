"""Dependencies: a session starts after others, or all sessions of an array, have ended in a certain way.

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

from carrel.core.errors import CarrelError, Invalid, NotFound, Refused
from carrel.core.ids import ProjectId, SessionId
from carrel.permissions.decide import Actor, Target, require
from carrel.scheduling.snapshot import Awaited
from carrel.sessions import queries, transitions
from carrel.sessions.arrays import span
from carrel.sessions.endings import ArrayEndings, ending, is_met, is_met_by_array
from carrel.sessions.spec import DependencyRequest, SchedulingSpec
from carrel.tables.dependencies import DependencyCondition, DependencyFailure, SessionDependency
from carrel.tables.session_states import LIFECYCLE, Result, SessionState
from carrel.tables.sessions import Session

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
    """One dependency of a session. id, name: of the session or array that must end. ending: how the session ended;
    None: it has not. array: how the sessions of the array have ended; None: it is no array.
    """

    id: SessionId
    name: str
    condition: DependencyCondition
    ending: Result | None
    ended_at: datetime | None = None
    array: ArrayEndings | None = None

    @property
    def met(self) -> bool | None:
        """Whether the condition is met; None: not known yet."""
        if self.array:
            return is_met_by_array(self.condition, self.array)
        return is_met(self.condition, self.ending)


def cannot_be_met(dependencies: Iterable[Dependency]) -> bool:
    """Whether a session that has these can never start."""
    return any(one.met is False for one in dependencies)


def awaited(dependencies: Iterable[Dependency]) -> frozenset[Awaited]:
    """What must end before a session that has these may start."""
    return frozenset(Awaited(one.id, one.array is not None) for one in dependencies if one.met is None)


def sentence(dependencies: Iterable[Dependency], *, progress: bool = False) -> str:
    """Why a session that has these does not start; "" if all are met. Names the first unmet one.

    progress: with the number of sessions of an array that have ended. The reason that is stored and published for each
    pending session is without it, as it would change with each of them.
    """
    unmet = [one for one in dependencies if not one.met]
    if never := next((one for one in unmet if one.met is False), None):
        return f"{_what_happened(never)}, and this session starts only after its {_NEEDED[never.condition]}."
    if not unmet:
        return ""
    first, others = unmet[0], len(unmet) - 1
    more = f", and for {others} other session{'s' * (others > 1)}" if others else ""
    ended = f" ({first.array.ended} of {first.array.count} have ended)" if progress and first.array else ""
    return f"It waits for {first.name}{ended} to {_VERBS[first.condition]}{more}."


def _what_happened(one: Dependency) -> str:
    if one.array:
        failed = one.condition == DependencyCondition.FAILED
        return f"No session of {one.name} failed" if failed else f"Not all of {one.name} succeeded"
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
    resolved: dict[tuple[SessionId, bool], Dependency] = {}
    for number, request in enumerate(spec.after):
        try:
            one = await _resolved(tx, actor, project, request, replaced)
            key = one.id, one.array is not None
            if key in resolved:
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
        resolved[key] = one
    return tuple(resolved.values())


async def _resolved(
    tx: AsyncSession, actor: Actor, project: ProjectId, request: DependencyRequest, replaced: SessionId | None
) -> Dependency:
    session, whole = await _named(tx, actor, request)
    require(
        actor,
        "session.read",
        Target(session.owner_id, session.project_id, session.domain_id),
        read="session.read",
        missing=queries.not_found(request.session),
    )
    if session.id == replaced and not whole:
        raise _cycle([session.name, session.name])
    if session.owner_id != actor.user_id and session.project_id != project:
        raise Invalid(
            "session.dependency_elsewhere",
            f"{session.name} belongs to another user and to another project.",
            hint="A session can start after your own sessions, and after those of its project.",
        )
    if whole and session.array_id:
        [array] = (await _arrays(tx, [session.array_id])).values()
        return _on_array(array, request.condition)
    how = ending(session.kind, session.state, session.result)
    return Dependency(session.id, session.name, request.condition, how, session.ended_at)


async def _named(tx: AsyncSession, actor: Actor, request: DependencyRequest) -> tuple[Session, bool]:
    """The session; or one of the array, and True."""
    ref = request.session
    if request.array and (first := await queries.first_of_array(tx, actor, ref)):
        return await queries.resolve(tx, actor, first), True
    try:
        session = await queries.resolve(tx, actor, ref)
    except NotFound:
        if first := await queries.first_of_array(tx, actor, ref):
            return await queries.resolve(tx, actor, first), True
        raise
    if request.array and not session.array_id:
        raise Invalid("session.no_array", f"{session.name} is not a session of an array.")
    return session, request.array


def add(tx: AsyncSession, session: SessionId, dependencies: Iterable[Dependency]) -> None:
    """Store the dependencies of a new session."""
    tx.add_all(
        SessionDependency(
            session_id=session,
            after_id=one.id,
            whole_array=one.array is not None,
            condition=one.condition,
        )
        for one in dependencies
    )


# The first session of an array stands for all of it, also if it was cancelled alone: they have the same dependencies.
_QUEUED = """(s.state = 'PENDING' OR s.id = s.array_id AND EXISTS (
    SELECT FROM sessions m WHERE m.array_id = s.id AND m.state = 'PENDING'))"""

_INHERIT = text(f"""
    UPDATE session_dependencies d SET after_id = :successor, whole_array = :array
    FROM sessions s
    WHERE s.id = d.session_id AND d.after_id = :former AND NOT d.whole_array AND {_QUEUED}
""")  # noqa: S608 - no input in it

_ABOVE = text(f"""
    WITH RECURSIVE above AS (
        SELECT session_id, after_id FROM session_dependencies WHERE session_id = :session
        UNION
        SELECT d.session_id, d.after_id
        FROM above a JOIN session_dependencies d ON d.session_id = a.after_id
        JOIN sessions s ON s.id = d.session_id AND {_QUEUED}
    ) SELECT a.session_id, a.after_id, s.name FROM above a JOIN sessions s ON s.id = a.session_id
""")  # noqa: S608 - no input in it


async def inherit(tx: AsyncSession, former: SessionId, successor: SessionId, *, array: bool) -> None:
    """Make the pending sessions that were to start after `former` start after its successor. array: after all of it.

    Raises: Invalid if the successor is to start after one of them.
    """
    await tx.execute(_INHERIT, {"former": former, "successor": successor, "array": array})
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
_COLUMNS = (
    "d.session_id, d.after_id, d.whole_array, d.condition, p.name, p.kind, p.state, p.result, p.ended_at"
)

_OF_PENDING = text(f"""
    SELECT {_COLUMNS}
    FROM sessions s
    JOIN session_dependencies d ON d.session_id = s.id
    JOIN sessions p ON p.id = d.after_id
    WHERE s.state = 'PENDING' ORDER BY p.created_at, p.id
""")  # noqa: S608 - no input in it

_OF_ONE = text(f"""
    SELECT {_COLUMNS} FROM session_dependencies d JOIN sessions p ON p.id = d.after_id
    WHERE d.session_id = :session ORDER BY p.created_at, p.id
""")  # noqa: S608 - no input in it

_UNMET = text(f"""
    SELECT {_COLUMNS}
    FROM sessions s
    JOIN session_dependencies d ON d.session_id = s.id AND d.condition <> 'ended'
    JOIN sessions p ON p.id = d.after_id AND (d.whole_array OR p.ended_at IS NOT NULL)
    WHERE s.state = 'PENDING' AND coalesce(s.spec ->> 'on_dependency_failure', 'cancel') = 'cancel'
    ORDER BY p.ended_at, p.id
""")  # noqa: S608 - no input in it

_FINAL = ", ".join(f"'{state}'" for state in sorted(LIFECYCLE.final))

_ARRAYS = text(f"""
    SELECT r.id, r.name, r.first_index, r.last_index, count(*) AS count, count(*) FILTER (WHERE ended) AS ended,
        count(*) FILTER (WHERE ended AND result = '{Result.SUCCESS}') AS succeeded,
        count(*) FILTER (WHERE ended AND result IN ('{Result.FAILURE}', '{Result.TIMED_OUT}')) AS failed,
        max(ended_at) AS ended_at
    FROM session_arrays r JOIN (
        SELECT array_id, state IN ({_FINAL}) AS ended, result, ended_at FROM sessions WHERE array_id = ANY(:ids)
    ) AS m ON m.array_id = r.id
    GROUP BY r.id
""")  # noqa: S608 - no input in it


async def _dependencies(tx: AsyncSession, rows: Sequence[Any]) -> list[Dependency]:
    """In the order of the rows."""
    arrays = await _arrays(tx, {row.after_id for row in rows if row.whole_array})
    return [
        _on_array(arrays[row.after_id], row.condition) if row.whole_array else _on_session(row)
        for row in rows
    ]


async def _arrays(tx: AsyncSession, ids: Collection[SessionId]) -> Mapping[SessionId, Any]:
    """How the sessions of these arrays have ended, as far as they have."""
    rows = await tx.execute(_ARRAYS, {"ids": list(ids)}) if ids else ()
    return {row.id: row for row in rows}


def _on_session(row: Any) -> Dependency:
    how = ending(row.kind, row.state, row.result)
    return Dependency(row.after_id, row.name, DependencyCondition(row.condition), how, row.ended_at)


def _on_array(row: Any, condition: str) -> Dependency:
    return Dependency(
        row.id,
        span(row.name, row.first_index, row.last_index),
        DependencyCondition(condition),
        None,
        row.ended_at if row.ended == row.count else None,
        ArrayEndings(row.count, row.ended, row.succeeded, row.failed),
    )


async def of_pending(tx: AsyncSession) -> Mapping[SessionId, Sequence[Dependency]]:
    """The dependencies of each pending session that has any, oldest first."""
    by_session: defaultdict[SessionId, list[Dependency]] = defaultdict(list)
    rows = (await tx.execute(_OF_PENDING)).all()
    for row, one in zip(rows, await _dependencies(tx, rows), strict=True):
        by_session[row.session_id].append(one)
    return by_session


async def of_session(tx: AsyncSession, session: SessionId) -> Sequence[Dependency]:
    """The dependencies of one session, oldest first."""
    return await _dependencies(tx, (await tx.execute(_OF_ONE, {"session": session})).all())


async def cancel_failed(tx: AsyncSession, now: datetime) -> Collection[SessionId]:
    """Cancel the pending sessions with a condition that can no longer be met, unless they are to keep waiting.

    Returns those that were cancelled; call again for the sessions that were to start after them.
    """
    failed: dict[SessionId, str] = {}
    rows = (await tx.execute(_UNMET)).all()
    for row, one in zip(rows, await _dependencies(tx, rows), strict=True):
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
