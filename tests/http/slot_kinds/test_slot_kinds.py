"""Kinds of slots: declared by accelerators, read by admission and shown to clients."""

from pathlib import Path

from command_line import command_line
from installation import Api
from node_kit import join
from people import eventually
from people_kit import status_and_code
from simulated_accelerators import driver, tree

from carrel.accelerators.fake import FakeAccelerators
from carrel.accelerators.gaudi import Gaudi
from carrel.accelerators.nvidia import Nvidia
from carrel.core.slots import SlotKind, SlotType
from carrel.engines.accelerated import node_with
from carrel.engines.port import NodeInfo
from carrel.slot_kinds import service

GIB = 1 << 30
SMALL = {"cpu": 1000, "mem": GIB}
USER = {"sessions": 3, "folders": 10, "folder_bytes": "unlimited"}
PLAIN = NodeInfo("machine", "x86_64", {"cpu": 8000, "mem": 16 * GIB}, "Fake 1")


async def declare(api: Api, *kinds: SlotKind) -> None:
    async with api.database.transaction() as tx:
        await service.learn(tx, kinds)


async def test_kinds_are_listed_with_their_units_and_names_for_people(api: Api):
    await join(api.database, node_with([FakeAccelerators(1, units=2)], PLAIN))
    listed = (await (await api.as_("user")).get("/slot-kinds")).json()["items"]
    assert [(one["name"], one["type"], one["scale"], one["family"]) for one in listed] == [
        ("cpu", "millis", 1000, None),
        ("mem", "bytes", 1, None),
        ("fake.device", "count", 1, "fake"),
        ("fake.shares", "shares", 1000, "fake"),
        ("fake.unit-1g", "unique", 1, "fake.unit-1g"),
    ]
    assert (listed[4]["title"], listed[4]["unit"]) == ("Unit of a fake accelerator", "unit")


async def test_the_latest_declaration_counts(api: Api):
    await declare(api, SlotKind("a.device", "a", SlotType.COUNT))
    await declare(api, SlotKind("a.device", "a", SlotType.COUNT, allowed=(1, 2)))
    async with api.database.transaction() as tx:
        assert (await service.known(tx))["a.device"].allowed == (1, 2)


async def test_a_unit_is_given_to_one_container_and_shown_everywhere(living: Api, tmp_path: Path):
    living.engine.world.equip("local", FakeAccelerators(0, units=2))
    living.engine.world.hint("local")
    user = await living.as_("user")

    async def offered() -> bool:
        return "fake.unit-1g" in (await user.get("/resources")).json()["capacity"]

    await eventually(offered)
    two = await user.try_start(image="starter", slots={**SMALL, "fake.unit-1g": 2})
    assert status_and_code(two) == (422, "slot.amount_not_allowed")
    assert (two.json()["field"], two.json()["details"]["nearest"]) == ("slots.fake.unit-1g", [1])
    started = [await user.start(slots={**SMALL, "fake.unit-1g": 1}) for _ in range(3)]
    for session in started[:2]:
        await living.until(user, session["id"], "RUNNING")
    environments = [
        living.engine.world.environment(one)["CARREL_DEVICES"]
        for one in living.engine.world.containers.values()
    ]
    assert sorted(environments) == ["unit0:1000", "unit1:1000"]

    async def waits() -> bool:
        third = (await user.get(f"/sessions/{started[2]['id']}")).json()
        return "needs 1 fake.unit-1g, 0 fake.unit-1g free" in (third["reason"] or "")

    await eventually(waits)
    left = (await user.get("/resources")).json()["left"]
    assert left["fake.unit-1g"] == 0
    admin = await command_line(living, "superadmin", tmp_path)
    node = await admin.as_json("node", "show", "local")
    assert [(one["id"], one["used"], one["slots"]) for one in node["devices"]] == [
        ("unit0", 1000, {"fake.unit-1g": 1000}),
        ("unit1", 1000, {"fake.unit-1g": 1000}),
    ]
    assert "fake.unit-1g" in await admin.ok("resources")


