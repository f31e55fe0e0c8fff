"""Resource groups by the API: who sees and may use which, what they hold, what their changes set off."""

import asyncio

import pytest
from installation import SMALL, Api
from people_kit import said
from sqlalchemy import text

from carrel.groups import service as groups


async def test_a_group_is_made_shown_changed_and_removed(api: Api):
    admin = await api.as_("superadmin")
    made = await admin.post("/groups", {"name": "GPU", "public": False, "scheduler": "drf"})
    assert made.status_code == 201, made.text
    assert made.json() | {"id": "", "created_at": ""} == {
        "id": "", "created_at": "", "name": "GPU", "description": "", "active": True, "public": False,
        "session_kinds": ["interactive", "batch", "inference"], "scheduler": "drf", "placement": "dispersed",
        "slot_priority": [], "pending_timeout_s": None, "patience_s": 300, "half_life_s": 604800,
        "on_node_loss": "end", "node_loss_s": 120, "app_address": None,
        "nodes": 0, "ready_nodes": 0, "live_sessions": 0, "waiting_sessions": 0, "capacity": {}, "used": {},
        "access": {"domains": [], "projects": [], "users": []},
        "weights": {"domains": [], "projects": [], "users": []},
    }  # fmt: skip
    changes = {"placement": "concentrated", "slot_priority": ["cuda.shares", "mem"], "patience_s": 0,
               "pending_timeout_s": 3600, "app_address": "https://apps.example.org:8443"}  # fmt: skip
    changed = await admin.patch("/groups/gpu", changes)
    assert changed.status_code == 200, changed.text
    assert changed.json() == {**made.json(), **changes}
    assert (await admin.get(f"/groups/{made.json()['id']}")).json() == changed.json()
    assert (await admin.delete("/groups/GPU")).status_code == 204
    assert said(await admin.get("/groups/GPU")) == (404, "group.not_found")
    async with api.database.transaction() as tx:
        written = [tuple(row) for row in await tx.execute(
            text("SELECT action, details -> 'before' FROM audit WHERE object_kind = 'group' ORDER BY id")
        )]  # fmt: skip
        told = (
            await tx.execute(text("SELECT kind FROM events WHERE object_kind = 'group' ORDER BY id"))
        ).scalars()
        assert told.all() == ["group.created", "group.updated", "group.removed"]
    assert [action for action, _ in written] == ["group.create", "group.update", "group.remove"]
    assert written[1][1] == {"placement": "dispersed", "slot_priority": [], "patience_s": 300,
                             "pending_timeout_s": None, "app_address": None}  # fmt: skip


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
