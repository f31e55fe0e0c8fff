"""Deleting users for good. The row stays, empty, because past sessions and the audit trail name it."""

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Conflict, Invalid
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.keypairs.model import Keypair, SshKey, Token
from carrel.limits.model import DEFAULT_POLICIES, PolicyKind
from carrel.logins.model import Challenge, FormerPassword, OneTimeLink, Passkey, RecoveryCode, Totp
from carrel.policy.actions import Role
from carrel.policy.decide import Actor
from carrel.providers.model import ExternalIdentity
from carrel.sessions import survivors
from carrel.sessions.model import Session
from carrel.tenancy import queries as tenancy
from carrel.tenancy.model import Membership, User, UserState
from carrel.tenancy.schemas import SessionsChoice
from carrel.users.batch import trouble
from carrel.users.schemas import UserPurged, UsersPurge, UsersPurged
from carrel.users.service import end_sign_ins, record

_THEIRS = (
    Keypair, Token, SshKey, Totp, RecoveryCode, Passkey, Challenge, OneTimeLink, FormerPassword,
    ExternalIdentity, Membership,
)  # fmt: skip


async def purge(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    ref: str,
    *,
    confirm: str,
    sessions: SessionsChoice | None,
) -> tuple[User, list[SessionId]]:
    """Delete an inactive user for good; their live sessions end first. Their e-mail is free again.

    Raises: NotFound, Forbidden; Invalid when confirm is not the e-mail; Conflict when they are not inactive,
    or naming live sessions when their end is not chosen.
    """
    user = await tenancy.user(tx, actor, ref, "user.purge")
    _require_purgeable(user, confirm)
    # 1. what they own
    ended = await survivors.settle(
        tx, clock, actor, Session.owner_id == user.id, sessions,
        code="user.has_sessions", reason=f"{user.email} was deleted for good.",
    )  # fmt: skip
    # 2. what they proved themselves with, and where they belonged
    await end_sign_ins(tx, user.id)
    for table in _THEIRS:
        await tx.execute(delete(table).where(table.user_id == user.id))
    # 3. who they were; the trail says it once more
    await record(tx, actor, "user.purge", user, ended=ended)
    user.state = UserState.PURGED
    user.role = Role.USER
    user.email = f"purged-{user.id}"
    user.name, user.description = "", ""
    user.password_hash, user.password_set_at, user.must_change_password = None, None, False
    # Nobody is left whom a policy could limit, and it can be removed once no one else has it.
    user.policy_id = DEFAULT_POLICIES[PolicyKind.USER]
    user.keypair_policy_id = DEFAULT_POLICIES[PolicyKind.KEYPAIR]
    user.addresses, user.preferences, user.last_seen_at = [], {}, None
    await tx.flush()
    return user, ended


def _require_purgeable(user: User, confirm: str) -> None:
    if user.state == UserState.PURGED:
        raise Conflict("user.purged", "This user was deleted for good already.")
    if confirm.strip().lower() != user.email.lower():
        raise Invalid(
            "user.unconfirmed",
            "The e-mail that confirms it is not the user's.",
            hint=f"Write {user.email}, if this is whom you mean.",
            field="confirm",
        )
    if user.state != UserState.INACTIVE:
        raise Conflict(
            "user.not_inactive",
            f"{user.email} is {user.state}; only inactive users can be deleted for good.",
            hint="Disable them first.",
        )


async def purge_many(database: Database, clock: Clock, actor: Actor, wanted: UsersPurge) -> UsersPurged:
    """Delete each for good in a transaction of their own; say of those that stay why."""
    items = []
    for one in wanted.users:
        try:
            async with database.transaction() as tx:
                user, ended = await purge(
                    tx, clock, actor, one.user, confirm=one.confirm, sessions=wanted.sessions
                )
            items.append(UserPurged(user=one.user, status="purged", id=user.id, ended=ended))
        except CarrelError as error:
            items.append(UserPurged(user=one.user, status="failed", problem=trouble(error)))
    failed = sum(item.status == "failed" for item in items)
    return UsersPurged(items=items, purged=len(items) - failed, failed=failed)
