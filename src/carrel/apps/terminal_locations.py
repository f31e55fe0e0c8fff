"""Which copy of the API has which terminal, for clients that reconnect through another copy."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

import structlog
from sqlalchemy import delete, func, select, update

from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, UserId, new_id
from carrel.db.database import Database
from carrel.tables.open_terminals import OpenTerminal

log = structlog.get_logger()

CONFIRM_EVERY_S = 30.0
_LOST_AFTER = timedelta(minutes=2)
"""A copy that confirms nothing for this long is gone, and its terminals with it."""


class ApiCopy(NamedTuple):
    """A copy of the API. id: of its process, which no other one ever has. address: its internal URL."""

    id: str
    address: str


class TerminalLocations:
    """The terminals of all copies. address: internal URL of this copy."""

    def __init__(self, database: Database, clock: Clock, address: str) -> None:
        self.copy_id = new_id()
        self._database = database
        self._clock = clock
        self._address = address

    async def record(self, terminal: str, container: ContainerId, user: UserId) -> None:
        """This copy has the terminal. Raises: Unavailable."""
        async with self._database.transaction() as tx:
            tx.add(
                OpenTerminal(
                    id=terminal,
                    container_id=container,
                    user_id=user,
                    copy_id=self.copy_id,
                    address=self._address,
                    seen_at=self._clock.now(),
                )
            )

    async def forget(self, terminal: str) -> None:
        """The terminal has ended. Twice: no-op. Without a database its row expires."""
        with suppress(Unavailable):
            async with self._database.transaction() as tx:
                await tx.execute(delete(OpenTerminal).where(OpenTerminal.id == terminal))

    async def forget_own(self) -> None:
        """This copy ends, and has no terminals. Without a database their rows expire."""
        with suppress(Unavailable):
            async with self._database.transaction() as tx:
                await tx.execute(delete(OpenTerminal).where(OpenTerminal.copy_id == self.copy_id))

    async def elsewhere(self, terminal: str, container: ContainerId, user: UserId) -> ApiCopy | None:
        """The other copy that has this terminal of the user's, or None. Raises: Unavailable."""
        async with self._database.transaction() as tx:
            row = (
                await tx.execute(
                    select(OpenTerminal.copy_id, OpenTerminal.address).where(
                        OpenTerminal.id == terminal,
                        OpenTerminal.container_id == container,
                        OpenTerminal.user_id == user,
                        OpenTerminal.copy_id != self.copy_id,
                        OpenTerminal.seen_at > self._clock.now() - _LOST_AFTER,
                    )
                )
            ).one_or_none()
            return ApiCopy(*row) if row else None

    async def count_elsewhere(self, container: ContainerId) -> int:
        """The number of terminals in this container that other copies have. Raises: Unavailable."""
        async with self._database.transaction() as tx:
            return (
                await tx.execute(
                    select(func.count()).where(
                        OpenTerminal.container_id == container,
                        OpenTerminal.copy_id != self.copy_id,
                        OpenTerminal.seen_at > self._clock.now() - _LOST_AFTER,
                    )
                )
            ).scalar_one()

    async def run(self, has_any: Callable[[], bool]) -> None:
        """Confirm the terminals of this copy, if it has any, and delete those of lost copies; until cancelled."""
        while True:
            await asyncio.sleep(CONFIRM_EVERY_S)
            if not has_any():
                continue
            try:
                await self.confirm()
            except Unavailable:
                log.warning("terminals.database_unavailable")

    async def confirm(self) -> None:
        """Confirm the terminals of this copy and delete those of lost copies. Raises: Unavailable."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            await tx.execute(
                update(OpenTerminal).where(OpenTerminal.copy_id == self.copy_id).values(seen_at=now)
            )
            await tx.execute(delete(OpenTerminal).where(OpenTerminal.seen_at < now - _LOST_AFTER))
