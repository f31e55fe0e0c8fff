"""`carrel group|node|preset ...` against the real application."""

import asyncio
import json
from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from installation import Api
from people import eventually

from carrel.accelerators.port import Device, whole_and_shares
from carrel.core.clock import SystemClock
from carrel.engines.port import NodeInfo
from carrel.nodes import service as nodes


@pytest.fixture
async def admin(living: Api, tmp_path: Path) -> CommandLine:
    """The command line of a superadmin, over an engine with one node."""
    admin = await command_line(living, "superadmin", tmp_path)

    async def there() -> bool:
        return b"local" in (await admin.run("node", "ls")).stdout

    await eventually(there)
    return admin


async def test_a_group_is_made_changed_opened_weighed_and_removed(admin: CommandLine):
    await admin.types(
        "group create gpu --private --scheduler fair_share --patience 10m --slot-priority cuda.shares"
        " --pending-timeout 2h --app-address https://apps.example.org --require-capability network-policy"
        " --topology rack --topology example.org/zone"
        " --runtime gvisor"
    )
    shown = await admin.as_json("group", "show", "gpu")
    assert (shown["public"], shown["scheduler"], shown["patience_s"]) == (False, "fair_share", 600)
    assert (shown["slot_priority"], shown["pending_timeout_s"]) == (["cuda.shares"], 7200)
    assert (shown["required_capabilities"], shown["runtime"]) == (["network-policy"], "gvisor")
    assert shown["topology"] == ["rack", "example.org/zone"]
    assert "node < rack < example.org/zone" in await admin.ok("group", "show", "gpu")
    emptied = ("slot_priority", "app_address", "required_capabilities", "runtime", "topology")
    without = [f"--no-{field.replace('_', '-')}" for field in emptied]
    cleared = await admin.as_json("group", "edit", "gpu", *without)
    assert [cleared[field] for field in emptied] == [[], None, [], None, []]
    changed = await admin.types(
        "group edit GPU --pending-timeout never --on-node-loss reschedule --node-loss 5m"
        " --max-rights plain --deactivate"
    )
    assert "reschedule after 5 min" in changed
    assert "plain at most" in changed
    assert "inactive" in changed
    assert "inactive" in await admin.ok("group", "ls")
    allowed = await admin.ok(
        "group", "access", "gpu", "--allow", "domain=abroad", "--allow", "user=user@example.org"
    )
    assert "abroad" in allowed
    denied = await admin.ok("group", "access", "gpu", "--deny", "domain=ABROAD")
    assert "abroad" not in denied
    assert "user@example.org" in denied
    await admin.ok(
        "group", "weights", "gpu", "--set", "domain=abroad:2", "--set", "user=user@example.org:0.5"
    )
    change = ("--set", "domain=abroad:3", "--unset", "user=user@example.org")
    weights = (await admin.as_json("group", "weights", "gpu", *change))["weights"]
    assert [(row["name"], row["weight"]) for row in weights["domains"]] == [("abroad", 3)]
    assert weights["users"] == []
    wrong = await admin.run("group", "access", "gpu", "--allow", "team=x")
    assert (wrong.code, "KIND=NAME" in wrong.stderr) == (2, True)
    await admin.ok("group", "rm", "--yes", "gpu")
    assert "gpu" not in await admin.ok("group", "ls")
    kept = await admin.run("group", "rm", "--yes", "default")
    assert (kept.code, "group.default" in kept.stderr) == (1, True)


async def test_nodes_are_labelled_and_join_groups_by_their_labels(admin: CommandLine):
    assert "local is in default; labels: gpu=a100, rack=r1" in await admin.ok(
        "node", "label", "local", "gpu=a100", "rack=r1"
    )
    preview = await admin.ok("group", "preview", "gpu in (a100),!spot", "--name", "fast")
    assert "1 node selected, 1 would join" in preview
    await admin.ok("group", "create", "fast", "--node-selector", "gpu in (a100),!spot")
    listed = await admin.ok("node", "ls", "--labels", "-l", "rack=r1")
    assert "fast" in listed
    assert "gpu=a100, rack=r1" in listed
    assert "local" not in await admin.ok("node", "ls", "-l", "!gpu")
    assert "fast, by its node selector" in await admin.ok("node", "show", "local")
    fixed = await admin.ok("node", "edit", "local", "--group", "default")
    assert "default, chosen by an administrator; selected by fast" in fixed
    assert "chosen by an administrator" in await admin.ok("group", "preview", "gpu", "--name", "fast")
    assert "fast, by its node selector" in await admin.ok("node", "edit", "local", "--auto-group")
    assert "labels: rack=r1" in await admin.ok("node", "label", "local", "gpu-")
    await admin.ok("group", "edit", "fast", "--no-node-selector")
    assert (await admin.as_json("group", "show", "fast"))["node_selector"] is None
    wrong = await admin.run("node", "label", "local", "gpu")
    assert (wrong.code, "KEY=VALUE" in wrong.stderr) == (2, True)


