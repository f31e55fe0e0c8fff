"""Sign-in attempt limits, counted per account and per address, also for unknown accounts."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, case, delete, func, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import TooMany
from carrel.signin.keypairs.service import digest
from carrel.site.schemas import SiteSettings
from carrel.tables.logins import LoginAttempts

_LONGEST_LOCK = timedelta(days=1)


class TooManyAttempts(TooMany):
    """Too many sign-in attempts."""


async def count(tx: AsyncSession, settings: SiteSettings, now: datetime, *, email: str, address: str) -> None:
    """Count an attempt before it is verified, so that concurrent attempts cannot bypass the lock.

    Raises: TooManyAttempts, also for unknown e-mails.
    """
    # In a fixed order, to avoid deadlocks.
    await _count(tx, settings, now, _of_email(email), settings.lock_attempts)
    if address:
        await _count(tx, settings, now, _of_address(address), settings.lock_address_attempts)


async def take_back(tx: AsyncSession, *, email: str, address: str) -> None:
    """Undo the count of this attempt; earlier failures stay counted."""
    for subject in (_of_email(email), _of_address(address)):
        await tx.execute(
            update(LoginAttempts)
            .where(LoginAttempts.subject_hash == subject, LoginAttempts.tries > 0)
            .values(tries=LoginAttempts.tries - 1)
        )


async def forgive(tx: AsyncSession, *, email: str, address: str = "") -> None:
    """Reset the failures of the account. Those of the address stay, because others sign in from there too."""
    await tx.execute(delete(LoginAttempts).where(LoginAttempts.subject_hash == _of_email(email)))
    if address:
        await take_back(tx, email="", address=address)


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete expired counts."""
    await tx.execute(delete(LoginAttempts).where(LoginAttempts.at < now - _LONGEST_LOCK))


async def _count(tx: AsyncSession, settings: SiteSettings, now: datetime, subject: bytes, most: int) -> None:
    before, at, lock = LoginAttempts.tries, LoginAttempts.at, timedelta(minutes=settings.lock_minutes)
    stale: ColumnElement[bool] = at < now - lock
    counted = (
        await tx.execute(
            insert(LoginAttempts)
            .values(subject_hash=subject, tries=1, at=now)
            .on_conflict_do_update(
                index_elements=[LoginAttempts.subject_hash],
                set_={
                    "tries": case((stale, 1), else_=func.least(before + 1, most + 1)),
                    # Attempts during a lock do not prolong it.
                    "at": case((and_(before >= most, ~stale), at), else_=now),
                },
            )
            .returning(LoginAttempts.tries, LoginAttempts.at)
        )
    ).one()
    if counted.tries > most:
        raise TooManyAttempts(
            "auth.locked",
            "Too many failed attempts; sign-in is temporarily locked.",
            hint=f"Wait {settings.lock_minutes} minutes, or ask an administrator.",
            details={"retry_after_s": max(1, round((counted.at + lock - now).total_seconds()))},
        )


def _of_email(email: str) -> bytes:
    return digest("email:" + email.strip().lower())


def _of_address(address: str) -> bytes:
    return digest("address:" + address)
