"""State transitions of sessions: one statement, the only writer of `sessions.state`.

Update, history and event are one guarded statement: it moves exactly the sessions whose current state allows the
transition and returns their ids. A concurrent second call moves nothing. The same statement releases the folders of a
session that ends, updates the containers of one that ends or is requeued, and writes the notice for mail and webhooks.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import EngineId, NodeId, SessionId
from carrel.sessions.announcements import INSERT_EVENT, NOTICE, NOTIFY, NOTIFY_OF_NOTICE, topic, words
from carrel.tables.session_states import LIFECYCLE, Result, SessionState

NO_STORAGE, NO_MOUNT, NO_QUOTA = "storage_unavailable", "mount_unusable", "quota_exhausted"
"""Causes that are not the node's fault: the session may be placed there again."""


_NOTICE_OF_MOVE = NOTICE.format(
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
        -- It is in the queues of all groups that it accepts again.
        group_id = CASE WHEN g.target = 'PENDING' AND s.accepted_groups <> '{{}}' THEN s.accepted_groups[1]
            ELSE s.group_id END,
        idle_ends_at = NULL,
        limit_ends_at = CASE WHEN g.target IN ('STARTING', 'RUNNING') THEN s.limit_ends_at END,
        avoided_nodes = CASE WHEN g.target = 'PENDING' AND g.cause NOT IN ('{NO_STORAGE}', '{NO_MOUNT}', '{NO_QUOTA}')
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
        -- Each attempt of a batch session has all of its time limit.
        limit_used_s = s.limit_used_s + CASE WHEN g.target IN ('PENDING', 'SCHEDULED') AND s.kind <> 'batch'
            THEN coalesce(ceil(extract(epoch FROM g.now - s.started_at)), 0) ELSE 0 END,
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
        machine_due_at = CASE WHEN g.final THEN c.machine_due_at END,
        machine_at = CASE WHEN g.final THEN c.machine_at END,
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
), noticed AS ({_NOTICE_OF_MOVE}), published AS ({INSERT_EVENT})
SELECT id, {NOTIFY}, {NOTIFY_OF_NOTICE} FROM changed
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
            "sources": words(allowed),
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
    sources = words(LIFECYCLE.live - {SessionState.TERMINATING})
    await tx.execute(
        _STOP_BY, {"ids": list(sessions), "signal": signal, "grace_s": grace_s, "sources": sources}
    )


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
