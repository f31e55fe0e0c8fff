"""What it takes to place a session, to look after nodes, and to do nothing, in statements and in rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from controller_kit import tools
from databases import scalar, sql
from limit_kit import limit
from node_kit import GIB, join, machine
from session_kit import SMALL, enqueue
from sqlalchemy import event, text

from carrel.controllers.folder_tasks import FolderTasks
from carrel.controllers.launch import Launch
from carrel.controllers.log_collection import LogCollection
from carrel.controllers.reap import Reap
from carrel.controllers.schedule import Schedule
from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.db.leader import lead
from carrel.images import service as images
from carrel.limits.scopes import scopes_of
from carrel.nodes import service as nodes
from carrel.queue import loading
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Cause, ClusterMode, PendingSession
from carrel.sessions.spec import ArrayRequest

MACHINES = [machine(f"n{number}", cpu=4000, mem=8 * GIB) for number in range(3)]


@contextmanager
def statements(database) -> Iterator[list[str]]:
    made: list[str] = []

    def note(_connection, _cursor, statement, *_rest):
        made.append(statement)

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield made
    finally:
        event.remove(engine, "before_cursor_execute", note)


async def test_what_is_placed_while_a_snapshot_is_read_does_not_wait_in_it(database, people, clock):
    await join(database, *MACHINES)
    leader = await lead(database.url)
    made = await enqueue(database, people.user)
    async with database.transaction() as tx:
        waiting = await loading.waiting(tx, clock.now())
        await Schedule(tools(database, leader)).step()
        snapshot = await loading.snapshot(tx, clock.now(), waiting, running=True)
    await leader.resign()
    assert [one.id for one in waiting] == [made]
    assert (snapshot.waiting, [one.id for one in snapshot.running]) == ((), [made])


async def test_a_place_takes_few_statements_however_many_nodes(database, people, clock):
    await join(database, *MACHINES)
    leader = await lead(database.url)
    schedule = Schedule(tools(database, leader))
    made = await enqueue(database, people.user)
    with statements(database) as taken:
        await schedule.step()
    await leader.resign()
    async with database.transaction() as tx:
        snapshot = await loading.snapshot(tx, clock.now(), [])
        held = (await tx.execute(text("SELECT session_id, slot, amount FROM allocations"))).all()
    assert sorted(map(tuple, held)) == [(made, "cpu", 100), (made, "mem", 64 << 20)]
    assert [dict(one.used) for one in snapshot.nodes if one.used] == [SMALL]
    assert len(taken) <= 9, taken


async def test_a_full_array_is_not_planned_again_until_one_of_it_has_ended(database, people):
    await join(database, *MACHINES)
    leader = await lead(database.url)
    schedule = Schedule(tools(database, leader))
    array = ArrayRequest(first=1, last=4, max_parallel=2)
    await enqueue(database, people.user, kind="batch", command=("true",), array=array)

    async def states() -> list[str]:
        rows = await sql(database, "SELECT state FROM sessions ORDER BY array_index NULLS LAST")
        return [state for (state,) in rows]

    await schedule.step()
    assert await states() == ["SCHEDULED", "SCHEDULED", "PENDING", "PENDING"]
    with statements(database) as taken:
        await schedule.step()
    assert len(taken) <= 3, taken
    # One exits, and while it is removed the next one starts.
    await sql(
        database,
        "UPDATE containers SET state = 'EXITED' FROM sessions s WHERE s.id = session_id AND array_index = 1",
    )
    await schedule.step()
    assert await states() == ["SCHEDULED", "SCHEDULED", "SCHEDULED", "PENDING"]
    # Others are placed at once.
    await enqueue(database, people.user, name="other")
    await schedule.step()
    assert await states() == ["SCHEDULED", "SCHEDULED", "SCHEDULED", "PENDING", "SCHEDULED"]
    await leader.resign()


async def versions(database) -> dict[str, str]:
    async with database.transaction() as tx:
        rows = await tx.execute(text("SELECT name, xmin::text || seen_at::text AS version FROM nodes"))
        return {row.name: row.version for row in rows}


async def test_of_nodes_only_what_differs_is_written(database):
    now = SystemClock().now()

    async def record(machines) -> set[str]:
        before = await versions(database)
        async with database.transaction() as tx:
            await nodes.record(tx, machines, now)
        after = await versions(database)
        return {name for name in after if after[name] != before.get(name)}

    assert await record(MACHINES) == {"n0", "n1", "n2"}
    assert await record(MACHINES) == set()
    pulled = [MACHINES[0], replace(MACHINES[1], images=frozenset({"debian:12"})), MACHINES[2]]
    assert await record(pulled) == {"n1"}
    assert await record(pulled[:2]) == {"n2"}
    assert await record(pulled[:2]) == set()
    assert await record(pulled) == {"n2"}
    now += timedelta(seconds=10)
    assert await record(pulled) == {"n0", "n1", "n2"}


async def test_a_session_goes_where_its_image_runs_and_why_says_so(database, people, clock):
    arm = replace(MACHINES[0], name="arm", architecture="aarch64")
    async with database.transaction() as tx:
        await nodes.record(tx, [MACHINES[0], arm, replace(MACHINES[1], architecture="s390x")], clock.now())
        for name, architecture in (("big", "s390x"), ("small", "arm64"), ("usual", "amd64")):
            await images.register(
                tx,
                name=name,
                reference=f"{name}:1",
                title=name,
                description="",
                size_bytes=None,
                architecture=architecture,
                apps=[],
                min_slots=SMALL,
            )
    made = {name: await enqueue(database, people.user, image=name) for name in ("small", "usual", "big")}
    async with database.transaction() as tx:
        # What admission refuses can arise while a session waits.
        await tx.execute(text("DELETE FROM nodes WHERE architecture = 's390x'"))
        decided = plan(await loading.snapshot(tx, clock.now(), await loading.waiting(tx, clock.now())))
        named = {node.id: node.name for node in (await loading.snapshot(tx, clock.now(), [])).nodes}
    placed = {placement.session: named[placement.node] for placement in decided.placements}
    assert placed == {made["small"]: "arm", made["usual"]: "n0"}
    [refusal] = decided.refusals
    assert refusal.reason == (
        "1 node: is aarch64, the image needs s390x; 1 node: is x86_64, the image needs s390x."
    )


async def test_a_keypairs_policy_limits_the_containers_of_a_session(database, people, clock):
    path = (people.user.domain_id, next(iter(people.user.projects)), people.user.user_id)
    one, two = (
        PendingSession(
            SessionId(f"of-{count}"),
            SMALL,
            clock.now(),
            path=path,
            scopes=scopes_of(None, path),
            count=count,
            mode=ClusterMode.SINGLE_NODE,
        )
        for count in (1, 2)
    )
    await join(database, *MACHINES)
    await limit(database, "keypair", containers_per_session=1)
    async with database.transaction() as tx:
        decided = plan(await loading.snapshot(tx, clock.now(), [one, two]))
    assert [placement.session for placement in decided.placements] == ["of-1"]
    [refusal] = decided.refusals
    assert (refusal.session, refusal.cause) == ("of-2", Cause.LIMIT)
    assert refusal.reason.endswith("may have 1 container in a session; this needs 2.")


async def test_controllers_that_have_nothing_to_do_ask_little(database, people):
    leader = await lead(database.url)
    own = tools(database, leader)
    launch, logs = Launch(own), LogCollection(own)
    costs = {}
    for controller in (Schedule(own), launch, Reap(own, launch, logs), logs, FolderTasks(own)):
        with statements(database) as taken:
            await controller.step()
        costs[controller.name] = len(taken)
    await leader.resign()
    assert costs == {"schedule": 2, "launch": 1, "reap": 1, "logs": 1, "folders": 3}


async def test_a_session_that_ends_while_its_removal_begins_stops_no_other_removal(
    database, people, monkeypatch
):
    """Its removed machine is then no longer in use."""
    await join(database, *MACHINES)
    await enqueue(database, people.user)
    await sql(database, "UPDATE sessions SET state = 'TERMINATING', outcome = 'TERMINATED'")
    await sql(database, "UPDATE containers SET state = 'RUNNING', node_id = (SELECT min(id) FROM nodes)")
    leader = await lead(database.url)
    own = tools(database, leader)
    launch, logs = Launch(own), LogCollection(own)
    reap = Reap(own, launch, logs)

    async def none_in_use(_tx):
        return {}

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(nodes, "addresses", none_in_use)
        await reap.step()
    await reap.close()
    await leader.resign()
    assert await scalar(database, "SELECT state FROM containers") == "RUNNING"
