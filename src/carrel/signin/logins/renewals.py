"""Another token for a page's sign-in, without its person doing anything, after what they may do has changed.

    role or office changes ---> renewal_due               (by the database itself, see migration 0021)
    next answer            ---> offered, in its cookie    former token: good for PATIENCE more
    first request with it  ---> arrived                   former token: good for OVERLAP more

Requests side by side are all offered the same token, and an answer that is lost is made up for by the next one.
"""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.encryption import SecretBox
from carrel.signin.keypairs.service import digest
from carrel.tables.logins import Login

OVERLAP = timedelta(seconds=30)
"""For requests that were under way when the browser got the new token."""
PATIENCE = timedelta(minutes=5)
"""How long a browser may take to use the new token."""
NOTHING = {"renewal_due": False, "offered": None, "former_hash": None, "former_until": None}
"""What a sign-in has of all this when it has just got a token."""


def bears(token_hash: bytes, now: datetime) -> ColumnElement[bool]:
    """True of the sign-in that this token opens now."""
    former = and_(Login.former_hash == token_hash, Login.former_until > now)
    return or_(Login.token_hash == token_hash, former)


def is_due(login: Login, token_hash: bytes, now: datetime) -> bool:
    """Whether the bearer of this token is to be given another."""
    if login.token_hash != token_hash:
        return login.offered is not None
    # One at a time: whoever is still on the way with the token before this one stays good.
    return login.renewal_due and not (login.former_until and login.former_until > now)


async def offer(tx: AsyncSession, seal: SecretBox, token: str, now: datetime) -> str | None:
    """The token that its bearer is to carry instead of this one, until it arrives the same at every call; or None."""
    token_hash = digest(token)
    wanted = select(Login).where(bears(token_hash, now)).with_for_update()
    login = (await tx.execute(wanted)).scalar_one_or_none()
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
    """The browser has the token that it was offered: the one before ends soon."""
    if login.former_until is not None and login.offered is not None and login.token_hash == token_hash:
        await tx.execute(
            update(Login)
            .where(Login.id == login.id, Login.token_hash == token_hash)
            .values(offered=None, former_until=min(login.former_until, now + OVERLAP))
        )


def _purpose(login: Login) -> str:
    return f"login:{login.public_id}"
