"""Replacement of the token of a page's sign-in after a change of the user's permissions.

    role or membership changes ---> renewal_due           (by a database trigger, see migration 0021)
    next response              ---> offered, in a cookie  former token: valid for PATIENCE more
    first request with it      ---> arrived               former token: valid for OVERLAP more

Concurrent requests receive the same token, and the next response repeats the offer if one is lost.
"""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.encryption import SecretBox
from carrel.signin.keypairs.service import digest
from carrel.tables.logins import Login

OVERLAP = timedelta(seconds=30)
"""For requests that were in flight when the browser received the new token."""
PATIENCE = timedelta(minutes=5)
"""Time for the browser to use the new token."""
NOTHING = {"renewal_due": False, "offered": None, "former_hash": None, "former_until": None}
"""Columns of a sign-in whose token was just issued."""


def bears(token_hash: bytes, now: datetime) -> ColumnElement[bool]:
    """A condition for the sign-in that accepts this token now, as its current or former one."""
    former = and_(Login.former_hash == token_hash, Login.former_until > now)
    return or_(Login.token_hash == token_hash, former)


def is_due(login: Login, token_hash: bytes, now: datetime) -> bool:
    """True if the holder of this token must receive another one."""
    if login.token_hash != token_hash:
        return login.offered is not None
    # One renewal at a time: concurrent requests with the previous token stay valid.
    return login.renewal_due and not (login.former_until and login.former_until > now)


async def offer(tx: AsyncSession, seal: SecretBox, token: str, now: datetime) -> str | None:
    """The replacement token, the same for every call until the browser uses it; or None."""
    token_hash = digest(token)
    statement = select(Login).where(bears(token_hash, now)).with_for_update()
    login = (await tx.execute(statement)).scalar_one_or_none()
    if login is None or not is_due(login, token_hash, now):
        return None
    if login.offered is not None:
        return seal.open(login.offered, _purpose(login)).decode()
    fresh = secrets.token_urlsafe(32)
    login.former_hash, login.former_until = token_hash, now + PATIENCE
    login.token_hash, login.offered = digest(fresh), seal.close(fresh.encode(), _purpose(login))
    login.renewal_due = False
    return fresh


async def note_arrival(tx: AsyncSession, login: Login, token_hash: bytes, now: datetime) -> None:
    """Record that the browser uses the offered token: the previous one expires soon."""
    if login.former_until is not None and login.offered is not None and login.token_hash == token_hash:
        await tx.execute(
            update(Login)
            .where(Login.id == login.id, Login.token_hash == token_hash)
            .values(offered=None, former_until=min(login.former_until, now + OVERLAP))
        )


def _purpose(login: Login) -> str:
    return f"login:{login.public_id}"
