"""What controllers do for a session does not depend on how many others of its array are pending."""

import asyncio
from typing import Any

from controller_kit import tools
from databases import sql
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from node_kit import GIB, join, machine
from people import People
from session_kit import SMALL, enqueue
from sqlalchemy import event, text

from carrel.controllers.observe import Observe
from carrel.controllers.schedule import Schedule, _shown
from carrel.core.clock import SystemClock
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.port import ContainerSpec
from carrel.queue import loading
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Plan, Snapshot
from carrel.sessions.spec import ArrayRequest
from carrel.tables.sessions import Container, Session

clock = SystemClock()
_CHANGES = {
    "exited": "UPDATE containers c SET state = 'EXITED' FROM sessions s"
    " WHERE s.id = c.session_id AND c.state <> 'PENDING' AND s.array_index % 3 = :n",
    "gone": "UPDATE sessions SET state = 'CANCELLED', ended_at = now() WHERE array_index % 4 = :n",
    "back off": "UPDATE sessions SET not_before = now() + interval '1 h' WHERE state = 'PENDING' AND array_index = :n",
    "again": "UPDATE sessions SET not_before = now() - interval '1 h' WHERE state = 'PENDING' AND array_index = :n",
    "priority": "UPDATE sessions SET priority = 40 + 10 * :n WHERE array_index BETWEEN :n AND :n + 3",
    "full": "UPDATE nodes SET cordoned = (:n = 1)",
}


async def _plans(database: Database) -> tuple[Snapshot, Plan, Snapshot, Plan]:
    """Of all pending sessions, and of those that may start."""
    now = clock.now()
    async with database.transaction() as tx:
        every = await loading.snapshot(tx, now, await loading.waiting(tx, now))
        some = await loading.snapshot(tx, now, await loading.startable(tx, now))
    return every, plan(every), some, plan(some)


async def _reasons(database: Database) -> dict[str, str]:
    return dict(await sql(database, "SELECT id, reason FROM sessions WHERE state = 'PENDING'"))


async def test_a_plan_of_those_that_may_start_is_that_of_all(database: Database, people: People):
    await join(database, machine(cpu=600, mem=8 * GIB))
    schedule = Schedule(tools(database, await lead(database.url)))

    async def check(sizes: list[tuple[int, int]], changes: list[tuple[str, int]]) -> None:
        await sql(database, "DELETE FROM allocations")
        await sql(
            database, "UPDATE sessions SET state = 'CANCELLED', ended_at = now() WHERE ended_at IS NULL"
        )
        await sql(database, "UPDATE nodes SET cordoned = false")
        for count, most in sizes:
            array = ArrayRequest(first=1, last=count, max_parallel=most)
            await enqueue(database, people.user, kind="batch", command=("true",), array=array)
            await enqueue(database, people.user)
        for name, n in [("", 0), *changes]:
            if name:
                await sql(database, _CHANGES[name], n=n)
            schedule._arrays_waited = None
            await schedule.step()
            every, of_all, some, of_some = await _plans(database)
            assert of_some.placements == of_all.placements == ()
            assert _shown(some, of_some) == _shown(every, of_all)
            left_out = {one.session: one.reason for one in of_all.refusals}
            for one in of_some.refusals:
                assert one.reason == left_out.pop(one.session)
            # Those left out have their reasons, and there are as many as the others say.
            assert sum(one.behind for one in of_some.refusals) == len(left_out)
            assert left_out.items() <= (await _reasons(database)).items()

    loop = asyncio.get_running_loop()

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.lists(st.tuples(st.integers(1, 12), st.integers(1, 4)), min_size=1, max_size=2),
        st.lists(st.tuples(st.sampled_from(sorted(_CHANGES)), st.integers(0, 3)), max_size=6),
    )
    def every(sizes: list[tuple[int, int]], changes: list[tuple[str, int]]) -> None:
        asyncio.run_coroutine_threadsafe(check(sizes, changes), loop).result(60)

    await asyncio.to_thread(every)


async def test_a_pass_reads_few_sessions_of_a_long_array(database: Database, people: People):
    await join(database, machine(cpu=1000, mem=8 * GIB))
    array = ArrayRequest(first=1, last=300, max_parallel=4)
    await enqueue(database, people.user, kind="batch", command=("true",), array=array)
    schedule = Schedule(tools(database, await lead(database.url)))
    await schedule.step()
    now = clock.now()
    async with database.transaction() as tx:
        assert len(await loading.startable(tx, now)) == 1
        await tx.execute(text("UPDATE containers SET state = 'EXITED' WHERE state <> 'PENDING'"))
        assert len(await loading.startable(tx, now)) == 5


async def test_engines_are_compared_with_placed_sessions_only(database: Database, people: People):
    shared = tools(database, await lead(database.url))
    engine = await shared.engines.of(LOCAL_ENGINE)
    observe = Observe(shared)
    await observe.step()
    array = ArrayRequest(first=1, last=50, max_parallel=1)
    await enqueue(database, people.user, kind="batch", command=("true",), array=array)
    loaded: list[Any] = []
    event.listen(Session, "load", lambda target, _: loaded.append(target))
    event.listen(Container, "load", lambda target, _: loaded.append(target))
    await observe.step()
    assert loaded == []
    # One that is pending again may have left a container behind.
    ((container,),) = await sql(
        database, "SELECT c.id FROM containers c JOIN sessions s ON s.id = c.session_id WHERE array_index = 7"
    )
    await engine.ensure(ContainerSpec(container, "tiny", SMALL), lambda _: None)
    await engine.ensure(ContainerSpec("orphan", "tiny", SMALL), lambda _: None)
    await observe.step()
    assert await engine.list() == ()
    assert {one.id for one in loaded if isinstance(one, Container)} == {container}
    await observe.close()
