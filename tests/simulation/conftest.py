"""One database for all lives of a test, emptied between them by deleting rows."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest
from people import first_administrator
from simulation.installation_life import Installation
from simulation.virtual_time import LoopClock, simulate

from carrel.db.database import Database
from carrel.engines.fake import FakeWorld
from carrel.permissions.decide import Actor

_EMPTIED = (
    "container_logs",
    "schedule_runs",
    "schedules",
    "session_dependencies",
    "session_history",
    "allocations",
    "usage_samples",
    "usage_minutes",
    "usage_hours",
    "usage_days",
    "device_energy",
    "usage_progress",
    "events",
    "audit",
    "containers",
    "sessions",
    "session_arrays",
    "array_count_changes",
    "nodes",
)


def empty(look: psycopg.Connection[Any]) -> None:
    """Forget every session and node; people stay, and leaders keep counting."""
    # What retention says, without which nothing leaves the audit trail.
    look.execute("SET carrel.audit_retention = 'on'")
    for table in _EMPTIED:
        look.execute(f"DELETE FROM {table}")
    look.execute("DELETE FROM engines WHERE id <> 'local'")
    look.execute(
        "UPDATE resource_groups SET on_node_loss = DEFAULT, node_loss_s = DEFAULT, pending_timeout_s = DEFAULT,"
        " node_selector = DEFAULT, elastic = DEFAULT, required_capabilities = DEFAULT, runtime = DEFAULT,"
        " topology = DEFAULT"
    )
    look.execute("DELETE FROM resource_groups WHERE id <> 'default'")


Story = Callable[[Installation], Awaitable[None]]
Play = Callable[[Story], None]


@pytest.fixture
def play(postgres: str, look: psycopg.Connection[Any], actor: Actor) -> Play:
    """Plays a story on a fresh installation and checks the invariants at its end."""

    def play(story: Story) -> None:
        async def main() -> None:
            empty(look)
            installation = Installation(postgres, look, FakeWorld(LoopClock()), actor, [])
            try:
                await story(installation)
                assert not installation.violations()
            finally:
                await installation.close()

        simulate(main())

    return play


@pytest.fixture
def look(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the test's own, to look at rows behind everybody's back."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


@pytest.fixture
def actor(postgres: str, look: psycopg.Connection[Any]) -> Actor:
    """Somebody who may start sessions."""

    async def create() -> Actor:
        database = Database(postgres)
        actor = await first_administrator(database)
        await database.close()
        return actor

    return asyncio.run(create())
