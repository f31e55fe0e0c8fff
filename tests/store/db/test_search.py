"""Search by part of a name: what it finds, and that it reads an index for it."""

import orjson
import pytest
from databases import scalar
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_kit import enqueue, fill_history
from sqlalchemy import column as named
from sqlalchemy import select, text, values
from sqlalchemy.types import String

from carrel.db.database import Database
from carrel.db.search import bound_part, has_part, part_condition
from carrel.sessions import queries, session_json
from carrel.sessions.schemas import SessionQuery

_LETTERS = st.text(alphabet="abAB%_\\ '-é한", max_size=8)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(_LETTERS, min_size=1, max_size=6), part=_LETTERS)
async def test_what_has_the_part_is_found_in_any_case(database: Database, rows: list[str], part: str):
    listed = values(named("place", String), named("name", String), name="listed").data(
        [(str(place), name) for place, name in enumerate(rows)]
    )
    async with database.transaction() as tx:
        result = await tx.execute(select(listed.c.place).where(has_part("listed.name", part)))
    # The embedded server folds the case of ASCII alone, as its locale says.
    expected = [str(place) for place, name in enumerate(rows) if part.lower() in name.lower()]
    assert sorted(result.scalars()) == expected


@pytest.mark.parametrize("part", ["hesi", "THESIS", "is deb"])
async def test_a_rare_part_is_found_by_the_index(database, people, clock, part):
    await fill_history(database, people, 20_000)
    made = await enqueue(database, people.user, name="thesis")
    query = SessionQuery(state="all", q=part, owner="all", limit=20)
    page = await session_json.page(database, people.superadmin, query)
    assert [item["id"] for item in orjson.loads(page)["items"]] == [made]
    condition = part_condition("s.name || ' ' || s.image", part)
    plan = await database.search(
        f"EXPLAIN SELECT * FROM sessions s WHERE {condition} ORDER BY created_at DESC LIMIT 20",
        bound_part(part),
    )
    assert any("ix_sessions_searched" in line for line in plan), plan


async def test_an_administrator_finds_a_name_without_reading_every_session(database, people, clock):
    await fill_history(database, people, 20_000)
    async with database.transaction() as tx:
        await tx.execute(text("SELECT pg_stat_force_next_flush()"))
        before = (await tx.execute(text(_SCANNED))).scalar_one()
    async with database.transaction() as tx:
        assert (await queries.resolve(tx, people.superadmin, "desk-19999")).name == "desk-19999"
        await tx.execute(text("SELECT pg_stat_force_next_flush()"))
    assert await scalar(database, _SCANNED) == before


_SCANNED = "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'sessions'"
