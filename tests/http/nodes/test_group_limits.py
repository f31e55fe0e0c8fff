"""Elastic groups in the API: a limit instead of nodes, and the machines that their sessions are on."""

from dataclasses import replace

import pytest
from databases import sql
from installation import Api
from node_kit import GIB, join, machine
from people_kit import status_and_code
from sqlalchemy import text

from carrel.engines.optional import NETWORK_POLICY, USER_NAMESPACES
from carrel.engines.port import ELASTIC, NodeInfo

LIMIT = {"cpu": 4000, "mem": 8 * GIB}
ELASTIC_GROUP = {"engine": "local", "limit": LIMIT}
SYSTEM = replace(machine("system"), capabilities=frozenset({ELASTIC}))
BURST = replace(SYSTEM, name="burst-1", labels={"pool": "burst"})


@pytest.fixture
async def cluster(api: Api) -> Api:
    """An installation whose engine chooses nodes, with an elastic group that has one machine."""
    await join(api.database, SYSTEM, BURST)
    await sql(api.database, "UPDATE engines SET state = 'READY'")
    admin = await api.as_("superadmin")
    made = await admin.post(
        "/groups", {"name": "burst", "node_selector": "pool=burst", "elastic": ELASTIC_GROUP}
    )
    assert made.status_code == 201, made.text
    return api


async def test_a_group_has_its_limit_as_capacity_and_its_machines_as_nodes(cluster: Api):
    admin = await cluster.as_("superadmin")
    shown = (await admin.get("/groups/burst")).json()
    assert shown["elastic"] == {**ELASTIC_GROUP, "wait_s": 900}
    assert (shown["nodes"], shown["ready_nodes"], shown["capacity"]) == (1, 1, LIMIT)
    nodes = (await admin.get("/nodes")).json()["items"]
    assert {row["name"]: row["group"]["name"] for row in nodes} == {"burst-1": "burst", "system": "default"}
    # What the installation has: the limit, not the machines that the cluster adds.
    resources = (await admin.get("/resources")).json()
    assert resources["nodes"] == 2
    assert resources["capacity"]["cpu"] == 8000 + LIMIT["cpu"]


async def test_what_exceeds_the_limit_for_ever_is_refused_and_the_machines_are_not_offered(cluster: Api):
    user = await cluster.as_("user")
    large = {"cpu": 5000, "mem": GIB}
    refused = await user.try_start(group="burst", slots=large)
    assert status_and_code(refused) == (409, "session.too_large")
    assert refused.json()["detail"] == "The limit of its elastic group is 4 CPU; this needs 5 CPU."
    admin = await cluster.as_("superadmin")
    named = await admin.try_start(group="burst", node="burst-1")
    assert status_and_code(named) == (404, "node.not_found")


async def test_an_elastic_group_needs_a_selector_an_engine_that_adds_machines_and_a_whole_limit(cluster: Api):
    admin = await cluster.as_("superadmin")
    bare = await admin.post("/groups", {"name": "more", "elastic": ELASTIC_GROUP})
    assert status_and_code(bare) == (422, "group.no_selector")
    unknown = {"name": "more", "node_selector": "a", "elastic": {**ELASTIC_GROUP, "engine": "moon"}}
    assert status_and_code(await admin.post("/groups", unknown)) == (404, "engine.not_found")
    part = {"name": "more", "node_selector": "a", "elastic": {"engine": "local", "limit": {"cpu": 1}}}
    assert (await admin.post("/groups", part)).status_code == 422
    without = await admin.patch("/groups/burst", {"node_selector": None})
    assert status_and_code(without) == (422, "group.no_selector")
    near = await admin.patch("/groups/burst", {"topology": ["rack"]})
    assert status_and_code(near) == (422, "group.elastic_topology")
    await join(cluster.database, machine("docker"))
    await sql(cluster.database, "DELETE FROM nodes WHERE name <> 'docker' AND NOT elastic")
    plain = {"name": "more", "node_selector": "a", "elastic": ELASTIC_GROUP}
    assert status_and_code(await admin.post("/groups", plain)) == (422, "group.not_elastic")


