"""Shares of GPUs of simulated machines with real containers: no command begins before its share is enforced.

The kernel does not limit anything here: the machine is simulated, its library and its control program are fakes.
"""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import aiodocker
import pytest
from people import eventually
from simulated_accelerators import tree
from tiny_image import docker_url, ensure_tiny_image

from carrel.accelerators import nvidia
from carrel.accelerators.hardware import Machine
from carrel.accelerators.mps import Mps, NamespaceLimits
from carrel.accelerators.nvidia_shares import NvidiaDriver, limit_of
from carrel.accelerators.nvml import ComputeMode, MemoryLimit, NvmlError, SimulatedGpuControl
from carrel.accelerators.port import ShareTier, Sharing
from carrel.core.ids import new_id
from carrel.engines import barrier
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec, EngineError, PrivateNetwork

GREEDY = {
    "CUDA_MPS_PIPE_DIRECTORY": "/tmp/other",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "100",
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": "7=1G",
    "NVIDIA_GPU_MEMORY_LIMIT": "999999",
}
HAS_BEGUN = ("/bin/sh", "-c", "echo begun > /tmp/begun; sleep 600")


class Machines:
    """A simulated machine and an engine that uses it. broken: memory limits cannot be set."""

    def __init__(self, root: Path, installation: str, *, broken: bool = False) -> None:
        self.gpus = _Broken(root) if broken else SimulatedGpuControl(root)
        machine = Machine(root, simulated=True)
        self.mps = Mps(machine, self.gpus)
        self.driver = NvidiaDriver(nvidia.Nvidia(mps=self.mps), machine, self.gpus, self.mps)
        self.engine = DockerEngine(docker_url(), installation, accelerators=[self.driver])
        self.devices = [one.id for one in self.driver.discover()]

    def limit(self, spec: ContainerSpec, device: int = 0) -> MemoryLimit:
        return self.gpus.memory_limit(self.devices[device], f"/sys/fs/cgroup/simulated/{spec.id}")


class _Broken(SimulatedGpuControl):
    def set_memory_limit(self, gpu: str, cgroup: str, limit: MemoryLimit) -> None:
        raise NvmlError("nvmlDeviceSetMemoryLimits_v1 failed with 4: No Permission.")


@pytest.fixture
async def greedy_image(docker: aiodocker.Docker, installation: str) -> AsyncIterator[str]:
    """An image that asks for more than its share."""
    source = await docker.containers.create({"Image": await ensure_tiny_image(), "Cmd": ["true"]})
    changes = [f"ENV {name}={value}" for name, value in GREEDY.items()]
    name = f"{installation}-greedy"
    await source.commit(repository=name, tag="1", changes=changes)
    await source.delete(force=True)
    yield f"{name}:1"
    with suppress(aiodocker.DockerError):
        await docker.images.delete(f"{name}:1", force=True)


@pytest.fixture
async def machines(installation: str, tmp_path: Path) -> AsyncIterator[Callable[..., Machines]]:
    made: list[Machines] = []

    def make(model: str, *, broken: bool = False) -> Machines:
        made.append(Machines(tree(tmp_path, f"{model}x2"), installation, broken=broken))
        return made[-1]

    yield make
    for one in made:
        await one.engine.purge()
        await one.engine.close()


async def spec_of(held: dict[str, int]) -> ContainerSpec:
    return ContainerSpec(
        new_id(), await ensure_tiny_image(), {"cpu": 500, "mem": 64 << 20}, held, command=HAS_BEGUN
    )


async def begun(machine: Machines, spec: ContainerSpec) -> bool:
    return (await run(machine.engine, spec.id, "cat", "/tmp/begun")).exit_code == 0


async def begins(machine: Machines, spec: ContainerSpec) -> None:
    await eventually(lambda: begun(machine, spec))


async def never_begins(machine: Machines, spec: ContainerSpec) -> None:
    later = await run(machine.engine, spec.id, "sh", "-c", "sleep 1; cat /tmp/begun")
    assert later.exit_code != 0


