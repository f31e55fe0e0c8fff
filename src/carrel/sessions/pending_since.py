"""How long a pending session has been able to start, as columns and conditions for queries."""

from sqlalchemy import func, select
from sqlalchemy.orm import aliased

from carrel.tables.dependencies import SessionDependency
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import HistoryEntry, Session

# A session requeued after its node was drained or lost has waited only since then.
_BACK_SINCE = (
    select(func.max(HistoryEntry.at))
    .where(
        HistoryEntry.session_id == Session.id,
        HistoryEntry.to_state == SessionState.PENDING,
        HistoryEntry.from_state.in_([SessionState.RUNNING, SessionState.TERMINATING]),
    )
    .correlate(Session)
    .scalar_subquery()
)
_Parent = aliased(Session)
_OTHERS_ENDED = (
    select(func.max(_Parent.ended_at))
    .join(SessionDependency, SessionDependency.after_id == _Parent.id)
    .where(SessionDependency.session_id == Session.id)
    .correlate(Session)
    .scalar_subquery()
)
WAITS_SINCE = func.greatest(func.coalesce(_BACK_SINCE, Session.created_at), Session.not_before, _OTHERS_ENDED)
"""A column: since when a PENDING session could start; meaningless while it waits for others to end."""
WAITS_FOR_OTHERS = (
    select(_Parent.id)
    .join(SessionDependency, SessionDependency.after_id == _Parent.id)
    .where(SessionDependency.session_id == Session.id, _Parent.ended_at.is_(None))
    .correlate(Session)
    .exists()
)
"""A condition for sessions that are to start after one that has not ended."""
