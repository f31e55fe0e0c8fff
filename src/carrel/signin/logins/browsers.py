"""List and revoke sign-ins."""

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import NotFound
from carrel.http.paging import Page, Sort, page
from carrel.permissions.decide import Actor, require
from carrel.signin.logins import target_user
from carrel.signin.logins.schemas import LoginQuery
from carrel.signin.logins.service import end_all
from carrel.tables.logins import Login
from carrel.tables.tenancy import User
from carrel.tenancy.queries import user_target
from carrel.tenancy.service import require_rank

_SORT = Sort(
    {"seen_at": Login.seen_at, "created_at": Login.created_at}, tie=Login.public_id, default="-seen_at"
)


async def list_of(tx: AsyncSession, clock: Clock, actor: Actor, query: LoginQuery) -> Page[Login, User]:
    """A user's active sign-ins. Raises: NotFound, Forbidden."""
    user = await target_user.find(tx, actor, "login.read", query.user or actor.user_id)
    statement = (
        select(Login, User)
        .join(User, User.id == Login.user_id)
        .where(Login.user_id == user.id, Login.expires_at > clock.now())
    )
    return await page(tx, statement, _SORT, query)


async def end(tx: AsyncSession, actor: Actor, public_id: str) -> None:
    """End one sign-in. Raises: NotFound, Forbidden."""
    missing = NotFound("login.not_found", f"There is no sign-in {public_id}.")
    row = (
        await tx.execute(
            select(Login, User).join(User, User.id == Login.user_id).where(Login.public_id == public_id)
        )
    ).first()
    if row is None:
        raise missing
    target = user_target(row.User)
    require(actor, "login.remove", target, read="login.read", missing=missing)
    require_rank(actor, row.User)
    await tx.execute(delete(Login).where(Login.id == row.Login.id))
    audit.record(tx, actor, "login.remove", public_id, name=row.User.email, target=target)


async def end_everywhere(tx: AsyncSession, actor: Actor, ref: str | None) -> int:
    """Revoke a user's sign-ins except the current one; returns their number. Raises: NotFound, Forbidden."""
    user = await target_user.find(tx, actor, "login.remove", ref or actor.user_id)
    ended = await end_all(tx, user.id, but=actor.login_id)
    if ended:
        audit.record(
            tx,
            actor,
            "login.remove",
            user.id,
            name=user.email,
            target=user_target(user),
            details={"ended": ended},
        )
    return ended
