"""Use cases of sign-in and sign-out. A sign-in is found by its cookie's token, of which only the hash is stored."""

import ipaddress
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Forbidden, Unauthorized
from carrel.core.ids import UserId, new_id
from carrel.db.database import Database
from carrel.identity.passwords import hash_password, needs_rehash, password_matches
from carrel.permissions.decide import Target
from carrel.permissions.roles import is_administrator
from carrel.signin.keypairs.service import digest
from carrel.signin.logins import attempts, renewals
from carrel.signin.logins.attempts import TooManyAttempts
from carrel.site import service as site
from carrel.site.schemas import SiteSettings, Whom
from carrel.tables.logins import Challenge, Login, OneTimeLink, Passkey, Totp
from carrel.tables.tenancy import Domain, User
from carrel.tenancy.service import user_by_email

PENDING_LIFETIME = timedelta(minutes=10)
"""Time limit of the second step."""
WhyNot = Callable[[AsyncSession], Awaitable[str]]
BOTH_FACTORS = "+mfa"
"""Suffix of the method of a sign-in whose provider is trusted for second factors and has verified one."""
_LONGEST_DEVICE = 200


@dataclass(frozen=True)
class Client:
    """The client of a sign-in. device: its User-Agent. token: of its existing sign-in, or ""."""

    address: str
    device: str
    token: str = ""


@dataclass(frozen=True)
class ProvedIdentity:
    """A user authenticated by another party. email: in Carrel. method: as `Login.method`.

    why_not: evaluated in the transaction of the sign-in: why that authentication is no longer accepted, or "".
    confirmed_at: time of the authentication; None: now.
    """

    user_id: UserId
    email: str
    method: str
    why_not: WhyNot
    confirmed_at: datetime | None = None


class PasswordDirectory(Protocol):
    """External verification of passwords that do not match locally."""

    async def prove(
        self, login: str, password: str, user: User | None, client: Client
    ) -> ProvedIdentity | None:
        """The identity of this login and password; None: no match. user: the user with the login as e-mail.

        Raises: Unavailable, independent of the login.
        """
        ...

    async def is_theirs(self, user: User, password: str, client: Client) -> bool:
        """True if it is the password of the signed-in user. Raises: Unavailable."""
        ...


async def sign_in(
    database: Database,
    clock: Clock,
    *,
    email: str,
    password: str,
    client: Client,
    elsewhere: PasswordDirectory,
) -> str:
    """The cookie token of a new sign-in, which may still lack its second step.

    Raises: Unauthorized, without a reason; TooManyAttempts when locked; Unavailable; otherwise as `open_for`.
    """
    now = clock.now()
    settings = await count_attempt(database, now, email=email, client=client, method="password")
    async with database.transaction() as tx:
        user = await user_by_email(tx, email)
    # Constant time, also if there is no such user.
    matches = await password_matches(user.password_hash if user else None, password)
    if not matches and (proved := await elsewhere.prove(email, password, user, client)):
        if proved.email.lower() != email.strip().lower():
            async with database.transaction() as tx:
                await attempts.forgive(tx, email=email)
        return await open_for(
            database, clock, proved.user_id, method=proved.method, client=client, why_not=proved.why_not
        )
    token = None
    async with database.transaction() as tx:
        reason = await _why_not(tx, user, matches=matches, address=client.address)
        if user and not reason:
            token = await _open(tx, settings, user, now, method="password", client=client)
            if needs_rehash(user.password_hash or ""):
                await tx.execute(
                    update(User).where(User.id == user.id).values(password_hash=await hash_password(password))
                )
        else:
            _record(tx, user, email=email, method="password", client=client, refused=reason)
    if token is None:
        raise Unauthorized("auth.bad_credentials", "The e-mail address or the password is wrong.")
    return token


async def open_for(
    database: Database,
    clock: Clock,
    user_id: UserId,
    *,
    method: str,
    client: Client,
    why_not: WhyNot | None = None,
    confirmed_at: datetime | None = None,
) -> str:
    """The cookie token of a new sign-in of a user authenticated by a provider or a passkey.

    method: recorded, such as "oidc:<provider>". why_not, confirmed_at: as in `ProvedIdentity`. A second step is
    required as after a password, except after a passkey, which counts as two factors, and after `BOTH_FACTORS`.
    Raises: Forbidden with the reason when they may not sign in; their identity is verified, so they may know it.
    """
    now = clock.now()
    async with database.transaction() as tx:
        settings = await site.settings(tx)
        user = (await tx.execute(select(User).where(User.id == user_id))).scalar_one()
        reason = await _why_not(tx, user, matches=True, address=client.address)
        if not reason and why_not:
            reason = await why_not(tx)
        if reason:
            _record(tx, user, email=user.email, method=method, client=client, refused=reason)
        else:
            token = await _open(
                tx, settings, user, now, method=method, client=client, confirmed_at=confirmed_at
            )
    if reason:
        raise Forbidden(
            "auth.refused",
            f"You cannot sign in: {reason}.",
            hint="Ask an administrator.",
            details={"reason": reason},
        )
    return token


