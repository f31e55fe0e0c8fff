"""What is looked for among all folders every few seconds is found without looking at all of them."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import psycopg
import pytest
from folder_rows import add_host
from people import People
from query_plans import plans
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import SystemClock
from carrel.core.ids import StorageHostId
from carrel.db.database import Database
from carrel.folders import measuring, outcomes

HOST = StorageHostId("many")
NOW = SystemClock().now()
Use = Callable[[AsyncSession], Awaitable[object]]


@pytest.fixture
def many(postgres: str, database: Database, people: People) -> Database:
    """Folders that nothing is to be done with, and the mounts of sessions that ended."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        # Without the sessions: their ids alone count here.
        connection.execute("SET session_replication_role = replica")
        add_host(connection, "many", "/x")
        connection.execute(
            "INSERT INTO vfolders (id, name, host_id, owner_id, domain_id, scope, state, created_by, created_at,"
            " measured_at) SELECT 'f' || n, 'n' || n, 'many', %(user)s, %(domain)s, 'user-x', 'READY', %(user)s,"
            " now() - interval '1 day', now() FROM generate_series(1, 20000) n",
            {"user": people.user.user_id, "domain": people.domain},
        )
        connection.execute(
            "INSERT INTO vfolder_mounts (session_id, position, folder_id, folder_name, owner_id, path, read_only,"
            " released_at) SELECT 's' || n, 0, 'f' || (n %% 20000 + 1), 'n', %s, '/x', false, now()"
            " FROM generate_series(1, 100000) n",
            (people.user.user_id,),
        )
        connection.execute("ANALYZE")
    return database


QUERIES: dict[str, Use] = {
    "expire": lambda tx: outcomes.expire(tx, SystemClock(), days=30),
    "half_made": lambda tx: outcomes.half_made(tx, NOW),
    "due": lambda tx: measuring.due(tx, HOST, NOW, limit=50),
    "due, counted late": lambda tx: measuring.due(tx, HOST, NOW, limit=50, late=timedelta(seconds=35)),
    "what goes with a folder": lambda tx: tx.execute(
        text("UPDATE vfolder_mounts SET folder_id = NULL WHERE folder_id = 'f77'")
    ),
}


@pytest.mark.parametrize("query", QUERIES)
async def test_a_step_looks_only_at_folders_that_something_is_to_be_done_with(many: Database, query: str):
    plan = await plans(many, QUERIES[query])
    assert "Seq Scan on vfolder" not in plan, plan
