"""What the list of sessions finds within arrays, and how many rows it has by kind and by state."""

from typing import Any

from databases import sql
from installation import Api, Caller
from session_kit import force_state, request

from carrel.sessions import session_json
from carrel.tables.session_states import SessionState


async def array(user: Caller, name: str, last: int) -> dict[str, Any]:
    fields = {"kind": "batch", "command": ["true"], "array": {"first": 1, "last": last}}
    return (await user.post("/sessions", request(name=name, **fields))).json()  # type: ignore[no-any-return]


async def ids(user: Caller, **query: object) -> list[str]:
    answer = await user.get("/sessions", params=query)
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["items"]]


async def test_a_search_finds_the_array_of_a_session_by_name_or_id_in_every_state(api: Api):
    user = await api.as_("user")
    sweep, other = await array(user, "sweep", 12), await array(user, "other", 3)
    [eleventh] = await ids(user, array="expanded", q="sweep-11")
    for state in ("live", "all", "PENDING"):
        assert await ids(user, state=state, q="sweep-11") == [sweep["id"]], state
        assert await ids(user, state=state, q=eleventh[:6]) == [sweep["id"]], state
    assert await ids(user, state="all", q="-3") == [other["id"], sweep["id"]]
    await sql(
        api.database, "UPDATE sessions SET state = 'TERMINATED', ended_at = now(), outcome = 'TERMINATED'"
    )
    assert await ids(user, state="ended", q="sweep-11") == [sweep["id"]]
    assert await ids(user, state="TERMINATED", q="sweep-11") == [sweep["id"]]
    assert await ids(user, state="all", q="sweep-13") == []
    assert await ids(await api.as_("colleague"), state="all", q="sweep-11") == []


async def counts(user: Caller, **query: object) -> tuple[dict[str, int], dict[str, int]]:
    answer = await user.get("/session-counts", params=query)
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    kinds = {one["kind"]: one["count"] for one in shown["kinds"]}
    return kinds, {one["state"]: one["count"] for one in shown["states"]}


async def test_ended_sessions_are_counted_by_kind_as_the_list_shows_them(api: Api, monkeypatch):
    user = await api.as_("user")
    sweep = await array(user, "sweep", 4)
    await user.start(name="desk")
    ended = await user.start(name="before")
    await force_state(api.database, ended["id"], SessionState.TERMINATED)

    async def kinds(caller: Caller, **query: object) -> tuple[dict[str, int], bool]:
        shown = (await caller.get("/session-counts", params=query)).json()
        return {one["kind"]: one["count"] for one in shown["kinds"]}, shown["complete"]

    assert await kinds(user, state="ended") == ({"interactive": 1}, True)
    assert await kinds(user, state="all") == ({"batch": 1, "interactive": 2}, True)
    assert await kinds(user, state="all", kind="batch") == ({"batch": 1, "interactive": 2}, True)
    assert await kinds(user, state="PENDING") == ({"batch": 1, "interactive": 1}, True)
    assert await kinds(user, state="RUNNING") == ({}, True)
    assert await kinds(user, state="all", q="sweep-3") == ({"batch": 1}, True)
    await sql(
        api.database,
        "UPDATE sessions SET state = 'TERMINATED', ended_at = now(), outcome = 'TERMINATED'"
        " WHERE array_id = :array",
        array=sweep["id"],
    )
    assert await kinds(user, state="ended") == ({"batch": 1, "interactive": 1}, True)
    assert await kinds(user, state="TERMINATED", q="sweep") == ({"batch": 1}, True)
    assert await kinds(await api.as_("colleague"), state="all", owner="all") == ({}, True)
    monkeypatch.setattr(session_json, "COUNTED", 2)
    assert await kinds(user, state="all") == ({"interactive": 2}, False)


async def test_live_sessions_are_counted_as_rows_by_kind_and_state(api: Api):
    user = await api.as_("user")
    assert await counts(user) == ({}, {})
    await array(user, "sweep", 4)
    await user.start(name="desk")
    ended = await user.start(name="before")
    await force_state(api.database, ended["id"], SessionState.TERMINATED)
    await sql(
        api.database, "UPDATE sessions SET state = 'RUNNING', started_at = now() WHERE name = 'sweep-2'"
    )
    assert await counts(user) == ({"batch": 1, "interactive": 1}, {"PENDING": 2, "RUNNING": 1})
    assert await counts(user, kind="batch") == (
        {"batch": 1, "interactive": 1},
        {"PENDING": 1, "RUNNING": 1},
    )
    assert await counts(user, q="sweep-3") == ({"batch": 1}, {"PENDING": 1})
    colleague = await api.as_("colleague")
    assert await counts(colleague, owner="all") == ({}, {})
    assert (await counts(await api.as_("superadmin"), owner="all"))[0] == {"batch": 1, "interactive": 1}