async def count_attempt(
    database: Database, now: datetime, *, email: str, client: Client, method: str
) -> SiteSettings:
    """Count a sign-in attempt. Raises: TooManyAttempts, which is recorded too."""
    try:
        async with database.transaction() as tx:
            settings = await site.settings(tx)
            await attempts.count(tx, settings, now, email=email, address=client.address)
            return settings
    except TooManyAttempts:
        async with database.transaction() as tx:
            user = await user_by_email(tx, email)
            _record(tx, user, email=email, method=method, client=client, refused="locked")
        raise


async def renew(
    tx: AsyncSession, settings: SiteSettings, login_id: bytes, now: datetime, *, method: str | None = None
) -> str:
    """Replace the token of a sign-in after a further proof; the previous token is revoked.

    method: the new method; None: unchanged. Raises: Unauthorized when it was ended meanwhile.
    """
    token = secrets.token_urlsafe(32)
    changed = await tx.execute(
        update(Login)
        .where(Login.id == login_id)
        .values(
            token_hash=digest(token),
            **renewals.NOTHING,
            csrf_token=secrets.token_urlsafe(24),
            pending=None,
            confirmed_at=now,
            seen_at=now,
            expires_at=func.least(
                now + timedelta(minutes=settings.login_idle_minutes),
                Login.created_at + timedelta(hours=settings.login_lifetime_hours),
            ),
            **({"method": method} if method else {}),
        )
        .returning(Login.id)
    )
    if changed.first() is None:
        raise Unauthorized("auth.required", "You are not signed in.", hint="Sign in, then try again.")
    return token


async def finish(
    tx: AsyncSession,
    settings: SiteSettings,
    user: User,
    login_id: bytes,
    now: datetime,
    *,
    step: str,
    client: Client,
) -> str:
    """Complete a sign-in by its second step; returns its new token. Raises: Unauthorized."""
    before = (await tx.execute(select(Login.method).where(Login.id == login_id))).scalar_one_or_none()
    method = f"{before}+{step}"
    token = await renew(tx, settings, login_id, now, method=method)
    await attempts.forgive(tx, email=user.email, address=client.address)
    _record(tx, user, email=user.email, method=method, client=client)
    return token


async def end_all(tx: AsyncSession, user_id: UserId, *, but: bytes | None = None) -> int:
    """Revoke a user's sign-ins, except one; returns their number. Required after every change of permissions."""
    others = Login.id != but if but else Login.id.is_not(None)
    gone = await tx.execute(delete(Login).where(Login.user_id == user_id, others).returning(Login.id))
    return len(gone.all())


async def end_by(tx: AsyncSession, method: str) -> int:
    """Revoke all sign-ins with this first method, with any second step; returns their number."""
    began = or_(Login.method == method, Login.method.startswith(f"{method}+", autoescape=True))
    gone = await tx.execute(delete(Login).where(began).returning(Login.id))
    return len(gone.all())


def expiry(settings: SiteSettings, created_at: datetime, now: datetime) -> datetime:
    """The idle expiry of a sign-in that is used now."""
    return min(
        now + timedelta(minutes=settings.login_idle_minutes),
        created_at + timedelta(hours=settings.login_lifetime_hours),
    )


def still_to_do(settings: SiteSettings, login: Login, user: User, *, has_factor: bool) -> str | None:
    """The remaining requirement of a sign-in with all its steps done: "password", "enrol", or none."""
    if user.must_change_password and login.method.startswith("password"):
        return "password"
    if has_factor or _is_both(login.method):
        return None
    return "enrol" if must_have_factor(settings, user) else None


