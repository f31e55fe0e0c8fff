"""Sessions against a real database: creating, finding, moving, ending."""

import asyncio

import orjson
import pytest
from databases import scalar
from node_kit import GIB, join, machine
from session_kit import enqueue, force_state, overwrite
from sqlalchemy import text

from carrel.core.errors import Conflict, Invalid, NotFound, Refused
from carrel.sessions import service, session_json, transitions, updates
from carrel.sessions.schemas import SessionQuery
from carrel.tables.session_states import LAUNCHING, LIFECYCLE, SessionState
from carrel.tables.sessions import Session


async def test_a_session_is_remembered_with_history_event_and_audit(database, people):
    made = await enqueue(database, people.user)
    counts = [
        await scalar(database, f"SELECT count(*) FROM {table} WHERE {column} = :id", id=made)
        for table, column in (
            ("session_history", "session_id"),
            ("events", "object_id"),
            ("audit", "object_id"),
        )
    ]
    assert counts == [1, 1, 1]


async def test_a_repeat_with_the_same_key_returns_the_first(database, people):
    made = await asyncio.gather(*(enqueue(database, people.user, name="twice", key="k1") for _ in range(8)))
    assert len(set(made)) == 1


async def test_a_live_name_is_taken_for_its_owner_only(database, people, clock):
    first = await enqueue(database, people.user, name="desk")
    with pytest.raises(Conflict) as taken:
        await enqueue(database, people.user, name="desk")
    assert taken.value.code == "session.name_taken"
    await enqueue(database, people.colleague, name="desk")
    async with database.transaction() as tx:
        await service.remove(tx, clock, people.user, first)
    await enqueue(database, people.user, name="desk")


async def test_another_name_is_generated_when_the_first_is_taken(database, people, monkeypatch):
    names = iter(["calm-fern-10", "calm-fern-10", "calm-fern-11"])
    monkeypatch.setattr(service, "generated_name", lambda: next(names))
    made = [await enqueue(database, people.user) for _ in range(2)]
    async with database.transaction() as tx:
        assert [(await tx.get_one(Session, session)).name for session in made] == [
            "calm-fern-10",
            "calm-fern-11",
        ]


async def test_what_no_node_can_ever_hold_is_refused_at_the_door(database, people):
    await join(database, machine(cpu=2000, mem=2 * GIB))
    with pytest.raises(Refused) as refused:
        await enqueue(database, people.user, slots={"cpu": 3000, "mem": GIB})
    assert refused.value.details == {"slot": "cpu", "asked": 3000, "largest": 2000}


@pytest.mark.parametrize("image", ["UPPER/case", "a b", "", "-x", "name:tag:tag", "../../etc"])
async def test_an_impossible_reference_is_refused_at_the_door(database, people, image):
    with pytest.raises(Invalid):
        await enqueue(database, people.user, image=image)


async def test_others_sessions_are_not_there_for_me(database, people):
    made = await enqueue(database, people.user, name="mine")
    for actor in (people.colleague, people.stranger, people.foreigner):
        for ref in (made, made[:5], "mine"):
            async with database.transaction() as tx:
                with pytest.raises(NotFound):
                    await service.find(tx, actor, ref)
    async with database.transaction() as tx:
        assert (await service.find(tx, people.superadmin, made)).id == made


async def test_a_prefix_must_be_unique(database, people):
    made = [await enqueue(database, people.user) for _ in range(2)]
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
        made = await enqueue(database, people.user)
        await force_state(database, made, source)
        async with database.transaction() as tx:
            moved = await transitions.move(
                tx, [made], target, cause="test", outcome=SessionState.ERROR, now=clock.now()
            )
        assert bool(moved) == (target in LIFECYCLE.moves[source]), (source, target)


async def test_what_is_told_late_of_a_start_takes_no_end_its_reason(database, people):
    made = await enqueue(database, people.user)
    await overwrite(database, made, state="TERMINATING", outcome="ERROR", reason="Ended.")
    async with database.transaction() as tx:
        for states, then in (
            (LAUNCHING, "Ended."),
            ([SessionState.TERMINATING], "The engine does not respond."),
        ):
            await updates.show_progress(
                tx, made, states, progress=None, reason="The engine does not respond."
            )
            assert (await tx.execute(text("SELECT reason FROM sessions"))).scalar() == then


async def test_of_two_movers_one_wins(database, people, clock):
    made = await enqueue(database, people.user)

    async def move() -> int:
        async with database.transaction() as tx:
            return len(
                await transitions.move(tx, [made], SessionState.SCHEDULED, cause="test", now=clock.now())
            )

    assert sum(await asyncio.gather(*(move() for _ in range(6)))) == 1


async def test_pages_follow_each_other_without_gap_or_repeat(database, people):
    made = [await enqueue(database, people.user) for _ in range(7)]
    seen: list[str] = []
    cursor = None
    while True:
        page = orjson.loads(
            await session_json.page(database, people.user, SessionQuery(state="all", limit=3, cursor=cursor))
        )
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == made[::-1]


@pytest.mark.parametrize("by", ["name", "state", "image", "created_at"])
@pytest.mark.parametrize("down", [False, True])
async def test_a_sorted_list_goes_on_where_its_page_ended(database, people, by, down):
    for name, image in (("bbbb", "x:1"), ("Aaaa", "y:1"), ("aaaa", "x:1"), ("cccc", "y:1"), ("abcd", "x:1")):
        await enqueue(database, people.user, image=image, name=name)
    seen: list[dict[str, str]] = []
    cursor = None
    while True:
        page = orjson.loads(
            await session_json.page(
                database,
                people.user,
                SessionQuery(state="all", limit=2, cursor=cursor, sort=f"-{by}" if down else by),
            )
        )
        seen += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    keys = [(item[by], item["id"]) for item in seen]
    assert len(keys) == 5
    assert keys == sorted(keys, reverse=down)
