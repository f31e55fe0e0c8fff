"""The parts of statements that announce changes of sessions: events, notices, and notifications of the controllers.

A statement has its rows, as they are afterwards, in `changed`.
"""

from collections.abc import Iterable

from carrel.sessions.visibility import audience_as_text
from carrel.tables.session_states import SessionState

_NODE_NAME = """(SELECT n.name FROM containers m JOIN nodes n ON n.id = m.node_id
        WHERE m.session_id = c.id AND m.index = 0 AND c.state <> 'PENDING' AND NOT n.elastic)"""

_EVENT_DATA = f"""jsonb_build_object(
    'id', c.id, 'name', c.name, 'state', c.state, 'result', c.result, 'reason', c.reason,
    'progress', c.progress, 'slots', c.slots,
    'warnings', c.warnings, 'queue_position', c.queue_position, 'priority', c.priority, 'node', {_NODE_NAME},
    'idle_ends_at', c.idle_ends_at, 'limit_ends_at', c.limit_ends_at,
    'started_at', c.started_at, 'ended_at', c.ended_at,
    'array_id', c.array_id)"""

INSERT_EVENT = f"""
    INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, audience, data)
    SELECT :event, 'session', c.id, c.owner_id, c.project_id, c.domain_id, {audience_as_text("c")}, {_EVENT_DATA}
    FROM changed c"""  # noqa: S608 - no input in it

# Written only if somebody may have to be told by mail or webhook.
NOTICE = """
    INSERT INTO session_notices (session_id, kind, at, state, reason, ends_at, cause)
    SELECT c.id, k.kind, {at}, c.state, {reason}, {ends_at}, {cause}
    FROM changed c {given} CROSS JOIN LATERAL (SELECT {kind} AS kind) k
    WHERE k.kind IS NOT NULL AND (
        EXISTS (SELECT FROM users u WHERE u.id = c.owner_id AND u.notifications <> '{{}}')
        OR EXISTS (SELECT FROM webhooks w WHERE w.active AND (
            w.user_id = c.owner_id OR w.project_id = c.project_id OR w.domain_id = c.domain_id)))
    RETURNING id"""

NOTIFY_OF_NOTICE = "(SELECT count(pg_notify('carrel', 'notices')) FROM noticed)"

NOTIFY = "pg_notify('carrel', 'events'), pg_notify('carrel', :topic)"


def words(states: Iterable[SessionState]) -> list[str]:
    """The names of the states, for a parameter of a statement."""
    # Plain strings, because the driver would look for a PostgreSQL enum of the same name.
    return sorted(str(state) for state in states)


def topic(state: SessionState) -> str:
    """The topics that a transition into the state notifies."""
    return f"sessions.{state}"