def must_have_factor(settings: SiteSettings, user: User) -> bool:
    """True if the site requires a second factor of this user."""
    match settings.second_factor:
        case Whom.EVERYBODY:
            return True
        case Whom.ADMINISTRATORS:
            return is_administrator(user.role)
        case Whom.NOBODY:
            return False


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete expired sign-ins, links and challenges, and attempts that no longer count."""
    for table in (Login, OneTimeLink, Challenge):
        await tx.execute(delete(table).where(table.expires_at < now))
    await attempts.prune(tx, now)


def has_factor(user_id: ColumnElement[UserId] | InstrumentedAttribute[UserId]) -> ColumnElement[bool]:
    """True if the user has a second factor."""
    return or_(
        exists().where(Totp.user_id == user_id, Totp.confirmed_at.is_not(None)),
        exists().where(Passkey.user_id == user_id),
    )


def allowed_from(user: User, address: str) -> bool:
    """True if the user may sign in from this address."""
    if not user.addresses:
        return True
    try:
        here = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(here, ipaddress.IPv6Address) and here.ipv4_mapped:
        here = here.ipv4_mapped
    return any(here in ipaddress.ip_network(network, strict=False) for network in user.addresses)


def record_refusal(
    tx: AsyncSession, user: User | None, *, email: str, method: str, client: Client, reason: str
) -> None:
    """Record a failed sign-in attempt."""
    _record(tx, user, email=email, method=method, client=client, refused=reason)


async def _why_not(tx: AsyncSession, user: User | None, *, matches: bool, address: str) -> str:
    """Why this user cannot sign in, for the audit trail; empty: they can."""
    if user is None:
        return "no user has this e-mail"
    if not matches:
        return "wrong password"
    if not user.active:
        return f"the account is {user.state}"
    if not (await tx.execute(select(Domain.active).where(Domain.id == user.domain_id))).scalar_one():
        return "the domain is disabled"
    if not allowed_from(user, address):
        return "the address is not among those allowed"
    return ""


async def _open(
    tx: AsyncSession,
    settings: SiteSettings,
    user: User,
    now: datetime,
    *,
    method: str,
    client: Client,
    confirmed_at: datetime | None = None,
) -> str:
    token = secrets.token_urlsafe(32)
    needs_factor = (
        not _is_both(method)
        and (await tx.execute(select(has_factor(User.id)).where(User.id == user.id))).scalar_one()
    )
    values = {
        "user_id": user.id,
        "token_hash": digest(token),
        **renewals.NOTHING,
        "csrf_token": secrets.token_urlsafe(24),
        "method": method,
        "pending": "factor" if needs_factor else None,
        "address": client.address,
        "device": client.device[:_LONGEST_DEVICE],
        "created_at": now,
        "confirmed_at": confirmed_at or now,
        "seen_at": now,
        "expires_at": now + PENDING_LIFETIME if needs_factor else expiry(settings, now, now),
    }
    if earlier := await _earlier(tx, user, client, now):
        await tx.execute(update(Login).where(Login.id == earlier).values(**values))
    else:
        tx.add(Login(id=secrets.token_bytes(16), public_id=new_id(), **values))
    if needs_factor:
        # Failures of the second step keep counting, even after a correct password.
        await attempts.take_back(tx, email=user.email, address=client.address)
        still = "the second step is still to come"
        _record(tx, user, email=user.email, method=method, client=client, refused=still)
    else:
        await attempts.forgive(tx, email=user.email, address=client.address)
        await tx.execute(update(User).where(User.id == user.id).values(last_seen_at=now))
        _record(tx, user, email=user.email, method=method, client=client)
    return token


async def _earlier(tx: AsyncSession, user: User, client: Client, now: datetime) -> bytes | None:
    """This browser's earlier sign-in of the user, to be continued with its open apps.

    A sign-in of another user is revoked, because its cookie is overwritten.
    """
    if not client.token:
        return None
    theirs = renewals.bears(digest(client.token), now)
    login = (await tx.execute(select(Login).where(theirs).with_for_update())).scalar_one_or_none()
    if login and login.user_id == user.id and login.expires_at > now:
        return login.id
    await tx.execute(delete(Login).where(theirs))
    return None


def _is_both(method: str) -> bool:
    return method == "passkey" or method.endswith(BOTH_FACTORS)


def _record(
    tx: AsyncSession, user: User | None, *, email: str, method: str, client: Client, refused: str = ""
) -> None:
    # Users sometimes type passwords into the e-mail field.
    shown = user.email if user else email.strip() if "@" in email else "(no e-mail)"
    audit.record_login(
        tx,
        email=shown,
        target=Target(owner_id=user.id, domain_id=user.domain_id) if user else audit.NOBODY,
        outcome="refused" if refused else "done",
        method=method,
        reason=refused,
        address=client.address,
    )