async def test_a_limit_changes_and_ends_with_the_group_and_its_machines_stay(cluster: Api):
    admin = await cluster.as_("superadmin")
    more = {"engine": "local", "limit": {**LIMIT, "cpu": 6000}, "wait_s": 60}
    changed = await admin.patch("/groups/burst", {"name": "surge", "elastic": more})
    assert changed.json()["capacity"]["cpu"] == 6000
    assert changed.json()["elastic"] == more
    plain = (await admin.patch("/groups/surge", {"elastic": None})).json()
    assert (plain["elastic"], plain["capacity"]["cpu"]) == (None, 8000)
    again = (await admin.patch("/groups/surge", {"elastic": more})).json()
    assert again["capacity"]["cpu"] == 6000
    await admin.patch("/groups/surge", {"elastic": None, "node_selector": None})
    assert (await admin.delete("/groups/surge")).status_code == 204
    nodes = (await admin.get("/nodes")).json()["items"]
    assert {row["name"]: row["group"]["name"] for row in nodes} == {"burst-1": "default", "system": "default"}


async def test_the_limit_of_the_default_group_changes_after_another_elastic_group_is_removed(cluster: Api):
    admin = await cluster.as_("superadmin")
    settings = {"engine": "local", "limit": LIMIT}
    made = await admin.patch("/groups/default", {"node_selector": "pool=steady", "elastic": settings})
    assert made.json()["capacity"] == LIMIT
    await admin.patch("/groups/burst", {"elastic": None, "node_selector": None})
    assert (await admin.delete("/groups/burst")).status_code == 204
    # The history of the removed group is no limit of this one.
    async with cluster.database.transaction() as tx:
        limits = await tx.scalar(text("SELECT count(*) FROM nodes WHERE elastic"))
    assert limits == 1
    more = {**LIMIT, "cpu": 6000}
    changed = await admin.patch("/groups/default", {"elastic": {**settings, "limit": more}})
    assert changed.json()["capacity"] == more
    plain = (await admin.patch("/groups/default", {"elastic": None})).json()
    assert (plain["elastic"], plain["capacity"].get("cpu")) == (None, 16000)


async def test_an_outage_does_not_count_from_an_earlier_one(cluster: Api):
    # As a former version left it.
    await sql(cluster.database, "UPDATE nodes SET down_since = now() - interval '1 day' WHERE elastic")
    await join(cluster.database, SYSTEM, BURST)
    async with cluster.database.transaction() as tx:
        assert await tx.scalar(text("SELECT down_since FROM nodes WHERE elastic")) is None


async def capabilities(cluster: Api, *machines: NodeInfo) -> set[str]:
    """Those of the group, once its engine has reported these machines."""
    await join(cluster.database, *machines)
    async with cluster.database.transaction() as tx:
        return set(await tx.scalar(text("SELECT capabilities FROM nodes WHERE elastic")) or ())


async def test_a_group_has_the_capabilities_of_its_machines_or_while_there_are_none_of_the_cluster(
    cluster: Api,
):
    system = replace(SYSTEM, capabilities=frozenset({ELASTIC, NETWORK_POLICY}))
    burst = replace(BURST, capabilities=frozenset({ELASTIC, NETWORK_POLICY, USER_NAMESPACES}))
    lesser = replace(burst, name="burst-2", capabilities=frozenset({ELASTIC, NETWORK_POLICY}))
    assert await capabilities(cluster, SYSTEM, burst) == burst.capabilities
    assert await capabilities(cluster, system, burst, lesser) == lesser.capabilities
    assert await capabilities(cluster, SYSTEM) == {ELASTIC}
    # Whether the next machine has user namespaces is not known.
    remapping = replace(system, capabilities=burst.capabilities)
    assert await capabilities(cluster, remapping) == {ELASTIC, NETWORK_POLICY}
    assert await capabilities(cluster, burst) == burst.capabilities
    assert await capabilities(cluster) == {ELASTIC, NETWORK_POLICY}


async def test_what_a_machine_of_a_group_has_with_a_runtime_is_not_known_before_there_is_one(cluster: Api):
    await (await cluster.as_("superadmin")).patch("/groups/burst", {"runtime": "kata"})
    able = frozenset({ELASTIC, "runtime:kata", "user-namespaces:kata"})
    assert await capabilities(cluster) == set()
    assert await capabilities(cluster, replace(SYSTEM, capabilities=able)) == {ELASTIC, "runtime:kata"}
    assert await capabilities(cluster, SYSTEM) == {ELASTIC, "runtime:kata"}
    assert await capabilities(cluster, replace(BURST, capabilities=able)) == able
    assert await capabilities(cluster, BURST) == BURST.capabilities
