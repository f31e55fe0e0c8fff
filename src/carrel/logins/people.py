"""Whom somebody acts on when it is not themselves."""

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import NotFound
from carrel.policy.decide import Actor, Target, require
from carrel.tenancy.model import User, UserState
from carrel.tenancy.service import require_rank


async def find(tx: AsyncSession, actor: Actor, action: str, ref: str) -> User:
    """The user with this id or e-mail, whom the actor may do the action to. Raises: NotFound, Forbidden."""
    missing = NotFound("user.not_found", f"There is no user {ref}.")
    found = await tx.execute(
        select(User).where(
            or_(User.id == ref, func.lower(User.email) == ref.strip().lower()), User.state != UserState.PURGED
        )
    )
    user = found.scalar_one_or_none()
    if user is None:
        raise missing
    require(actor, action, target_of(user), read="user.read", missing=missing)
    if not action.endswith(".read"):
        require_rank(actor, user)
    return user


def target_of(user: User) -> Target:
    """Whose the user's things are."""
    return Target(owner_id=user.id, domain_id=user.domain_id)
