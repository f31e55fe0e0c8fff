"""NVIDIA GPUs: what is discovered from files and the tool's output, right or broken, and what containers get."""

import os
import shutil
from pathlib import Path

import pytest
from simulated_accelerators import driver, eager, tree

from carrel.accelerators.driver import AcceleratorDriver
from carrel.accelerators.hardware import Machine
from carrel.accelerators.nvidia import PLUGIN, Nvidia
from carrel.accelerators.port import (
    UNKNOWN,
    Attachment,
    Device,
    DeviceMetrics,
    DeviceState,
    Limit,
    MachinePath,
    slots_of,
)

NOTHING_ELSE = {
    "NVIDIA_GDS": "disabled",
    "NVIDIA_MOFED": "disabled",
    "NVIDIA_GDRCOPY": "disabled",
    "NVIDIA_NVSWITCH": "disabled",
    "NVIDIA_IMEX_CHANNELS": "",
}
QUERY = "tools/nvidia-smi/query-gpu"
FIRST = "GPU-0c98766c-6a5b-5d55-81d9-018e4876022d"
SECOND = "GPU-678c0d8c-eb59-5196-a5f1-148fa4923e66"
MIB = 1 << 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "h100x2")


def states(root: Path) -> list[DeviceState]:
    return list(driver(Nvidia(), root).states())


def replaced(root: Path, old: str, new: str, name: str = QUERY) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def test_a_gpu_is_what_the_tool_and_the_kernel_say(root: Path):
    first, second = states(root)
    assert first == DeviceState(
        Device(
            FIRST,
            "cuda",
            "NVIDIA H100 80GB HBM3",
            set=0,
            pci="0000:18:00.0",
            numa=0,
            clique=FIRST,
            mem_bytes=81559 * MIB,
        ),
        metrics=DeviceMetrics(0.0, 0, 81559 * MIB, 31.0, 71.32, 0),
    )
    assert (second.device.id, second.device.numa, second.device.clique) == (SECOND, 1, FIRST)


def test_gpus_without_links_are_near_those_of_their_numa_node(tmp_path: Path):
    devices = driver(Nvidia(), tree(tmp_path, "l40sx4")).discover()
    assert [(one.clique, one.set) for one in devices] == [("", 0), ("", 0), ("", 1), ("", 1)]


def test_a_machine_without_gpus_has_none_and_no_tool_is_run(tmp_path: Path):
    (tmp_path / "tools/nvidia-smi").mkdir(parents=True)
    assert states(tmp_path) == []


def test_a_gpu_that_a_virtual_machine_has_is_none_of_ours(root: Path):
    shutil.rmtree(root / "proc/driver/nvidia/gpus/0000:18:00.0")
    assert [state.device.id for state in states(root)] == [SECOND]


def test_instances_are_offered_instead_of_their_gpu(tmp_path: Path):
    nvidia = driver(Nvidia(), tree(tmp_path, "h100-migx1,h100x1"))
    devices = nvidia.discover()
    assert slots_of(devices, nvidia.kinds()) == {"cuda.device": 1, "cuda.mig-1g.10gb": 7}
    instance = devices[-1]
    assert instance.model == "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
    assert instance.id.startswith("MIG-")
    assert nvidia.attach({instance.id: 1000}).env["NVIDIA_VISIBLE_DEVICES"] == instance.id
    assert next(one.metrics for one in nvidia.states() if one.device == instance) == UNKNOWN


def test_an_instance_is_a_resource_of_its_profile(tmp_path: Path):
    nvidia, simulated = Nvidia(), Machine(tree(tmp_path, "h100-migx1"), simulated=True)
    instances = nvidia.read(simulated)[:2]
    assert nvidia.attach(instances, Machine()).resources == {"nvidia.com/mig-1g.10gb": 2}


@pytest.mark.parametrize(
    ("settings", "offered"),
    [({}, False), ({"unenforced_shares": True}, True), ({"simulated": True}, True)],
    ids=["default", "allowed", "simulated"],
)
def test_shares_that_nothing_enforces_are_offered_only_if_allowed(
    tmp_path: Path, settings: dict[str, bool], offered: bool
):
    made = PLUGIN.make(PLUGIN.checked({"root": str(tree(tmp_path, "h100x1")), **settings}))
    assert ("cuda.shares" in {kind.name for kind in made.kinds()}) is offered


@pytest.mark.parametrize(
    ("profile", "family"), [("1g.10gb+me", "cuda.mig-1g.10gb.me"), ("1g.24gb-me", "cuda.mig-1g.24gb-me")]
)
def test_a_profile_with_a_suffix_is_a_slot_too(tmp_path: Path, profile: str, family: str):
    root = tree(tmp_path, "h100-migx1")
    replaced(root, "MIG 1g.10gb ", f"MIG {profile} ", "tools/nvidia-smi/l")
    assert {one.family for one in driver(Nvidia(), root).discover()} == {family}


# Attachment


