"""Work on a folder goes on only while somebody can tell how far it is."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from carrel.controllers.folder_tasks import _Dropped, _Work
from carrel.core.errors import Unavailable
from carrel.db.leader import LeadershipLost
from carrel.storage.port import Advance


class Endless:
    """A storage whose work would go on for ever, if nothing told it to end."""

    async def call(self, work: Callable[..., Any], *given: Any, deadline_s: float | None) -> None:
        for _ in range(1000):
            given[-1](Advance(1, 1))
            await asyncio.sleep(0)
        raise AssertionError("it goes on")


@pytest.mark.parametrize(
    "error", [Unavailable("database", "Away."), LeadershipLost(), RuntimeError("A mistake.")]
)
async def test_whatever_ends_the_telling_ends_the_work(error: Exception):
    @asynccontextmanager
    async def transaction():
        raise error
        yield

    async def confirm() -> None:
        return

    clock = SimpleNamespace(now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    tools = SimpleNamespace(
        transaction=transaction, confirm=confirm, clock=clock, leader=SimpleNamespace(epoch=1)
    )
    work = _Work(tools, {}, SimpleNamespace(id="task"))  # type: ignore[arg-type]
    with pytest.raises(_Dropped):
        await work._call(Endless(), lambda tick: None)  # type: ignore[arg-type]
