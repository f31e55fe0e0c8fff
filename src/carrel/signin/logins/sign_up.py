"""Self-service sign-up, where the site allows it."""

from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Refused
from carrel.events import service as events
from carrel.identity.passwords import hash_password
from carrel.permissions.actions import Role
from carrel.permissions.decide import Target
from carrel.signin.logins import one_time_links
from carrel.signin.logins.one_time_links import LinkMailer
from carrel.signin.logins.passwords import require_good
from carrel.signin.logins.service import Client
from carrel.site import service as site
from carrel.site.schemas import SiteSettings
from carrel.tables.tenancy import Domain, Project, User, UserState
from carrel.tenancy.queries import user_data, user_target
from carrel.tenancy.service import actor_of, add_user, user_by_email

_MOST_AT_ONCE = 1000


async def sign_up(post: LinkMailer, *, email: str, name: str, password: str, client: Client) -> None:
    """Create an account, or mail the owner of an existing one: the response is the same.

    Raises: Refused when the site does not allow sign-up, Invalid for a weak password.
    """
    async with post.database.transaction() as tx:
        settings = await site.settings(tx)
    _require_welcome(settings, email)
    await require_good(settings, password, personal=[email, name])
    hashed = await hash_password(password)
    async with post.database.transaction() as tx:
        await _require_place(tx, settings)
        known = await user_by_email(tx, email)
        if known is None:
            await _make(tx, post.clock, settings, email=email, name=name, hashed=hashed, client=client)
    if known is not None and settings.sends_mail:
        post.mailer.soon(partial(one_time_links.mail_known, post, known))
    elif settings.sign_up_verification:
        post.mailer.soon(partial(one_time_links.mail_verify_link, post, email))


async def verify(tx: AsyncSession, clock: Clock, token: str, client: Client) -> None:
    """Activate the account whose address the link verifies. Raises: NotFound."""
    user_id = await one_time_links.spend(tx, token, one_time_links.VERIFY, clock.now())
    user = (await tx.execute(select(User).where(User.id == user_id).with_for_update())).scalar_one()
    if user.state == UserState.UNVERIFIED:
        user.state = UserState.ACTIVE
        await events.record(tx, "user.updated", user.id, target=user_target(user), data=user_data(user))
        actor = await actor_of(tx, user, credential="link", address=client.address)
        details = {"before": {"state": UserState.UNVERIFIED}, "after": {"state": UserState.ACTIVE}}
        audit.record(tx, actor, "auth.sign_up", user.id, name=user.email, details=details)


async def _make(
    tx: AsyncSession,
    clock: Clock,
    settings: SiteSettings,
    *,
    email: str,
    name: str,
    hashed: str,
    client: Client,
) -> None:
    assert settings.sign_up_domain is not None
    assert settings.sign_up_project is not None
    user = await add_user(
        tx,
        clock,
        email=email,
        name=name,
        role=Role.USER,
        domain_id=settings.sign_up_domain,
        projects=[settings.sign_up_project],
        state=UserState.UNVERIFIED if settings.sign_up_verification else UserState.ACTIVE,
    )
    user.password_hash, user.password_set_at, user.signed_up = hashed, clock.now(), True
    await events.record(tx, "user.created", user.id, target=user_target(user), data=user_data(user))
    actor = await actor_of(tx, user, credential="sign-up", address=client.address)
    audit.record(tx, actor, "auth.sign_up", user.id, name=email, details={"after": {"state": user.state}})


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete accounts from sign-up that were never verified, unless something refers to them."""
    days = (await site.settings(tx)).sign_up_keep_days
    if not days:
        return
    left = select(User).where(
        User.state == UserState.UNVERIFIED, User.signed_up, User.created_at < now - timedelta(days=days)
    )
    # not narrowed: the installation itself deletes them
    for user in (await tx.execute(left.limit(_MOST_AT_ONCE).with_for_update(skip_locked=True))).scalars():
        try:
            async with tx.begin_nested():
                await tx.execute(delete(User).where(User.id == user.id))
        except IntegrityError:
            continue  # the account was in use once, and something still refers to it
        audit.record_own(
            tx,
            "user.purge",
            user.id,
            name=user.email,
            target=Target(domain_id=user.domain_id),
            details={"why": "never verified", "signed_up": user.created_at.isoformat()},
        )
        # As when an administrator deletes the user; the row stays.
        gone = {**user_data(user), "state": UserState.PURGED}
        await events.record(tx, "user.updated", user.id, target=user_target(user), data=gone)


def _require_welcome(settings: SiteSettings, email: str) -> None:
    """Check that sign-up is open. Raises: Refused."""
    if not settings.sign_up:
        raise Refused(
            "auth.sign_up_off",
            "Sign-up is disabled.",
            hint="Ask an administrator for an account.",
        )
    allowed = settings.sign_up_email_domains
    if allowed and email.rpartition("@")[2].lower() not in allowed:
        raise Refused(
            "auth.sign_up_email",
            f"Sign-up is limited to addresses of {', '.join(allowed)}.",
            hint="Use such an address, or ask an administrator.",
            details={"email_domains": allowed},
        )


async def _require_place(tx: AsyncSession, settings: SiteSettings) -> None:
    """Check that the domain and project of new accounts exist and are open. Raises: Refused."""
    place = await tx.execute(
        select(Project.id)
        .join(Domain, Domain.id == Project.domain_id)
        .where(
            Project.id == settings.sign_up_project,
            Domain.id == settings.sign_up_domain,
            Project.archived_at.is_(None),
            Domain.active,
        )
    )
    if place.first() is None:
        raise Refused(
            "auth.sign_up_closed",
            "Sign-up is currently unavailable.",
            hint="Tell an administrator: sign_up_domain and sign_up_project must be active.",
        )
