"""Engines by the API: added, changed and removed while everything runs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from databases import sql
from installation import Api, Caller
from people import eventually
from people_kit import status_and_code
from sqlalchemy import text

from carrel.core.errors import Conflict
from carrel.core.ids import EngineId, NodeId
from carrel.engines.fake import FakeEngine
from carrel.engines.optional import FORWARDED
from carrel.engines.port import Engine, EngineUnavailable, NodeInfo
from carrel.nodes import service as nodes
from carrel.nodes.engines import administration
from carrel.nodes.engines.connections import Engines
from carrel.tables.engines import EngineRow
from carrel.tables.nodes import Node

FAKE = {"name": "second", "kind": "fake", "settings": {"nodes": 2, "password": "open sesame"}}

_EVERYTHING = """
    SELECT to_jsonb(e)::text FROM engines e UNION ALL SELECT details::text FROM audit
    UNION ALL SELECT data::text FROM events"""


async def added(admin: Caller, **fields: object) -> dict[str, Any]:
    answer = await admin.post("/engines", {**FAKE, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def test_the_kinds_say_what_they_are_set_up_with(api: Api):
    admin = await api.as_("superadmin")
    kinds = {one["kind"]: one for one in (await admin.get("/engine-kinds")).json()["items"]}
    assert [kinds[kind]["title"] for kind in ("docker", "fake")] == ["Docker or Podman", "Fake"]
    assert kinds["docker"]["settings"]["properties"]["url"]["default"] == "unix:///var/run/docker.sock"
    assert kinds["fake"]["settings"]["properties"]["password"]["writeOnly"] is True


async def test_an_engine_is_added_shown_without_its_secrets_and_written_down(api: Api):
    admin = await api.as_("superadmin")
    made = await added(admin)
    assert (made["settings"], made["secrets"], made["state"]) == ({"nodes": 2}, ["password"], "UNKNOWN")
    assert (made["kind"], made["kind_title"]) == ("fake", "Fake")
    assert (await admin.get("/engines/second")).json() == made
    assert [one["name"] for one in (await admin.get("/engines")).json()["items"]] == ["local", "second"]
    assert status_and_code(await admin.post("/engines", FAKE)) == (409, "engine.name_taken")
    async with api.database.transaction() as tx:
        kept = "".join((await tx.execute(text(_EVERYTHING))).scalars())
        kinds = (
            (await tx.execute(text("SELECT kind FROM events WHERE object_kind = 'engine'"))).scalars().all()
        )
    assert "sesame" not in kept
    assert kinds == ["engine.created"]


async def test_what_is_wrong_with_an_engine_is_said_and_nothing_is_added(api: Api):
    admin = await api.as_("superadmin")
    for fields, answer in (
        ({"kind": "none"}, (422, "plugin.kind_unknown")),
        ({"settings": {"nodes": 0}}, (422, "plugin.setting_invalid")),
        ({"settings": {"color": "red"}}, (422, "plugin.setting_invalid")),
        ({"kind": "docker", "settings": {"url": "unix:///nowhere.sock"}}, (503, "engine.unreachable")),
        ({"name": "Two Words"}, (422, "invalid.request")),
    ):
        assert status_and_code(await admin.post("/engines", {**FAKE, **fields})) == answer, fields
    assert len((await admin.get("/engines")).json()["items"]) == 1


async def test_settings_are_checked_before_an_engine_is_added(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    request = {"kind": "fake", "settings": {"nodes": 2, "cpu": 4, "mem_gib": 8}}
    checked = (await admin.post("/engines/check", request)).json()
    slots = {"cpu": 4000, "mem": 8 << 30}
    assert (checked["ok"], checked["sentence"]) == (True, "It responds: Fake 1.")
    assert checked["capacity"] == {"cpu": 8000, "mem": 16 << 30}
    assert checked["nodes"] == [
        {"name": name, "architecture": "x86_64", "slots": slots, "closed": ""}
        for name in ("fake-1", "fake-2")
    ]
    gaps = {gap["code"]: gap["sentence"] for gap in checked["gaps"]}
    assert gaps.keys() == {"accelerators", "root", "disk_limits"}
    assert gaps["root"] == "Sessions cannot have root inside."
    assert checked["runtimes"] == []
    silent = {"kind": "docker", "settings": {"url": "unix:///nowhere.sock"}}
    refused = (await admin.post("/engines/check", silent)).json()
    assert (refused["ok"], refused["nodes"], refused["gaps"]) == (False, [], [])
    assert status_and_code(
        await admin.post("/engines/check", {"kind": "fake", "settings": {"nodes": 0}})
    ) == (
        422,
        "plugin.setting_invalid",
    )
    assert status_and_code(await user.post("/engines/check", request)) == (403, "policy.forbidden")
    assert [one["name"] for one in (await admin.get("/engines")).json()["items"]] == ["local"]


@pytest.mark.parametrize(
    ("forwarded", "reachable", "notes"),
    [
        (False, None, []),
        (False, True, []),
        (False, False, ["The addresses of its containers"]),
        (True, False, ["The gateway connects to apps"]),
        (True, True, ["The gateway connects to apps", "Their addresses can be reached"]),
    ],
)
async def test_a_check_says_how_apps_are_reached(
    api: Api, monkeypatch: pytest.MonkeyPatch, *, forwarded: bool, reachable: bool | None, notes: list[str]
):
    its_nodes = FakeEngine.nodes

    async def answers(engine: FakeEngine) -> bool | None:
        return reachable

    async def listed(engine: FakeEngine) -> Sequence[NodeInfo]:
        also = {"runtime:kata", "runtime:gvisor"} | ({FORWARDED} if forwarded else set())
        return [replace(one, capabilities=one.capabilities | also) for one in await its_nodes(engine)]

    monkeypatch.setattr(FakeEngine, "reachable", answers)
    monkeypatch.setattr(FakeEngine, "nodes", listed)
    admin = await api.as_("superadmin")
    checked = (await admin.post("/engines/check", {"kind": "fake", "settings": {}})).json()
    assert checked["runtimes"] == ["gvisor", "kata"]
    assert (checked["sentence"], checked["versions"]) == ("It responds: Fake 1.", ["Fake 1"])
    assert [given.startswith(note) for given, note in zip(checked["notes"], notes, strict=True)] == [
        True
    ] * len(notes)


async def test_secrets_stay_until_something_else_changes_and_are_given_again_then(api: Api):
    admin = await api.as_("superadmin")
    await added(admin)
    renamed = (await admin.patch("/engines/second", {"name": "other"})).json()
    assert (renamed["name"], renamed["secrets"]) == ("other", ["password"])
    refused = await admin.patch("/engines/other", {"settings": {"nodes": 3}})
    assert (status_and_code(refused), refused.json()["field"]) == (
        (422, "engine.secrets_again"),
        "settings.password",
    )
    changed = (await admin.patch("/engines/other", {"settings": {"nodes": 3, "password": None}})).json()
    assert (changed["settings"], changed["secrets"]) == ({"nodes": 3}, [])
    assert status_and_code(await admin.patch("/engines/other", {"name": "local"})) == (
        409,
        "engine.name_taken",
    )


async def test_the_local_engine_stays_where_the_start_found_it(api: Api):
    admin = await api.as_("superadmin")
    refused = await admin.patch("/engines/local", {"settings": {"url": "unix:///elsewhere.sock"}})
    assert status_and_code(refused) == (409, "engine.local")
    assert status_and_code(await admin.delete("/engines/local")) == (409, "engine.local")
    assert (await admin.patch("/engines/local", {"name": "here"})).json()["local"] is True


def test_of_many_nodes_with_one_name_a_few_are_hinted_at():
    namesakes = [Node(id=NodeId(f"node{number}"), name="rack") for number in range(7)]
    with pytest.raises(Conflict) as refused:
        nodes.the_one(namesakes, "rack")
    assert refused.value.hint.endswith("id: node0, node1, node2, node3, node4 ...")
    assert len(refused.value.details["nodes"]) == 7


async def test_a_check_says_what_answers_and_what_does_not(api: Api):
    admin = await api.as_("superadmin")
    await added(admin)
    result = (await admin.post("/engines/second/check")).json()
    assert (result["ok"], [one["name"] for one in result["nodes"]]) == (True, ["fake-1", "fake-2"])
    api.engine.world.go_away()
    result = (await admin.post("/engines/local/check")).json()
    assert (result["ok"], result["sentence"]) == (False, "The fake engine does not respond.")


async def test_a_check_has_an_engine_test_itself(api: Api, monkeypatch: pytest.MonkeyPatch):
    admin = await api.as_("superadmin")
    await added(admin)
    results = iter(["It enforces everything.", EngineUnavailable("Its pods do not start.")])

    async def self_test(engine: FakeEngine) -> str:
        result = next(results)
        if isinstance(result, EngineUnavailable):
            raise result
        return result

    monkeypatch.setattr(FakeEngine, "self_test", self_test, raising=False)
    for expected in ("It enforces everything.", "Its pods do not start."):
        result = (await admin.post("/engines/second/check")).json()
        assert result["ok"]
        assert result["notes"] == [expected]


async def test_a_check_makes_a_connection_of_its_own(api: Api, monkeypatch: pytest.MonkeyPatch):
    admin = await api.as_("superadmin")
    await added(admin)
    assert (await admin.get("/engines/second")).status_code == 200
    assert (await admin.post("/engines/second/check")).json()["ok"]

    def refused(engines: Engines, row: EngineRow) -> Engine:
        raise EngineUnavailable("Its socket is gone.")

    monkeypatch.setattr(Engines, "connected", refused)
    result = (await admin.post("/engines/second/check")).json()
    assert (result["ok"], result["sentence"]) == (False, "Its socket is gone.")


async def test_an_engine_that_is_added_while_everything_runs_takes_sessions_and_goes_when_it_is_empty(
    living: Api,
):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    living.engine.world.nodes = []
    await added(admin, settings={})

    async def ready() -> bool:
        return bool((await admin.get("/engines/second")).json()["state"] == "READY")

    assert await eventually(ready)
    session = await user.start()
    shown = await living.until(user, session["id"], "RUNNING")
    assert shown["node"] == "fake-1"
    assert (await admin.get("/nodes/fake-1@second")).json()["engine"]["name"] == "second"
    assert status_and_code(await admin.delete("/engines/second")) == (409, "engine.in_use")
    await user.delete(f"/sessions/{session['id']}")
    await living.until(user, session["id"], "TERMINATED")
    assert (await admin.delete("/engines/second")).status_code == 204
    assert status_and_code(await admin.get("/engines/second")) == (404, "engine.not_found")
    assert status_and_code(await admin.get("/nodes/fake-1")) == (404, "node.not_found")
    async with living.database.transaction() as tx:
        left = await tx.execute(
            text("SELECT state, forgotten_at IS NOT NULL FROM nodes WHERE name = 'fake-1'")
        )
        assert tuple(left.one()) == ("DOWN", True)
    # What ended there still says where it was.
    assert (await user.get(f"/sessions/{session['id']}")).json()["node"] == "fake-1"


async def test_an_engine_that_stops_to_answer_says_why_and_since_when(living: Api):
    admin = await living.as_("superadmin")

    async def is_in(state: str) -> dict[str, Any] | None:
        shown = (await admin.get("/engines/local")).json()
        return shown if shown["state"] == state else None

    ready = await eventually(lambda: is_in("READY"))
    living.engine.world.go_away()
    down = await eventually(lambda: is_in("DOWN"))
    assert down["last_error"] == "The fake engine does not respond."
    assert down["state_since"] > ready["state_since"]
    living.engine.world.come_back()
    assert (await eventually(lambda: is_in("READY")))["last_error"] is None


async def test_an_engine_that_is_away_takes_only_its_own_nodes_down(living: Api):
    admin = await living.as_("superadmin")
    second = await added(admin, settings={})

    async def there() -> bool:
        return (await admin.get("/nodes/fake-1@second")).status_code == 200

    assert await eventually(there)
    async with living.database.transaction() as tx:
        await nodes.mark_down(tx, EngineId(second["id"]))
        rows = await tx.execute(text("SELECT name, state FROM nodes ORDER BY name"))
        assert [tuple(row) for row in rows] == [("fake-1", "DOWN"), ("local", "READY")]


async def test_a_name_that_nodes_of_two_engines_have_must_say_which(living: Api):
    admin = await living.as_("superadmin")
    await added(admin, settings={})

    async def there() -> bool:
        return (await admin.get("/nodes/fake-1@second")).status_code == 200

    assert await eventually(there)
    await sql(living.database, "UPDATE nodes SET name = 'local' WHERE name = 'fake-1'")
    assert status_and_code(await admin.get("/nodes/local")) == (409, "node.ambiguous")
    assert (await admin.get("/nodes/local@second")).json()["engine"]["name"] == "second"
    assert (await admin.get("/nodes/local@local")).json()["engine"]["name"] == "local"


async def test_an_engine_with_environments_stays_and_goes_with_what_is_left_of_deleted_ones(api: Api):
    admin = await api.as_("superadmin")
    engine = (await added(admin, settings={}))["id"]
    async with api.database.transaction() as tx:
        await tx.execute(
            text("""
                INSERT INTO environments
                    (id, name, description, owner_id, domain_id, created_at, updated_at, removed_at)
                SELECT id, id, '', owner.user_id, owner.domain_id, now(), now(), removed_at
                FROM (SELECT id AS user_id, domain_id FROM users LIMIT 1) AS owner,
                    (VALUES ('kept', NULL), ('deleted', now())) AS environment (id, removed_at)
            """)
        )
        await tx.execute(
            text("""
                INSERT INTO environment_versions (id, environment_id, name, note, state, reference, engine_id,
                    session_name, container_id, base, apps, min_slots, created_at)
                SELECT id, environment, id, '', state, 'localhost/' || id, :engine, 's', 'c', 'debian', '[]', '{}',
                    now()
                FROM (VALUES ('ready', 'kept', 'ready'), ('failed', 'kept', 'failed'),
                    ('removing', 'deleted', 'removing')) AS version (id, environment, state)
            """),
            {"engine": engine},
        )
    assert status_and_code(await admin.delete("/engines/second")) == (409, "engine.has_environments")
    async with api.database.transaction() as tx:
        await tx.execute(text("UPDATE environment_versions SET state = 'removing' WHERE id = 'ready'"))
    assert (await admin.delete("/engines/second")).status_code == 204
    async with api.database.transaction() as tx:
        assert list((await tx.execute(text("SELECT id FROM environments"))).scalars()) == ["kept"]
        assert not list((await tx.execute(text("SELECT id FROM environment_versions"))).scalars())


async def test_images_of_environments_go_with_the_engine():
    engine = FakeEngine()
    engine.world.commits["version"] = "localhost/torch:1"
    engine.world.local_images.add("localhost/torch:1")
    await administration._purge(engine, EngineId("second"))
    assert not engine.world.commits
    assert "localhost/torch:1" not in engine.world.local_images
