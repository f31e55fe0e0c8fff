"""What all drivers share: samples, health, ids, tools that misbehave."""

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from simulated_accelerators import Clock, driver, eager, tree

from carrel.accelerators import tool_output, visible_devices
from carrel.accelerators.driver import FORGOTTEN_READINGS, AcceleratorDriver, Card, Vendor
from carrel.accelerators.furiosa import Furiosa
from carrel.accelerators.gaudi import Gaudi
from carrel.accelerators.graphcore import Graphcore
from carrel.accelerators.groq import Groq
from carrel.accelerators.hardware import Machine, ToolError, pci_address, quantity
from carrel.accelerators.nvidia import Nvidia
from carrel.accelerators.port import Attachment, Device, attach, whole_and_shares
from carrel.accelerators.rebellions import Rebellions
from carrel.accelerators.sambanova import SambaNova
from carrel.accelerators.simulated import machine
from carrel.http.validation import SLOT

ONE = Card(Device("serial-1", "npu", pci="0000:01:00.0"))
TWO = Card(Device("serial-2", "npu", pci="0000:02:00.0"))


class Scripted:
    """A vendor whose cards a test chooses."""

    def __init__(self, *cards: Card) -> None:
        self.cards: Sequence[Card] = cards
        self.reads = 0

    def read(self, machine: Machine) -> Sequence[Card]:
        self.reads += 1
        return self.cards

    def kinds(self, devices):
        return whole_and_shares("npu")

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        return Attachment(env={"NPU": ",".join(card.device.id for card in cards)})


def monitored(vendor: Scripted) -> AcceleratorDriver:
    return eager(vendor, Machine())


def ids(driver: AcceleratorDriver) -> list[str]:
    return [device.id for device in driver.discover()]


def test_a_device_is_out_of_order_after_three_bad_readings_and_back_after_three_good_ones():
    vendor = Scripted(ONE, TWO)
    driver = monitored(vendor)
    assert ids(driver) == ["serial-1", "serial-2"]
    vendor.cards = [replace(ONE, problem="It is hot."), TWO]
    assert [len(ids(driver)) for _ in range(4)] == [2, 2, 1, 1]
    vendor.cards = [ONE, TWO]
    assert len(ids(driver)) == 1
    vendor.cards = [replace(ONE, problem="It is hot."), TWO]
    assert len(ids(driver)) == 1
    vendor.cards = [ONE, TWO]
    assert [len(ids(driver)) for _ in range(3)] == [1, 1, 2]


def test_a_missing_device_is_offered_for_two_readings_more():
    vendor = Scripted(ONE, TWO)
    driver = monitored(vendor)
    ids(driver)
    vendor.cards = [TWO]
    assert [len(ids(driver)) for _ in range(3)] == [2, 2, 1]
    assert [state.problem for state in driver.states()] == ["The device is missing.", ""]
    for _ in range(FORGOTTEN_READINGS):
        driver.states()
    # It is taken for removed.
    assert [state.device.id for state in driver.states()] == ["serial-2"]


def test_a_device_with_a_problem_from_the_start_is_not_offered():
    driver = monitored(Scripted(replace(ONE, problem="It is too old."), TWO))
    assert ids(driver) == ["serial-2"]


def test_a_sample_serves_for_some_seconds():
    vendor, clock = Scripted(ONE), Clock()
    samples: list[Callable[[], None]] = []
    driver = AcceleratorDriver(vendor, Machine(), sample_s=5, clock=clock, background=samples.append)
    driver.discover(), driver.kinds(), driver.states(), driver.attach({"serial-1": 1000})
    assert (vendor.reads, samples) == (1, [])
    clock.now = 5.0
    vendor.cards = [ONE, TWO]
    assert ids(driver) == ["serial-1"], "a sample delays nobody"
    for sample in samples:
        sample()
    assert vendor.reads == 2
    assert ids(driver) == ["serial-1", "serial-2"]


def test_samples_are_taken_in_the_background(tmp_path: Path):
    driver = AcceleratorDriver(Scripted(ONE), Machine(tmp_path), sample_s=0)
    assert [ids(driver) for _ in range(3)] == [["serial-1"]] * 3


def test_a_tool_that_cannot_be_killed_is_not_started_again(tmp_path: Path):
    machine = tool(tmp_path, "echo done")
    with subprocess.Popen(["sleep", "60"]) as unkillable:
        machine._hung["npu-smi"] = unkillable
        with pytest.raises(ToolError, match="did not end"):
            machine.run("npu-smi")
        unkillable.kill()
    assert machine.run("npu-smi") == "done\n"


@pytest.mark.parametrize("id", ["", "00000000-0000-0000-0000-000000000000", "serial-2"])
def test_ids_that_identify_nothing_are_replaced_by_addresses(id: str):
    driver = monitored(Scripted(replace(ONE, device=replace(ONE.device, id=id)), TWO))
    assert ids(driver) == ["0000:01:00.0", "0000:02:00.0" if id == "serial-2" else "serial-2"]