def test_a_container_of_a_simulated_machine_gets_the_files(root: Path):
    nvidia = driver(Nvidia(), root)
    assert nvidia.attach({SECOND: 500}) == Attachment(
        env={
            "NVIDIA_VISIBLE_DEVICES": SECOND,
            "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
            **NOTHING_ELSE,
            "CUDA_VISIBLE_DEVICES": "0",
        },
        paths=tuple(
            MachinePath(f"{root}/dev/{name}", f"/dev/{name}")
            for name in ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia1")
        ),
    )


BY_RUNTIME = Attachment(
    env={
        "NVIDIA_VISIBLE_DEVICES": f"{FIRST},{SECOND}",
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
        **NOTHING_ELSE,
        "CUDA_VISIBLE_DEVICES": "0,1",
    },
    limits=(Limit("memlock", -1, -1),),
    runtime="nvidia",
    resources={"nvidia.com/gpu": 2},
)


def real(root: Path) -> AcceleratorDriver:
    """The tree as a real machine, with a tool that prints what is recorded."""
    tool = root / "usr/bin/nvidia-smi"
    tool.parent.mkdir(parents=True)
    tool.write_text(
        f'#!/bin/sh\ncase $1 in --*) cat {root}/{QUERY};; *) cat "{root}/tools/nvidia-smi/$1";; esac\n'
    )
    tool.chmod(0o755)
    return eager(Nvidia(), Machine(root, tool_s=30))


def test_a_container_gets_gpus_by_their_uuids_from_the_runtime(root: Path):
    nvidia = real(root)
    assert [state.problem for state in nvidia.states()] == ["", ""]
    assert nvidia.attach({SECOND: 1000, FIRST: 1000}) == BY_RUNTIME


def test_a_container_gets_gpus_by_cdi_where_the_machine_has_it(root: Path):
    specification = root / "var/run/cdi/nvidia.yaml"
    specification.parent.mkdir(parents=True)
    devices = "".join(f"  - name: {one}\n    containerEdits: {{}}\n" for one in ("0", FIRST, SECOND))
    specification.write_text(f"cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n{devices}")
    assert real(root).attach({SECOND: 1000, FIRST: 1000}) == Attachment(
        env={"NVIDIA_VISIBLE_DEVICES": "void", "CUDA_VISIBLE_DEVICES": "0,1"},
        limits=(Limit("memlock", -1, -1),),
        cdi=(f"nvidia.com/gpu={FIRST}", f"nvidia.com/gpu={SECOND}"),
        resources={"nvidia.com/gpu": 2},
        without_cdi=BY_RUNTIME,
    )
    specification.write_text(specification.read_text().replace(SECOND, "1"))
    os.rename(root / "usr/bin/nvidia-smi", root / "smi")
    (root / "usr/bin").rmdir()
    assert real(root).attach({SECOND: 1000, FIRST: 1000}) == BY_RUNTIME


# Hostile output


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No devices were found\n",
        "\n\n,,,,\n",
        "\x00\xff" * 1000,
        "Unable to determine the device handle for GPU 0000:18:00.0: Unknown Error\n",
    ],
)
def test_gpus_that_the_tool_does_not_list_are_not_offered(root: Path, text: str):
    (root / QUERY).write_text(text)
    assert [(state.device.id, state.healthy, state.problem) for state in states(root)] == [
        (FIRST, False, "nvidia-smi does not list it."),
        (SECOND, False, "nvidia-smi does not list it."),
    ]


def test_a_lost_gpu_that_makes_the_tool_fail_leaves_the_others_in_order(root: Path):
    first, _ = (root / QUERY).read_text().splitlines()
    (root / QUERY).write_text(
        f"{first}\nUnable to determine the device handle for GPU0000:19:00.0: GPU is lost.\n"
    )
    (root / f"{QUERY}.code").write_text("15")
    well, lost = states(root)
    assert (well.healthy, well.problem, well.metrics.temperature_c) == (True, "", 31.0)
    assert (lost.healthy, lost.problem[:34]) == (False, "nvidia-smi failed with status 15: ")


def test_a_gpu_in_mig_mode_is_no_device_while_its_tool_hangs(tmp_path: Path):
    root = tree(tmp_path, "h100-migx1")
    nvidia = driver(Nvidia(), root)
    before = [state.device.id for state in nvidia.states()]
    (root / f"{QUERY}.hangs").touch()
    assert [state.device.id for state in nvidia.states()] == before
    assert len(before) == 7


def test_links_are_asked_for_again_until_the_tool_answers(root: Path):
    topology = root / "tools/nvidia-smi/topo.hangs"
    topology.touch()
    nvidia = driver(Nvidia(), root)
    assert {state.device.clique for state in nvidia.states()} == {""}
    topology.unlink()
    assert {state.device.clique for state in nvidia.states()} == {FIRST}


