"""One-time links: issuing, redeeming, and the mails that carry them."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import NotFound
from carrel.core.ids import UserId
from carrel.db.database import Database
from carrel.mail import letters
from carrel.permissions.decide import Actor
from carrel.signin.keypairs.service import digest
from carrel.signin.logins import target_user
from carrel.site import service as site
from carrel.site.mailer import Mailer
from carrel.tables.logins import OneTimeLink
from carrel.tables.tenancy import User, UserState
from carrel.tenancy.queries import user_target
from carrel.tenancy.service import user_by_email

PASSWORD, VERIFY, KNOWN = "password", "verify", "known"
"""Purposes of links. The last one is never issued: it records when such a mail was sent."""
MAILED_LIFETIME = timedelta(minutes=30)
HANDED_LIFETIME = timedelta(hours=24)
VERIFY_LIFETIME = timedelta(hours=24)
TIDINGS_LIFETIME = timedelta(hours=24)
"""Lifetime of the record that a user was told about their existing account."""
_NOT_AGAIN_FOR = timedelta(minutes=1)
_PAGES = {PASSWORD: "/reset-password", VERIFY: "/verify-email", KNOWN: ""}


@dataclass(frozen=True)
class LoginLink:
    """url has the token in its fragment, which browsers do not send."""

    url: str
    expires_at: datetime


@dataclass(frozen=True)
class LinkMailer:
    """Services for sending mails. wish: Accept-Language of the requester."""

    database: Database
    clock: Clock
    mailer: Mailer
    public_url: str
    wish: str


async def issue(
    tx: AsyncSession, user_id: UserId, purpose: str, now: datetime, *, lifetime: timedelta, public_url: str
) -> LoginLink:
    """Issue a link; earlier ones of this purpose become invalid."""
    await tx.execute(
        delete(OneTimeLink).where(OneTimeLink.user_id == user_id, OneTimeLink.purpose == purpose)
    )
    token = secrets.token_urlsafe(32)
    tx.add(
        OneTimeLink(
            token_hash=digest(token),
            purpose=purpose,
            user_id=user_id,
            created_at=now,
            expires_at=now + lifetime,
        )
    )
    await tx.flush()
    url = f"{public_url.rstrip('/')}{_PAGES[purpose]}#{urlencode({'token': token})}"
    return LoginLink(url, now + lifetime)


async def bearer(tx: AsyncSession, token: str, purpose: str, now: datetime) -> User:
    """The user of a link, without consuming it. Raises: NotFound."""
    result = await tx.execute(
        select(User)
        .join(OneTimeLink, OneTimeLink.user_id == User.id)
        .where(
            OneTimeLink.token_hash == digest(token),
            OneTimeLink.purpose == purpose,
            OneTimeLink.expires_at > now,
            User.state != UserState.PURGED,
        )
    )
    user = result.scalar_one_or_none()
    if user is None:
        raise _spent()
    return user


async def spend(tx: AsyncSession, token: str, purpose: str, now: datetime) -> UserId:
    """Consume a link. Concurrent calls: one succeeds. Raises: NotFound."""
    gone = await tx.execute(
        delete(OneTimeLink)
        .where(
            OneTimeLink.token_hash == digest(token),
            OneTimeLink.purpose == purpose,
            OneTimeLink.expires_at > now,
        )
        .returning(OneTimeLink.user_id)
    )
    user_id = gone.scalar_one_or_none()
    if user_id is None:
        raise _spent()
    return user_id


async def recover(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, *, public_url: str) -> LoginLink:
    """A password reset link for a user, which an administrator passes on.

    Raises: NotFound, Forbidden.
    """
    user = await target_user.find(tx, actor, "user.recover", ref)
    link = await issue(tx, user.id, PASSWORD, clock.now(), lifetime=HANDED_LIFETIME, public_url=public_url)
    audit.record(tx, actor, "user.recover", user.id, name=user.email, target=user_target(user))
    return link


async def mail_password_link(post: LinkMailer, email: str) -> None:
    """Mail a password reset link, if the account signs in by password; otherwise do nothing."""
    now = post.clock.now()
    async with post.database.transaction() as tx:
        if not (await site.settings(tx)).sends_mail:
            return
        user = await user_by_email(tx, email)
        if user is None or not user.active or user.password_hash is None:
            return
        if await _recent(tx, user.id, PASSWORD, now):
            return
        link = await issue(tx, user.id, PASSWORD, now, lifetime=MAILED_LIFETIME, public_url=post.public_url)
        minutes = int(MAILED_LIFETIME.total_seconds()) // 60
        letter = letters.new_password(_language(post, user), email=user.email, link=link.url, minutes=minutes)
        await post.mailer.put(tx, user.email, letter, MAILED_LIFETIME)


async def mail_verify_link(post: LinkMailer, email: str) -> None:
    """Mail a verification link, if the address is not verified yet; otherwise do nothing."""
    now = post.clock.now()
    async with post.database.transaction() as tx:
        user = await user_by_email(tx, email)
        if user is None or user.state != UserState.UNVERIFIED or await _recent(tx, user.id, VERIFY, now):
            return
        link = await issue(tx, user.id, VERIFY, now, lifetime=VERIFY_LIFETIME, public_url=post.public_url)
        hours = int(VERIFY_LIFETIME.total_seconds()) // 3600
        letter = letters.verify(_language(post, user), email=user.email, link=link.url, hours=hours)
        await post.mailer.put(tx, user.email, letter, VERIFY_LIFETIME)


async def mail_known(post: LinkMailer, user: User) -> None:
    """Mail a user who signs up again that they already have an account."""
    letter = letters.known(_language(post, user), email=user.email, link=post.public_url)
    now = post.clock.now()
    async with post.database.transaction() as tx:
        if await _recent(tx, user.id, KNOWN, now):
            return
        await issue(tx, user.id, KNOWN, now, lifetime=_NOT_AGAIN_FOR, public_url=post.public_url)
        await post.mailer.put(tx, user.email, letter, TIDINGS_LIFETIME)


async def _recent(tx: AsyncSession, user_id: UserId, purpose: str, now: datetime) -> bool:
    """True if such a mail was sent recently: prevents flooding of a mailbox."""
    # Serialized per user, so that concurrent requests do not send two.
    await tx.execute(select(User.id).where(User.id == user_id).with_for_update(key_share=True))
    result = await tx.execute(
        select(OneTimeLink.user_id).where(
            OneTimeLink.user_id == user_id,
            OneTimeLink.purpose == purpose,
            OneTimeLink.created_at > now - _NOT_AGAIN_FOR,
        )
    )
    return result.first() is not None


def _language(post: LinkMailer, user: User) -> str:
    return letters.language_of(user.preferences.get("language"), post.wish)


def _spent() -> NotFound:
    return NotFound(
        "auth.link_spent", "The link is invalid, expired or already used.", hint="Request a new one."
    )
