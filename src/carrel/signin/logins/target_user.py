"""The user that an administrator acts on."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import NotFound
from carrel.permissions.decide import Actor
from carrel.tables.tenancy import User, UserState
from carrel.tenancy import queries
from carrel.tenancy.service import require_rank


async def find(tx: AsyncSession, actor: Actor, action: str, ref: str) -> User:
    """The user with this id or e-mail, if the actor may perform the action on them. Raises: NotFound, Forbidden."""
    user = await queries.user(tx, actor, ref, action)
    if user.state == UserState.PURGED:
        raise NotFound("user.not_found", f"There is no user {ref}.", hint="See `carrel user ls`.")
    if not action.endswith(".read"):
        require_rank(actor, user)
    return user
