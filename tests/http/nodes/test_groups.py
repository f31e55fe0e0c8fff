"""Resource groups by the API: who sees and may use which, what they hold, what their changes set off."""

import asyncio
from dataclasses import replace

import pytest
from installation import Api
from node_kit import join, machine
from people import eventually
from people_kit import status_and_code
from sqlalchemy import text

from carrel.events import service as events
from carrel.nodes.groups import service as groups

MACHINE = machine("machine")


async def test_a_group_is_made_with_defaults(api: Api):
    admin = await api.as_("superadmin")
    made = await admin.post("/groups", {"name": "GPU", "public": False, "scheduler": "drf"})
    assert made.status_code == 201, made.text
    assert made.json() | {"id": "", "created_at": ""} == {
        "id": "",
        "created_at": "",
        "name": "GPU",
        "description": "",
        "active": True,
        "public": False,
        "session_kinds": ["interactive", "batch", "inference"],
        "scheduler": "drf",
        "placement": "dispersed",
        "slot_priority": [],
        "pending_timeout_s": None,
        "patience_s": 300,
        "half_life_s": 604800,
        "on_node_loss": "end",
        "node_loss_s": 120,
        "max_rights": "root",
        "app_address": None,
        "node_selector": None,
        "required_capabilities": [],
        "min_share_tier": "none",
        "topology": [],
        "runtime": None,
        "elastic": None,
        "nodes": 0,
        "ready_nodes": 0,
        "live_sessions": 0,
        "waiting_sessions": 0,
        "capacity": {},
        "used": {},
        "access": {"domains": [], "projects": [], "users": []},
        "weights": {"domains": [], "projects": [], "users": []},
    }


async def test_a_group_is_shown_changed_and_removed(api: Api):
    admin = await api.as_("superadmin")
    made = await admin.post("/groups", {"name": "GPU", "public": False, "scheduler": "drf"})
    changes = {
        "placement": "concentrated",
        "slot_priority": ["cuda.shares", "mem"],
        "patience_s": 0,
        "pending_timeout_s": 3600,
        "app_address": "https://apps.example.org:8443",
        "required_capabilities": ["network-policy"],
        "topology": ["nvidia.com/gpu.clique", "rack"],
        "runtime": "gvisor",
    }
    changed = await admin.patch("/groups/gpu", changes)
    assert changed.status_code == 200, changed.text
    assert changed.json() == {**made.json(), **changes}
    assert (await admin.get(f"/groups/{made.json()['id']}")).json() == changed.json()
    assert (await admin.delete("/groups/GPU")).status_code == 204
    assert status_and_code(await admin.get("/groups/GPU")) == (404, "group.not_found")
    async with api.database.transaction() as tx:
        written = [
            tuple(row)
            for row in await tx.execute(
                text("SELECT action, details -> 'before' FROM audit WHERE object_kind = 'group' ORDER BY id")
            )
        ]
        kinds = (
            await tx.execute(text("SELECT kind FROM events WHERE object_kind = 'group' ORDER BY id"))
        ).scalars()
        assert kinds.all() == ["group.created", "group.updated", "group.removed"]
    assert [action for action, _ in written] == ["group.create", "group.update", "group.remove"]
    assert written[1][1] == {
        "placement": "dispersed",
        "slot_priority": [],
        "patience_s": 300,
        "pending_timeout_s": None,
        "app_address": None,
        "required_capabilities": [],
        "topology": [],
        "runtime": None,
    }


async def test_people_see_the_groups_that_they_may_use_and_superadmins_all(api: Api):
    admin = await api.as_("superadmin")
    for name in ("by-domain", "by-project", "by-user"):
        assert (await admin.post("/groups", {"name": name, "public": False})).status_code == 201
    people = api.people
    for name, access in (
        ("by-domain", {"domains": ["abroad"]}),
        ("by-project", {"projects": [people.other_project]}),
        ("by-user", {"users": ["colleague@example.org"]}),
    ):
        assert (await admin.ask("PUT", f"/groups/{name}/access", json=access)).status_code == 200
    seen = {}
    for who in ("superadmin", "user", "colleague", "stranger", "foreigner"):
        caller = await api.as_(who)
        seen[who] = {row["name"] for row in (await caller.get("/groups")).json()["items"]}
        for name in ("by-domain", "by-project", "by-user"):
            answer = await caller.get(f"/groups/{name}")
            assert (answer.status_code == 200) == (name in seen[who]), (who, name)
    assert seen == {
        "superadmin": {"default", "by-domain", "by-project", "by-user"},
        "user": {"default"},
        "colleague": {"default", "by-user"},
        "stranger": {"default", "by-project"},
        "foreigner": {"default", "by-domain"},
    }


