"""Cluster sessions in a resource group with a topology, as people request and see them."""

from pathlib import Path

import pytest
from command_line import command_line
from installation import Api
from node_kit import join, machine
from people_kit import status_and_code
from session_kit import request

LARGE = {"cpu": 6000, "mem": 64 << 20}


@pytest.fixture
async def racks(api: Api) -> Api:
    """Two racks with two nodes of 8 CPU each, and a node without a rack."""
    admin = await api.as_("superadmin")
    await join(api.database, *[machine(f"n{number}") for number in range(5)])
    for number, rack in enumerate("aabb"):
        labels = {"example.org/rack": rack, "zone": "z"}
        assert (await admin.patch(f"/nodes/n{number}", {"own_labels": labels})).status_code == 200
    changed = await admin.patch("/groups/default", {"topology": ["example.org/rack", "zone"]})
    assert changed.status_code == 200, changed.text
    return api


async def test_a_session_waits_for_a_domain_that_it_requires_and_says_so(racks: Api) -> None:
    user, admin = await racks.as_("user"), await racks.as_("superadmin")
    for node in ("n1", "n2"):
        assert (await admin.patch(f"/nodes/{node}", {"cordoned": True})).status_code == 200
    anywhere = request(slots=LARGE, containers=2, placement="together")
    in_rack = {**anywhere, "topology": "rack"}
    check = {name: value for name, value in anywhere.items() if name != "env"}
    assert (await user.post("/sessions/check", check)).json()["verdict"] == "starts"
    verdict = (await user.post("/sessions/check", {**check, "topology": "rack"})).json()
    assert verdict["verdict"] == "waits"
    expected = (
        "2 nodes: cordoned; 2 nodes: has capacity for some containers, but not for all within one "
        "example.org/rack; 1 node: has no label example.org/rack."
    )
    assert sorted(verdict["reason"].strip(".").split("; ")) == sorted(expected.strip(".").split("; "))
    made = (await user.post("/sessions", in_rack)).json()
    assert (made["placement"], made["topology"]) == ("together", "example.org/rack")
    why = (await user.get(f"/sessions/{made['id']}/why")).json()
    assert why["reason"] == verdict["reason"]
    assert (await admin.patch("/groups/default", {"topology": ["zone"]})).status_code == 200
    why = (await user.get(f"/sessions/{made['id']}/why")).json()
    assert why["reason"] == "Its resource group has no topology label example.org/rack."


async def test_what_fits_in_no_domain_is_refused(racks: Api) -> None:
    user = await racks.as_("user")
    three = request(slots=LARGE, containers=3)
    refused = await user.post("/sessions", {**three, "topology": "example.org/rack"})
    assert status_and_code(refused) == (409, "session.too_large")
    assert refused.json()["detail"] == (
        "The nodes do not have room for all 3 containers at once within one example.org/rack."
    )
    for topology in ("zone", None):
        assert (await user.post("/sessions", {**three, "topology": topology})).status_code == 201
    assert (await user.post("/sessions", {**three, "placement": "together"})).status_code == 201
    refused = await user.post("/sessions", {**three, "topology": "node"})
    assert status_and_code(refused) == (409, "session.too_large")
    assert refused.json()["detail"] == "No node has room for all 3 containers at once."


async def test_each_group_that_a_session_accepts_has_its_own_topology(racks: Api) -> None:
    """One node of the preferred group would have to hold all; the other has a rack for them."""
    user, admin = await racks.as_("user"), await racks.as_("superadmin")
    assert (await admin.post("/groups", {"name": "flat"})).status_code == 201
    assert (await admin.patch("/nodes/n4", {"group": "flat"})).status_code == 200
    wish = request(
        slots=LARGE, containers=2, placement="together", group="flat", alternative_groups=["default"]
    )
    check = {name: value for name, value in wish.items() if name != "env"}
    verdict = (await user.post("/sessions/check", check)).json()
    assert (verdict["verdict"], verdict["starts_in"]["name"]) == ("starts", "default")
    made = (await user.post("/sessions", wish)).json()
    why = (await user.get(f"/sessions/{made['id']}/why")).json()
    assert why["reason"].startswith("There is free capacity")


async def test_a_level_that_the_group_does_not_have_is_refused(racks: Api) -> None:
    user, admin = await racks.as_("user"), await racks.as_("superadmin")
    refused = await user.post("/sessions", request(containers=2, topology="leaf"))
    assert status_and_code(refused) == (422, "session.unknown_topology")
    assert refused.json()["field"] == "topology"
    assert refused.json()["details"] == {"levels": ["node", "example.org/rack", "zone"]}
    assert (await admin.post("/groups", {"name": "flat"})).status_code == 201
    verdict = (await user.post("/sessions/check", request(containers=2, topology="rack"))).json()
    rooms = {one["name"]: (one["topology"], one["verdict"]) for one in verdict["groups"]}
    assert rooms == {
        "default": (["node", "example.org/rack", "zone"], "starts"),
        "flat": (["node"], "never"),
    }


async def test_a_level_is_that_of_each_group_that_has_it(racks: Api) -> None:
    user, admin = await racks.as_("user"), await racks.as_("superadmin")
    for name, topology in (("flat", []), ("other", ["rack"])):
        assert (await admin.post("/groups", {"name": name, "topology": topology})).status_code == 201

    async def made(*groups: str, topology: str = "rack") -> str:
        wish = request(
            slots=LARGE, containers=2, topology=topology, group=groups[0], alternative_groups=list(groups[1:])
        )
        answer = await user.post("/sessions", wish)
        assert answer.status_code == 201, answer.text
        level: str = answer.json()["topology"]
        return level

    assert await made("flat", "default") == "example.org/rack"
    assert await made("other", "default") == "rack"
    assert await made("flat", "other", topology="node") == "node"
    check = {"slots": LARGE, "containers": 2, "topology": "rack", "alternative_groups": ["default"]}
    verdict = (await user.post("/sessions/check", {**check, "group": "flat"})).json()
    assert {one["name"]: one["verdict"] for one in verdict["groups"]} == {
        "default": "waits",
        "flat": "never",
        "other": "waits",
    }
    refused = await user.post(
        "/sessions", request(containers=2, topology="leaf", alternative_groups=["flat"])
    )
    assert status_and_code(refused) == (422, "session.unknown_topology")


@pytest.mark.parametrize("wrong", [["rack", "rack"], ["node"], ["-"], [f"l{n}" for n in range(9)]])
async def test_a_topology_that_cannot_be_is_refused(api: Api, wrong: list[str]) -> None:
    admin = await api.as_("superadmin")
    refused = await admin.patch("/groups/default", {"topology": wrong})
    assert status_and_code(refused) == (422, "invalid.request")


async def test_the_command_line_requests_and_shows_a_level(racks: Api, tmp_path: Path) -> None:
    command = await command_line(racks, "user", tmp_path)
    options = ("--cluster-size", "2", "--topology", "rack", "--placement", "together")
    await command.ok("session", "create", "--image", "debian:12", "--name", "pair", *options)
    shown = await command.ok("session", "show", "pair")
    assert "2 containers, together within one example.org/rack; ends with any" in shown
    assert "topology: example.org/rack" in await command.ok("session", "export", "pair")
