"""Use cases of apps: the session's secret, one-time tickets, and the grants they are swapped for."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps.model import AppGrant, AppTicket
from carrel.core.ids import SessionId, UserId
from carrel.tenancy.model import User

TICKET_LIFETIME = timedelta(seconds=30)
GRANT_LIFETIME = timedelta(hours=12)


@dataclass(frozen=True)
class Issued:
    """token: shown this once; only its hash is kept."""

    token: str
    expires_at: datetime


@dataclass(frozen=True)
class Grant:
    """Who may use which app of which session, until when."""

    session_id: SessionId
    app: str
    user_id: UserId
    expires_at: datetime


def app_secret(key: bytes, session: SessionId) -> str:
    """The secret that the apps of a session ask for, the same at every call; stored nowhere.

    key: the installation's.
    """
    return hmac.new(key, b"app-secret:" + session.encode(), hashlib.sha256).hexdigest()


async def issue_ticket(
    tx: AsyncSession, *, session: SessionId, app: str, user: UserId, now: datetime
) -> Issued:
    """A ticket for one app of one session, good once and for 30 seconds."""
    issued = Issued(secrets.token_urlsafe(32), now + TICKET_LIFETIME)
    tx.add(
        AppTicket(
            token_hash=_digest(issued.token),
            session_id=session,
            app=app,
            user_id=user,
            expires_at=issued.expires_at,
        )
    )
    return issued


async def redeem(
    tx: AsyncSession, *, ticket: str, session: SessionId, app: str, now: datetime
) -> Issued | None:
    """Swap a ticket for a grant. None when it is spent, expired, or for another app or session.

    Twice at the same time: one of them gets the grant, since deleting the row decides.
    """
    spent = await tx.execute(
        delete(AppTicket)
        .where(
            AppTicket.token_hash == _digest(ticket),
            AppTicket.session_id == session,
            AppTicket.app == app,
            AppTicket.expires_at > now,
        )
        .returning(AppTicket.user_id)
    )
    user = spent.scalar_one_or_none()
    if user is None:
        return None
    issued = Issued(secrets.token_urlsafe(32), now + GRANT_LIFETIME)
    tx.add(
        AppGrant(
            token_hash=_digest(issued.token),
            session_id=session,
            app=app,
            user_id=user,
            expires_at=issued.expires_at,
        )
    )
    return issued


async def grant_of(tx: AsyncSession, *, token: str, now: datetime) -> Grant | None:
    """The grant behind a cookie's value; None when there is none, it has expired, or its user is inactive."""
    row = (
        await tx.execute(
            select(AppGrant)
            .join(User, User.id == AppGrant.user_id)
            .where(AppGrant.token_hash == _digest(token), AppGrant.expires_at > now, User.active)
        )
    ).scalar_one_or_none()
    return Grant(row.session_id, row.app, row.user_id, row.expires_at) if row else None


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete tickets and grants that have expired."""
    await tx.execute(delete(AppTicket).where(AppTicket.expires_at <= now))
    await tx.execute(delete(AppGrant).where(AppGrant.expires_at <= now))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
