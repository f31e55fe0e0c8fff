"""How long a pending session has been able to start, as columns and conditions for queries."""

from sqlalchemy import case, func, or_, select
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
_Other, _Member = aliased(Session), aliased(Session)
_after = SessionDependency.after_id
_OTHERS_ENDED = (
    # Each by an index, also of large arrays.
    select(
        func.max(
            case(
                (
                    SessionDependency.whole_array,
                    select(func.max(_Member.ended_at)).where(_Member.array_id == _after).scalar_subquery(),
                ),
                else_=select(_Other.ended_at).where(_Other.id == _after).scalar_subquery(),
            )
        )
    )
    .where(SessionDependency.session_id == Session.id)
    .correlate(Session)
    .scalar_subquery()
)
WAITS_SINCE = func.greatest(func.coalesce(_BACK_SINCE, Session.created_at), Session.not_before, _OTHERS_ENDED)
"""A column: since when a PENDING session could start; meaningless while it waits for others to end."""
WAITS_FOR_OTHERS = (
    select(_after)
    .where(
        SessionDependency.session_id == Session.id,
        or_(
            select(_Other.id).where(_Other.id == _after, _Other.ended_at.is_(None)).exists()
            & ~SessionDependency.whole_array,
            select(_Member.id).where(_Member.array_id == _after, _Member.ended_at.is_(None)).exists()
            & SessionDependency.whole_array,
        ),
    )
    .correlate(Session)
    .exists()
)
"""A condition for sessions that are to start after one, or an array, that has not ended."""
