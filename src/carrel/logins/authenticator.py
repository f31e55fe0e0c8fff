"""Who is behind a request's credential: a cookie, a keypair or a personal token."""

import base64
import binascii
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.db.database import Database
from carrel.keypairs.model import Keypair, Token
from carrel.keypairs.service import digest
from carrel.logins.model import Login
from carrel.logins.service import allowed_from, expiry, has_factor, still_to_do
from carrel.policy.decide import Actor
from carrel.site import service as site
from carrel.tenancy.model import Domain, User
from carrel.tenancy.service import actor_of

_CACHE_S = 5.0
_SEEN_EVERY = timedelta(minutes=1)
_CACHE_SIZE = 2000


_LookUp = Callable[[AsyncSession], Awaitable["Credential | None"]]


@dataclass(frozen=True)
class Credential:
    """A proven identity. csrf_token: what unsafe requests must repeat; None when no cookie is involved.

    pending: what the sign-in still needs before it counts, as in `Login.pending`.
    rate_limit: requests per 15 minutes; None: as the installation has it.
    confirmed_at: when they last proved that it is them; None when no cookie is involved.
    """

    actor: Actor
    csrf_token: str | None
    pending: str | None = None
    rate_limit: int | None = None
    confirmed_at: datetime | None = None


class Authenticator:
    """Turns a request's credential into an identity, remembering each for a few seconds.

    Signing out, and removing a keypair, forget at once in this process and within seconds in others.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[tuple[bytes, str], tuple[float, Credential]] = {}

    async def by_cookie(self, token: str, address: str) -> Credential | None:
        """The sign-in that the cookie's token belongs to, or None."""
        return await self._remembered(
            (b"c" + digest(token), address), lambda tx: self._login(tx, token, address)
        )

    async def by_header(self, authorization: str, address: str) -> Credential | None:
        """The keypair in an HTTP Basic header, or the personal token in a Bearer one; else None."""
        scheme, _, encoded = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return await self._remembered(
                (b"t" + digest(encoded), address), lambda tx: self._token(tx, encoded, address)
            )
        try:
            access_key, secret_key = base64.b64decode(encoded, validate=True).decode().split(":", 1)
        except (ValueError, binascii.Error):
            return None
        if scheme.lower() != "basic" or not access_key.isalnum():
            return None
        return await self._remembered(
            (b"k" + digest(f"{access_key}:{secret_key}"), address),
            lambda tx: self._keypair(tx, access_key, secret_key, address),
        )

    async def sign_out(self, token: str, actor: Actor) -> None:
        """End the actor's sign-in of this cookie. Twice: no-op."""
        async with self._database.transaction() as tx:
            gone = await tx.execute(delete(Login).where(Login.id == digest(token)).returning(Login.public_id))
            if public_id := gone.scalar_one_or_none():
                audit.record(tx, actor, "auth.logout", public_id, name=actor.email)
        self.forget()

    def forget(self) -> None:
        """Ask the database again from now on."""
        # A new dict, so that a look-up which began before does not put its answer back.
        self._known = {}

    async def _remembered(self, key: tuple[bytes, str], look_up: _LookUp) -> Credential | None:
        remembered = self._known
        known = remembered.get(key)
        if known and known[0] > time.monotonic():
            return known[1]
        async with self._database.transaction() as tx:
            credential = await look_up(tx)
        if credential:
            if len(remembered) >= _CACHE_SIZE:
                remembered.clear()
            remembered[key] = (time.monotonic() + _CACHE_S, credential)
        return credential

    async def _login(self, tx: AsyncSession, token: str, address: str) -> Credential | None:
        now = self._clock.now()
        settings = await site.settings(tx)
        row = (
            await tx.execute(
                select(Login, User, has_factor(User.id).label("has_factor"))
                .join(User, User.id == Login.user_id)
                .join(Domain, Domain.id == User.domain_id)
                .where(
                    Login.id == digest(token),
                    Login.expires_at > now,
                    Login.created_at > now - timedelta(hours=settings.login_lifetime_hours),
                    Login.seen_at > now - timedelta(minutes=settings.login_idle_minutes),
                    User.active,
                    Domain.active,
                )
            )
        ).first()
        if row is None:
            return None
        login, user = row.Login, row.User
        pending = login.pending or still_to_do(settings, login, user, has_factor=row.has_factor)
        if login.pending is None and now - login.seen_at >= _SEEN_EVERY:
            await tx.execute(
                update(Login)
                .where(Login.id == login.id)
                .values(seen_at=now, address=address, expires_at=expiry(settings, login.created_at, now))
            )
            await tx.execute(update(User).where(User.id == user.id).values(last_seen_at=now))
        actor = await actor_of(tx, user, credential="cookie", address=address, login_id=login.id)
        return Credential(actor, login.csrf_token, pending, confirmed_at=login.confirmed_at)

    async def _keypair(
        self, tx: AsyncSession, access_key: str, secret_key: str, address: str
    ) -> Credential | None:
        row = (
            await tx.execute(
                select(Keypair, User)
                .join(User, User.id == Keypair.user_id)
                .join(Domain, Domain.id == User.domain_id)
                .where(Keypair.access_key == access_key, Keypair.active, User.active, Domain.active)
            )
        ).first()
        if row is None or not secrets.compare_digest(row.Keypair.secret_hash, digest(secret_key)):
            return None
        if not allowed_from(row.User, address):
            return None
        row.Keypair.last_used_at = self._clock.now()
        credential = f"keypair:{access_key}"
        actor = await actor_of(tx, row.User, credential=credential, address=address)
        return Credential(actor, None, rate_limit=row.Keypair.rate_limit)

    async def _token(self, tx: AsyncSession, token: str, address: str) -> Credential | None:
        now = self._clock.now()
        row = (
            await tx.execute(
                select(Token, User)
                .join(User, User.id == Token.user_id)
                .join(Domain, Domain.id == User.domain_id)
                .where(
                    Token.token_hash == digest(token),
                    or_(Token.expires_at.is_(None), Token.expires_at > now),
                    User.active,
                    Domain.active,
                )
            )
        ).first()
        if row is None or not allowed_from(row.User, address):
            return None
        row.Token.last_used_at = now
        actor = await actor_of(tx, row.User, credential=f"token:{row.Token.id}", address=address)
        return Credential(replace(actor, scopes=tuple(row.Token.scopes)), None)
