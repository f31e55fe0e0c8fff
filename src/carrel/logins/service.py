"""Use cases of signing in with a password, and out."""

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import case, delete, func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, NotFound, Unauthorized
from carrel.core.ids import new_id
from carrel.db.database import Database
from carrel.identity.passwords import hash_password, password_matches
from carrel.logins.model import Login, LoginAttempts
from carrel.policy.decide import Target
from carrel.tenancy.model import User
from carrel.tenancy.service import user_by_email

LOGIN_LIFETIME = timedelta(days=14)
MAX_ATTEMPTS = 10
LOCK_TIME = timedelta(minutes=20)


class TooManyAttempts(CarrelError):
    status = 429


async def set_password(tx: AsyncSession, clock: Clock, *, email: str, password: str) -> None:
    """Give a user another password and end all sign-ins. Raises: NotFound."""
    user = await user_by_email(tx, email)
    if user is None:
        raise NotFound("user.not_found", f"There is no user with the e-mail {email}.")
    user.password_hash = await hash_password(password)
    user.password_set_at = clock.now()
    await _forget_attempts(tx, email)
    await tx.execute(delete(Login).where(Login.user_id == user.id))


async def sign_in(
    database: Database, clock: Clock, *, email: str, password: str, address: str, device: str
) -> str:
    """The token for the cookie of a new sign-in.

    Raises: Unauthorized for a wrong e-mail or password (not telling which), TooManyAttempts when locked.
    """
    now = clock.now()
    # 1. count it before looking at the password, so that many at once are no way around the lock
    async with database.transaction() as tx:
        await _count_attempt(tx, email, now)
        user = await user_by_email(tx, email)
    # 2. look at the password, for as long as ever when there is no such user
    matches = await password_matches(user.password_hash if user else None, password)
    # 3. let them in, or not
    async with database.transaction() as tx:
        token = None
        if user is not None and matches and user.active:
            await _forget_attempts(tx, email)
            token = await _open_login(tx, user, now, address=address, device=device)
        audit.record_login(
            tx, email=email, outcome="done" if token else "refused", address=address,
            target=Target(owner_id=user.id, domain_id=user.domain_id) if user else audit.NOBODY,
        )  # fmt: skip
    if token is None:
        raise Unauthorized("auth.bad_credentials", "E-mail or password is wrong.")
    return token


async def _count_attempt(tx: AsyncSession, email: str, now: datetime) -> None:
    """Raises: TooManyAttempts, the same for an e-mail that nobody has."""
    await tx.execute(delete(LoginAttempts).where(LoginAttempts.at < now - LOCK_TIME))
    before = LoginAttempts.tries
    counted = (
        await tx.execute(
            insert(LoginAttempts)
            .values(subject_hash=_email_digest(email), tries=1, at=now)
            .on_conflict_do_update(
                index_elements=[LoginAttempts.subject_hash],
                set_={
                    "tries": func.least(before + 1, MAX_ATTEMPTS + 1),
                    "at": case((before < MAX_ATTEMPTS, now), else_=LoginAttempts.at),
                },
            )
            .returning(LoginAttempts.tries, LoginAttempts.at)
        )
    ).one()
    if counted.tries > MAX_ATTEMPTS:
        wait = counted.at + LOCK_TIME - now
        raise TooManyAttempts(
            "auth.locked",
            "Too many failed attempts; signing in is locked for a while.",
            hint="Wait twenty minutes, or ask an administrator.",
            details={"retry_after_s": max(1, round(wait.total_seconds()))},
        )


async def _forget_attempts(tx: AsyncSession, email: str) -> None:
    await tx.execute(delete(LoginAttempts).where(LoginAttempts.subject_hash == _email_digest(email)))


async def _open_login(tx: AsyncSession, user: User, now: datetime, *, address: str, device: str) -> str:
    token = secrets.token_urlsafe(32)
    await tx.execute(delete(Login).where(Login.user_id == user.id, Login.expires_at < now))
    tx.add(
        Login(
            id=digest(token),
            public_id=new_id(),
            user_id=user.id,
            csrf_token=secrets.token_urlsafe(24),
            address=address,
            device=device[:200],
            created_at=now,
            confirmed_at=now,
            seen_at=now,
            expires_at=now + LOGIN_LIFETIME,
        )
    )
    return token


def _email_digest(email: str) -> bytes:
    return digest("email:" + email.strip().lower())


def digest(token: str) -> bytes:
    """How tokens with enough random bits are kept: SHA-256."""
    return hashlib.sha256(token.encode()).digest()
