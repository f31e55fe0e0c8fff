"""The right to start an app, of one copy of the API at a time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.dialects.postgresql import insert

from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, new_id
from carrel.db.database import Database
from carrel.tables.apps import AppLease

_LASTS = timedelta(seconds=90)
"""Longer than a start takes. A copy that was killed meanwhile delays the next start by as much."""


class StartLeases:
    """Leases of starting apps in the database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @asynccontextmanager
    async def starting(self, container: ContainerId, app: str) -> AsyncIterator[bool]:
        """True: nobody else starts the app during the block. False: another copy is starting it.

        Raises: Unavailable.
        """
        now, owner = self._clock.now(), new_id()
        values = {"owner": owner, "expires_at": now + _LASTS}
        lease = (
            insert(AppLease)
            .values(container_id=container, app=app, **values)
            .on_conflict_do_update(
                index_elements=[AppLease.container_id, AppLease.app],
                set_=values,
                where=AppLease.expires_at < now,
            )
            .returning(AppLease.owner)
        )
        async with self._database.transaction() as tx:
            granted = (await tx.execute(lease)).scalar_one_or_none() is not None
        try:
            yield granted
        finally:
            if granted:
                with suppress(Unavailable):
                    async with self._database.transaction() as tx:
                        await tx.execute(delete(AppLease).where(AppLease.owner == owner))
