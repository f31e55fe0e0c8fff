"""Use cases of passwords: rules, change and reset."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Invalid
from carrel.core.ids import UserId
from carrel.db.database import Database
from carrel.identity.passwords import BrokenRule, PasswordRules, broken_rules, hash_password, password_matches
from carrel.permissions.decide import Actor
from carrel.signin.logins import attempts, one_time_links, service
from carrel.signin.logins.service import Client
from carrel.site import service as site
from carrel.site.schemas import SiteSettings
from carrel.tables.logins import FormerPassword, OneTimeLink
from carrel.tables.tenancy import User
from carrel.tenancy.service import actor_of


def rules_of(settings: SiteSettings) -> PasswordRules:
    """The site's password rules."""
    return PasswordRules(
        min_length=settings.password_min_length,
        classes=settings.password_classes,
        refuse_common=settings.password_refuse_common,
    )


async def require_good(
    settings: SiteSettings, password: str, *, personal: Sequence[str], field: str = "password"
) -> None:
    """Check a new password against the rules. personal: the user's e-mail and name. Raises: Invalid."""
    broken = await broken_rules(password, rules_of(settings), personal=personal)
    if broken:
        raise _refused(broken, field)


async def change(
    database: Database, clock: Clock, actor: Actor, *, current: str, new: str, client: Client
) -> str | None:
    """Change the actor's password and revoke their other sign-ins; returns the new token of a cookie sign-in.

    Raises: Invalid, TooManyAttempts.
    """
    now = clock.now()
    settings = await service.count_attempt(database, now, email=actor.email, client=client, method="password")
    async with database.transaction() as tx:
        user = (await tx.execute(select(User).where(User.id == actor.user_id))).scalar_one()
    if not await password_matches(user.password_hash, current):
        raise Invalid("password.wrong", "The current password is wrong.", field="current")
    async with database.transaction() as tx:
        await attempts.take_back(tx, email=actor.email, address=client.address)
        former = await _former(tx, settings, user)
    await _require_new(settings, user, former, new, field="new")
    hashed = await hash_password(new)
    async with database.transaction() as tx:
        await store(tx, settings, user.id, hashed, now)
        await service.end_all(tx, user.id, but=actor.login_id)
        audit.record(tx, actor, "password.update", user.id, name=user.email)
        return await service.renew(tx, settings, actor.login_id, now) if actor.login_id else None


async def reset(database: Database, clock: Clock, *, token: str, password: str, client: Client) -> None:
    """Set a password by a one-time link and revoke all sign-ins. Raises: NotFound, Invalid."""
    now = clock.now()
    async with database.transaction() as tx:
        settings = await site.settings(tx)
        user = await one_time_links.bearer(tx, token, one_time_links.PASSWORD, now)
        former = await _former(tx, settings, user)
    await _require_new(settings, user, former, password, field="password")
    hashed = await hash_password(password)
    async with database.transaction() as tx:
        await one_time_links.spend(tx, token, one_time_links.PASSWORD, now)
        await store(tx, settings, user.id, hashed, now)
        await service.end_all(tx, user.id)
        await attempts.forgive(tx, email=user.email)
        actor = await actor_of(tx, user, credential="link", address=client.address)
        audit.record(tx, actor, "auth.recover", user.id, name=user.email)


async def store(
    tx: AsyncSession, settings: SiteSettings, user_id: UserId, password_hash: str, now: datetime
) -> None:
    """Store a user's new password, keep the former hash, and revoke password reset links."""
    user = (await tx.execute(select(User).where(User.id == user_id).with_for_update())).scalar_one()
    if user.password_hash:
        tx.add(FormerPassword(user_id=user_id, password_hash=user.password_hash, replaced_at=now))
        await tx.flush()
    user.password_hash, user.password_set_at, user.must_change_password = password_hash, now, False
    await tx.flush()
    newest = (
        select(FormerPassword.id)
        .where(FormerPassword.user_id == user_id)
        .order_by(FormerPassword.id.desc())
        .limit(settings.password_history)
    )
    await tx.execute(
        delete(FormerPassword).where(FormerPassword.user_id == user_id, FormerPassword.id.not_in(newest))
    )
    await tx.execute(
        delete(OneTimeLink).where(
            OneTimeLink.user_id == user_id, OneTimeLink.purpose == one_time_links.PASSWORD
        )
    )


async def _former(tx: AsyncSession, settings: SiteSettings, user: User) -> list[str]:
    """Hashes that must not be reused: the current one, and this many before it."""
    rows = await tx.execute(
        select(FormerPassword.password_hash)
        .where(FormerPassword.user_id == user.id)
        .order_by(FormerPassword.id.desc())
        .limit(settings.password_history)
    )
    return [hashed for hashed in (user.password_hash, *rows.scalars()) if hashed]


async def _require_new(
    settings: SiteSettings, user: User, former: Sequence[str], password: str, *, field: str
) -> None:
    await require_good(settings, password, personal=[user.email, user.name], field=field)
    for hashed in former:
        if await password_matches(hashed, password):
            sentence = "You have used this password before."
            raise _refused([BrokenRule("password.former", sentence)], field)


def _refused(broken: Sequence[BrokenRule], field: str) -> Invalid:
    return Invalid(
        broken[0].code,
        " ".join(rule.sentence for rule in broken),
        hint="Choose another one; several unusual words make a good password.",
        field=field,
        details={"broken": [rule.code for rule in broken]},
    )
