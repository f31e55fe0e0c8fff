"""Use cases of apps: the session's secret, and one-time tickets that become grants."""

import hashlib
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    Boolean,
    ColumnElement,
    and_,
    delete,
    exists,
    literal,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId, UserId
from carrel.permissions.decide import Actor
from carrel.sessions.visibility import usable_as_text
from carrel.tables.apps import AppGrant
from carrel.tables.keypairs import Keypair, Token
from carrel.tables.logins import Login
from carrel.tables.tenancy import User

TOKEN_PREFIX = "carrel_app_"
TICKET_LIFETIME = timedelta(seconds=30)
GRANT_LIFETIME = timedelta(hours=12)


@dataclass(frozen=True)
class Issued:
    """token: shown only once; only its hash is stored."""

    token: str
    expires_at: datetime


@dataclass(frozen=True)
class Grant:
    """Access of one user to one app of a session, until its expiry."""

    session_id: SessionId
    app: str
    user_id: UserId
    expires_at: datetime


def app_secret(key: bytes, session: SessionId) -> str:
    """The secret of a session's apps; derived, not stored.

    key: the installation's.
    """
    return hmac.new(key, b"app-secret:" + session.encode(), hashlib.sha256).hexdigest()


_RECORD_START = text("""
    INSERT INTO app_starts (session_id, app, opened_at, ready_at) VALUES (:session, :app, :opened_at, :ready_at)
    ON CONFLICT (session_id, app) DO UPDATE SET opened_at = excluded.opened_at, ready_at = excluded.ready_at
    WHERE app_starts.ready_at < (
        SELECT c.launched_at FROM containers c WHERE c.session_id = excluded.session_id AND c.index = 0)
""")


async def record_start(
    tx: AsyncSession, session: SessionId, app: str, *, opened_at: datetime, ready_at: datetime
) -> None:
    """Record when an app was opened and responded; only the first time in each start of its session."""
    bound = {"session": session, "app": app, "opened_at": opened_at, "ready_at": ready_at}
    await tx.execute(_RECORD_START, bound)


async def issue_ticket(
    tx: AsyncSession, actor: Actor, *, session: SessionId, app: str, now: datetime
) -> Issued:
    """A ticket for one app of one session, valid once within 30 seconds."""
    issued = _issue(now + TICKET_LIFETIME)
    tx.add(_grant(actor, issued, session, app, ticket=True))
    return issued


async def issue_token(
    tx: AsyncSession, actor: Actor, *, session: SessionId, app: str, now: datetime
) -> Issued:
    """A token with which a program uses one app of one session: a grant sent in a header instead of a cookie."""
    issued = _issue(now + GRANT_LIFETIME, prefix=TOKEN_PREFIX)
    tx.add(_grant(actor, issued, session, app, ticket=False))
    return issued


def _grant(actor: Actor, issued: Issued, session: SessionId, app: str, *, ticket: bool) -> AppGrant:
    return AppGrant(
        token_hash=_digest(issued.token),
        ticket=ticket,
        session_id=session,
        app=app,
        user_id=actor.user_id,
        credential=actor.credential,
        login_id=actor.login_id,
        expires_at=issued.expires_at,
    )


async def redeem(
    tx: AsyncSession, *, ticket: str, session: SessionId, app: str, now: datetime
) -> Issued | None:
    """Exchange a ticket for a grant. None if it is used, expired, or for another app or session.

    Concurrent calls: only one gets the grant, because the ticket's row becomes the grant.
    """
    issued = _issue(now + GRANT_LIFETIME)
    swapped = await tx.execute(
        update(AppGrant)
        .where(
            AppGrant.token_hash == _digest(ticket),
            AppGrant.ticket,
            AppGrant.session_id == session,
            AppGrant.app == app,
            holds(now),
        )
        .values(token_hash=_digest(issued.token), ticket=False, expires_at=issued.expires_at)
        .returning(AppGrant.session_id)
    )
    return issued if swapped.first() else None


async def grant_of(tx: AsyncSession, *, token: str, now: datetime) -> Grant | None:
    """The valid grant of a cookie's value, or None."""
    row = (
        await tx.execute(
            select(AppGrant).where(AppGrant.token_hash == _digest(token), ~AppGrant.ticket, holds(now))
        )
    ).scalar_one_or_none()
    return Grant(row.session_id, row.app, row.user_id, row.expires_at) if row else None


async def lapsed(tx: AsyncSession, tokens: Collection[str], now: datetime) -> set[str]:
    """The tokens whose grants have lapsed."""
    by_hash = {_digest(token): token for token in tokens}
    held = await tx.execute(
        select(AppGrant.token_hash).where(AppGrant.token_hash.in_(by_hash), ~AppGrant.ticket, holds(now))
    )
    for token_hash in held.scalars():
        del by_hash[token_hash]
    return set(by_hash.values())


_OF_GRANT = "s.id = app_grants.session_id"
_MAY_USE = literal_column(
    f"EXISTS (SELECT FROM sessions s WHERE {_OF_GRANT} AND {usable_as_text('s', 'app_grants.user_id')})",
    Boolean,
)


def holds(now: datetime) -> ColumnElement[bool]:
    """Condition for a ticket or grant that has not expired, whose sign-in, keypair or token is valid, and whose user
    owns the session or may use it by a share.
    """
    return and_(
        AppGrant.expires_at > now,
        exists().where(User.id == AppGrant.user_id, User.active),
        _MAY_USE,
        or_(
            exists().where(Login.id == AppGrant.login_id, Login.expires_at > now),
            exists().where(literal("keypair:") + Keypair.access_key == AppGrant.credential, Keypair.active),
            exists().where(
                literal("token:") + Token.id == AppGrant.credential,
                or_(Token.expires_at.is_(None), Token.expires_at > now),
            ),
        ),
    )


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete lapsed tickets and grants."""
    await tx.execute(delete(AppGrant).where(~holds(now)))


def _issue(expires_at: datetime, *, prefix: str = "") -> Issued:
    return Issued(prefix + secrets.token_urlsafe(32), expires_at)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
