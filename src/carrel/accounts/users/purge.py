"""Permanent deletion of users. An empty row stays, because past sessions and the audit trail reference it."""

from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.users.batch import trouble
from carrel.accounts.users.schemas import UserPurged, UsersPurge, UsersPurged
from carrel.accounts.users.service import end_sign_ins, record
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Conflict, Invalid
from carrel.core.ids import SessionId, UserId
from carrel.db.database import Database
from carrel.environments import service as environments
from carrel.folders import inheritance
from carrel.folders.grantees import recipient
from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor
from carrel.sessions import live_sessions
from carrel.tables.dotfiles import Dotfile
from carrel.tables.keypairs import Keypair, SshKey, Token
from carrel.tables.limits import DEFAULT_POLICIES, PolicyKind
from carrel.tables.logins import Challenge, FormerPassword, OneTimeLink, Passkey, RecoveryCode, Totp
from carrel.tables.notifications import Webhook
from carrel.tables.providers import ExternalIdentity
from carrel.tables.session_templates import SessionTemplate
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Membership, User, UserState
from carrel.tenancy import queries as tenancy
from carrel.tenancy.schemas import SessionsChoice

_THEIRS = (
    Keypair,
    Token,
    SshKey,
    Dotfile,
    Totp,
    RecoveryCode,
    Passkey,
    Challenge,
    OneTimeLink,
    FormerPassword,
    ExternalIdentity,
    Membership,
    Webhook,
)


@dataclass(frozen=True)
class FoldersChoice:
    """to: who gets them, by e-mail or id. delete: they are deleted for good."""

    to: str | None
    delete: bool


@dataclass(frozen=True)
class Purged:
    """ended: sessions that were live. folders: how many there were."""

    id: UserId
    ended: list[SessionId]
    folders: int

    def view(self, ref: str) -> UserPurged:
        """For who asked for it. asked: for whom, in their words."""
        return UserPurged(user=ref, status="purged", id=self.id, ended=list(self.ended), folders=self.folders)


async def purge(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    ref: str,
    *,
    confirm: str,
    sessions: SessionsChoice | None,
    folders: FoldersChoice,
) -> Purged:
    """Permanently delete an inactive user; their live sessions end first. Their e-mail becomes free.

    Raises: NotFound, Forbidden; Invalid when confirm is not the e-mail; Conflict when they are not inactive,
    or naming live sessions or folders when it is not chosen what becomes of them; Refused by a limit of who gets
    the folders.
    """
    user = await tenancy.user(tx, actor, ref, "user.purge")
    _require_purgeable(user, confirm)
    # 1. what they own
    ended = await live_sessions.keep_or_end(
        tx,
        clock,
        actor,
        Session.owner_id == user.id,
        sessions,
        code="user.has_sessions",
        reason=f"{user.email} was permanently deleted.",
    )
    had = await _settle_folders(tx, clock, actor, user, folders)
    own_templates = delete(SessionTemplate).where(
        SessionTemplate.owner_id == user.id, ~SessionTemplate.shared
    )
    await tx.execute(own_templates)
    await environments.remove_all_of(tx, clock, user.id)
    # 2. what they proved themselves with, and where they belonged
    await end_sign_ins(tx, user.id)
    for table in _THEIRS:
        await tx.execute(delete(table).where(table.user_id == user.id))
    # 3. who they were; the trail says it once more
    await record(tx, actor, "user.purge", user, ended=ended, folders=had)
    user.state = UserState.PURGED
    user.role = Role.USER
    user.email = f"purged-{user.id}"
    user.name, user.description = "", ""
    user.password_hash, user.password_set_at, user.must_change_password = None, None, False
    # Nobody is left whom a policy could limit, and it can be removed once no one else has it.
    user.policy_id = DEFAULT_POLICIES[PolicyKind.USER]
    user.keypair_policy_id = DEFAULT_POLICIES[PolicyKind.KEYPAIR]
    user.addresses, user.preferences, user.notifications, user.last_seen_at = [], {}, {}, None
    await tx.flush()
    return Purged(user.id, ended, had)


async def _settle_folders(
    tx: AsyncSession, clock: Clock, actor: Actor, user: User, choice: FoldersChoice
) -> int:
    """Hand over or delete what they have in folders, as was chosen. How many there were."""
    if choice.to and choice.delete:
        raise Invalid(
            "user.folders",
            "Folders can be transferred or deleted, not both.",
            hint="Choose one.",
            field="folders_to",
        )
    if choice.to:
        new_owner = await recipient(tx, choice.to, user.domain_id, field="folders_to")
        return await inheritance.inherit(tx, clock, actor, user, new_owner)
    if not choice.delete:
        await inheritance.require_choice(tx, user)
    return await inheritance.abandon(tx, clock, actor, user)


def _require_purgeable(user: User, confirm: str) -> None:
    if user.state == UserState.PURGED:
        raise Conflict("user.purged", "This user was permanently deleted.")
    if confirm.strip().lower() != user.email.lower():
        raise Invalid(
            "user.unconfirmed",
            "The confirmation does not match the user's e-mail.",
            hint=f"Write {user.email} to confirm.",
            field="confirm",
        )
    if user.state != UserState.INACTIVE:
        raise Conflict(
            "user.not_inactive",
            f"{user.email} is {user.state}; only inactive users can be permanently deleted.",
            hint="Disable them first.",
        )


async def purge_many(database: Database, clock: Clock, actor: Actor, request: UsersPurge) -> UsersPurged:
    """Permanently delete each in its own transaction; report the errors of the others."""
    items = []
    for one in request.users:
        try:
            async with database.transaction() as tx:
                done = await purge(
                    tx,
                    clock,
                    actor,
                    one.user,
                    confirm=one.confirm,
                    sessions=request.sessions,
                    folders=FoldersChoice(request.folders_to, request.delete_folders),
                )
            items.append(done.view(one.user))
        except CarrelError as error:
            items.append(UserPurged(user=one.user, status="failed", problem=trouble(error)))
    failed = sum(item.status == "failed" for item in items)
    return UsersPurged(items=items, purged=len(items) - failed, failed=failed)
