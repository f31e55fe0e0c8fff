"""State transitions of sessions: one statement, the only writer of `sessions.state`.

Update, history and event are one guarded statement: it moves exactly the sessions whose current state allows the
transition and returns their ids. A concurrent second call moves nothing. The same statement releases the folders of a
session that ends, updates the containers of one that ends or is requeued, and writes the notice for mail and webhooks.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import EngineId, NodeId, SessionId
from carrel.sessions.visibility import audience_as_text
from carrel.tables.notifications import DISK_NEARLY_FULL, IDLE_WARNING, LIMIT_WARNING
from carrel.tables.session_states import LIFECYCLE, Result, SessionState

NO_STORAGE, NO_MOUNT = "storage_unavailable", "mount_unusable"
"""Causes that are not the node's fault: the session may be placed there again."""

_EVENT_DATA = """jsonb_build_object(
    'id', {s}.id, 'name', {s}.name, 'state', {s}.state, 'result', {s}.result, 'reason', {s}.reason,
    'progress', {s}.progress, 'slots', {s}.slots,
    'warnings', {s}.warnings, 'queue_position', {s}.queue_position, 'priority', {s}.priority, 'node', {node},
    'idle_ends_at', {s}.idle_ends_at, 'limit_ends_at', {s}.limit_ends_at,
    'started_at', {s}.started_at, 'ended_at', {s}.ended_at,
    'array_id', {s}.array_id)"""

_NODE_NAME = """(SELECT n.name FROM containers m JOIN nodes n ON n.id = m.node_id
        WHERE m.session_id = {s}.id AND m.index = 0 AND {s}.state <> 'PENDING')"""


def _event_data(alias: str) -> str:
    return _EVENT_DATA.format(s=alias, node=_NODE_NAME.format(s=alias))


_INSERT_EVENT = f"""
    INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, audience, data)
    SELECT :event, 'session', c.id, c.owner_id, c.project_id, c.domain_id, {audience_as_text("c")}, {_event_data("c")}
    FROM changed c"""  # noqa: S608 - no input in it

# Written only if somebody may have to be told by mail or webhook.
_NOTICE = """
    INSERT INTO session_notices (session_id, kind, at, state, reason, ends_at, cause)
    SELECT c.id, k.kind, {at}, c.state, {reason}, {ends_at}, {cause}
    FROM changed c {given} CROSS JOIN LATERAL (SELECT {kind} AS kind) k
    WHERE k.kind IS NOT NULL AND (
        EXISTS (SELECT FROM users u WHERE u.id = c.owner_id AND u.notifications <> '{{}}')
        OR EXISTS (SELECT FROM webhooks w WHERE w.active AND (
            w.user_id = c.owner_id OR w.project_id = c.project_id OR w.domain_id = c.domain_id)))
    RETURNING id"""

_NOTICE_OF_MOVE = _NOTICE.format(
    at="g.now",
    reason="c.reason",
    ends_at="NULL",
    cause="NULL",
    given="CROSS JOIN given g",
    kind="""CASE
        WHEN g.target = 'RUNNING' AND c.old_state = 'STARTING' AND c.started_at = g.now THEN 'started'
        WHEN NOT g.final THEN NULL
        WHEN c.state = 'ERROR' OR c.result IN ('failure', 'timed_out') THEN 'failed'
        ELSE 'ended' END""",
)
_NOTICE_OF_END = _NOTICE.format(
    at="CAST(:now AS timestamptz)",
    reason="CAST(:reason AS text)",
    ends_at="CAST(:ends_at AS timestamptz)",
    cause="CAST(:cause AS text)",
    given="",
    kind=f"CASE WHEN CAST(:cause AS text) IN ('{IDLE_WARNING}', '{LIMIT_WARNING}') THEN 'about_to_end' END",
)
_NOTICE_OF_WARNING = _NOTICE.format(
    at="CAST(:now AS timestamptz)",
    reason="CAST(:reason AS text)",
    ends_at="NULL",
    cause="CAST(:cause AS text)",
    given="",
    kind=f"CASE WHEN CAST(:cause AS text) = '{DISK_NEARLY_FULL}' THEN 'about_to_end' END",
)
_NOTIFY_OF_NOTICE = "(SELECT count(pg_notify('carrel', 'notices')) FROM noticed)"