def test_an_engine_without_cdi_gets_the_alternative():
    plain = Attachment(env={"NPU": "0"}, runtime="npu")

    class ByCdi(Scripted):
        def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
            return Attachment(cdi=("npu.com/npu=0",), without_cdi=plain)

    driver = monitored(ByCdi(ONE))
    assert attach([driver], {"serial-1": 1000}).cdi == ("npu.com/npu=0",)
    assert attach([driver], {"serial-1": 1000}, has_cdi=False) == plain


# Tools


def tool(root: Path, script: str, *, within_s: float = 30.0) -> Machine:
    path = root / "usr/bin/npu-smi"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Machine(root, tool_s=within_s)


def test_a_tool_is_run_with_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CARREL_DATABASE_URL", "secret")
    assert tool(tmp_path, 'echo "$1 $LC_ALL [$CARREL_DATABASE_URL]"').run("npu-smi", "-q") == "-q C []\n"


@pytest.mark.parametrize("script", ["exec sleep 60", "sleep 60 & wait", "trap '' TERM; while :; do :; done"])
def test_a_tool_that_hangs_is_an_error_in_time(tmp_path: Path, script: str):
    with pytest.raises(ToolError, match=r"did not end within 0.1 s"):
        tool(tmp_path, script, within_s=0.1).run("npu-smi")


def test_a_tool_that_fails_is_an_error_with_what_it_prints(tmp_path: Path):
    with pytest.raises(ToolError, match="failed with status 15: GPU is lost"):
        tool(tmp_path, "echo GPU is lost; exit 15").run("npu-smi")


def test_a_tool_that_leaves_a_process_behind_is_not_waited_for(tmp_path: Path):
    assert tool(tmp_path, "sleep 60 & echo done").run("npu-smi") == "done\n"


def test_a_tool_that_prints_without_end_is_cut_off(tmp_path: Path):
    assert len(tool(tmp_path, "head -c 9000000 /dev/zero").run("npu-smi")) == 4 << 20


def test_a_missing_tool_is_an_error(tmp_path: Path):
    with pytest.raises(ToolError, match="is not installed"):
        Machine(tmp_path).run("npu-smi")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("131072 MiB", 131072.0),
        (" 71.32 ", 71.32),
        ("[N/A]", None),
        ("[Not Supported]", None),
        ("ERR!", None),
        ("", None),
        ("-1", None),
        ("nan", None),
        ("1e9999", 1.0),
        ("9" * 40, None),
    ],
)
def test_fields_of_tools_are_numbers_or_unknown(text: str, number: float | None):
    assert quantity(text) == number


@pytest.mark.parametrize(
    ("text", "answer"),
    [('{"a": [1]}', {"a": [1]}), ("[ INFO ] Health-check [all] of {2} devices\n  [{}]\ndone\n", [{}])],
)
def test_json_of_tools_is_read_after_text(tmp_path: Path, text: str, answer: object):
    (tmp_path / "tools/npu-smi").mkdir(parents=True)
    (tmp_path / "tools/npu-smi/j").write_text(text)
    assert tool_output.run(Machine(tmp_path, simulated=True), "npu-smi", "-j") == answer


def test_the_groups_of_device_files_are_those_of_the_machine(tmp_path: Path):
    files = [tmp_path / name for name in ("one", "two")]
    for file in files:
        file.touch()
        with suppress(PermissionError):  # others than root keep their own
            os.chown(file, -1, 4711)
    group = files[0].stat().st_gid
    assert Machine(tmp_path).groups_of(["/one", "/two", "/missing"]) == (group,)
    assert Machine(tmp_path, simulated=True).groups_of(["/one"]) == ()


def test_the_card_of_a_device_file_is_that_of_its_class(tmp_path: Path):
    place = tmp_path / "sys/class/npu/npu3"
    place.mkdir(parents=True)
    (place / "device").symlink_to("../../../../devices/pci0000:17/0000:18:00.0")
    machine = Machine(tmp_path)
    assert machine.address_of("/dev/npus/npu3") == "0000:18:00.0"
    assert machine.address_of("/dev/npu4") is None
    assert Machine(tmp_path / "nowhere").address_of("/dev/npu3") is None


def test_pci_addresses_of_tools_are_those_of_the_kernel():
    assert pci_address(" 00000000:18:00.0") == "0000:18:00.0"
    assert pci_address("AF:00.1") == "0000:af:00.1"
    assert pci_address("no address") is None


@pytest.mark.parametrize("text", ["", "usage: npu-smi", "[" * 100_000, '{"a": ', "\0"])
def test_a_tool_that_does_not_print_json_is_an_error(tmp_path: Path, text: str):
    recorded = tmp_path / "tools/npu-smi/j"
    recorded.parent.mkdir(parents=True)
    recorded.write_text(text)
    with pytest.raises(ToolError, match="did not print JSON"):
        tool_output.run(Machine(tmp_path, simulated=True), "npu-smi", "-j")