async def test_what_may_be_used_follows_the_group_its_access_the_domain_and_the_project(api: Api):
    admin, people = await api.as_("superadmin"), api.people

    async def usable(project=people.project):
        user = people.user
        async with api.database.transaction() as tx:
            return [one.name for one in await groups.usable(tx, user.user_id, user.domain_id, project)]

    assert (await admin.post("/groups", {"name": "vision", "public": False})).status_code == 201
    await admin.ask("PUT", "/groups/vision/access", json={"projects": [people.project]})
    assert await usable() == ["default", "vision"]
    assert await usable(people.other_project) == ["default"], "it is named for another project"
    await admin.patch("/groups/vision", {"active": False})
    assert await usable() == ["default"]
    await admin.patch("/groups/vision", {"active": True, "public": True})
    assert await usable(people.other_project) == ["default", "vision"]
    await admin.patch("/domains/default", {"resource_groups": ["vision"]})
    assert await usable() == ["vision"]
    # The domain goes on naming it when it gets another name.
    await admin.patch("/groups/vision", {"name": "sight"})
    assert await usable() == ["sight"]
    assert (await admin.get("/domains/default")).json()["resource_groups"] == ["sight"]
    await admin.patch("/domains/default", {"resource_groups": []})
    assert await usable() == []


async def test_access_and_weights_are_replaced_as_a_whole_and_shown_to_administrators_alone(api: Api):
    admin, user, people = await api.as_("superadmin"), await api.as_("user"), api.people
    access = {"domains": ["abroad"], "projects": [people.project], "users": ["user@example.org"]}
    shown = (await admin.ask("PUT", "/groups/default/access", json=access)).json()
    assert [row["name"] for row in shown["access"]["domains"]] == ["abroad"]
    assert shown["access"]["projects"] == [{"id": people.project, "name": "default", "domain": "default"}]
    assert shown["access"]["users"] == [{"id": people.user.user_id, "email": "user@example.org"}]
    weights = {"domains": {"abroad": 2}, "users": {"user@example.org": 0.5}}
    shown = (await admin.ask("PUT", "/groups/default/weights", json=weights)).json()
    assert shown["weights"]["users"] == [
        {"id": people.user.user_id, "email": "user@example.org", "weight": 0.5}
    ]
    assert [(row["name"], row["weight"]) for row in shown["weights"]["domains"]] == [("abroad", 2)]
    theirs = (await user.get("/groups/default")).json()
    assert (theirs["access"], theirs["weights"]) == (None, None)
    shown = (await admin.ask("PUT", "/groups/default/access", json={"users": []})).json()
    assert shown["access"] == {"domains": [], "projects": [], "users": []}
    unknown = await admin.ask("PUT", "/groups/default/access", json={"users": ["nobody@example.org"]})
    assert status_and_code(unknown) == (404, "user.not_found")
    wrong = await admin.ask("PUT", "/groups/default/weights", json={"domains": {"abroad": 0}})
    assert wrong.status_code == 422


async def test_only_an_empty_group_goes_and_the_default_one_never(api: Api):
    admin = await api.as_("superadmin")
    assert status_and_code(await admin.delete("/groups/default")) == (409, "group.default")
    await admin.post("/groups", {"name": "gpu"})
    await join(api.database, MACHINE)
    await admin.patch("/nodes/machine", {"group": "gpu"})
    refused = await admin.delete("/groups/gpu")
    assert (status_and_code(refused), refused.json()["details"]) == (
        (409, "group.in_use"),
        {"holds": "nodes"},
    )
    session = await (await api.as_("user")).start(group="gpu")
    await admin.patch("/nodes/machine", {"group": "default"})
    refused = await admin.delete("/groups/gpu")
    assert (status_and_code(refused), refused.json()["details"]) == (
        (409, "group.in_use"),
        {"holds": "sessions"},
    )
    await admin.delete(f"/sessions/{session['id']}")
    assert status_and_code(await admin.delete("/groups/gpu")) == (409, "group.in_use"), (
        "the past is on record"
    )


async def test_a_group_shows_what_its_nodes_have_and_what_waits_in_it(api: Api):
    admin = await api.as_("superadmin")
    await join(api.database, MACHINE, replace(MACHINE, name="second"))
    await admin.patch("/nodes/second", {"cordoned": True})
    await (await api.as_("user")).start()
    shown = (await admin.get("/groups/default")).json()
    assert (shown["nodes"], shown["ready_nodes"]) == (2, 1)
    assert (shown["live_sessions"], shown["waiting_sessions"]) == (1, 1)
    assert (shown["capacity"], shown["used"]) == ({"cpu": 16000, "mem": 8 << 30}, {})


async def test_a_name_is_unique_in_any_case_and_however_many_ask_at_once(api: Api):
    admin = await api.as_("superadmin")
    answers = await asyncio.gather(*(admin.post("/groups", {"name": n}) for n in ("Lab", "lab", "LAB")))
    assert sorted(a.status_code for a in answers) == [201, 409, 409]
    refused = next(a for a in answers if a.status_code == 409)
    assert (refused.json()["code"], refused.json()["field"]) == ("group.name_taken", "name")
    assert status_and_code(await admin.patch("/groups/lab", {"name": "Default"})) == (409, "group.name_taken")


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "x", "scheduler": "random"},
        {"name": "x", "session_kinds": []},
        {"name": "x", "patience_s": -1},
        {"name": "x", "half_life_s": 0},
        {"name": "x", "extra": 1},
        {"name": "x", "app_address": "javascript:alert(1)"},
        {"name": "x", "slot_priority": ["No Slot"]},
    ],
)
async def test_what_makes_no_sense_is_refused(api: Api, body: dict[str, object]):
    assert (await (await api.as_("superadmin")).post("/groups", body)).status_code == 422