def test_a_gpu_without_a_uuid_is_not_offered(root: Path):
    """Neither a runtime nor CDI could give it, and it would have another id later."""
    replaced(root, f"{FIRST}, ", "[N/A], ")
    (root / "proc/driver/nvidia/gpus/0000:18:00.0/information").write_text("Model: NVIDIA H100\n")
    assert [(state.healthy, state.problem) for state in states(root)] == [
        (False, "Its UUID is not known."),
        (True, ""),
    ]


def test_what_is_not_available_is_not_zero(root: Path):
    (root / QUERY).write_text(
        f"{FIRST},00000000:18:00.0,  H100 ,[N/A], [Not Supported] , N/A,[Unknown], ERR!,"
        "[N/A],[N/A],[N/A],[N/A],9.0,more\n"
    )
    first = states(root)[0]
    assert first.metrics == UNKNOWN
    assert (first.device.model, first.device.mem_bytes, first.problem) == ("H100", None, "")


def test_a_tool_that_hangs_makes_gpus_unknown_and_then_unhealthy(root: Path):
    nvidia = driver(Nvidia(), root)
    assert len(nvidia.discover()) == 2
    (root / f"{QUERY}.hangs").touch()
    assert len(nvidia.discover()) == 2
    assert [state.metrics for state in nvidia.states()] == [UNKNOWN, UNKNOWN]
    assert nvidia.discover() == []
    assert nvidia.states()[0].problem == "nvidia-smi did not end within 5 s."
    assert nvidia.attach({FIRST: 1000}).env["NVIDIA_VISIBLE_DEVICES"] == FIRST


def test_a_card_that_falls_off_has_its_old_id_when_it_is_back(root: Path):
    nvidia = driver(Nvidia(), root)
    nvidia.discover()
    information = "proc/driver/nvidia/gpus/0000:18:00.0/information"
    replaced(
        root, f"GPU UUID: \t {FIRST}", "GPU UUID: \t GPU-????????-????-????-????-????????????", information
    )
    replaced(root, f"{FIRST}, ", "[GPU is lost], ")
    for _ in range(3):
        lost = nvidia.states()[0]
    assert (lost.device.id, lost.healthy, lost.problem) == (FIRST, False, "nvidia-smi says: GPU is lost.")
    replaced(root, "[GPU is lost], ", f"{FIRST}, ")
    assert [len(nvidia.discover()) for _ in range(3)] == [1, 1, 2]
    assert len(nvidia.states()) == 2


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (", 9.0", ", 7.0", "Its compute capability is 7; 7.5 is the least."),
        (", 0, Disabled", ", 3, Disabled", "Its memory has had 3 uncorrected errors since the last reset."),
        ("[N/A], None", "Yes, None", "It has bad memory, which is taken out of use at its next reset."),
        ("None, 9.0", "Drain and Reset, 9.0", "The driver asks for a recovery of it: Drain and Reset."),
    ],
)
def test_a_gpu_that_cannot_be_used_says_why(root: Path, old: str, new: str, problem: str):
    replaced(root, old, new)
    assert {(state.healthy, state.problem) for state in states(root)} == {(False, problem)}


REMAPPED = "tools/nvidia-smi/query-remapped-rows"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ("1, 0", "It has bad memory, which is taken out of use at its next reset."),
        ("Yes, No", "It has bad memory, which is taken out of use at its next reset."),
        ("0, 1", "A bad row of its memory could not be remapped."),
        ("[N/A], [N/A]", ""),
        ("", ""),
    ],
)
def test_a_gpu_with_rows_of_memory_that_wait_for_a_reset_is_not_offered(
    root: Path, values: str, problem: str
):
    (root / REMAPPED).write_text(f"00000000:18:00.0, {values}\n")
    assert [state.problem for state in states(root)] == [problem, ""]


def test_remapped_rows_are_asked_for_now_and_then_and_not_needed(root: Path):
    nvidia = driver(Nvidia(), root)
    assert [state.problem for state in nvidia.states()] == ["", ""]
    (root / REMAPPED).write_text("00000000:18:00.0, 1, 0\n")
    assert [nvidia.states()[0].problem for _ in range(12)] == [
        *[""] * 11,
        "It has bad memory, which is taken out of use at its next reset.",
    ]
    (root / f"{REMAPPED}.hangs").touch()
    assert all(nvidia.states()[0].problem for _ in range(24))
    (root / REMAPPED).unlink()
    assert [state.problem for state in states(root)] == ["", ""]


def test_fields_that_an_old_tool_does_not_know_are_left_out(root: Path):
    nvidia = real(root)
    tool = root / "usr/bin/nvidia-smi"
    tool.write_text(
        "#!/bin/sh\n"
        "case $1 in *compute_cap*) echo 'Field \"compute_cap\" is not a valid field to query.'; exit 2;;\n"
        f"--*) sed 's/, [0-9.]*$//' {root}/{QUERY};; esac\n"
    )
    assert [(state.healthy, state.metrics.power_w) for state in nvidia.states()] == [
        (True, 71.32),
        (True, 71.32),
    ]
