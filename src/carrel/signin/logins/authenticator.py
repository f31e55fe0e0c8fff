"""Authenticate a request's credential: a cookie, a keypair or a personal token."""

import base64
import binascii
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.audit.refusals import Refusals, Stranger
from carrel.core.clock import Clock
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.permissions.decide import Actor, Target
from carrel.signin.keypairs.service import digest
from carrel.signin.logins import renewals
from carrel.signin.logins.service import allowed_from, expiry, has_factor, still_to_do
from carrel.site import service as site
from carrel.tables.keypairs import Keypair, Token
from carrel.tables.logins import Login
from carrel.tables.tenancy import Domain, User
from carrel.tenancy.service import actor_of

TOPIC = "credentials"
"""Notified by a database trigger at each commit that ends or changes credentials."""
_CACHE_S = 5.0
_SEEN_EVERY = timedelta(minutes=1)
_CACHE_SIZE = 2000
_NO_KEYPAIR = "there is no such keypair"


_LookUp = Callable[[AsyncSession], Awaitable["Credential | Stranger | None"]]


@dataclass(frozen=True)
class Credential:
    """An authenticated identity. csrf_token: required on unsafe requests; None without a cookie.

    pending: the missing sign-in step, as in `Login.pending`.
    rate_limit: requests per 15 minutes, of the keypair or else of the installation.
    confirmed_at: time of the last re-authentication; None without a cookie.
    renewal_due: the next response must set a new token, see `Authenticator.renewed`.
    """

    actor: Actor
    csrf_token: str | None
    rate_limit: int
    pending: str | None = None
    confirmed_at: datetime | None = None
    renewal_due: bool = False


