"""Somebody else commits between any two statements of a use case."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from people import People
from session_kit import enqueue
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.sessions import removal, service, transitions
from carrel.tables.session_states import SessionState as S
from carrel.tables.sessions import Session

PATH = {
    S.PENDING: [],
    S.SCHEDULED: [S.SCHEDULED],
    S.PREPARING: [S.SCHEDULED, S.PREPARING],
    S.STARTING: [S.SCHEDULED, S.PREPARING, S.STARTING],
    S.RUNNING: [S.SCHEDULED, S.PREPARING, S.RUNNING],
}
MOVES = [
    (S.PENDING, S.SCHEDULED),
    (S.SCHEDULED, S.PREPARING),
    (S.PREPARING, S.RUNNING),
    (S.PREPARING, S.PENDING),
    (S.STARTING, S.RUNNING),
    (S.STARTING, S.PENDING),
    (S.RUNNING, S.STARTING),
]
_STATEMENTS = 8


class Interrupted:
    """A transaction before whose n-th statement somebody else begins; it goes on when that one is done or waits."""

    def __init__(self, tx: AsyncSession, at: int, competitor: Any) -> None:
        self._tx = tx
        self._left = at
        self._competitor = competitor
        self.begun: asyncio.Task[None] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    async def execute(self, *arguments: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            self.begun = asyncio.create_task(self._competitor())
            await asyncio.wait([self.begun], timeout=0.15)
        return await self._tx.execute(*arguments)


@pytest.mark.parametrize(("source", "target"), MOVES, ids=[f"{a}-{b}" for a, b in MOVES])
async def test_a_request_to_end_is_never_lost(
    database: Database, people: People, clock: Clock, source: S, target: S
) -> None:
    for statement in range(1, _STATEMENTS):
        session = await _session_in(database, people, clock, source)

        async def compete(session: SessionId = session) -> None:
            async with database.transaction() as tx:
                if target == S.PENDING:
                    later = clock.now() + timedelta(seconds=1)
                    await removal.requeue(
                        tx, session, cause="retry", reason="again", now=clock.now(), not_before=later
                    )
                else:
                    await transitions.move(tx, [session], target, cause="test", now=clock.now())

        async with database.transaction() as tx:
            interrupted: Any = Interrupted(tx, statement, compete)
            await service.remove(interrupted, clock, people.user, session)
        if interrupted.begun:
            await interrupted.begun
        async with database.transaction() as tx:
            state = (await tx.get_one(Session, session)).state
        assert state in (S.TERMINATING, S.CANCELLED), f"{state}, interrupted before statement {statement}"


async def _session_in(database: Database, people: People, clock: Clock, state: S) -> SessionId:
    session = await enqueue(database, people.user)
    async with database.transaction() as tx:
        for step in PATH[state]:
            assert await transitions.move(tx, [session], step, cause="test", now=clock.now())
    return session