async def test_a_slice_is_limited_before_its_command_begins(machines: Callable[..., Machines]) -> None:
    machine = machines("h100-slice")
    spec = await spec_of({machine.devices[0]: 500})
    await machine.engine.ensure(spec, ProgressLog())
    assert machine.limit(spec) == MemoryLimit(0, limit_of(81559 << 20, 500))
    await begins(machine, spec)


async def test_a_share_that_cannot_be_enforced_begins_nothing(machines: Callable[..., Machines]) -> None:
    machine = machines("h100-slice", broken=True)
    spec = await spec_of({machine.devices[0]: 500})
    with pytest.raises(EngineError, match="No Permission") as refused:
        await machine.engine.ensure(spec, ProgressLog())
    assert refused.value.code == "share_not_enforced"
    await never_begins(machine, spec)


async def test_a_start_that_a_crash_interrupted_goes_on(machines: Callable[..., Machines]) -> None:
    before, after = machines("h100-slice", broken=True), machines("h100-slice")
    spec = await spec_of({before.devices[0]: 500})
    with pytest.raises(EngineError):
        await before.engine.ensure(spec, ProgressLog())
    await after.engine.ensure(spec, ProgressLog())
    assert after.limit(spec).hard == limit_of(81559 << 20, 500)
    await begins(after, spec)
    await after.engine.ensure(spec, ProgressLog())


async def test_a_machine_that_no_longer_enforces_the_share_begins_nothing(
    machines: Callable[..., Machines], tmp_path: Path
) -> None:
    before = machines("h100-slice", broken=True)
    spec = await spec_of({before.devices[0]: 500})
    with pytest.raises(EngineError):
        await before.engine.ensure(spec, ProgressLog())
    (tree(tmp_path, "h100-slicex2") / "sys/fs/cgroup/cgroup.controllers").unlink()
    with pytest.raises(EngineError, match="no longer enforces"):
        await machines("h100-slice").engine.ensure(spec, ProgressLog())


async def test_containers_with_mps_have_a_namespace_each_and_see_only_their_own(
    machines: Callable[..., Machines], greedy_image: str
) -> None:
    machine = machines("h100-mps3")
    small = replace(await spec_of({machine.devices[0]: 250}), image=greedy_image, env=GREEDY)
    large = await spec_of({machine.devices[0]: 500})
    for spec in (small, large):
        await machine.engine.ensure(spec, ProgressLog())
        await begins(machine, spec)
    [namespaces] = machine.mps.state().servers.values()
    assert {one.threads for one in namespaces.values()} == {25, 50}
    assert machine.gpus.compute_mode(machine.devices[0]) is ComputeMode.EXCLUSIVE_PROCESS
    assert machine.gpus.compute_mode(machine.devices[1]) is ComputeMode.DEFAULT
    seen = (await run(machine.engine, small.id, "sh", "-c", "env; ls /tmp/nvidia-mps")).stdout.decode()
    lines = seen.splitlines()
    assert [one for one in lines if one.startswith(("CUDA_MPS", "NVIDIA_GPU_MEMORY"))] == [
        "CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps"
    ]
    assert lines[-1] == "control"


async def test_what_is_removed_leaves_nothing(machines: Callable[..., Machines]) -> None:
    machine = machines("h100-mps3")
    spec, other = await spec_of({machine.devices[0]: 250}), await spec_of({machine.devices[0]: 500})
    await machine.engine.ensure(spec, ProgressLog())
    await machine.engine.ensure(other, ProgressLog())
    await machine.engine.remove(spec.id, grace_s=0)
    [namespaces] = machine.mps.state().servers.values()
    assert [one.threads for one in namespaces.values()] == [50]
    await machine.engine.remove(other.id, grace_s=0)
    assert machine.mps.state().servers == {}
    assert machine.gpus.compute_mode(machine.devices[0]) is ComputeMode.DEFAULT


