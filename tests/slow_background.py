"""Late notifications, and slow transactions of everything but the test: finds tests that depend on a fast machine.

Loaded by the variable CARREL_SLOW_BACKGROUND.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.database import Database
from carrel.db.listener import Listener

NOTICE_S = 0.3
TRANSACTION_S = 0.2
SHARE = 0.1
"""Of the transactions that are slow, at both ends."""

_announce, _listen = Listener.announce, Listener._listen
_transaction = Database.transaction
_notified: ContextVar[bool] = ContextVar("notified", default=False)


async def _listen_late(self: Listener) -> None:
    _notified.set(True)
    await _listen(self)


def _announce_late(self: Listener, topic: str) -> None:
    if _notified.get():
        asyncio.get_running_loop().call_later(NOTICE_S, _announce, self, topic)
    else:
        _announce(self, topic)


@asynccontextmanager
async def _slow_transaction(self: Database) -> AsyncIterator[AsyncSession]:
    task = asyncio.current_task()
    slow = task is not None and "test_" not in str(task.get_coro()) and random.random() < SHARE
    await asyncio.sleep(TRANSACTION_S * slow)
    async with _transaction(self) as tx:
        yield tx
    await asyncio.sleep(TRANSACTION_S * slow)


Listener.announce, Listener._listen = _announce_late, _listen_late  # type: ignore[method-assign]
Database.transaction = _slow_transaction  # type: ignore[method-assign]