async def test_pages_of_groups_go_on_where_the_last_ended(api: Api):
    admin = await api.as_("superadmin")
    for name in ("alpha", "beta", "gamma"):
        await admin.post("/groups", {"name": name, "active": name != "beta"})
    first = (await admin.get("/groups", params={"limit": 2})).json()
    rest = (await admin.get("/groups", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [row["name"] for row in first["items"] + rest["items"]] == ["alpha", "beta", "default", "gamma"]
    page = (await admin.get("/groups", params={"q": "a", "active": True, "sort": "-name"})).json()
    assert [row["name"] for row in page["items"]] == ["gamma", "default", "alpha"]


async def test_what_changes_reaches_those_who_may_see_it(api: Api):
    admin = await api.as_("superadmin")
    people = api.people
    everybody = {"user", "stranger", "foreigner", "superadmin"}
    async with api.database.transaction() as tx:
        at = await events.end_of_log(tx)

    async def new_events() -> list[tuple[str, set[str]]]:
        nonlocal at
        async with api.database.transaction() as tx:
            latest = (await events.after(tx, at)).events
        at = (latest[-1].position if latest else None) or at
        return [
            (one.kind, {name for name in everybody if one.is_visible_to(getattr(people, name))})
            for one in latest
        ]

    await admin.post("/groups", {"name": "arm", "public": False})
    assert await new_events() == [("group.created", {"superadmin"})]
    await admin.ask("PUT", "/groups/arm/access", json={"domains": ["abroad"], "users": ["user@example.org"]})
    assert await new_events() == [("group.updated", {"superadmin", "foreigner", "user"})]
    await admin.post("/presets", {"name": "small", "group": "arm", "slots": {"cpu": 1000}})
    await admin.post("/presets", {"name": "small", "slots": {"cpu": 1000}})
    assert await new_events() == [
        ("preset.created", {"superadmin", "foreigner", "user"}),
        ("preset.created", everybody),
    ]
    await join(api.database, MACHINE)
    assert await new_events() == [("node.updated", {"superadmin"})]
    await admin.patch("/site", {"nodes_visible": True})
    await new_events()
    await admin.patch("/nodes/machine", {"group": "arm", "cordoned": True})
    assert await new_events() == [("node.updated", everybody)], "those of the group that it leaves, too"
    await admin.patch("/nodes/machine", {"cordoned": False})
    assert await new_events() == [("node.updated", {"superadmin", "foreigner", "user"})]
    await admin.ask("PUT", "/groups/arm/access", json={"projects": [people.other_project]})
    assert await new_events() == [("group.updated", everybody)], "those who lose it, too"
    await admin.patch("/domains/abroad", {"resource_groups": ["arm"]})
    await new_events()
    await admin.patch("/groups/default", {"description": "For all."})
    assert await new_events() == [("group.updated", everybody - {"foreigner"})]


async def test_who_may_no_longer_use_a_group_does_not_start_in_it(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await admin.post("/groups", {"name": "arm", "public": False})

    async def opened(**named: list[str]) -> None:
        answer = await admin.ask("PUT", "/groups/arm/access", json=named)
        assert answer.status_code == 200, answer.text

    async def why(session: str) -> str:
        return str((await user.get(f"/sessions/{session}/why")).json()["reason"])

    await opened(users=["user@example.org"])
    mine = (await user.start(group="arm"))["id"]
    assert await why(mine) == "No node has joined its resource group yet."

    async def moved() -> bool:
        return (await admin.patch("/nodes/local", {"group": "arm"})).status_code == 200

    reason = "Its owner may no longer start sessions in its resource group."
    await opened()
    assert await why(mine) == reason
    await opened(projects=[living.people.project])
    for path, shut, open_again in (
        ("/domains/default", {"resource_groups": ["default"]}, {"resource_groups": None}),
        ("/groups/arm", {"session_kinds": ["batch"]}, {"session_kinds": ["interactive"]}),
    ):
        assert (await admin.patch(path, shut)).status_code == 200
        assert await why(mine) == reason
        await admin.patch(path, open_again)
        assert await why(mine) == "No node has joined its resource group yet."
    await opened()
    await eventually(moved)
    assert await why(mine) == reason
    await opened(domains=["default"])
    await living.until(user, mine, "RUNNING")
    # What runs goes on.
    await opened()
    assert (await user.get(f"/sessions/{mine}")).json()["state"] == "RUNNING"
