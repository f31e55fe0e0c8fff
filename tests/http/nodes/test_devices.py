"""Devices of nodes by the API and the command line: what is known of them, and who holds which part."""

from pathlib import Path

import pytest
from command_line import command_line
from databases import sql
from installation import Api
from node_kit import join
from people import eventually
from simulated_accelerators import driver, tree

from carrel.accelerators.nvidia import Nvidia
from carrel.engines.port import NodeInfo

GIB = 1 << 30
HALF = {"cpu": 500, "mem": GIB, "cuda.shares": 500}


@pytest.fixture
async def gpus(living: Api, tmp_path: Path) -> Api:
    """An installation with a node that has two simulated GPUs."""
    living.engine.world.equip("local", driver(Nvidia(), tree(tmp_path / "machine", "h100x2")))
    living.engine.world.hint("local")
    admin = await living.as_("superadmin")

    async def offered() -> bool:
        return "cuda.device" in (await admin.get("/resources")).json()["capacity"]

    await eventually(offered)
    await admin.patch("/site", {"nodes_visible": True})
    return living


async def test_devices_show_what_they_are_and_who_holds_which_part(gpus: Api, tmp_path: Path):
    admin, user, colleague = await gpus.as_("superadmin"), await gpus.as_("user"), await gpus.as_("colleague")
    mine = await user.start(slots=HALF, name="mine")
    await gpus.until(user, mine["id"], "RUNNING")
    theirs = await colleague.start(slots=HALF | {"cuda.shares": 300}, name="theirs")
    await gpus.until(colleague, theirs["id"], "RUNNING")
    first, second = (await admin.get("/nodes/local")).json()["devices"]
    assert (first["used"], second["used"], second["holders"]) == (800, 0, [])
    assert [(one["amount"], one["session"]["name"]) for one in first["holders"]] == [
        (500, "mine"),
        (300, "theirs"),
    ]
    assert first["holders"][0]["session"]["owner"]["email"] == "user@example.org"
    assert first["holders"][0]["session"]["container"]
    assert (first["mem_bytes"], first["pci"].count(":")) == (81559 << 20, 2)
    assert (first["numa"], first["clique"] == second["clique"] != "") == (0, True)
    # Of others there are only the parts, in lists too.
    for path in ("/nodes/local", "/nodes"):
        seen = (await user.get(path)).json()
        holders = seen.get("items", [seen])[0]["devices"][0]["holders"]
        assert [(one["amount"], one["session"] and one["session"]["id"]) for one in holders] == [
            (500, mine["id"]),
            (300, None),
        ]
    line = await command_line(gpus, "user", tmp_path)
    assert "0.8 of 1 in use, held by mine (0.5), others (0.3)" in await line.ok("node", "show", "local")
    assert "mine (0.5), others (0.3)" in await line.ok("node", "devices", "local")
    assert "0000:" in await line.ok("node", "devices", "local", "--wide")
    printed = await line.as_json("node", "devices", "local")
    assert (printed["node"]["name"], len(printed["devices"])) == ("local", 2)


async def test_devices_of_a_node_recorded_without_their_addresses_are_shown(api: Api):
    await join(api.database, NodeInfo("local", "x86_64", {"cpu": 8000, "mem": 16 * GIB}, "Fake 1"))
    await sql(
        api.database,
        """UPDATE nodes SET devices = '[{"id": "old", "family": "cuda", "model": "", "set": 0,
        "slots": {"cuda.device": 1000}}]'""",
    )
    admin = await api.as_("superadmin")
    (old,) = (await admin.get("/nodes/local")).json()["devices"]
    assert (old["pci"], old["numa"], old["mem_bytes"], old["holders"]) == ("", None, None, [])
