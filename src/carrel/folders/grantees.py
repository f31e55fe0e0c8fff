"""Possible recipients of a folder: active users and projects of the folder's domain."""

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import NotFound
from carrel.core.ids import DomainId
from carrel.tables.tenancy import User, UserState


async def recipient(tx: AsyncSession, ref: str, domain: DomainId, *, field: str | None = None) -> User:
    """The active user with this e-mail or id in the domain.

    Raises: NotFound; the same error for unknown, inactive and other domains' users, so that it reveals no accounts.
    """
    named = or_(User.id == ref, func.lower(User.email) == ref.strip().lower())
    here = (User.domain_id == domain) & (User.state == UserState.ACTIVE)
    user = (await tx.execute(select(User).where(named, here).limit(1))).scalar()
    if user is None:
        raise NotFound(
            "vfolder.no_such_person",
            f"There is no user {ref} who can receive folders.",
            hint="They need an active account in the same domain. Ask them or an administrator.",
            field=field,
        )
    return user