_NOTIFY = "pg_notify('carrel', 'events'), pg_notify('carrel', :topic)"

_MOVE = text(f"""
WITH given AS (
    SELECT CAST(:target AS text) AS target, CAST(:reason AS text) AS reason, CAST(:outcome AS text) AS outcome,
        CAST(:blamed AS text) AS blamed, CAST(:now AS timestamptz) AS now, CAST(:final AS bool) AS final,
        CAST(:deadline AS timestamptz) AS deadline, CAST(:not_before AS timestamptz) AS not_before,
        CAST(:result AS text) AS result,
        CAST(:abandon AS bool) AS abandon, CAST(:cause AS text) AS cause, CAST(:actor AS text) AS actor
), old AS (
    SELECT id, state FROM sessions WHERE id = ANY(:ids) AND state = ANY(:sources) ORDER BY id FOR UPDATE
), changed AS (
    UPDATE sessions s SET
        state = g.target,
        reason = g.reason,
        deadline = g.deadline,
        progress = NULL,
        queue_position = NULL,
        idle_ends_at = NULL,
        limit_ends_at = CASE WHEN g.target IN ('STARTING', 'RUNNING') THEN s.limit_ends_at END,
        avoided_nodes = CASE WHEN g.target = 'PENDING' AND g.cause NOT IN ('{NO_STORAGE}', '{NO_MOUNT}')
            THEN ARRAY(SELECT unnest(s.avoided_nodes) UNION SELECT c.node_id FROM containers c
                WHERE c.session_id = s.id AND c.node_id = coalesce(g.blamed, c.node_id))
            ELSE s.avoided_nodes END,
        outcome = CASE WHEN g.target IN ('PENDING', 'SCHEDULED') THEN NULL WHEN g.final THEN g.target
            WHEN g.target <> 'TERMINATING' THEN s.outcome
            WHEN g.outcome = 'CANCELLED' AND s.started_at IS NOT NULL THEN 'TERMINATED'
            ELSE g.outcome END,
        -- A failed run with retries left has a result and the outcome PENDING.
        result = CASE WHEN g.target = 'PENDING' OR g.outcome = 'PENDING' OR s.kind <> 'batch' THEN NULL
            WHEN g.final THEN coalesce(s.result, g.result,
                CASE WHEN g.target = 'ERROR' THEN 'failure' ELSE 'cancelled' END)
            ELSE coalesce(s.result, g.result) END,
        retries_left = s.retries_left - CASE WHEN g.outcome = 'PENDING' AND g.result IS NOT NULL THEN 1 ELSE 0 END,
        attempts = s.attempts + CASE WHEN g.target = 'PENDING' THEN 1 ELSE 0 END,
        restarts = s.restarts + CASE WHEN (s.state, g.target) IN (('RUNNING', 'STARTING'), ('TERMINATING', 'SCHEDULED'))
            THEN 1 ELSE 0 END,
        not_before = g.not_before,
        started_at = CASE WHEN g.target = 'RUNNING' THEN coalesce(s.started_at, g.now)
            WHEN g.target IN ('PENDING', 'SCHEDULED') THEN NULL ELSE s.started_at END,
        ended_at = CASE WHEN g.final THEN g.now END
    FROM old, given g WHERE s.id = old.id
    RETURNING s.*, old.state AS old_state
), taken_along AS (
    UPDATE containers c SET
        state = CASE WHEN g.abandon AND c.state <> 'PENDING' THEN 'ABANDONED'
            WHEN g.final THEN 'GONE' ELSE g.target END,
        node_id = CASE WHEN g.target <> 'PENDING' THEN c.node_id END,
        address = NULL,
        exit_code = CASE WHEN g.final THEN c.exit_code END,
        started_at = CASE WHEN g.final THEN c.started_at END,
        mounted_at = CASE WHEN g.final THEN c.mounted_at END,
        image_at = CASE WHEN g.final THEN c.image_at END,
        launched_at = CASE WHEN g.final THEN c.launched_at END,
        ended_at = CASE WHEN g.final THEN coalesce(c.ended_at, g.now) END
    FROM changed s, given g
    WHERE c.session_id = s.id AND (g.target = 'PENDING' OR g.final AND c.state <> 'GONE'
        OR g.target = 'SCHEDULED' AND s.old_state = 'TERMINATING')
), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason, actor)
    SELECT c.id, g.now, c.old_state, c.state, g.cause, c.reason, g.actor FROM changed c, given g
), released AS (
    UPDATE vfolder_mounts m SET released_at = g.now FROM changed c, given g
    WHERE g.final AND m.session_id = c.id AND m.released_at IS NULL
), noticed AS ({_NOTICE_OF_MOVE}), published AS ({_INSERT_EVENT})
SELECT id, {_NOTIFY}, {_NOTIFY_OF_NOTICE} FROM changed
""")  # noqa: S608 - no input in it

