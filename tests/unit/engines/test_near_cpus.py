"""The processors of NUMA nodes, from files as the kernel has them."""

from pathlib import Path

import pytest

from carrel.engines.docker.near_cpus import has_room, label, near, parse


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "node/node0/cpulist": "0-1,4-5",
        "node/node1/cpulist": "2-3,6-7",
        "cpu/online": "0-7",
    }.items():
        file = tmp_path / "sys/devices/system" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("numa", "cpu_millis", "cpus"),
    [
        ((1,), 4000, "2-3,6-7"),
        # More than there are, all, and a node that is unknown.
        ((1,), 4001, ""),
        ((0, 1), 1000, ""),
        ((0, 7), 1000, ""),
    ],
)
def test_a_container_has_the_processors_near_its_devices_if_they_suffice(
    root: Path, numa: tuple[int, ...], cpu_millis: int, cpus: str
) -> None:
    assert near(root, numa, cpu_millis) == cpus


def test_nothing_is_near_on_a_machine_without_these_files(tmp_path: Path) -> None:
    assert near(tmp_path, (0,), 1000) == ""


def test_processors_are_for_so_many_containers_as_they_serve():
    others = [label("2-3,6-7", 2500), label("0-1", 2000), "hostile", "2 x"]
    assert has_room("2-3,6-7", 1500, others)
    assert not has_room("2-3,6-7", 1501, others)


@pytest.mark.parametrize("text", ["", "a", "0-", "-1", "1-2-3"])
def test_what_is_no_list_has_no_numbers(text: str) -> None:
    assert parse(text) == frozenset()
