"""FuriosaAI cards: whole and in groups of cores, what is discovered from files and furiosa-smi, what containers get."""

import json
import shutil
from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.driver import Card
from carrel.accelerators.furiosa import Furiosa, FuriosaSettings, Partition
from carrel.accelerators.hardware import Machine
from carrel.accelerators.port import (
    UNKNOWN,
    Attachment,
    Device,
    DeviceMetrics,
    DeviceNode,
    DeviceState,
    Limit,
    slots_of,
)

FIRST = "sys/class/rngd_mgmt/rngd!npu0mgmt"
STATUS = "tools/furiosa-smi/status"
LIMITS = (Limit("memlock", -1, -1),)
SHARED = ("bar0", "bar2", "bar4", *(f"ch{n}{side}" for n in range(8) for side in ("", "r")), "dmar", "mgmt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "rngdx2")


def states(root: Path, partition: Partition = "none") -> list[DeviceState]:
    return list(driver(Furiosa(FuriosaSettings(rngd_partition=partition)), root).states())


def changed_status(root: Path, **fields: object) -> None:
    rows = json.loads((root / STATUS).read_text())
    rows[0] |= fields
    (root / STATUS).write_text(json.dumps(rows))


def cards_of(root: Path, furiosa: Furiosa) -> list[Card]:
    return list(furiosa.read(Machine(root, simulated=True)))


def test_a_card_is_what_the_kernel_and_the_tool_say(root: Path):
    first = states(root)[0]
    assert first == DeviceState(
        Device(
            (root / FIRST / "device_uuid").read_text().strip(),
            "rngd",
            "FuriosaAI RNGD",
            set=0,
            pci="0000:18:00.0",
            numa=0,
            mem_bytes=48 << 30,
        ),
        metrics=DeviceMetrics(0.0, 0, 48 << 30, 38.5, 38.4),
    )


@pytest.mark.parametrize(
    ("partition", "slots"),
    [
        ("none", {"rngd.device": 2, "warboy.device": 1}),
        ("single", {"rngd.1core.6gb": 16, "warboy.device": 1}),
        ("dual", {"rngd.2core.12gb": 8, "warboy.device": 1}),
        ("quad", {"rngd.4core.24gb": 4, "warboy.device": 1}),
    ],
)
def test_one_partition_of_all_cards_makes_the_slots(
    tmp_path: Path, partition: Partition, slots: dict[str, int]
):
    furiosa = driver(Furiosa(FuriosaSettings(rngd_partition=partition)), tree(tmp_path, "warboyx1,rngdx2"))
    assert slots_of(furiosa.discover(), furiosa.kinds()) == slots


@pytest.mark.parametrize(
    ("partition", "number", "cores", "spec"),
    [
        ("single", 3, ["3"], "npu:0:3"),
        ("dual", 1, ["2", "2-3", "3"], "npu:0:2-3"),
        ("quad", 1, ["4", "4-5", "4-7", "5", "6", "6-7", "7"], "npu:0:4-7"),
        (
            "none",
            0,
            ["0", "0-1", "0-3", "1", "2", "2-3", "3", "4", "4-5", "4-7", "5", "6", "6-7", "7"],
            "npu:0",
        ),
    ],
)
def test_a_group_of_cores_comes_with_its_files_only(
    root: Path, partition: Partition, number: int, cores: list[str], spec: str
):
    furiosa = Furiosa(FuriosaSettings(rngd_partition=partition))
    card = cards_of(root, furiosa)[number]
    names = sorted([*SHARED, *(f"pe{one}" for one in cores)])
    assert furiosa.attach([card], Machine()) == Attachment(
        env={"FURIOSA_DEVICES": spec},
        nodes=tuple(DeviceNode(f"/dev/rngd/npu0{name}") for name in names),
        limits=LIMITS,
        resources={f"furiosa.ai/{card.device.family.replace('.', '-', 1)}": 1},
    )


def test_a_warboy_is_given_with_both_cores_fused_or_each_alone(tmp_path: Path):
    root = tree(tmp_path, "warboyx2")
    fused, single = Furiosa(), Furiosa(FuriosaSettings(warboy_partition="single"))
    attachment = fused.attach(cards_of(root, fused)[1:], Machine())
    assert [node.path for node in attachment.nodes] == [
        f"/dev/npu1{end}" for end in ("", "_mgmt", "ch0", "ch1", "ch2", "ch3", "pe0", "pe0-1", "pe1")
    ]
    assert attachment.env == {"FURIOSA_DEVICES": "npu:1:0-1"}
    assert attachment.resources == {"furiosa.ai/warboy": 1}
    attachment = single.attach(cards_of(root, single)[1:2], Machine())
    assert [node.path for node in attachment.nodes if "pe" in node.path] == ["/dev/npu0pe1"]
    assert (attachment.env, attachment.resources) == ({"FURIOSA_DEVICES": "npu:0:1"}, {})


def test_whole_cards_come_by_cdi_where_the_machine_has_it(root: Path):
    specification = root / "etc/cdi/furiosa.yaml"
    specification.parent.mkdir(parents=True)
    specification.write_text('kind: furiosa.ai/npu\ndevices:\n- name: npu0\n- name: "npu1"\n- name: all\n')
    furiosa = Furiosa()
    cards = cards_of(root, furiosa)
    attachment = furiosa.attach(cards, Machine())
    assert (attachment.cdi, attachment.nodes) == (("furiosa.ai/npu=npu0", "furiosa.ai/npu=npu1"), ())
    assert attachment.without_cdi is not None
    assert len(attachment.without_cdi.nodes) == 2 * 35
    parts = Furiosa(FuriosaSettings(rngd_partition="quad"))
    assert parts.attach(cards_of(root, parts)[:2], Machine()).cdi == ()


def test_utilization_is_that_of_its_cores_and_power_is_of_the_card_only(root: Path):
    busy = [{"pe_core": str(core), "pe_utilization": 10.0 * core} for core in range(8)]
    changed_status(root, pe_utilizations=busy)
    assert states(root)[0].metrics.utilization_percent == 35.0
    assert [one.metrics for one in states(root, "quad")[:2]] == [
        DeviceMetrics(15.0, temperature_c=38.5),
        DeviceMetrics(55.0, temperature_c=38.5),
    ]


def test_what_is_not_available_is_not_zero(root: Path):
    (root / "tools/furiosa-smi/info").write_text(
        '[{"pci_bdf": "0000:18:00.0", "temperature": "N/A", "power": null}, 7, {"pci_bdf": []}]'
    )
    (root / STATUS).write_text('[{"device": " npu0 ", "memory": {"dram": null}, "pe_utilizations": [{}]}]')
    assert [(one.metrics, one.healthy) for one in states(root)] == [(UNKNOWN, True), (UNKNOWN, True)]


def test_cards_are_offered_without_the_tool_and_not_with_one_that_fails(root: Path):
    for name in ("info", "status"):
        (root / f"tools/furiosa-smi/{name}").write_text("")
    assert [one.problem for one in states(root)] == ["furiosa-smi did not print JSON."] * 2
    (root / f"{STATUS}.hangs").touch()
    (root / "tools/furiosa-smi/info").write_text("[]")
    assert [one.problem for one in states(root)] == ["furiosa-smi did not end within 5 s."] * 2
    shutil.rmtree(root / "tools")
    assert [(one.metrics, one.healthy) for one in states(root)] == [(UNKNOWN, True)] * 2


@pytest.mark.parametrize(
    ("attribute", "text", "problem"),
    [
        ("device_state", "0", "The kernel driver says that it is not alive."),
        ("platform_type", "VITIS", "Its platform is VITIS, not FuriosaAI."),
        ("busname", "0000:77:00.0", "The kernel driver does not offer it."),
    ],
)
def test_a_card_that_does_not_work_is_not_offered(root: Path, attribute: str, text: str, problem: str):
    (root / FIRST / attribute).write_text(text)
    assert [(one.healthy, one.problem) for one in states(root)] == [(False, problem), (True, "")]
    assert [one.healthy for one in states(root, "quad")] == [False, False, True, True]


def test_a_card_of_which_the_tool_says_that_it_is_not_alive_is_not_offered(root: Path):
    changed_status(root, liveness="not alive")
    assert [one.problem for one in states(root)] == ["furiosa-smi says of its liveness: not alive.", ""]


def test_a_group_without_one_of_its_files_is_not_offered(root: Path):
    (root / "dev/rngd/npu0pe5").unlink()
    assert [one.problem for one in states(root, "quad")][:2] == [
        "",
        "Its device file /dev/rngd/npu0pe5 is missing.",
    ]


def test_groups_of_cards_with_the_same_uuid_have_ids_of_their_own(root: Path):
    for card in (0, 1):
        (root / f"sys/class/rngd_mgmt/rngd!npu{card}mgmt/device_uuid").write_text("AAAAAAAA-AAAA")
    assert [one.device.id for one in states(root, "quad")] == [
        f"0000:{bus}:00.0-pe{cores}" for bus in ("18", "19") for cores in ("0-3", "4-7")
    ]


def test_a_card_that_falls_off_keeps_its_groups_until_they_are_out_of_order(root: Path):
    furiosa = driver(Furiosa(FuriosaSettings(rngd_partition="quad")), root)
    before = [device.id for device in furiosa.discover()]
    shutil.rmtree(root / FIRST)
    assert [len(furiosa.discover()) for _ in range(3)] == [4, 4, 2]
    assert [state.device.id for state in furiosa.states()] == before
