"""Possible recipients of a folder: active users and projects of the folder's domain."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import NotFound
from carrel.core.ids import DomainId
from carrel.tables.tenancy import User
from carrel.tenancy.queries import active_user


async def recipient(tx: AsyncSession, ref: str, domain: DomainId, *, field: str | None = None) -> User:
    """The active user with this e-mail or id in the domain.

    Raises: NotFound; the same error for unknown, inactive and other domains' users, so that it reveals no accounts.
    """
    user = await active_user(tx, ref, domain)
    if user is None:
        raise NotFound(
            "vfolder.no_such_person",
            f"There is no user {ref} who can receive folders.",
            hint="They need an active account in the same domain. Ask them or an administrator.",
            field=field,
        )
    return user