async def test_namespaces_are_restored_after_a_restart_of_the_daemon_and_left_ones_removed(
    machines: Callable[..., Machines], docker: aiodocker.Docker, installation: str
) -> None:
    machine = machines("h100-mps3")
    spec, crashed = await spec_of({machine.devices[0]: 250}), await spec_of({machine.devices[1]: 500})
    for one in (spec, crashed):
        await machine.engine.ensure(one, ProgressLog())
    for device in machine.devices:
        shutil.rmtree(machine.mps.socket_directory(device, "").parent)
    container = await docker.containers.get(f"carrel-{installation}-{crashed.id}")
    await container.delete(force=True)
    again = machines("h100-mps3")
    await again.engine.nodes()
    restored = {f"carrel_{spec.id}": NamespaceLimits(25, limit_of(81559 << 20, 250) >> 20)}
    await eventually(lambda: list(again.mps.state().servers.values()) == [restored])
    assert again.gpus.compute_mode(again.devices[0]) is ComputeMode.EXCLUSIVE_PROCESS
    await eventually(lambda: again.gpus.compute_mode(again.devices[1]) is ComputeMode.DEFAULT)


async def test_the_namespace_of_a_container_that_starts_again_is_kept(
    machines: Callable[..., Machines], docker: aiodocker.Docker, installation: str
) -> None:
    machine = machines("h100-mps3")
    spec = await spec_of({machine.devices[0]: 250})
    await machine.engine.ensure(spec, ProgressLog())
    container = await docker.containers.get(f"carrel-{installation}-{spec.id}")
    await container.kill()
    await container.wait()

    async def permit() -> None:
        await machine.engine.nodes()

    await machine.engine.ensure(spec, ProgressLog(), permit)
    [namespaces] = machine.mps.state().servers.values()
    assert set(namespaces) == {f"carrel_{spec.id}"}


async def test_a_session_that_was_made_without_mps_starts_again_beside_it(
    machines: Callable[..., Machines], docker: aiodocker.Docker, installation: str
) -> None:
    before, after = machines("h100-mps3"), machines("h100-mps3")
    before.driver._dividing.tier = Sharing(ShareTier.SLICE)
    spec, other = await spec_of({before.devices[0]: 250}), await spec_of({before.devices[0]: 500})
    await before.engine.ensure(spec, ProgressLog())
    container = await docker.containers.get(f"carrel-{installation}-{spec.id}")
    await container.kill()
    await container.wait()
    with pytest.raises(EngineError, match="MPS cannot be used"):
        await after.engine.ensure(other, ProgressLog())
    await after.engine.ensure(spec, ProgressLog())
    await begins(after, spec)
    assert after.gpus.compute_mode(after.devices[0]) is ComputeMode.DEFAULT


async def test_a_whole_gpu_is_not_left_reserved_for_mps(machines: Callable[..., Machines]) -> None:
    machine = machines("h100-mps3")
    machine.mps.apply({machine.devices[0]: {"carrel_gone": NamespaceLimits(25, 100)}}, ())
    spec = await spec_of({machine.devices[0]: 1000})
    await machine.engine.ensure(spec, ProgressLog())
    assert machine.gpus.compute_mode(machine.devices[0]) is ComputeMode.DEFAULT
    await begins(machine, spec)


async def test_a_gpu_whose_shares_cannot_be_set_up_is_not_offered(machines: Callable[..., Machines]) -> None:
    machine = machines("h100-mps3")
    failing, other = machine.devices
    await machine.engine.ensure(await spec_of({failing: 250}), ProgressLog())
    server = machine.mps.socket_directory(failing, "").parent
    shutil.rmtree(server)
    server.write_text("in the way")
    [node] = await machine.engine.nodes()
    assert [one.id for one in node.devices] == [other]
    assert (node.slots["cuda.device"], node.slots["cuda.shares"]) == (1, 1000)
    assert {one.device.id: one.healthy for one in node.device_states} == {failing: True, other: True}


async def test_a_container_of_a_cluster_waits_for_the_others_too(machines: Callable[..., Machines]) -> None:
    machine = machines("h100-slice")
    spec = await spec_of({machine.devices[0]: 500})
    spec = replace(
        spec,
        command=barrier.behind(spec.command),
        stdin=True,
        network=PrivateNetwork(new_id(), "main1", ("main1",)),
    )
    await machine.engine.ensure(spec, ProgressLog())
    assert machine.limit(spec).hard < 1 << 50
    await never_begins(machine, spec)
    await machine.engine.send(spec.id, barrier.OPEN)
    await begins(machine, spec)