class Authenticator:
    """Resolves credentials to identities, with a cache of a few seconds.

    A changed credential is dropped from the cache immediately: here by `forget`, in other processes on TOPIC
    notifications, and within seconds without them. Rejected keypairs and tokens are recorded in the audit trail.
    """

    def __init__(self, database: Database, clock: Clock, refusals: Refusals, seal: SecretBox) -> None:
        self._database = database
        self._clock = clock
        self._refusals = refusals
        self._seal = seal
        self._known: dict[tuple[bytes, str], tuple[float, Credential]] = {}

    async def by_cookie(self, token: str, address: str) -> Credential | None:
        """The sign-in of the cookie's token, or None."""
        return await self._remembered(
            (b"c" + digest(token), address), lambda tx: self._login(tx, token, address)
        )

    async def by_header(self, authorization: str, address: str) -> Credential | None:
        """The keypair of an HTTP Basic header, or the personal token of a Bearer header; otherwise None."""
        scheme, _, encoded = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return await self._remembered(
                (b"t" + digest(encoded), address), lambda tx: self._token(tx, encoded, address)
            )
        try:
            access_key, secret_key = base64.b64decode(encoded, validate=True).decode().split(":", 1)
        except (ValueError, binascii.Error):
            access_key = secret_key = ""
        if scheme.lower() != "basic" or not access_key.isalnum():
            await self._refusals.note_stranger(Stranger("keypair", _NO_KEYPAIR, address))
            return None
        return await self._remembered(
            (b"k" + digest(f"{access_key}:{secret_key}"), address),
            lambda tx: self._keypair(tx, access_key, secret_key, address),
        )

    async def renewed(self, token: str) -> tuple[str, timedelta] | None:
        """The replacement token and its maximum lifetime; None: keep this one. Raises: Unavailable."""
        async with self._database.transaction() as tx:
            fresh = await renewals.offer(tx, self._seal, token, self._clock.now())
            settings = await site.settings(tx)
        return (fresh, timedelta(hours=settings.login_lifetime_hours)) if fresh else None

    async def sign_out(self, token: str, actor: Actor) -> None:
        """End the actor's sign-in of this cookie. Twice: no-op."""
        async with self._database.transaction() as tx:
            theirs = renewals.bears(digest(token), self._clock.now())
            gone = await tx.execute(delete(Login).where(theirs).returning(Login.public_id))
            if public_id := gone.scalar_one_or_none():
                audit.record(tx, actor, "auth.logout", public_id, name=actor.email)
        self.forget()

    def forget(self) -> None:
        """Clear the cache."""
        # A new dict, so that a concurrent lookup does not store a stale result.
        self._known = {}

    async def _remembered(self, key: tuple[bytes, str], look_up: _LookUp) -> Credential | None:
        remembered = self._known
        known = remembered.get(key)
        if known and known[0] > time.monotonic():
            return known[1]
        async with self._database.transaction() as tx:
            credential = await look_up(tx)
        if isinstance(credential, Stranger):
            await self._refusals.note_stranger(credential)
            return None
        if credential:
            if len(remembered) >= _CACHE_SIZE:
                remembered.clear()
            remembered[key] = (time.monotonic() + _CACHE_S, credential)
        return credential

    async def _login(self, tx: AsyncSession, token: str, address: str) -> Credential | None:
        now, token_hash = self._clock.now(), digest(token)
        settings = await site.settings(tx)
        row = (
            await tx.execute(
                select(Login, User, has_factor(User.id).label("has_factor"))
                .join(User, User.id == Login.user_id)
                .join(Domain, Domain.id == User.domain_id)
                .where(
                    renewals.bears(token_hash, now),
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
            # Lock the user first, in the same order as changes of permissions.
            await tx.execute(update(User).where(User.id == user.id).values(last_seen_at=now))
            await tx.execute(
                update(Login)
                .where(Login.id == login.id)
                .values(seen_at=now, address=address, expires_at=expiry(settings, login.created_at, now))
            )
        await renewals.note_arrival(tx, login, token_hash, now)
        actor = await actor_of(tx, user, credential="cookie", address=address, login_id=login.id)
        return Credential(
            actor,
            login.csrf_token,
            settings.api_rate_limit,
            pending,
            confirmed_at=login.confirmed_at,
            renewal_due=renewals.is_due(login, token_hash, now),
        )

    async def _keypair(
        self, tx: AsyncSession, access_key: str, secret_key: str, address: str
    ) -> Credential | Stranger:
        row = (
            await tx.execute(
                select(Keypair, User, Domain)
                .join(User, User.id == Keypair.user_id)
                .join(Domain, Domain.id == User.domain_id)
                .where(Keypair.access_key == access_key)
            )
        ).first()
        if row is None:
            return Stranger("keypair", _NO_KEYPAIR, address)
        credential = f"keypair:{access_key}"
        reason = "the keypair is switched off" if not row.Keypair.active else ""
        if not secrets.compare_digest(row.Keypair.secret_hash, digest(secret_key)):
            reason = "wrong secret"
        if reason := reason or _why_not(row.User, row.Domain, address):
            return _stranger(credential, reason, row.User, address)
        _note_use(row.Keypair, self._clock.now())
        actor = await actor_of(tx, row.User, credential=credential, address=address)
        return Credential(actor, None, row.Keypair.rate_limit or (await site.settings(tx)).api_rate_limit)

    async def _token(self, tx: AsyncSession, token: str, address: str) -> Credential | Stranger:
        now = self._clock.now()
        row = (
            await tx.execute(
                select(Token, User, Domain)
                .join(User, User.id == Token.user_id)
                .join(Domain, Domain.id == User.domain_id)
                .where(Token.token_hash == digest(token))
            )
        ).first()
        if row is None:
            return Stranger("token", "there is no such token", address)
        credential = f"token:{row.Token.id}"
        expired = row.Token.expires_at is not None and row.Token.expires_at <= now
        if reason := "the token has expired" if expired else _why_not(row.User, row.Domain, address):
            return _stranger(credential, reason, row.User, address)
        _note_use(row.Token, now)
        actor = await actor_of(tx, row.User, credential=credential, address=address)
        rate_limit = (await site.settings(tx)).api_rate_limit
        return Credential(replace(actor, scopes=tuple(row.Token.scopes)), None, rate_limit)


def _note_use(used: Keypair | Token, now: datetime) -> None:
    """Precision of the last-use time, so that frequent use does not write every few seconds."""
    if used.last_used_at is None or now - used.last_used_at >= _SEEN_EVERY:
        used.last_used_at = now


def _why_not(user: User, domain: Domain, address: str) -> str:
    """Why the user cannot sign in, for the audit trail; empty: they can."""
    if not user.active:
        return f"the account is {user.state}"
    if not domain.active:
        return "the domain is disabled"
    return "" if allowed_from(user, address) else "the address is not among those allowed"


def _stranger(credential: str, reason: str, user: User, address: str) -> Stranger:
    target = Target(owner_id=user.id, domain_id=user.domain_id)
    return Stranger(credential, reason, address, user.email, target)