async def test_gpus_of_a_simulated_machine_are_given_to_sessions_that_cannot_choose_others(
    living: Api, tmp_path: Path
):
    nvidia = driver(Nvidia(shares=True), tree(tmp_path / "machine", "h100x4,h100-migx1"))
    living.engine.world.equip("local", nvidia)
    living.engine.world.hint("local")
    user = await living.as_("user")

    async def offered() -> bool:
        return "cuda.device" in (await user.get("/resources")).json()["capacity"]

    await eventually(offered)
    capacity = (await user.get("/resources")).json()["capacity"]
    assert {name: amount for name, amount in capacity.items() if name.startswith("cuda.")} == {
        "cuda.device": 4,
        "cuda.shares": 4000,
        "cuda.mig-1g.10gb": 7,
    }
    greedy = {"NVIDIA_VISIBLE_DEVICES": "all", "CUDA_VISIBLE_DEVICES": "3"}
    for slots in ({"cuda.device": 2}, {"cuda.shares": 500}, {"cuda.mig-1g.10gb": 1}, {}):
        session = await user.start(slots=SMALL | slots, env=greedy)
        await living.until(user, session["id"], "RUNNING")
    world = living.engine.world
    visible = [
        world.environment(one)["NVIDIA_VISIBLE_DEVICES"].split(",") for one in world.containers.values()
    ]
    assert [len(devices) for devices in visible] == [2, 1, 1, 1]
    assert visible[3] == ["void"]
    given = [device for devices in visible[:3] for device in devices]
    assert len(set(given)) == 4
    assert [device[:4] for device in given] == ["GPU-"] * 3 + ["MIG-"]
    assert {world.environment(one).get("CUDA_VISIBLE_DEVICES") for one in world.containers.values()} == {
        "0,1",
        "0",
        None,
    }


async def test_a_card_that_gets_out_of_order_is_shown_and_its_session_warned(living: Api, tmp_path: Path):
    root = tree(tmp_path / "machine", "gaudi3x2")
    living.engine.world.equip("local", driver(Gaudi(), root))
    living.engine.world.hint("local")
    user, admin = await living.as_("user"), await command_line(living, "superadmin", tmp_path)

    async def offered() -> bool:
        return (await user.get("/resources")).json()["capacity"].get("gaudi3.device") == 2

    await eventually(offered)
    session = await user.start(slots=SMALL | {"gaudi3.device": 2})
    await living.until(user, session["id"], "RUNNING")
    shown = " ".join((await admin.ok("node", "show", "local")).split())
    assert "(HL-325L, 128 GiB, set 0) 1 of 1 in use, held by" in shown
    assert ", 0 % utilized, 672 MiB of 128 GiB of memory, 35 °C, 226 W" in shown
    [answer] = (root / "tools/hl-smi").iterdir()
    rows = answer.read_text().splitlines()
    answer.write_text(rows[1] + "\n")

    async def warned() -> bool:
        return "device_unhealthy" in (await user.get(f"/sessions/{session['id']}")).json()["warnings"]

    await eventually(warned)
    assert "device_unhealthy" in await admin.ok("session", "show", session["id"])
    history = (await user.get(f"/sessions/{session['id']}/history")).json()["items"]
    [reason] = [entry["reason"] for entry in history if entry["cause"] == "device_unhealthy"]
    assert reason.startswith("Its accelerator Intel Gaudi 3 (01P0-HL325L-SIM-")
    assert reason.endswith(") on local is out of order: hl-smi does not list it.")
    assert "unhealthy: hl-smi does not list it" in await admin.ok("node", "show", "local")
    assert (await user.get("/resources")).json()["capacity"]["gaudi3.device"] == 1
    answer.write_text("\n".join(rows) + "\n")

    async def recovered() -> bool:
        return not (await user.get(f"/sessions/{session['id']}")).json()["warnings"]

    await eventually(recovered)


async def test_a_card_out_of_order_that_a_session_holds_takes_none_of_the_others(living: Api, tmp_path: Path):
    root = tree(tmp_path / "machine", "gaudi3x2")
    living.engine.world.equip("local", driver(Gaudi(), root))
    living.engine.world.hint("local")
    user, admin = await living.as_("user"), await living.as_("superadmin")

    async def counted() -> list[int | None]:
        of = (await user.get("/resources")).json()
        return [of[name].get("gaudi3.device", 0) for name in ("capacity", "used", "left")]

    async def all_offered() -> bool:
        return await counted() == [2, 0, 2]

    await eventually(all_offered)
    session = await user.start(slots=SMALL | {"gaudi3.device": 1})
    await living.until(user, session["id"], "RUNNING")
    assert await counted() == [2, 1, 1]
    devices = (await admin.get("/nodes/local")).json()["devices"]
    [held] = [number for number, one in enumerate(devices) if one["used"]]
    [answer] = (root / "tools/hl-smi").iterdir()
    rows = answer.read_text().splitlines()
    answer.write_text(rows[1 - held] + "\n")

    async def set_aside() -> bool:
        return await counted() == [1, 0, 1]

    await eventually(set_aside)
    assert (await admin.get("/nodes/local")).json()["used"].get("gaudi3.device", 0) == 0
    other = await user.start(slots=SMALL | {"gaudi3.device": 1})
    await living.until(user, other["id"], "RUNNING")


