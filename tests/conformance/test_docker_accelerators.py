"""Sessions with accelerators of simulated machines, seen from inside of real containers: their own and no others."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import aiodocker
import pytest
from simulated_accelerators import driver, tree
from tiny_image import docker_url, ensure_tiny_image

from carrel.accelerators.amd import Amd
from carrel.accelerators.driver import AcceleratorDriver, Vendor
from carrel.accelerators.furiosa import Furiosa, FuriosaSettings
from carrel.accelerators.gaudi import Gaudi
from carrel.accelerators.graphcore import Graphcore
from carrel.accelerators.groq import Groq
from carrel.accelerators.hyperaccel import HyperAccel
from carrel.accelerators.nvidia import Nvidia
from carrel.accelerators.pci import SAPEON, ConfiguredCards
from carrel.accelerators.port import Device
from carrel.accelerators.rebellions import Rebellions
from carrel.accelerators.sambanova import SambaNova
from carrel.accelerators.tenstorrent import Tenstorrent
from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec

GREEDY = {
    "NVIDIA_VISIBLE_DEVICES": "all",
    "CUDA_VISIBLE_DEVICES": "0,1,2,3",
    "HABANA_VISIBLE_DEVICES": "all",
    "HABANA_VISIBLE_MODULES": "0,1,2,3",
    "AMD_VISIBLE_DEVICES": "all",
    "ROCR_VISIBLE_DEVICES": "0,1,2,3",
    "TT_VISIBLE_DEVICES": "0,1,2,3",
    "FURIOSA_DEVICES": "npu:0,npu:1,npu:2,npu:3",
    "RBLN_DEVICES": "0,1,2,3",
    "XILINX_VISIBLE_DEVICES": "all",
    "XILINX_VISIBLE_CARDS": "all",
}
"""What an image and its user would like to have."""
NONE = {
    "NVIDIA_VISIBLE_DEVICES": "void",
    "AMD_VISIBLE_DEVICES": "none",
    "XILINX_VISIBLE_DEVICES": "",
    "XILINX_VISIBLE_CARDS": "",
}
WARBOYS = {
    f"npu{card}{end}"
    for card in (1, 2)
    for end in ("", "_mgmt", "pe0", "pe1", "pe0-1", *(f"ch{number}" for number in range(4)))
}


@pytest.fixture
async def greedy_image(docker: aiodocker.Docker, installation: str) -> AsyncIterator[str]:
    """An image that asks for all devices."""
    source = await docker.containers.create({"Image": await ensure_tiny_image(), "Cmd": ["true"]})
    changes = [
        f"ENV {name}={value}" for name, value in GREEDY.items() if name.startswith(("NVIDIA_", "XILINX_"))
    ]
    name = f"{installation}-greedy"
    await source.commit(repository=name, tag="1", changes=changes)
    await source.delete(force=True)
    yield f"{name}:1"
    with suppress(aiodocker.DockerError):
        await docker.images.delete(f"{name}:1", force=True)


async def inside(engine: DockerEngine, image: str, held: dict[str, int]) -> tuple[set[str], dict[str, str]]:
    """The device files that a container has beyond the usual ones, and its variables that choose devices."""
    spec = ContainerSpec(new_id(), image, {"cpu": 500, "mem": 64 << 20}, devices=held, env=GREEDY)
    await engine.ensure(spec, ProgressLog())
    files = await run(
        engine, spec.id, "sh", "-c", "cd /dev; find . -type f; find . -name 'nvidia*' -o -name 'accel*'"
    )
    shown = (await run(engine, spec.id, "env")).stdout.decode().splitlines()
    variables = dict(line.split("=", 1) for line in shown if "_VISIBLE_" in line or "_DEVICES" in line)
    return {path.removeprefix("./") for path in files.stdout.decode().split()} - {"accel"}, variables


async def test_a_container_runs_on_the_processors_near_its_devices(
    docker: aiodocker.Docker, installation: str, tmp_path: Path
) -> None:
    for name, text in {"node/node0/cpulist": "0", "node/node1/cpulist": "1", "cpu/online": "0-1"}.items():
        file = tmp_path / "sys/devices/system" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    accelerators = driver(Nvidia(), tree(tmp_path, "h100x2"))
    engine = DockerEngine(docker_url(), installation, accelerators=[accelerators], host_root=tmp_path)

    async def processors(cpu: int, *held: Device) -> str:
        devices = {device.id: 1000 for device in held}
        spec = ContainerSpec(
            new_id(), await ensure_tiny_image(), {"cpu": cpu, "mem": 64 << 20}, devices=devices
        )
        await engine.ensure(spec, ProgressLog())
        shown = (await run(engine, spec.id, "grep", "Cpus_allowed_list", "/proc/self/status")).stdout
        return shown.decode().split()[1]

    try:
        near, far = accelerators.discover()
        assert (near.numa, far.numa) == (0, 1)
        assert await processors(500, far) == "1"
        everywhere = await processors(500)
        assert everywhere != "1"
        assert await processors(500, near, far) == everywhere
        assert await processors(1500, far) == everywhere
    finally:
        await engine.purge()
        await engine.close()


@pytest.mark.parametrize(
    ("vendor", "description", "files", "variables"),
    [
        (
            Nvidia,
            "h100x4",
            {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia1", "nvidia2"},
            {"NVIDIA_VISIBLE_DEVICES": "{ids}", "CUDA_VISIBLE_DEVICES": "0,1"},
        ),
        (
            Gaudi,
            "gaudi3x4",
            {
                f"{directory}{number}"
                for directory in ("accel/accel", "accel/accel_controlD", "infiniband/uverbs")
                for number in (1, 2)
            },
            {"HABANA_VISIBLE_MODULES": "0,3"},
        ),
        (
            Amd,
            "mi300xx4",
            {"kfd", "dri/renderD130", "dri/renderD131"},
            {"ROCR_VISIBLE_DEVICES": "0,1", "HIP_VISIBLE_DEVICES": "0,1"},
        ),
        (
            lambda: Furiosa(FuriosaSettings(rngd_partition="quad")),
            "rngdx2",
            {
                f"rngd/npu{card}{end}"
                for card, first in ((0, 4), (1, 0))
                for end in (
                    "mgmt",
                    "dmar",
                    *(f"bar{number}" for number in (0, 2, 4)),
                    *(f"ch{number}{side}" for number in range(8) for side in ("", "r")),
                    *(f"pe{first + core}" for core in range(4)),
                    *(f"pe{first + start}-{first + end}" for start, end in ((0, 1), (2, 3), (0, 3))),
                )
            },
            {"FURIOSA_DEVICES": "npu:0:4-7,npu:1:0-3"},
        ),
        (Furiosa, "warboyx4", WARBOYS, {"FURIOSA_DEVICES": "npu:1:0-1,npu:2:0-1"}),
        (Rebellions, "atom-plusx4", {"rbln0", "rbln1", "rsd0", "rsd1"}, {}),
        (
            Tenstorrent,
            "n300x4",
            {"tenstorrent/1", "tenstorrent/2"},
            {"TT_VISIBLE_DEVICES": "0000:19:00.0,0000:1a:00.0"},
        ),
        (
            Graphcore,
            "c600x4",
            {f"ipu{number}{part}" for number in (1, 2) for part in ("", "_ex", "_mailbox", "_mem")},
            {},
        ),
        (Groq, "groqcardx4", {"groqA1", "groqA2"}, {}),
        (
            HyperAccel,
            "u55c-lpux4",
            {"xfpga/xvc_pri.m6400.0", "xfpga/xvc_pri.m6656.0", "dri/renderD201", "dri/renderD202"},
            {},
        ),
        (SambaNova, "sn30x8", {"rdu", "rdu_mem_map"}, {}),
        (lambda: ConfiguredCards({"sapeon": SAPEON}), "x330x4", {"sapeon1", "sapeon2"}, {}),
    ],
    ids=[
        *("nvidia", "gaudi", "amd", "rngd", "warboy", "rebellions", "tenstorrent"),
        *("graphcore", "groq", "hyperaccel", "sambanova", "pci"),
    ],
)
async def test_a_container_has_its_devices_only(
    docker: aiodocker.Docker,
    installation: str,
    greedy_image: str,
    tmp_path: Path,
    vendor: Callable[[], Vendor],
    description: str,
    files: set[str],
    variables: dict[str, str],
) -> None:
    tmp_path.chmod(0o755)
    accelerators: AcceleratorDriver = driver(vendor(), tree(tmp_path, description))
    engine = DockerEngine(docker_url(), installation, accelerators=[accelerators])
    try:
        [node] = await engine.nodes()
        held = [device.id for device in node.devices][1:3] or [node.devices[0].id]
        expected = {name: value.format(ids=",".join(held)) for name, value in variables.items()}
        assert await inside(engine, greedy_image, dict.fromkeys(held, 1000)) == (files, NONE | expected)
        assert await inside(engine, greedy_image, {}) == (set(), NONE)
    finally:
        await engine.purge()
        await engine.close()


async def test_a_container_uses_the_memory_beyond_that_of_its_idle_cards(
    docker: aiodocker.Docker, installation: str, greedy_image: str, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    root = tree(tmp_path, "gaudi3x4")
    engine = DockerEngine(docker_url(), installation, accelerators=[driver(Gaudi(), root)])
    [answer] = (root / "tools/hl-smi").iterdir()
    idle = answer.read_text()
    later = DockerEngine(docker_url(), installation, accelerators=[driver(Gaudi(), root)])

    async def percents(engine: DockerEngine) -> tuple[int | None, int | None]:
        [usage] = await engine.usage()
        return usage.accelerator_percent, usage.accelerator_mem_percent

    try:
        # The cards are seen while nobody has them.
        assert not await engine.usage()
        [node] = await engine.nodes()
        assert [state.metrics.mem_used_bytes for state in node.device_states] == [672 << 20] * 4
        held = [device.id for device in node.devices][:2]
        spec = ContainerSpec(
            new_id(), greedy_image, {"cpu": 500, "mem": 64 << 20}, devices=dict.fromkeys(held, 1000)
        )
        await engine.ensure(spec, ProgressLog())
        assert await percents(engine) == (0, 0)
        # A process takes half of one card's memory and computes on it; all of a card of nobody is in use too.
        rows = idle.splitlines()
        rows[0] = rows[0].replace("672 MiB", f"{672 + 65536} MiB").replace("0 %", "80 %")
        rows[3] = rows[3].replace("672 MiB", "131072 MiB").replace("0 %", "100 %")
        answer.write_text("\n".join(rows) + "\n")
        assert await percents(engine) == (40, 25)
        # Another process of Carrel has not seen them without a container.
        assert await percents(later) == (40, 25)
        answer.write_text(idle.replace("0 %", "N/A"))
        assert await percents(later) == (None, 0)
        # A card becomes unusable: it is reported, and no longer offered.
        answer.write_text("\n".join(idle.splitlines()[1:]) + "\n")
        for _ in range(4):
            [node] = await engine.nodes()
        assert [state.healthy for state in node.device_states] == [False, True, True, True]
        assert node.device_states[0].problem == "hl-smi does not list it."
        assert node.devices[0].id == held[1]
        assert node.slots["gaudi3.device"] == 3
        assert await percents(later) == (None, None)
    finally:
        await engine.purge()
        await engine.close()
        await later.close()
