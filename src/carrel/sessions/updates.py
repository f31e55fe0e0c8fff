"""Changes of sessions that keep their state, each with its event, and its history entry and notice if it has one."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.sessions.announcements import INSERT_EVENT, NOTICE, NOTIFY, NOTIFY_OF_NOTICE, topic, words
from carrel.tables.notifications import DISK_NEARLY_FULL, IDLE_WARNING, LIMIT_WARNING, NODE_LEAVING
from carrel.tables.session_states import LAUNCHING, LIFECYCLE, SessionState

_ENGINE_EVENT = "engine_event"
_NOTED_FOR, _MOST_NOTED = "2 hours", 10
_NOTICE_OF_END = NOTICE.format(
    at="CAST(:now AS timestamptz)",
    reason="CAST(:reason AS text)",
    ends_at="CAST(:ends_at AS timestamptz)",
    cause="CAST(:cause AS text)",
    given="",
    kind=f"CASE WHEN CAST(:cause AS text) IN ('{IDLE_WARNING}', '{LIMIT_WARNING}') THEN 'about_to_end' END",
)

_NOTICE_OF_WARNING = NOTICE.format(
    at="CAST(:now AS timestamptz)",
    reason="CAST(:reason AS text)",
    ends_at="NULL",
    cause="CAST(:cause AS text)",
    given="",
    kind=f"CASE WHEN CAST(:cause AS text) IN ('{DISK_NEARLY_FULL}', '{NODE_LEAVING}') THEN 'about_to_end' END",
)

_TOUCH = text(f"""
WITH changed AS (
    UPDATE sessions SET progress = coalesce(CAST(:progress AS jsonb), progress), reason = coalesce(:reason, reason)
    WHERE id = :id AND state = ANY(:sources) RETURNING *
), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_OFFER = text("""
UPDATE sessions SET apps = CAST(:apps AS jsonb) WHERE id = :id AND apps <> CAST(:apps AS jsonb)
""")

_MACHINE_KNOWN = text(f"""
WITH changed AS (
    UPDATE sessions SET reason = CASE WHEN state = ANY(:sources) THEN NULL ELSE reason END WHERE id = :id RETURNING *
), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_NOTE = text(f"""
WITH changed AS (
    UPDATE sessions SET warnings = warnings || to_jsonb(CAST(:cause AS text))
    WHERE id = :id AND state = ANY(:sources) AND NOT warnings ? :cause RETURNING *
), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason)
    SELECT id, :now, state, state, :cause, :reason FROM changed
), noticed AS ({_NOTICE_OF_WARNING}), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events'), {NOTIFY_OF_NOTICE} FROM changed
""")  # noqa: S608 - no input in it

_CLEAR = text(f"""
WITH changed AS (
    UPDATE sessions SET warnings = warnings - CAST(:cause AS text) WHERE id = :id AND warnings ? :cause RETURNING *
), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_REMARK = text(f"""
WITH changed AS (SELECT * FROM sessions WHERE id = :id), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason)
    SELECT id, :now, state, state, :cause, :reason FROM changed
), published AS ({INSERT_EVENT})
SELECT id, {NOTIFY} FROM changed
""")  # noqa: S608 - no input in it


_REPORT = text(f"""
WITH noted AS (
    SELECT reason FROM session_history
    WHERE session_id = :id AND cause = '{_ENGINE_EVENT}' AND at > CAST(:now AS timestamptz) - interval '{_NOTED_FOR}'
), changed AS (
    UPDATE sessions SET reason = CASE WHEN state = ANY(:launching) THEN :reason ELSE reason END
    WHERE id = :id AND state = ANY(:sources) AND CAST(:reason AS text) NOT IN (SELECT reason FROM noted)
        AND (SELECT count(*) FROM noted) < {_MOST_NOTED}
    RETURNING *
), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason)
    SELECT id, :now, state, state, '{_ENGINE_EVENT}', :reason FROM changed
), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
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
), noticed AS ({_NOTICE_OF_END}), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events'), {NOTIFY_OF_NOTICE} FROM changed
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
), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_CREATED = text(f"""
WITH changed AS (SELECT * FROM sessions WHERE id = ANY(:ids) ORDER BY id), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, actor)
    SELECT id, created_at, NULL, state, 'created', :actor FROM changed
), published AS ({INSERT_EVENT})
SELECT id, {NOTIFY} FROM changed
""")  # noqa: S608 - no input in it

_ANNOUNCE = text(f"""
WITH changed AS (SELECT * FROM sessions WHERE id = :id), published AS ({INSERT_EVENT})
SELECT id, {NOTIFY} FROM changed
""")  # noqa: S608 - no input in it

_PRIORITISE = text(f"""
WITH changed AS (
    UPDATE sessions SET priority = :priority WHERE id = ANY(:ids) RETURNING *
), published AS ({INSERT_EVENT})
SELECT id, {NOTIFY} FROM changed
""")  # noqa: S608 - no input in it

_EXTEND = text(f"""
WITH changed AS (
    UPDATE sessions SET time_limit_s = :limit_s, limit_ends_at = NULL WHERE id = :id RETURNING *
), kept AS (
    INSERT INTO session_history (session_id, at, from_state, to_state, cause, reason, actor)
    SELECT id, :now, state, state, 'extended', :reason, :actor FROM changed
), published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it

_RENAME = text(f"""
WITH changed AS (UPDATE sessions SET name = :name WHERE id = :id AND state = ANY(:sources) RETURNING *),
published AS ({INSERT_EVENT})
SELECT id, pg_notify('carrel', 'events') FROM changed
""")  # noqa: S608 - no input in it


async def announce(tx: AsyncSession, session: SessionId, state: SessionState) -> None:
    """Publish a change of a session in this state, and wake those that wait for such sessions."""
    await tx.execute(_ANNOUNCE, {"id": session, "event": "session.updated", "topic": topic(state)})


async def rename(tx: AsyncSession, session: SessionId, name: str) -> None:
    """Change the name of a live session. Raises: IntegrityError when it is taken."""
    await tx.execute(
        _RENAME, {"id": session, "name": name, "sources": words(LIFECYCLE.live), "event": "session.updated"}
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


async def offer_apps(tx: AsyncSession, session: SessionId, apps: Sequence[Mapping[str, Any]]) -> None:
    """Set the apps of a session; its next change publishes them. The same ones: no-op."""
    await tx.execute(_OFFER, {"id": session, "apps": orjson.dumps(apps).decode()})


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
            "sources": words(states),
            "event": "session.updated",
        },
    )


async def machine_known(tx: AsyncSession, session: SessionId) -> None:
    """Publish that a container has a machine; while the session starts, it no longer waits for it."""
    await tx.execute(_MACHINE_KNOWN, {"id": session, "sources": words(LAUNCHING), "event": "session.updated"})


async def warn(tx: AsyncSession, session: SessionId, *, cause: str, reason: str, now: datetime) -> bool:
    """Attach a lasting warning to a live session and note it in the history; once for each cause."""
    noted = await tx.execute(
        _NOTE,
        {
            "id": session,
            "cause": cause,
            "reason": reason,
            "sources": words(LIFECYCLE.live),
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


async def report(tx: AsyncSession, session: SessionId, reason: str, *, now: datetime) -> None:
    """Note in the history of a live session what its engine reports, and show it while the session starts.

    Twice within two hours: no-op. A different report after ten of them is not noted either.
    """
    bound = {"id": session, "reason": reason, "now": now, "event": "session.updated"}
    await tx.execute(_REPORT, {**bound, "sources": words(LIFECYCLE.live), "launching": words(LAUNCHING)})


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
