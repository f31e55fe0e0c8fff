"""Grants, ports, starts and leases of apps. A grant is identified by the SHA-256 of a random token, which is never
stored."""

from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId, SessionId, UserId
from carrel.db.tables import Table


class AppGrant(Table):
    """The right to use one app of one session: first as a ticket, once and for seconds; then by one browser, for hours.

    credential, login_id: of the actor who opened the app. The grant is valid no longer than these.
    """

    __tablename__ = "app_grants"
    __table_args__ = (Index("ix_app_grants_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    ticket: Mapped[bool]
    session_id: Mapped[SessionId] = mapped_column(String)
    app: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    credential: Mapped[str]
    # Ends with the sign-in, whose id does not change with its cookie.
    login_id: Mapped[bytes | None] = mapped_column(
        LargeBinary, ForeignKey("logins.id", onupdate="CASCADE", ondelete="CASCADE"), index=True
    )
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppPort(Table):
    """The app that last used this port. The row stays when the port is unused; another app takes it over."""

    __tablename__ = "app_ports"
    __table_args__ = (UniqueConstraint("session_id", "app", name="uq_app_ports_session_id_app"),)

    port: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    session_id: Mapped[SessionId] = mapped_column(String)
    app: Mapped[str] = mapped_column(String(64))
    given_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppStart(Table):
    """When an app was first opened in the last start of its session, and when it first responded then."""

    __tablename__ = "app_starts"

    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id"), primary_key=True)
    app: Mapped[str] = mapped_column(String(64), primary_key=True)
    opened_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ready_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AppLease(Table):
    """The copy of the API that is starting an app, so that no other one does at the same time."""

    __tablename__ = "app_leases"

    container_id: Mapped[ContainerId] = mapped_column(
        String, ForeignKey("containers.id", ondelete="CASCADE"), primary_key=True
    )
    app: Mapped[str] = mapped_column(String(64), primary_key=True)
    owner: Mapped[str]
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