async def test_what_several_say_of_a_group_at_once_is_all_kept(admin: CommandLine):
    everybody = ["domain=abroad", "domain=default", "user=user@example.org", "user=colleague@example.org"]
    await asyncio.gather(*(admin.ok("group", "access", "default", "--allow", who) for who in everybody))
    await asyncio.gather(*(admin.ok("group", "weights", "default", "--set", f"{who}:2") for who in everybody))
    shown = await admin.as_json("group", "show", "default")
    for of in ("access", "weights"):
        assert sum(map(len, shown[of].values())) == 4


async def test_a_node_is_shown_closed_changed_and_emptied(admin: CommandLine, living: Api):
    assert "READY" in await admin.ok("node", "ls")
    assert "accepts no new sessions" in await admin.ok("node", "cordon", "local")
    assert "cordoned" in await admin.ok("node", "show", "local")
    assert "accepts new sessions" in await admin.ok("node", "uncordon", "local")
    edited = await admin.as_json("node", "edit", "local", "--reserve", "mem=2g", "--overcommit", "1.5")
    assert (edited["reserved"], edited["cpu_overcommit"]) == ({"mem": 2 << 30}, 1.5)
    session = await (await living.as_("user")).start(name="train")

    async def runs() -> bool:
        return "RUNNING" in await admin.ok("node", "show", "local")

    await eventually(runs)
    assert "train" in await admin.ok("node", "drain", "local", "--how", "end", "--dry-run")
    refused = await admin.run("node", "drain", "local", "--how", "end")
    assert (refused.code, "client.no_terminal" in refused.stderr) == (2, True)
    assert "READY" in await admin.ok("node", "ls"), "nothing was done"
    async with admin.in_terminal("node", "drain", "local", "--how", "end", cols=200) as screen:
        await screen.until(b"Continue? [y/N]")
        await screen.press(b"y\n")
        await screen.until(b"is cordoned and draining")

    async def ended() -> bool:
        state = await admin.ok("session", "show", session["id"], "-o", "json")
        return bool(json.loads(state)["state"] == "TERMINATED")

    await eventually(ended)
    assert "draining" in await admin.ok("node", "ls")


async def test_what_there_is_and_is_left_is_shown_of_every_slot(api: Api, tmp_path: Path):
    plain, faster = {"cpu": 8000, "mem": 4 << 30}, {"cpu": 16000, "mem": 4 << 30}
    cards = (Device("c0", "cuda"), Device("c1", "cuda"))
    cuda = NodeInfo(
        "cuda",
        "x86_64",
        {**plain, "cuda.device": 2, "cuda.shares": 2000},
        "Fake 1",
        devices=cards,
        slot_kinds=whole_and_shares("cuda"),
    )
    async with api.database.transaction() as tx:
        await nodes.record(tx, [cuda, NodeInfo("fast", "x86_64", faster, "Fake 1")], SystemClock().now())
    shown = await (await command_line(api, "superadmin", tmp_path)).ok("resources")
    assert [line.split() for line in shown.splitlines()[1:]] == [
        ["cpu", "24", "0", "24", "16"],
        ["cuda.device", "2", "0", "2", "2"],
        ["cuda.shares", "2", "0", "2", "2"],
        ["mem", "8", "GiB", "0", "B", "8", "GiB", "4", "GiB"],
    ]


async def test_a_preset_is_made_changed_and_removed(admin: CommandLine):
    made = await admin.types(
        "preset create half --group default --slot cpu=4 --slot mem=16g --slot cuda.shares=0.5"
    )
    assert "cpu 4, cuda.shares 0.5, mem 16 GiB, in default" in made
    await admin.ok("preset", "edit", "half", "--everywhere", "--slot", "cpu=2")
    listed = (await admin.as_json("preset", "ls"))["items"]
    assert [(row["name"], row["group"], row["slots"]) for row in listed] == [("half", None, {"cpu": 2000})]
    await admin.ok("preset", "rm", "--yes", "half")
    assert "half" not in await admin.ok("preset", "ls")


async def test_names_of_groups_nodes_and_presets_are_completed(admin: CommandLine):
    await admin.ok("preset", "create", "small", "--slot", "cpu=1")
    assert (await admin.ok("__complete", "group", "show", "")).startswith("default")
    assert (await admin.ok("__complete", "node", "drain", "lo")).startswith("local")
    assert (await admin.ok("__complete", "preset", "rm", "")).startswith("small")
    assert (await admin.ok("__complete", "session", "create", "--group", "")).startswith("default")
