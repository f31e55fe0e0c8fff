"""Tenstorrent Wormhole cards: what is discovered from files and tt-smi, and what containers get."""

import json
import shutil
from pathlib import Path
from random import Random

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.hardware import Machine
from carrel.accelerators.port import (
    UNKNOWN,
    Attachment,
    Device,
    DeviceMetrics,
    DeviceNode,
    DeviceState,
    Limit,
    MachinePath,
    slots_of,
)
from carrel.accelerators.tenstorrent import Tenstorrent

FIRST = "sys/bus/pci/devices/0000:18:00.0"
ATTRIBUTES = f"{FIRST}/tenstorrent/tenstorrent!0"
ANSWER = "tools/tt-smi/s"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "n150x1,n300x2")


def states(root: Path) -> list[DeviceState]:
    return list(driver(Tenstorrent(), root).states())


def without_attributes(root: Path) -> None:
    """As with a kernel driver that has none."""
    for place in root.glob("sys/bus/pci/devices/*/tenstorrent/*"):
        for name in ("tt_card_type", "tt_serial"):
            (place / name).unlink()
    for sensors in root.glob("sys/bus/pci/devices/*/hwmon"):
        shutil.rmtree(sensors)


def test_a_card_is_what_the_kernel_says(root: Path):
    assert states(root)[0] == DeviceState(
        Device(
            (root / ATTRIBUTES / "tt_serial").read_text().strip(),
            "n150",
            "Tenstorrent Wormhole n150",
            set=0,
            pci="0000:18:00.0",
            numa=0,
            mem_bytes=12 << 30,
        ),
        metrics=DeviceMetrics(temperature_c=41.0, power_w=15.0),
    )


def test_a_card_with_two_chips_is_one_device_whose_power_is_not_known(root: Path):
    tenstorrent = driver(Tenstorrent(), root)
    assert slots_of(tenstorrent.discover(), tenstorrent.kinds()) == {"n150.device": 1, "n300.device": 2}
    state = tenstorrent.states()[1]
    assert (state.device.mem_bytes, state.metrics) == (24 << 30, DeviceMetrics(temperature_c=41.0))


def test_a_container_gets_the_files_of_its_cards_and_their_addresses(root: Path):
    tenstorrent = Tenstorrent()
    cards = tenstorrent.read(Machine(root, simulated=True))
    assert tenstorrent.attach(cards[:2], Machine()) == Attachment(
        env={"TT_VISIBLE_DEVICES": "0000:18:00.0,0000:19:00.0"},
        nodes=(DeviceNode("/dev/tenstorrent/0"), DeviceNode("/dev/tenstorrent/1")),
        limits=(Limit("memlock", -1, -1),),
        resources={"tenstorrent.com/n150": 1, "tenstorrent.com/n300": 1},
    )
    assert Tenstorrent("/mnt/huge").attach(cards[:1], Machine()).paths == (
        MachinePath("/mnt/huge", "/dev/hugepages-1G", read_only=False),
    )


def test_what_an_older_kernel_driver_lacks_comes_from_the_tool(root: Path):
    known = [state.device.id.lower() for state in states(root)]
    without_attributes(root)
    assert [state.device.id for state in states(root)] == known
    assert [state.metrics for state in states(root)] == [
        DeviceMetrics(temperature_c=41.0, power_w=15.0),
        DeviceMetrics(temperature_c=41.0),
        DeviceMetrics(temperature_c=41.0),
    ]


@pytest.mark.parametrize("text", ["", "{}", '{"device_info": []}', '{"device_info": [{"board_info": null}]}'])
def test_cards_whose_model_nothing_tells_are_not_offered(root: Path, text: str):
    without_attributes(root)
    (root / ANSWER).write_text(text)
    assert states(root) == []


def test_a_tool_that_hangs_makes_known_cards_unhealthy(root: Path):
    tenstorrent = driver(Tenstorrent(), root)
    assert len(tenstorrent.discover()) == 3
    without_attributes(root)
    (root / f"{ANSWER}.hangs").touch()
    assert [len(tenstorrent.discover()) for _ in range(3)] == [3, 3, 0]
    assert {one.problem for one in tenstorrent.states()} == {"tt-smi did not end within 5 s."}


def test_the_tool_is_not_run_if_the_kernel_tells_all(root: Path):
    (root / f"{ANSWER}.hangs").touch()
    assert [one.problem for one in states(root)] == [""] * 3


def test_a_card_that_does_not_answer_is_not_offered_and_its_sensors_are_not_believed(root: Path):
    (root / ATTRIBUTES / "tt_heartbeat").write_text("4294967295")
    (root / FIRST / "hwmon/hwmon2/temp1_input").write_text("4095937")
    state = states(root)[0]
    assert (state.healthy, state.metrics) == (False, UNKNOWN)
    assert state.problem == "It does not answer on the PCI bus."


def test_a_card_without_the_kernel_driver_or_its_file_is_out_of_order(root: Path):
    tenstorrent = driver(Tenstorrent(), root)
    before = [device.id for device in tenstorrent.discover()]
    shutil.rmtree(root / FIRST / "tenstorrent")
    (root / "dev/tenstorrent/1").unlink()
    assert [len(tenstorrent.discover()) for _ in range(3)] == [3, 3, 1]
    assert [(one.device.id, one.problem) for one in tenstorrent.states()][:2] == [
        (before[0], "The kernel driver does not offer it."),
        (before[1], "Its device file /dev/tenstorrent/1 is missing."),
    ]


def test_what_is_not_available_is_not_zero(root: Path):
    shutil.rmtree(root / FIRST / "hwmon")
    assert (states(root)[0].metrics, states(root)[0].healthy) == (UNKNOWN, True)


def test_other_cards_of_the_vendor_are_not_offered(root: Path):
    (root / ATTRIBUTES / "tt_card_type").write_text("galaxy-wormhole\n")
    (root / "sys/bus/pci/devices/0000:19:00.0/device").write_text("0xb140\n")
    assert [one.device.pci for one in states(root)] == ["0000:1a:00.0"]


def test_random_output_of_the_tool_is_no_error(root: Path):
    without_attributes(root)
    recorded, random = (root / ANSWER).read_bytes(), Random(18)
    for _ in range(60):
        noise = bytearray(recorded)
        for _ in range(random.randrange(1, 40)):
            noise[random.randrange(len(noise))] = random.choice(b'\0\n\r,:[]{}"/ 0aN\xff')
        (root / ANSWER).write_bytes(noise)
        tenstorrent = driver(Tenstorrent(), root)
        tenstorrent.attach(dict.fromkeys([one.device.id for one in tenstorrent.states()], 1000))


def test_texts_of_the_tool_are_padded(root: Path):
    without_attributes(root)
    answer = json.loads((root / ANSWER).read_text())
    answer["device_info"][0]["board_info"]["board_type"] = "  N150 L "
    (root / ANSWER).write_text(json.dumps(answer))
    assert states(root)[0].device.family == "n150"
