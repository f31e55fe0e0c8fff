"""/sessions over HTTP: asking twice, pages, filters, search, and the shape of what comes back."""

import asyncio
import itertools
import json
from datetime import timedelta

import node_kit
import pytest
from databases import scalar, sql
from installation import Api, Caller
from people_kit import domain_admin
from session_kit import force_state, overwrite, request
from sqlalchemy import event, text

from carrel.core.clock import SystemClock
from carrel.sessions.schemas import SessionDetail, SessionList, SessionView
from carrel.tables.session_states import LIFECYCLE, SessionState


async def test_a_repeat_with_the_same_key_gives_the_first(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    answers = await asyncio.gather(*(user.try_start(name="desk", key="one") for _ in range(12)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    other = await colleague.try_start(name="desk", key="one")
    assert other.status_code == 201
    assert other.json()["id"] != answers[0].json()["id"]
    without = await user.try_start(name="desk")
    assert (without.status_code, without.json()["code"], without.json()["field"]) == (
        409,
        "session.name_taken",
        "name",
    )


async def test_of_many_with_one_name_one_is_made(api: Api):
    user = await api.as_("user")
    answers = await asyncio.gather(*(user.try_start(name="desk") for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 9


async def test_a_request_replaces_a_pending_session_in_one_step(api: Api):
    user = await api.as_("user")
    pending = await user.start(name="desk")
    answers = [
        await user.post(
            "/sessions", request(), params={"replaces": "desk"}, headers={"Idempotency-Key": "again"}
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    [replacement] = {answer.json()["id"] for answer in answers}
    assert replacement != pending["id"]
    assert (answers[0].json()["name"], answers[0].json()["state"]) == ("desk", "PENDING")
    former = (await user.get(f"/sessions/{pending['id']}")).json()
    assert (former["state"], former["reason"]) == ("CANCELLED", "Replaced by user@example.org.")


@pytest.mark.parametrize("problem", ["invalid", "runs", "of_another"])
async def test_a_replacement_that_is_refused_leaves_everything_as_it_was(api: Api, problem: str):
    user = await api.as_("user")
    former = await (await api.as_("colleague") if problem == "of_another" else user).start(name="desk")
    if problem == "runs":
        await force_state(api.database, former["id"], SessionState.RUNNING)
    body = request(image="no image") if problem == "invalid" else request()
    refused = await user.post("/sessions", body, params={"replaces": former["id"]})
    assert (refused.status_code, refused.json()["code"]) == {
        "invalid": (422, "invalid.image"),
        "runs": (409, "session.not_waiting"),
        "of_another": (404, "session.not_found"),
    }[problem]
    rows = await sql(api.database, "SELECT id, state FROM sessions")
    assert [tuple(row) for row in rows] == [(former["id"], "RUNNING" if problem == "runs" else "PENDING")]


async def items(who: Caller, **query: object) -> list[dict]:  # type: ignore[type-arg]
    answer = await who.get("/sessions", params=query)
    assert answer.status_code == 200, answer.text
    return SessionList.model_validate_json(answer.content).model_dump()["items"]


async def names(who: Caller, **query: object) -> set[str]:
    return {item["name"] for item in await items(who, **query)}


async def test_pages_hold_everything_once_while_others_are_made(api: Api):
    user = await api.as_("user")
    made = [(await user.start())["id"] for _ in range(9)]
    seen: list[str] = []
    cursor = None
    while True:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await user.get("/sessions", params=query)).json()
        seen += [item["id"] for item in page["items"]]
        await user.start()
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == made[::-1]


async def test_pages_part_sessions_of_the_same_instant(api: Api):
    user = await api.as_("user")
    made = {(await user.start())["id"] for _ in range(5)}
    await sql(api.database, "UPDATE sessions SET created_at = '2026-01-01T00:00:00Z'")
    first = (await user.get("/sessions", params={"limit": 3})).json()
    second = (await user.get("/sessions", params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert {item["id"] for item in first["items"] + second["items"]} == made
    assert second["next_cursor"] is None


async def test_one_persons_sessions_are_listed_by_id_or_email(api: Api):
    user, colleague, admin = await api.as_("user"), await api.as_("colleague"), await api.as_("superadmin")
    await user.start(name="mine-1")
    await colleague.start(name="theirs")
    assert user.actor is not None
    for owner in (user.actor.user_id, "USER@example.org"):
        assert await names(admin, owner=owner) == {"mine-1"}
        # Whoever may not see them sees none.
        assert await names(colleague, owner=owner) == set()
    assert await names(admin, owner="nobody@example.org") == set()


async def test_limits_are_kept(api: Api):
    user = await api.as_("user")
    for limit in (0, -1, 201, "many"):
        assert (await user.get("/sessions", params={"limit": limit})).status_code == 422
    assert (await user.get("/sessions", params={"limit": 200})).status_code == 200


async def test_filters_by_state(api: Api):
    user = await api.as_("user")
    for state in SessionState:
        made = await user.start(name=f"in-{state.lower()}")
        await force_state(api.database, made["id"], state)
    live = {f"in-{state.lower()}" for state in LIFECYCLE.live}
    ended = {f"in-{state.lower()}" for state in LIFECYCLE.final}
    assert await names(user, state="live") == live
    assert await names(user, state="ended") == ended
    assert await names(user, state="all") == live | ended == await names(user)
    for state in SessionState:
        assert await names(user, state=state) == {f"in-{state.lower()}"}
        assert await names(user, state=state.lower()) == {f"in-{state.lower()}"}
    wrong = await user.get("/sessions", params={"state": "asleep"})
    assert (wrong.status_code, wrong.json()["code"], wrong.json()["field"]) == (422, "invalid.state", "state")


async def test_filters_by_project_group_node_and_kind(api: Api):
    user = await api.as_("user")
    for name in ("here", "there"):
        await user.start(name=f"desk-{name}")
    there = (await user.get("/sessions", params={"q": "desk-there"})).json()["items"][0]
    await node_kit.group(api.database, "lab")
    await node_kit.join(api.database, node_kit.machine("far"))
    node = await scalar(api.database, "SELECT id FROM nodes WHERE name = 'far'")
    await overwrite(api.database, there["id"], group_id="lab", kind="batch")
    await sql(
        api.database,
        "UPDATE containers SET state = 'RUNNING', node_id = :node WHERE session_id = :session",
        node=node,
        session=there["id"],
    )
    for query in ({"group": "lab"}, {"node": node}, {"node": "far"}, {"kind": "batch"}):
        assert await names(user, **query) == {"desk-there"}, query
    assert await names(user, group="default") == await names(user, kind="interactive") == {"desk-here"}
    assert await names(user, group="lab", kind="interactive") == set()
    assert await names(user, project=there["project"]["name"]) == {"desk-here", "desk-there"}
    for nothing in ({"project": "absent"}, {"group": "absent"}, {"node": "absent"}, {"kind": "inference"}):
        assert await names(user, **nothing) == set(), nothing
    refused = await user.get("/sessions", params={"kind": "absent"})
    assert (refused.status_code, refused.json()["field"]) == (422, "kind")


async def test_domain_filter_narrows_to_a_domain_but_never_widens(api: Api):
    admin, head = await api.as_("superadmin"), await domain_admin(api)
    for name in ("user", "foreigner"):
        await (await api.as_(name)).start(name=f"desk-{name}")
    assert await names(admin, owner="all", domain="abroad") == {"desk-foreigner"}
    (foreign,) = await items(admin, owner="all", domain="abroad")
    assert foreign["domain"]["name"] == "abroad"
    assert await names(admin, owner="all", domain=foreign["domain"]["id"]) == {"desk-foreigner"}
    assert await names(head, owner="all", domain="default") == {"desk-user"}
    assert await names(head, owner="all", domain="abroad") == set()
    assert await names(head, owner="all", domain=foreign["domain"]["id"]) == set()


async def test_search_takes_every_character_for_itself(api: Api):
    user = await api.as_("user")
    for name in ("alpha_1", "alphab1", "alpha.1", "Alpine"):
        await user.start(name=name)
    await user.start(name="other", image="registry.example.org/team/torch:2")
    assert await names(user, q="alpha_") == {"alpha_1"}
    assert await names(user, q="alpha") == {"alpha_1", "alphab1", "alpha.1"}
    assert await names(user, q="AL") == {"alpha_1", "alphab1", "alpha.1", "Alpine"}
    assert await names(user, q="torch") == {"other"}
    for nothing in ("%", "\\", "%%", "_%", "' OR 1=1 --"):
        assert await names(user, q=nothing) == set(), nothing
    assert await names(user, q="_") == {"alpha_1"}
    [session] = await items(user, q="Alpine")
    assert [item["id"] for item in await items(user, q=session["id"][:6])] == [session["id"]]


async def test_a_session_is_found_by_id_prefix_and_name(api: Api):
    user = await api.as_("user")
    made = await user.start(name="desk")
    for ref in (made["id"], made["id"][:4], "desk"):
        assert (await user.get(f"/sessions/{ref}")).json()["id"] == made["id"]
    for ref in (made["id"][:2], "des", "%", "____", made["id"] + "x", "desk%"):
        assert (await user.get(f"/sessions/{ref}")).status_code == 404, ref


async def test_the_live_one_has_the_name_and_else_the_newest(api: Api):
    user = await api.as_("user")
    made = []
    for _ in range(3):
        made.append((await user.start(name="desk"))["id"])
        assert (await user.delete("/sessions/desk")).status_code == 202
    assert (await user.get("/sessions/desk")).json()["id"] == made[-1]
    live = (await user.start(name="desk"))["id"]
    await sql(
        api.database, "UPDATE sessions SET created_at = created_at - interval '1 day' WHERE id = :id", id=live
    )
    assert (await user.get("/sessions/desk")).json()["id"] == live


async def test_a_session_lives_and_ends_with_a_history(living: Api):
    user = await living.as_("user")
    made = await user.start()
    running = await living.until(user, made["id"], "RUNNING")
    assert running["node"] == "local"
    assert running["started_at"]
    assert (await user.delete(f"/sessions/{made['id']}")).json()["state"] == "TERMINATING"
    ended = await living.until(user, made["id"], "TERMINATED")
    assert ended["ended_at"] >= ended["started_at"] >= ended["created_at"]
    again = await user.delete(f"/sessions/{made['id']}", params={"force": "true"})
    assert (again.status_code, again.json()["state"]) == (202, "TERMINATED")
    history = (await user.get(f"/sessions/{made['id']}/history")).json()["items"]
    moves = [(entry["from_state"], entry["to_state"]) for entry in history]
    assert moves[0] == (None, "PENDING")
    assert moves[-1] == ("TERMINATING", "TERMINATED")
    assert all(a[1] == b[0] for a, b in itertools.pairwise(moves))
    assert history[0]["actor"] == "user@example.org"


async def test_renaming(api: Api):
    user = await api.as_("user")
    await user.start(name="taken")
    made = await user.start(name="desk")
    assert (await user.patch("/sessions/desk", {"name": "bench"})).json()["name"] == "bench"
    for name, status in (("taken", 409), ("x", 422), ("bench", 200)):
        assert (await user.patch(f"/sessions/{made['id']}", {"name": name})).status_code == status
    await user.delete("/sessions/bench")
    ended = await user.patch(f"/sessions/{made['id']}", {"name": "late"})
    assert (ended.status_code, ended.json()["code"]) == (409, "session.ended")


SHAPES = [
    {},
    {"reason": 'It says "no"\n\t\\ — 한국어 🌵 </script>'},
    {"progress": {"phase": "pull", "fraction": 0.5, "text": 'Downloading "x"'}},
    {"progress": {"phase": "pull", "fraction": None, "text": ""}},
    {"warnings": ["out_of_memory", "ünïcode"]},
    {"slots": {"cpu": 1, "mem": 2**62, "cuda.shares": 300}},
    {"queue_position": 7},
    {
        "image_name": "starter",
        "apps": [{"name": "a", "title": "T", "protocol": "http", "port": 1}],
    },
    {"spec": request(env={"A": 'quotes " and \\ and \n', "B": "", "C": "日本語"})},
    {"started_at": SystemClock().now() - timedelta(days=365), "restarts": 3},
]


@pytest.mark.parametrize("timezone", ["UTC", "Asia/Seoul", "America/St_Johns"])
async def test_what_postgresql_writes_is_what_the_schema_says(api: Api, timezone: str):
    """The lists are JSON straight from the database, so nothing else checks them."""
    async with api.database.transaction() as tx:
        name = (await tx.execute(text("SELECT current_database()"))).scalar_one()
        await tx.execute(text(f"ALTER DATABASE {name} SET timezone = '{timezone}'"))
    await api.database.close()
    user = await api.as_("user")
    for shape in SHAPES:
        made = await user.start()
        if shape:
            await overwrite(api.database, made["id"], **shape)
        shown = (await user.get(f"/sessions/{made['id']}")).content
        detail = SessionDetail.model_validate_json(shown, strict=False)
        assert set(json.loads(shown)) == set(SessionDetail.model_fields)
        assert json.loads(shown)["created_at"].endswith(("Z", "+00:00"))
        assert all(set(app) == {"name", "title", "protocol"} for app in json.loads(shown)["apps"])
        for column, value in shape.items():
            if hasattr(detail, column) and column in ("reason", "queue_position", "started_at"):
                assert getattr(detail, column) == value
    listed = (await user.get("/sessions")).content
    assert len(SessionList.model_validate_json(listed).items) == len(SHAPES)
    assert all(set(item) == set(SessionView.model_fields) for item in json.loads(listed)["items"])


async def test_a_description_is_shown_to_all_who_see_the_session(api: Api):
    owner, admin = await api.as_("user"), await api.as_("superadmin")
    made = await owner.start(description="Third try, with a larger batch.\nSee the notes.")
    assert made["description"] == "Third try, with a larger batch.\nSee the notes."
    assert (await admin.get(f"/sessions/{made['id']}")).json()["description"] == made["description"]
    assert (await owner.start())["description"] == ""
    for wrong in ("x" * 501, "a\0b", None):
        refused = await owner.try_start(description=wrong)
        assert (refused.status_code, refused.json()["field"]) == (422, "description")


async def test_what_is_in_the_environment_is_for_the_owner_and_sealed_at_rest(living: Api):
    owner, admin = await living.as_("user"), await living.as_("superadmin")
    made = await owner.start(env={"TOKEN": "s3cret-value"})
    assert made["env"] == {"TOKEN": "s3cret-value"}
    await living.until(owner, made["id"], "RUNNING")
    assert living.engine.world.containers[made["containers"][0]["id"]].spec.env["TOKEN"] == "s3cret-value"
    assert (await admin.get(f"/sessions/{made['id']}")).json()["env"] == {"TOKEN": "********"}
    stored = await scalar(living.database, "SELECT spec::text FROM sessions")
    assert "s3cret-value" not in stored
    assert "TOKEN" in stored


async def test_a_start_costs_no_connection_to_the_database(living: Api):
    lost: list[object] = []
    pool = living.database._engine.sync_engine.pool
    event.listen(pool, "invalidate", lambda *about: lost.append(about[-1]))
    user = await living.as_("user")
    for _ in range(5):
        await living.until(user, (await user.start())["id"], "RUNNING")
    assert lost == []
