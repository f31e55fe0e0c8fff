"""Sessions against a real database: creating, finding, moving, ending."""

import asyncio

import orjson
import pytest
from sqlalchemy import text

from carrel.core.errors import Conflict, Invalid, NotFound, Refused
from carrel.engines.port import NodeInfo
from carrel.nodes import service as nodes
from carrel.sessions import queries, service, transitions
from carrel.sessions.spec import SessionSpec
from carrel.tables.session_states import LAUNCHING, LIFECYCLE, SessionState

SMALL = {"cpu": 100, "mem": 64 << 20}
SPEC = SessionSpec(image="debian:12", slots=SMALL)


async def test_a_session_is_remembered_with_history_event_and_audit(database, people, clock):
    made = await service.enqueue(database, clock, people.user, SPEC)
    async with database.transaction() as tx:
        counts = [
            (
                await tx.execute(text(f"SELECT count(*) FROM {table} WHERE {column} = :id"), {"id": made})
            ).scalar_one()
            for table, column in (
                ("session_history", "session_id"),
                ("events", "object_id"),
                ("audit", "object_id"),
            )
        ]
    assert counts == [1, 1, 1]


async def test_a_repeat_with_the_same_key_returns_the_first(database, people, clock):
    spec = SessionSpec(image="debian:12", slots=SMALL, name="twice")
    made = await asyncio.gather(
        *(service.enqueue(database, clock, people.user, spec, idempotency_key="k1") for _ in range(8))
    )
    assert len(set(made)) == 1


async def test_a_live_name_is_taken_for_its_owner_only(database, people, clock):
    request = SessionSpec(image="debian:12", slots=SMALL, name="desk")
    first = await service.enqueue(database, clock, people.user, request)
    with pytest.raises(Conflict) as taken:
        await service.enqueue(database, clock, people.user, request)
    assert taken.value.code == "session.name_taken"
    await service.enqueue(database, clock, people.colleague, request)
    async with database.transaction() as tx:
        await service.remove(tx, clock, people.user, first, force=False)
    await service.enqueue(database, clock, people.user, request)


async def test_what_no_node_can_ever_hold_is_refused_at_the_door(database, people, clock):
    async with database.transaction() as tx:
        await nodes.record(tx, [NodeInfo("n1", "amd64", {"cpu": 2000, "mem": 2 << 30}, "Fake")], clock.now())
    with pytest.raises(Refused) as refused:
        await service.enqueue(
            database, clock, people.user, SessionSpec(image="debian:12", slots={"cpu": 3000, "mem": 1 << 30})
        )
    assert refused.value.details == {"slot": "cpu", "asked": 3000, "largest": 2000}


@pytest.mark.parametrize("image", ["UPPER/case", "a b", "", "-x", "name:tag:tag", "../../etc"])
async def test_an_impossible_reference_is_refused_at_the_door(database, people, clock, image):
    with pytest.raises(Invalid):
        await service.enqueue(database, clock, people.user, SessionSpec(image=image, slots=SMALL))


async def test_others_sessions_are_not_there_for_me(database, people, clock):
    made = await service.enqueue(
        database, clock, people.user, SessionSpec(image="debian:12", slots=SMALL, name="mine")
    )
    for actor in (people.colleague, people.stranger, people.foreigner):
        for ref in (made, made[:5], "mine"):
            async with database.transaction() as tx:
                with pytest.raises(NotFound):
                    await service.find(tx, actor, ref)
    async with database.transaction() as tx:
        assert (await service.find(tx, people.superadmin, made)).id == made


async def test_a_prefix_must_be_unique(database, people, clock):
    made = [await service.enqueue(database, clock, people.user, SPEC) for _ in range(2)]
    async with database.transaction() as tx:
        for number, session in enumerate(made):
            await tx.execute(
                text("ALTER TABLE session_history DROP CONSTRAINT IF EXISTS fk_session_history_session_id")
            )
            await tx.execute(
                text("ALTER TABLE containers DROP CONSTRAINT IF EXISTS fk_containers_session_id")
            )
            await tx.execute(
                text("UPDATE sessions SET id = :new WHERE id = :old"),
                {"new": f"abcdefghij{number}a", "old": session},
            )
        with pytest.raises(Conflict) as ambiguous:
            await service.find(tx, people.user, "abcd")
        assert ambiguous.value.code == "session.ambiguous"
        assert (await service.find(tx, people.user, "abcdefghij1")).id == "abcdefghij1a"


@pytest.mark.parametrize("target", sorted(SessionState))
async def test_only_the_lifecycles_moves_happen(database, people, clock, target):
    for source in sorted(SessionState):
        made = await service.enqueue(database, clock, people.user, SPEC)
        ended = clock.now() if source in LIFECYCLE.final else None
        async with database.transaction() as tx:
            await tx.execute(
                text("UPDATE sessions SET state = :s, outcome = 'ERROR', ended_at = :e WHERE id = :id"),
                {"s": source, "e": ended, "id": made},
            )
            moved = await transitions.move(
                tx, [made], target, cause="test", outcome=SessionState.ERROR, now=clock.now()
            )
        assert bool(moved) == (target in LIFECYCLE.moves[source]), (source, target)


async def test_what_is_told_late_of_a_start_takes_no_end_its_reason(database, people, clock):
    made = await service.enqueue(database, clock, people.user, SPEC)
    async with database.transaction() as tx:
        await tx.execute(
            text("UPDATE sessions SET state = 'TERMINATING', outcome = 'ERROR', reason = 'Ended.'")
        )
        for states, then in (
            (LAUNCHING, "Ended."),
            ([SessionState.TERMINATING], "The engine does not answer."),
        ):
            await transitions.show_progress(
                tx, made, states, progress=None, reason="The engine does not answer."
            )
            assert (await tx.execute(text("SELECT reason FROM sessions"))).scalar() == then


async def test_of_two_movers_one_wins(database, people, clock):
    made = await service.enqueue(database, clock, people.user, SPEC)

    async def move() -> int:
        async with database.transaction() as tx:
            return len(
                await transitions.move(tx, [made], SessionState.SCHEDULED, cause="test", now=clock.now())
            )

    assert sum(await asyncio.gather(*(move() for _ in range(6)))) == 1


async def test_pages_follow_each_other_without_gap_or_repeat(database, people, clock):
    made = [await service.enqueue(database, clock, people.user, SPEC) for _ in range(7)]
    seen: list[str] = []
    cursor = None
    import json

    while True:
        page = json.loads(
            await queries.page(
                database, people.user, states=None, search=None, owner="me", limit=3, cursor=cursor
            )
        )
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == made[::-1]


@pytest.mark.parametrize("by", ["name", "state", "image", "created_at"])
@pytest.mark.parametrize("down", [False, True])
async def test_a_sorted_list_goes_on_where_its_page_ended(database, people, clock, by, down):
    for name, image in (("bbbb", "x:1"), ("Aaaa", "y:1"), ("aaaa", "x:1"), ("cccc", "y:1"), ("abcd", "x:1")):
        await service.enqueue(database, clock, people.user, SessionSpec(image=image, slots=SMALL, name=name))
    seen: list[dict[str, str]] = []
    cursor = None
    while True:
        page = orjson.loads(
            await queries.page(
                database,
                people.user,
                states=None,
                search=None,
                owner="me",
                limit=2,
                cursor=cursor,
                sort=f"-{by}" if down else by,
            )
        )
        seen += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    keys = [(item[by], item["id"]) for item in seen]
    assert len(keys) == 5
    assert keys == sorted(keys, reverse=down)
