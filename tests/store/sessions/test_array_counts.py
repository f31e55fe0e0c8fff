"""The counts of an array are those of its sessions at every moment, and no list counts the sessions."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import orjson
from databases import sql
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from people import People
from session_kit import enqueue
from sqlalchemy import text

from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.permissions.decide import Actor
from carrel.sessions import arrays, session_json, transitions
from carrel.sessions.schemas import SessionQuery
from carrel.sessions.spec import ArrayRequest
from carrel.tables.session_states import LIFECYCLE, Result, SessionKind, SessionState

clock = SystemClock()
Move = tuple[list[int], SessionState, Result | None]
"""The indexes of sessions, the state to move them to if they can get there, and the result."""

_MOVES = st.tuples(
    st.lists(st.integers(0, 6), min_size=1, unique=True),
    st.sampled_from(SessionState),
    st.sampled_from([None, *Result]),
)
_COUNTED = text("SELECT state, result, count(*) FROM sessions WHERE array_id = :id GROUP BY 1, 2")
_SHOWN = text(f"SELECT {arrays.as_json(':id')} AS shown")


async def _array(database: Database, actor: Actor, count: int, **changes: object) -> SessionId:
    """The first session of a new array that has sessions with the indexes from 0."""
    request = {
        "kind": SessionKind.BATCH,
        "command": ("true",),
        "array": ArrayRequest(first=0, last=count - 1),
        **changes,
    }
    return await enqueue(database, actor, **request)


async def _move(database: Database, members: Sequence[SessionId], move: Move) -> None:
    indexes, target, result = move
    async with database.transaction() as tx:
        await transitions.move(
            tx,
            [members[index] for index in indexes],
            target,
            cause="test",
            now=clock.now(),
            outcome=SessionState.ERROR,
            result=result,
        )


async def _add_up(database: Database) -> None:
    async with database.transaction() as tx:
        await arrays.add_up_counts(tx)


async def _require_right(database: Database, *ids: SessionId) -> None:
    for one in ids:
        async with database.transaction() as tx:
            counted = (await tx.execute(_COUNTED, {"id": one})).all()
            shown = (await tx.execute(_SHOWN, {"id": one})).scalar_one()["counts"]
        assert Counter({(c["state"], c["result"]): c["count"] for c in shown}) == Counter(
            {(row.state, row.result): row.count for row in counted}
        )
        assert shown == sorted(shown, key=lambda c: (c["state"], c["result"] or "~"))


async def test_the_counts_are_those_of_the_sessions_whatever_happens_to_them(
    database: Database, people: People
):
    loop = asyncio.get_running_loop()

    async def check(moves: list[Move | None]) -> None:
        first, other = [await _array(database, people.user, 7) for _ in range(2)]
        async with database.transaction() as tx:
            ids = text("SELECT id FROM sessions WHERE array_id = :id ORDER BY array_index")
            members = list((await tx.execute(ids, {"id": first})).scalars())
        await _require_right(database, first, other)
        for move in moves:
            await (_move(database, members, move) if move else _add_up(database))
            await _require_right(database, first, other)
        ends = [([n], state, None) for n in range(7) for state in sorted(LIFECYCLE.final)]
        await asyncio.gather(*(_move(database, members, end) for end in ends), _add_up(database))
        await _require_right(database, first, other)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.one_of(_MOVES, st.none()), max_size=12))
    def every(moves: list[Move | None]) -> None:
        asyncio.run_coroutine_threadsafe(check(moves), loop).result(60)

    await asyncio.to_thread(every)


async def test_what_no_transition_wrote_counts_too(database: Database, people: People):
    array = await _array(database, people.user, 3)
    await sql(database, "UPDATE sessions SET state = 'RUNNING' WHERE array_index = 1")
    await _require_right(database, array)
    await sql(database, "UPDATE sessions SET array_id = NULL, array_index = NULL WHERE array_index = 2")
    await _require_right(database, array)
    await _add_up(database)
    await _require_right(database, array)


async def test_lists_read_the_counts_of_an_array_instead_of_its_sessions(database: Database, people: People):
    array = await _array(database, people.user, 500)
    await sql(database, "UPDATE sessions SET state = 'RUNNING' WHERE array_index < 3")
    await _add_up(database)
    # Nothing that a list shows depends on the sessions that the counts are of.
    await sql(
        database,
        'UPDATE session_arrays SET counts = \'[{"state": "RUNNING", "result": null, "count": 7}]\' WHERE id = :id',
        id=array,
    )
    page = orjson.loads(await session_json.page(database, people.user, SessionQuery(state="live", limit=20)))
    assert [row["array"]["counts"] for row in page["items"]] == [
        [{"state": "RUNNING", "result": None, "count": 7}]
    ]