@pytest.mark.parametrize(
    ("value", "word", "number"),
    [
        (" n300 L ", "n300 L", None),
        ("40.98°C", "40.98°C", 40.98),
        (7, "7", 7.0),
        ("N/A", "", None),
        (None, "", None),
        ({"a": 1}, "", None),
        (float("nan"), "nan", None),
    ],
)
def test_values_of_tools_are_words_and_numbers_or_unknown(value: object, word: str, number: float | None):
    assert (tool_output.word(value), tool_output.number(value)) == (word, number)


def test_pci_functions_are_near_each_other_behind_a_switch_or_at_a_root(tmp_path: Path):
    devices = tmp_path / "sys/bus/pci/devices"
    devices.mkdir(parents=True)
    for address, place in {
        "0000:05:00.0": "pci0000:00/0000:01:00.0/0000:02:01.0",
        "0000:06:00.0": "pci0000:00/0000:01:00.0/0000:02:02.0",
        "0000:81:00.0": "pci0000:80/0000:80:01.0",
    }.items():
        (tmp_path / f"sys/devices/{place}/{address}").mkdir(parents=True)
        (devices / address).symlink_to(f"../../../devices/{place}/{address}")
    (devices / "0000:90:00.0").mkdir()
    switches = [Machine(tmp_path).pci_switch(one.name) for one in sorted(devices.iterdir())]
    assert switches == ["0000:01:00.0", "0000:01:00.0", "pci0000:80", ""]


# Variables


def test_users_do_not_choose_devices_and_who_has_none_sees_none():
    requested = {"NVIDIA_VISIBLE_DEVICES": "all", "CUDA_VISIBLE_DEVICES": "7", "TOKEN": "x"}
    requested |= {"HABANA_VISIBLE_PCI_BUS_IDS": "all", "DOCKER_RESOURCE_GPU": "all"}
    requested |= {"XILINX_VISIBLE_CARDS": "all", "IPUOF_VIPU_API_HOST": "10.1.3.101"}
    none = {
        "NVIDIA_VISIBLE_DEVICES": "void",
        "AMD_VISIBLE_DEVICES": "none",
        "XILINX_VISIBLE_DEVICES": "",
        "XILINX_VISIBLE_CARDS": "",
    }
    assert visible_devices.environment({}, requested) == {**none, "TOKEN": "x"}
    assert visible_devices.environment(
        {"NVIDIA_VISIBLE_DEVICES": "GPU-1", "OMP": "1"}, {**requested, "OMP": "2"}
    ) == {
        **none,
        "NVIDIA_VISIBLE_DEVICES": "GPU-1",
        "OMP": "2",
        "TOKEN": "x",
    }


# Simulated machines


@pytest.mark.parametrize(
    ("vendor", "tool", "description"),
    [
        (Nvidia, "nvidia-smi", "h100x1,h100-migx1"),
        (Gaudi, "hl-smi", "gaudi3x2"),
        (Furiosa, "furiosa-smi", "warboyx1,rngdx2"),
        (Rebellions, "rbln-smi", "atom-maxx4"),
        (Graphcore, "gc-inventory", "c600x2"),
        (Groq, "tsp-ctl", "groqcardx2"),
        (SambaNova, "snfadm", "sn30x2"),
        (SambaNova, "sntilestat", "sn30x2"),
    ],
)
def test_random_output_of_a_tool_is_no_error(
    tmp_path: Path, vendor: Callable[[], Vendor], tool: str, description: str
):
    root = tree(tmp_path, description)
    random = Random(18)
    for path in sorted((root / "tools" / tool).iterdir()):
        recorded = path.read_bytes()
        for _ in range(60):
            noise = bytearray(recorded)
            for _ in range(random.randrange(1, 40)):
                noise[random.randrange(len(noise))] = random.choice(b"\0\n\r,:[]/ 0aN\xff")
            path.write_bytes(noise[: random.randrange(len(noise))] if random.random() < 0.3 else noise)
            accelerators = driver(vendor(), root)
            ids = [state.device.id for state in accelerators.states()]
            assert len(set(ids)) == len(ids)
            assert all(
                one.device.model.isprintable() and one.problem.isprintable() for one in accelerators.states()
            )
            assert all(re.fullmatch(SLOT, kind.name) for kind in accelerators.kinds())
            accelerators.attach(dict.fromkeys(ids, 1000))
        path.write_bytes(recorded)


def test_a_description_names_models_and_counts():
    assert machine.parse(" H100x8, l40sx2 ,h100x1") == {"h100": 9, "l40s": 2}
    assert machine.parse("") == {}


@pytest.mark.parametrize("description", ["h100", "h100x0", "h999x1", "h100x-1", "h100x64,l40sx1", "../x1"])
def test_what_cannot_be_simulated_is_refused(description: str):
    with pytest.raises(ValueError, match=r"h100|too many"):
        machine.parse(description)


def test_a_tree_is_written_once(tmp_path: Path):
    root = machine.write({"h100": 1}, tmp_path)
    node = root / "dev/nvidia0"
    before = node.stat().st_ino
    assert machine.write({"h100": 1}, tmp_path) == root
    assert node.stat().st_ino == before
    assert [one.name for one in tmp_path.iterdir()] == [root.name]