async def test_a_card_keeps_its_id_while_its_tool_fails_after_a_restart(api: Api, tmp_path: Path):
    root = tree(tmp_path / "machine", "gaudi3x2")
    admin = await api.as_("superadmin")

    async def shown() -> list[tuple[str, bool]]:
        await join(api.database, node_with([driver(Gaudi(), root)], PLAIN))
        return [(one["id"], one["healthy"]) for one in (await admin.get("/nodes/machine")).json()["devices"]]

    before = await shown()
    assert {healthy for _, healthy in before} == {True}
    [answer] = (root / "tools/hl-smi").iterdir()
    rows = answer.read_text()
    answer.write_text("")
    assert sorted(await shown()) == sorted((id, False) for id, _ in before)
    answer.write_text(rows)
    # They wait for a check.
    assert sorted(await shown()) == sorted((id, False) for id, _ in before)


async def test_a_set_that_no_node_has_is_refused_with_the_largest_that_one_has(api: Api, tmp_path: Path):
    root = tree(tmp_path / "machine", "gaudi3x8")
    [rows] = (root / "tools/hl-smi").iterdir()
    rows.write_text("\n".join(rows.read_text().splitlines()[1:]) + "\n")
    await join(api.database, node_with([driver(Gaudi(), root)], PLAIN))
    user = await api.as_("user")
    answer = await user.try_start(image="starter", slots=SMALL | {"gaudi3.device": 8})
    assert status_and_code(answer) == (409, "session.too_large")
    assert answer.json()["detail"] == "No node has 8 gaudi3.device; the largest has 4 gaudi3.device."
    assert answer.json()["details"]["largest"] == 4
    left = (await user.get("/resources")).json()
    assert [left[name]["gaudi3.device"] for name in ("capacity", "left", "largest")] == [7, 4, 4]
    assert (await user.try_start(image="starter", slots=SMALL | {"gaudi3.device": 4})).status_code == 201


async def test_quanta_sets_and_families_are_kept_by_admission(api: Api):
    await declare(
        api,
        SlotKind("a.device", "a", SlotType.COUNT, allowed=(1, 2, 4)),
        SlotKind("a.shares", "a", SlotType.SHARES, quantum=250),
    )
    user = await api.as_("user")

    async def refusal(**slots: int) -> tuple[str, str]:
        answer = await user.try_start(image="starter", slots={**SMALL, **slots})
        return answer.json().get("code", ""), answer.json().get("hint", "")

    assert await refusal(**{"a.device": 3}) == (
        "slot.amount_not_allowed",
        "Request 2 a.device or 4 a.device.",
    )
    assert await refusal(**{"a.shares": 300}) == (
        "slot.amount_not_allowed",
        "Request 0.25 a.shares or 0.5 a.shares.",
    )
    assert (await refusal(**{"a.device": 1, "a.shares": 250}))[0] == "slot.not_both"
    assert (await refusal(**{"b.device": 1, "b.shares": 250}))[0] == "slot.not_both"
    assert (await refusal(**{"b.unit-1h": 1}))[0] == "slot.unknown"
    assert await refusal(**{"a.device": 2}) == ("", "")


async def test_the_hint_of_an_unknown_slot_names_a_few_others(api: Api):
    await declare(api, *(SlotKind(f"a.unit-{number}g", "a", SlotType.UNIQUE) for number in range(1, 9)))
    admin = await api.as_("superadmin")
    refused = await admin.post("/presets", {"name": "one", "slots": {**SMALL, "b.unit": 1}})
    assert refused.json()["hint"] == "Use one of cpu, mem, a.unit-1g, a.unit-2g, a.unit-3g ..."


async def test_a_limit_on_a_slot_that_no_node_ever_had_is_refused(api: Api):
    await declare(api, SlotKind("a.unit-1g", "a", SlotType.UNIQUE))
    admin = await api.as_("superadmin")
    for path, body, field in (
        ("/presets", {"name": "one", "slots": {**SMALL, "a.unit-1h": 1}}, "slots.a.unit-1h"),
        ("/projects", {"name": "one", "ceilings": {"a.unit-1h": 1}}, "ceilings.a.unit-1h"),
        ("/domains", {"name": "one", "ceilings": {"a.unit-1h": 1}}, "ceilings.a.unit-1h"),
        (
            "/policies",
            {"name": "one", "kind": "user", "limits": {**USER, "slots": {"a.unit-1h": 1}}},
            "limits.slots.a.unit-1h",
        ),
    ):
        refused = await admin.post(path, body)
        assert status_and_code(refused) == (422, "slot.unknown"), path
        assert refused.json()["field"] == field
        assert "a.unit-1g" in refused.json()["hint"]
    # Those that follow the usual names may come later, and one that is known is taken.
    later = {"a.unit-1g": 1, "b.device": 1}
    assert (await admin.post("/projects", {"name": "two", "ceilings": later})).status_code == 201
