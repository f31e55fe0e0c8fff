"""Where the files of a build are from, as it can be given with a build."""

from people import People

from carrel.builds import contexts, service
from carrel.builds.schemas import EnvironmentBuild
from carrel.core.clock import SystemClock
from carrel.db.database import Database


async def test_a_long_source_is_cut(database: Database, people: People) -> None:
    packed = contexts.Packed(b"", 1, 1)
    async with database.transaction() as tx:
        kept = await service.keep_context(tx, SystemClock(), people.user, packed, source="x" * 5000)
    assert EnvironmentBuild(name="torch", context=kept.id, source=kept.source).source == "x" * 2000
