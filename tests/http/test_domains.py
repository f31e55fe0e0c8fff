"""Domains through the API: who may, what is refused, and what a disabled one does."""

import asyncio

from installation import Api
from sqlalchemy import text


async def test_a_domain_lives_and_goes(api: Api):
    admin = await api.as_("superadmin")
    made = await admin.post("/domains", {"name": "Lab", "ceilings": {"cpu": 4000}, "registries": ["docker.io"]})
    assert made.status_code == 201, made.text
    domain = made.json()
    assert (domain["users"], domain["projects"], domain["live_sessions"], domain["admins"]) == (0, 0, 0, [])
    assert (domain["ceilings"], domain["registries"], domain["storage_hosts"]) == (
        {"cpu": 4000}, ["docker.io"], None,
    )  # fmt: skip
    changed = await admin.patch("/domains/lab", {"description": "Physics", "registries": None, "ceilings": {}})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["description"], changed.json()["registries"]) == ("Physics", None)
    assert changed.json()["ceilings"] == {}
    assert (await admin.delete(f"/domains/{domain['id']}")).status_code == 204
    assert (await admin.get("/domains/lab")).status_code == 404
