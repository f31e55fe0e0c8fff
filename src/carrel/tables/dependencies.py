"""Dependencies between sessions: which session starts after which."""

from enum import StrEnum

from sqlalchemy import CheckConstraint, ForeignKey, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import SessionId
from carrel.db.tables import Table


class DependencyCondition(StrEnum):
    """How another session must end before a session may start.

    succeeded: the command of a batch session exited with 0; an interactive session ended without an error. failed: a
    batch session failed or timed out; an interactive one ended in an error. ended: in any way, also cancelled.

    Of an array, succeeded: all of its sessions. failed: all have ended, and at least one of them like this. ended: all.
    """

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ENDED = "ended"


class DependencyFailure(StrEnum):
    """What happens to a pending session once a condition can no longer be met."""

    CANCEL = "cancel"
    WAIT = "wait"


_CONDITIONS = ", ".join(f"'{condition}'" for condition in DependencyCondition)


class SessionDependency(Table):
    """The session may start once the session `after_id` has ended as the condition says. The rows form no cycle.

    whole_array: once all sessions of the array `after_id` have.
    """

    __tablename__ = "session_dependencies"
    __table_args__ = (CheckConstraint(f"condition IN ({_CONDITIONS})", name="condition"),)

    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id"), primary_key=True)
    after_id: Mapped[SessionId] = mapped_column(
        String, ForeignKey("sessions.id"), primary_key=True, index=True
    )
    whole_array: Mapped[bool] = mapped_column(primary_key=True, default=False, server_default=text("false"))
    condition: Mapped[DependencyCondition] = mapped_column(String(20))