_TOUCH = text(f"""
WITH changed AS (
    UPDATE sessions SET progress = coalesce(CAST(:progress AS jsonb), progress), reason = coalesce(:reason, reason)
    WHERE id = :id AND state = ANY(:sources) RETURNING *
), published AS ({_INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_NOTE = text(f"""
WITH changed AS (
    UPDATE sessions SET warnings = warnings || to_jsonb(CAST(:cause AS text))
    WHERE id = :id AND state = ANY(:sources) AND NOT warnings ? :cause RETURNING *
), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason)
    SELECT id, :now, state, state, :cause, :reason FROM changed
), noticed AS ({_NOTICE_OF_WARNING}), published AS ({_INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events'), {_NOTIFY_OF_NOTICE} FROM changed
""")  # noqa: S608 - no input in it

_CLEAR = text(f"""
WITH changed AS (
    UPDATE sessions SET warnings = warnings - CAST(:cause AS text) WHERE id = :id AND warnings ? :cause RETURNING *
), published AS ({_INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_REMARK = text(f"""
WITH changed AS (SELECT * FROM sessions WHERE id = :id), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason)
    SELECT id, :now, state, state, :cause, :reason FROM changed
), published AS ({_INSERT_EVENT})
SELECT id, {_NOTIFY} FROM changed
""")  # noqa: S608 - no input in it


def _expect_end(column: str) -> TextClause:
    return text(f"""
WITH changed AS (
    UPDATE sessions SET {column} = g.ends_at
    FROM (SELECT CAST(:ends_at AS timestamptz) AS ends_at) g
    WHERE id = :id AND state = 'RUNNING' AND {column} IS DISTINCT FROM g.ends_at
    RETURNING sessions.*
), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason, actor)
    SELECT id, :now, state, state, n.cause, :reason, :actor
    FROM changed, (SELECT CAST(:cause AS text) AS cause) n WHERE n.cause IS NOT NULL
), noticed AS ({_NOTICE_OF_END}), published AS ({_INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events'), {_NOTIFY_OF_NOTICE} FROM changed
""")  # noqa: S608 - no input in it


_EXPECT_IDLE_END, _EXPECT_LIMIT_END = _expect_end("idle_ends_at"), _expect_end("limit_ends_at")

_REFUSE = text(f"""
WITH refusals AS (
    SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(id text, reason text, position int)
), changed AS (
    UPDATE sessions s SET reason = r.reason, queue_position = r.position
    FROM refusals r WHERE s.id = r.id AND s.state = 'PENDING'
      AND (s.reason, s.queue_position) IS DISTINCT FROM (r.reason, r.position)
    RETURNING s.*
), published AS ({_INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_CREATED = text(f"""
WITH changed AS (SELECT * FROM sessions WHERE id = ANY(:ids) ORDER BY id), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, actor)
    SELECT id, created_at, NULL, state, 'created', :actor FROM changed
), published AS ({_INSERT_EVENT})
SELECT id, {_NOTIFY} FROM changed
""")  # noqa: S608 - no input in it


_ANNOUNCE = text(f"""
WITH changed AS (SELECT * FROM sessions WHERE id = :id), published AS ({_INSERT_EVENT})
SELECT id, {_NOTIFY} FROM changed
""")  # noqa: S608 - no input in it

_STOP_BY = text("""
UPDATE sessions SET stop_signal = coalesce(:signal, stop_signal), grace_s = coalesce(:grace_s, grace_s)
WHERE id = ANY(:ids) AND state = ANY(:sources)
""")

_STAY = text("""
    UPDATE sessions SET reason = :reason,
        outcome = CASE WHEN started_at IS NULL THEN 'CANCELLED' ELSE 'TERMINATED' END
    WHERE id = ANY(:ids) AND state = 'TERMINATING' AND outcome IN ('PENDING', 'SCHEDULED')
""")

_RENEW = text("UPDATE sessions SET deadline = :deadline WHERE state = :state")

_RENEW_RESTARTS = text("""
    UPDATE sessions SET deadline = :deadline
    WHERE state = 'STARTING' AND started_at IS NOT NULL AND id IN (
        SELECT c.session_id FROM containers c JOIN nodes n ON n.id = c.node_id
        WHERE n.engine_id = :engine AND c.state <> 'GONE')
""")

_RENEW_ONE = text("UPDATE sessions SET deadline = :deadline WHERE id = :id AND state = :state")

_PRIORITISE = text(f"""
WITH changed AS (
    UPDATE sessions SET priority = :priority WHERE id = ANY(:ids) RETURNING *
), published AS ({_INSERT_EVENT})
SELECT id, {_NOTIFY} FROM changed
""")  # noqa: S608 - no input in it

_EXTEND = text(f"""
WITH changed AS (
    UPDATE sessions SET time_limit_s = :limit_s, limit_ends_at = NULL WHERE id = :id RETURNING *
), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason, actor)
    SELECT id, :now, state, state, 'extended', :reason, :actor FROM changed
), published AS ({_INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_RENAME = text(f"""
WITH changed AS (UPDATE sessions SET name = :name WHERE id = :id AND state = ANY(:sources) RETURNING *),
published AS ({_INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it


def _words(states: Iterable[SessionState]) -> list[str]:
    # Plain strings, because the driver would look for a PostgreSQL enum of the same name.
    return sorted(str(state) for state in states)


def topic(state: SessionState) -> str:
    """The topics that a transition into the state notifies."""
    return f"sessions.{state}"


async def move(
    tx: AsyncSession,
    sessions: Iterable[SessionId],
    target: SessionState,
    *,
    cause: str,
    now: datetime,
    reason: str | None = None,
    sources: Iterable[SessionState] | None = None,
    actor: str | None = None,
    outcome: SessionState | None = None,
    result: Result | None = None,
    abandon: bool = False,
    not_before: datetime | None = None,
    blamed: NodeId | None = None,
) -> list[SessionId]:
    """Move sessions to the target state. Returns those that moved.

    sources: a subset of the source states that the lifecycle allows. result: of a batch session, unless it has one.
    blamed: the node that a requeued session avoids; None: all of its nodes. abandon: the containers of a session that
    ends may remain on the engine and become ABANDONED.
    """
    allowed = LIFECYCLE.sources(target) & frozenset(sources or LIFECYCLE.moves)
    lasts = LIFECYCLE.deadlines.get(target)
    moved = await tx.execute(
        _MOVE,
        {
            "ids": list(sessions),
            "sources": _words(allowed),
            "target": str(target),
            "reason": reason,
            "deadline": now + lasts if lasts else None,
            "blamed": blamed,
            "outcome": str(outcome) if outcome else None,
            "result": str(result) if result else None,
            "abandon": abandon,
            "not_before": not_before,
            "final": target in LIFECYCLE.final,
            "now": now,
            "cause": cause,
            "actor": actor,
            "event": "session.updated",
            "topic": topic(target),
        },
    )
    return [SessionId(row.id) for row in moved]


async def terminate(
    tx: AsyncSession,
    sessions: Iterable[SessionId],
    *,
    cause: str,
    reason: str | None,
    now: datetime,
    actor: str | None = None,
) -> None:
    """Start to terminate placed sessions on request: CANCELLED those that never ran, otherwise TERMINATED.

    One that is TERMINATING already is only kept from being requeued or restarted.
    """
    ids = list(sessions)
    await keep_ended(tx, ids, reason=reason)
    await move(
        tx,
        ids,
        SessionState.TERMINATING,
        outcome=SessionState.CANCELLED,
        cause=cause,
        reason=reason,
        actor=actor,
        now=now,
    )


async def stop_by(
    tx: AsyncSession, sessions: Sequence[SessionId], signal: str | None, grace_s: int | None
) -> None:
    """Set how the main processes of sessions that do not end yet are asked to end; None: as before."""
    sources = _words(LIFECYCLE.live - {SessionState.TERMINATING})
    await tx.execute(
        _STOP_BY, {"ids": list(sessions), "signal": signal, "grace_s": grace_s, "sources": sources}
    )


async def announce(tx: AsyncSession, session: SessionId, state: SessionState) -> None:
    """Publish a change of a session in this state, and wake those that wait for such sessions."""
    await tx.execute(_ANNOUNCE, {"id": session, "event": "session.updated", "topic": topic(state)})


async def keep_ended(tx: AsyncSession, sessions: Iterable[SessionId], *, reason: str | None) -> None:
    """Make sessions that terminate in order to be requeued or restarted end instead."""
    await tx.execute(_STAY, {"ids": list(sessions), "reason": reason})


async def renew_deadlines(tx: AsyncSession, states: Iterable[SessionState], *, now: datetime) -> None:
    """Restart the deadlines of these states, which count only time in which a leader could act."""
    for state in states:
        await tx.execute(_RENEW, {"state": str(state), "deadline": now + LIFECYCLE.deadlines[state]})


async def renew_restarts(tx: AsyncSession, engine: EngineId, *, now: datetime) -> None:
    """As `restart_deadlines`, for sessions to be restarted on an engine that does not respond."""
    deadline = now + LIFECYCLE.deadlines[SessionState.STARTING]
    await tx.execute(_RENEW_RESTARTS, {"engine": engine, "deadline": deadline})


async def renew_deadline(tx: AsyncSession, session: SessionId, state: SessionState, *, now: datetime) -> None:
    """Restart the deadline of one session, if it is still in this state."""
    await tx.execute(
        _RENEW_ONE, {"id": session, "state": str(state), "deadline": now + LIFECYCLE.deadlines[state]}
    )


async def rename(tx: AsyncSession, session: SessionId, name: str) -> None:
    """Change the name of a live session. Raises: IntegrityError when it is taken."""
    await tx.execute(
        _RENAME, {"id": session, "name": name, "sources": _words(LIFECYCLE.live), "event": "session.updated"}
    )


async def prioritise(tx: AsyncSession, sessions: Iterable[SessionId], priority: int) -> None:
    """Change the priority of sessions and wake the scheduler."""
    bound = {
        "ids": list(sessions),
        "priority": priority,
        "event": "session.updated",
        "topic": topic(SessionState.PENDING),
    }
    await tx.execute(_PRIORITISE, bound)


async def extend(
    tx: AsyncSession, session: SessionId, limit_s: int, *, reason: str, actor: str, now: datetime
) -> None:
    """Set the time limit of a session, and note it in the history. An announced end is withdrawn."""
    bound = {"id": session, "limit_s": limit_s, "reason": reason, "actor": actor, "now": now}
    await tx.execute(_EXTEND, {**bound, "event": "session.updated"})


async def announce_created(tx: AsyncSession, sessions: Iterable[SessionId], *, actor: str) -> None:
    """Write the first history entry and event of new sessions."""
    await tx.execute(
        _CREATED,
        {
            "ids": list(sessions),
            "actor": actor,
            "event": "session.created",
            "topic": topic(SessionState.PENDING),
        },
    )


async def show_progress(
    tx: AsyncSession,
    session: SessionId,
    states: Iterable[SessionState],
    *,
    progress: dict[str, Any] | None,
    reason: str | None,
) -> None:
    """Publish the progress of a start or termination; no-op if the session has left these states."""
    await tx.execute(
        _TOUCH,
        {
            "id": session,
            "progress": orjson.dumps(progress).decode() if progress else None,
            "reason": reason,
            "sources": _words(states),
            "event": "session.updated",
        },
    )


async def warn(tx: AsyncSession, session: SessionId, *, cause: str, reason: str, now: datetime) -> bool:
    """Attach a lasting warning to a live session and note it in the history; once for each cause."""
    noted = await tx.execute(
        _NOTE,
        {
            "id": session,
            "cause": cause,
            "reason": reason,
            "sources": _words(LIFECYCLE.live),
            "now": now,
            "event": "session.updated",
        },
    )
    return noted.first() is not None


async def remark(
    tx: AsyncSession, session: SessionId, *, cause: str, reason: str, topic: str, now: datetime
) -> None:
    """Note something in the history of a session, publish its changed row, and notify the topic."""
    bound = {"id": session, "cause": cause, "reason": reason, "now": now, "topic": topic}
    await tx.execute(_REMARK, {**bound, "event": "session.updated"})


async def clear_warning(tx: AsyncSession, session: SessionId, cause: str) -> None:
    """Remove a warning, so that it may be given again. Twice: no-op."""
    await tx.execute(_CLEAR, {"id": session, "cause": cause, "event": "session.updated"})


async def expect_idle_end(
    tx: AsyncSession,
    session: SessionId,
    ends_at: datetime | None,
    *,
    now: datetime,
    cause: str | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> None:
    """Set when a running session will end for being idle; None: cleared. cause: if given, recorded in the history."""
    bound = {
        "id": session,
        "ends_at": ends_at,
        "now": now,
        "cause": cause,
        "reason": reason,
        "actor": actor,
        "event": "session.updated",
    }
    await tx.execute(_EXPECT_IDLE_END, bound)


async def expect_limit_end(
    tx: AsyncSession, session: SessionId, ends_at: datetime, *, now: datetime, reason: str
) -> None:
    """Announce when a running session will end at its time limit. Twice with the same time: no-op."""
    bound = {
        "id": session,
        "ends_at": ends_at,
        "now": now,
        "cause": LIMIT_WARNING,
        "reason": reason,
        "actor": None,
        "event": "session.updated",
    }
    await tx.execute(_EXPECT_LIMIT_END, bound)


async def refuse(tx: AsyncSession, refusals: Sequence[tuple[SessionId, str, int | None]]) -> None:
    """Store reason and queue position of each pending session; unchanged rows are not written."""
    if not refusals:
        return
    rows = [{"id": session, "reason": reason, "position": place} for session, reason, place in refusals]
    await tx.execute(_REFUSE, {"rows": orjson.dumps(rows).decode(), "event": "session.updated"})
