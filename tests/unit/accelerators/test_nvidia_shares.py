"""Shares of NVIDIA GPUs: the tier of a machine, limits that are read back, and MPS as it is desired.

The programs and the library of the driver are fakes: a shell script for the control program of MPS, and a small C
library for NVML.
"""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from simulated_accelerators import tree

from carrel.accelerators import nvidia
from carrel.accelerators.driver import Card
from carrel.accelerators.hardware import Machine
from carrel.accelerators.mps import CONTROL, Mps, MpsState, NamespaceLimits, differences, server_of
from carrel.accelerators.nvidia_shares import NvidiaDriver, SharingFacts, limit_of, threads_of, tier_of
from carrel.accelerators.nvml import UNLIMITED, ComputeMode, MemoryLimit, Nvml, NvmlError, SimulatedGpuControl
from carrel.accelerators.port import Attachment, Device, Holders, ShareError, ShareTier, Sharing

MIB, GIB = 1 << 20, 1 << 30
NEW = SharingFacts("615.71.09", has_cgroup2=True, is_root=True, mps=True)
GPU, OTHER = "GPU-00aa", "GPU-00bb"
HALF, QUARTER = NamespaceLimits(50, 1000), NamespaceLimits(25, 500)


def made(root: Path) -> NvidiaDriver:
    return nvidia.PLUGIN.make(nvidia.PLUGIN.checked({"root": str(root), "simulated": True}))


def control(root: Path) -> SimulatedGpuControl:
    return SimulatedGpuControl(root)


def mps(root: Path) -> Mps:
    return Mps(Machine(root, simulated=True), control(root))


@pytest.mark.parametrize(
    ("facts", "tier", "reason"),
    [
        (replace(NEW, mps3=True), "mps3", ""),
        (NEW, "slice", "No daemon of MPS version 3 answers."),
        (replace(NEW, driver="580.65.06"), "mps2", "The driver 580.65.06 is older than 615."),
        (replace(NEW, driver="580.65.06", mps=False), "none", "The driver 580.65.06 is older than 615."),
        (replace(NEW, driver="", mps=False), "none", "The driver is not known to be 615 or newer."),
        (replace(NEW, has_cgroup2=False, mps=False), "none", "The machine has no version 2 of cgroups."),
        (replace(NEW, is_root=False, mps=False), "none", "Carrel does not run as root."),
        (replace(NEW, in_mig=True, mps3=True), "mig", "All GPUs are in MIG mode."),
    ],
)
def test_the_tier_of_a_machine_and_what_is_missing_for_a_stronger_one(
    facts: SharingFacts, tier: str, reason: str
) -> None:
    sharing = tier_of(facts)
    assert (sharing.tier, sharing.reason) == (tier, reason)


@pytest.mark.parametrize(
    ("model", "tier"),
    [("h100", "none"), ("h100-slice", "slice"), ("h100-mps3", "mps3"), ("h100-mig", "mig")],
)
def test_simulated_machines_have_tiers(tmp_path: Path, model: str, tier: str) -> None:
    sharing = made(tree(tmp_path, f"{model}x2")).sharing()
    assert sharing is not None
    assert sharing.tier == tier


def test_a_machine_without_gpus_has_no_tier(tmp_path: Path) -> None:
    assert made(tmp_path).sharing() is None


@pytest.mark.parametrize(("model", "offered"), [("h100", False), ("h100-slice", True), ("h100-mps3", True)])
def test_shares_are_offered_where_they_are_enforced(tmp_path: Path, model: str, offered: bool) -> None:
    machine = Machine(tree(tmp_path, f"{model}x1"), simulated=True)
    vendor = nvidia.Nvidia(mps=mps(machine.root))
    driver = NvidiaDriver(vendor, machine, control(machine.root), mps(machine.root))
    assert ("cuda.shares" in {kind.name for kind in driver.kinds()}) is offered


def test_the_limits_of_a_share() -> None:
    assert limit_of(81 * GIB, 500) == 40 * GIB
    assert limit_of(81 * GIB + MIB, 333) % (2 * MIB) == 0
    assert sum(limit_of(80 * GIB, 333) for _ in range(3)) <= 79 * GIB
    assert (threads_of(500), threads_of(333), threads_of(1)) == (50, 33, 1)


# The desired state of MPS


def steps(
    desired: Mapping[str, Mapping[str, NamespaceLimits]],
    servers: Mapping[str, Mapping[str, NamespaceLimits]],
    *exclusive: str,
) -> list[str]:
    return [
        f"{step.change} {step.namespace or step.server}"
        for step in differences(desired, MpsState(servers), exclusive)
    ]


def test_a_gpu_has_its_server_before_it_is_reserved() -> None:
    assert steps({GPU: {"a": HALF}}, {}) == [
        "create server carrel_00aa",
        "reserve carrel_00aa",
        "create namespace a",
        "limit a",
    ]


def test_nothing_is_done_when_all_is_as_desired() -> None:
    assert steps({GPU: {"a": HALF}}, {"carrel_00aa": {"a": HALF}}, GPU) == []


def test_what_changed_is_set_and_what_is_left_over_is_removed() -> None:
    there = {"carrel_00aa": {"a": QUARTER, "gone": HALF}, "carrel_00bb": {"b": HALF}}
    assert steps({GPU: {"a": HALF}}, there, GPU, OTHER) == [
        "limit a",
        "delete namespace gone",
        "release carrel_00bb",
        "delete server carrel_00bb",
    ]


def test_a_gpu_that_nobody_shares_is_released_after_a_crash_between_the_steps() -> None:
    assert steps({}, {"carrel_00bb": {}}) == ["delete server carrel_00bb"]


def test_the_server_of_a_gpu_that_is_gone_is_removed() -> None:
    assert steps({}, {"carrel_00cc": {}}) == ["delete server carrel_00cc"]


def test_a_gpu_that_nobody_shares_is_released_although_its_server_is_gone() -> None:
    assert steps({}, {}, GPU) == ["release carrel_00aa"]


def restart(root: Path) -> None:
    """Of the daemon: its servers are gone, compute modes are not."""
    for server in (root / "run/nvidia-mps").glob("carrel_*"):
        shutil.rmtree(server)


def test_mps_is_brought_to_the_desired_state_and_rebuilt_after_a_restart_of_its_daemon(
    tmp_path: Path,
) -> None:
    root = tree(tmp_path, "h100-mps3x2")
    daemon, desired = mps(root), {GPU: {"carrel_a": HALF, "carrel_b": QUARTER}}
    exclusive: list[str] = []
    for _ in range(2):
        assert daemon.apply(desired, exclusive) == {}
        assert daemon.state().servers == {"carrel_00aa": desired[GPU]}
        assert control(root).compute_mode(GPU) is ComputeMode.EXCLUSIVE_PROCESS
        exclusive = [GPU]
        restart(root)
    daemon.apply(desired, exclusive)
    daemon.apply({}, exclusive)
    assert daemon.state().servers == {}
    assert control(root).compute_mode(GPU) is ComputeMode.DEFAULT


def program_says(root: Path, old: str, new: str) -> None:
    file = root / "tools/nvidia-cuda-mps-control/program"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (",4711,Ready,", ",4711,Failed,"),
        ('[ -z "$threads" ] || echo "$threads"', '[ -z "$threads" ] || echo 100'),
        ('[ -z "$memory" ] || echo "$memory"', '[ -z "$memory" ] || echo unlimited'),
    ],
    ids=["server not ready", "percentage not kept", "limit not kept"],
)
def test_a_daemon_that_does_not_keep_what_is_set_is_an_error(tmp_path: Path, old: str, new: str) -> None:
    root = tree(tmp_path, "h100-mps3x1")
    program_says(root, old, new)
    assert list(mps(root).apply({GPU: {"carrel_a": HALF}}, ())) == [GPU]


def test_a_daemon_of_another_version_does_not_answer(tmp_path: Path) -> None:
    root = tree(tmp_path, "h100-mps3x1")
    (root / "tools/nvidia-cuda-mps-control/program").write_text("#!/bin/sh\necho 4711\n")
    assert not mps(root).answers()
    sharing = made(root).sharing()
    assert sharing is not None
    assert sharing.tier is ShareTier.SLICE


# What a container gets


def test_a_slice_limits_memory_and_reads_it_back(tmp_path: Path) -> None:
    root = tree(tmp_path, "h100-slicex2")
    driver = made(root)
    gpu = driver.discover()[0]
    assert driver.share("c1", {gpu.id: 500}) == Attachment()
    driver.keep({ShareTier.SLICE: {"c1": {gpu.id: 500}}})
    driver.enforce("c1", {gpu.id: 500}, ShareTier.SLICE, 1, "id")
    expected = MemoryLimit(0, limit_of(gpu.mem_bytes or 0, 500))
    assert control(root).memory_limit(gpu.id, "/sys/fs/cgroup/simulated/c1") == expected


def test_a_container_with_mps_gets_the_directory_of_its_namespace_only(tmp_path: Path) -> None:
    root = tree(tmp_path, "h100-mps3x2")
    driver = made(root)
    gpu = driver.discover()[0]
    attachment = driver.share("c1", {gpu.id: 250})
    assert attachment is not None
    [path] = attachment.paths
    driver.keep({ShareTier.MPS3: {"c1": {gpu.id: 250}, "c2": {gpu.id: 500}}})
    driver.enforce("c1", {gpu.id: 250}, ShareTier.MPS3, 1, "id")
    assert sorted(one.name for one in Path(path.source).iterdir() if one.name[0] != ".") == ["control"]
    assert attachment.env == {"CUDA_MPS_PIPE_DIRECTORY": path.target}
    [namespaces] = mps(root).state().servers.values()
    assert namespaces["carrel_c1"] == NamespaceLimits(25, limit_of(gpu.mem_bytes or 0, 250) // MIB)
    driver.keep({})
    assert not Path(path.source).exists()


@pytest.mark.parametrize("model", ["h100", "h100-slice", "h100-mps3"])
def test_whole_devices_are_no_shares(tmp_path: Path, model: str) -> None:
    driver = made(tree(tmp_path, f"{model}x2"))
    assert driver.share("c1", {one.id: 1000 for one in driver.discover()}) is None


def test_with_mps_a_session_has_a_share_of_one_gpu(tmp_path: Path) -> None:
    driver = made(tree(tmp_path, "h100-mps3x2"))
    first, second = (one.id for one in driver.discover())
    with pytest.raises(ShareError, match="share of one GPU") as refused:
        driver.share("c1", {first: 1000, second: 500})
    assert not refused.value.retriable
    slices = made(tree(tmp_path, "h100-slicex2"))
    assert slices.share(
        "c1", {one.id: part for one, part in zip(slices.discover(), (1000, 500), strict=True)}
    )


def test_with_mps_a_session_has_a_share_beside_a_mig_instance(tmp_path: Path) -> None:
    driver = made(tree(tmp_path, "h100-mps3x1,h100-migx1"))
    by_family = {device.family: device.id for device in driver.discover()}
    assert len(by_family) == 2
    gpu, instance = sorted(by_family.values())
    attachment = driver.share("c1", {gpu: 500, instance: 1000})
    assert attachment is not None
    assert attachment.paths


class _Forgetful(SimulatedGpuControl):
    """Takes a limit, and does not keep it."""

    def set_memory_limit(self, gpu: str, cgroup: str, limit: MemoryLimit) -> None:
        super().set_memory_limit(gpu, cgroup, MemoryLimit(0, UNLIMITED))


class _Refusing(SimulatedGpuControl):
    def set_memory_limit(self, gpu: str, cgroup: str, limit: MemoryLimit) -> None:
        raise NvmlError("nvmlDeviceSetMemoryLimits_v1 failed with 3: Not Supported.")


@pytest.mark.parametrize(
    ("gpus", "message"), [(_Forgetful, "instead of"), (_Refusing, "Not Supported")], ids=["other", "refused"]
)
def test_a_limit_that_is_not_there_is_an_error(
    tmp_path: Path, gpus: type[SimulatedGpuControl], message: str
) -> None:
    machine = Machine(tree(tmp_path, "h100-slicex1"), simulated=True)
    daemon = mps(machine.root)
    driver = NvidiaDriver(nvidia.Nvidia(mps=daemon), machine, gpus(machine.root), daemon)
    with pytest.raises(ShareError, match=message):
        driver.enforce("c1", {driver.discover()[0].id: 500}, ShareTier.SLICE, 1, "id")


def test_a_slice_of_a_gpu_that_mps_has_reserved_is_an_error(tmp_path: Path) -> None:
    root = tree(tmp_path, "h100-slicex1")
    driver = made(root)
    gpu = driver.discover()[0].id
    control(root).set_compute_mode(gpu, ComputeMode.EXCLUSIVE_PROCESS)
    with pytest.raises(ShareError, match="compute mode"):
        driver.enforce("c1", {gpu: 500}, ShareTier.SLICE, 1, "id")


def test_a_slice_of_a_gpu_that_sessions_take_turns_on_is_limited_also_beside_mps(tmp_path: Path) -> None:
    root, driver, gpu, _ = two_gpus(tmp_path)
    driver.keep({ShareTier.SLICE: {"c1": {gpu: 500}}})
    driver.enforce("c1", {gpu: 500}, ShareTier.SLICE, 1, "id")
    assert control(root).memory_limit(gpu, "/sys/fs/cgroup/simulated/c1").hard < UNLIMITED
    control(root).set_compute_mode(gpu, ComputeMode.EXCLUSIVE_PROCESS)
    with pytest.raises(ShareError, match="compute mode"):
        driver.enforce("c1", {gpu: 500}, ShareTier.SLICE, 1, "id")


def test_a_share_of_a_device_that_is_gone_is_an_error(tmp_path: Path) -> None:
    driver = made(tree(tmp_path, "h100-slicex1"))
    with pytest.raises(ShareError, match="not there"):
        driver.enforce("c1", {"GPU-of-somebody": 500}, ShareTier.SLICE, 1, "id")


# GPUs that cannot be read, and changes of the tier


class _Lost(SimulatedGpuControl):
    """One GPU cannot be read."""

    def __init__(self, root: Path, lost: str) -> None:
        super().__init__(root)
        self._lost = lost

    def compute_mode(self, gpu: str) -> ComputeMode:
        if gpu == self._lost:
            raise NvmlError("nvmlDeviceGetHandleByUUID failed with 15: GPU is lost.")
        return super().compute_mode(gpu)


class _Counted(SimulatedGpuControl):
    """opened: how often. read: of how many GPUs."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.times_opened = self.read = 0

    @contextmanager
    def opened(self) -> Iterator[None]:
        self.times_opened += 1
        yield

    def compute_mode(self, gpu: str) -> ComputeMode:
        self.read += 1
        return super().compute_mode(gpu)


@pytest.mark.parametrize("model", ["h100-slice", "h100-mps3"])
def test_gpus_are_read_while_they_are_shared_and_until_nothing_is_left(tmp_path: Path, model: str) -> None:
    root, driver, gpu, _ = two_gpus(tmp_path, model)
    (root / "tools" / CONTROL).mkdir(exist_ok=True)
    gpus = _Counted(root)
    machine = Machine(root, simulated=True)
    driver = NvidiaDriver(nvidia.Nvidia(mps=mps(root)), machine, gpus, mps(root))
    control(root).set_compute_mode(gpu, ComputeMode.EXCLUSIVE_PROCESS)
    for _ in range(4):
        driver.keep({})
    assert (gpus.times_opened, gpus.read) == (2, 4)
    assert gpus.compute_mode(gpu) is ComputeMode.DEFAULT
    shared = {ShareTier.SLICE: {"c1": {gpu: 500}}}
    driver.keep(shared)
    driver.keep({})
    driver.keep({})
    assert gpus.times_opened == 4


def two_gpus(tmp_path: Path, model: str = "h100-mps3") -> tuple[Path, NvidiaDriver, str, str]:
    root = tree(tmp_path, f"{model}x2")
    driver = made(root)
    one, other = (device.id for device in driver.discover())
    return root, driver, one, other


def by_mps(**holders: str) -> Holders:
    return {ShareTier.MPS3: {container: {gpu: 250} for container, gpu in holders.items()}}


def test_a_gpu_that_cannot_be_read_does_not_hinder_the_others(tmp_path: Path) -> None:
    root, driver, lost, other = two_gpus(tmp_path)
    driver = NvidiaDriver(
        nvidia.Nvidia(mps=mps(root)), Machine(root, simulated=True), _Lost(root, lost), mps(root)
    )
    failed = driver.keep(by_mps(c1=lost, c2=other))
    assert list(failed) == [lost]
    assert "GPU is lost" in failed[lost]
    assert control(root).compute_mode(other) is ComputeMode.EXCLUSIVE_PROCESS
    assert driver.keep(by_mps(c2=other)) == failed
    driver.keep({})
    assert control(root).compute_mode(other) is ComputeMode.DEFAULT


def test_a_step_that_fails_does_not_hinder_the_other_gpus(tmp_path: Path) -> None:
    root, driver, one, other = two_gpus(tmp_path)
    (root / "run/nvidia-mps" / server_of(one)).write_text("in the way")
    assert list(driver.keep(by_mps(c1=one, c2=other))) == [one]
    assert list(mps(root).state().servers) == [server_of(other)]


def test_the_server_of_a_gpu_of_unknown_memory_is_left_alone(tmp_path: Path) -> None:
    root, driver, one, other = two_gpus(tmp_path)
    driver.keep(by_mps(c1=one, c2=other))
    driver._cards = {
        id: replace(card, device=replace(card.device, mem_bytes=None)) if id == one else card
        for id, card in driver._cards.items()
    }
    assert list(driver.keep(by_mps(c1=one))) == [one]
    assert list(mps(root).state().servers) == [server_of(one)]


def test_the_server_of_a_gpu_that_is_not_found_is_left_alone(tmp_path: Path) -> None:
    root, driver, one, other = two_gpus(tmp_path)
    driver.keep(by_mps(c1=one))
    driver._cards = {id: card for id, card in driver._cards.items() if id != one}
    assert driver.keep(by_mps(c1=one, c2=other)) == {}
    assert set(mps(root).state().servers) == {server_of(one), server_of(other)}
    assert control(root).compute_mode(one) is ComputeMode.EXCLUSIVE_PROCESS


def without_daemon(root: Path) -> NvidiaDriver:
    """Of a machine whose daemon has stopped."""
    restart(root)
    (root / "run/nvidia-mps/control").unlink()
    driver = made(root)
    sharing = driver.sharing()
    assert sharing is not None
    assert sharing.tier is ShareTier.SLICE
    return driver


def test_gpus_that_mps_had_reserved_are_released_after_its_daemon_has_stopped(tmp_path: Path) -> None:
    root, driver, one, other = two_gpus(tmp_path)
    driver.keep(by_mps(c1=one, c2=other))
    driver = without_daemon(root)
    assert list(driver.keep(by_mps(c1=one))) == [one]
    assert control(root).compute_mode(one) is ComputeMode.EXCLUSIVE_PROCESS
    assert control(root).compute_mode(other) is ComputeMode.DEFAULT
    assert driver.keep({}) == {}
    assert control(root).compute_mode(one) is ComputeMode.DEFAULT


def test_a_gpu_is_released_if_its_last_session_ends_while_the_daemon_restarts(tmp_path: Path) -> None:
    root, driver, one, _ = two_gpus(tmp_path)
    driver.keep(by_mps(c1=one))
    restart(root)
    driver.keep({})
    assert control(root).compute_mode(one) is ComputeMode.DEFAULT


@pytest.mark.parametrize("tier", [ShareTier.SLICE, ShareTier.NONE])
def test_a_gpu_of_sessions_without_mps_is_not_reserved_for_it(tmp_path: Path, tier: ShareTier) -> None:
    root, driver, one, other = two_gpus(tmp_path)
    before = {tier: {"s1": {one: 500}}}
    failed = driver.keep({**before, **by_mps(c1=one, c2=other)})
    assert list(failed) == [one]
    assert driver.keep({**before, **by_mps(c2=other)}) == failed
    assert control(root).compute_mode(one) is ComputeMode.DEFAULT
    assert control(root).compute_mode(other) is ComputeMode.EXCLUSIVE_PROCESS
    assert driver.keep(by_mps(c1=one, c2=other)) == {}


def test_a_machine_keeps_its_tier_while_the_daemon_restarts(tmp_path: Path) -> None:
    machine = Machine(tree(tmp_path, "h100-mps3x1"), simulated=True)
    vendor = nvidia.Nvidia(mps=mps(machine.root))
    socket = machine.root / "run/nvidia-mps/control"

    def tiers(readings: int) -> list[str]:
        seen = []
        for _ in range(readings):
            vendor.read(machine)
            assert vendor.tier is not None
            seen.append(str(vendor.tier.tier))
        return seen

    tiers(11)
    socket.unlink()
    assert tiers(2) == ["mps3", "mps3"]
    socket.touch()
    assert tiers(10) == ["mps3"] * 10
    socket.unlink()
    assert tiers(15)[-1] == "slice"


class _OneGpu(nvidia.Nvidia):
    """Of a machine that is not simulated."""

    def read(self, machine: Machine) -> Sequence[Card]:
        self.tier = Sharing(ShareTier.SLICE)
        return [Card(Device(GPU, "cuda", mem_bytes=80 * GIB), handle=GPU)]


def test_the_limit_is_set_for_the_cgroup_that_is_named_by_the_container(tmp_path: Path) -> None:
    gpus = control(tmp_path)
    driver = NvidiaDriver(_OneGpu(), Machine(tmp_path), gpus, mps(tmp_path))
    driver.discover()
    file = tmp_path / "proc/4711/cgroup"
    file.parent.mkdir(parents=True)
    file.write_text("0::/user.slice/session-1.scope\n")
    with pytest.raises(ShareError, match="cgroup"):
        driver.enforce("c1", {GPU: 500}, ShareTier.SLICE, 4711, "f00d")
    file.write_text("0::/system.slice/docker-f00d.scope\n")
    driver.enforce("c1", {GPU: 500}, ShareTier.SLICE, 4711, "f00d")
    limit = gpus.memory_limit(GPU, "/sys/fs/cgroup/system.slice/docker-f00d.scope")
    assert limit.hard == limit_of(80 * GIB, 500)


# NVML, of which the fake has the layout in pynvml

_LIBRARY = r"""
#include <string.h>
struct set { const char *cgroup; unsigned long long soft, hard; };
struct get { const char *cgroup; unsigned long long soft, hard, used; };
static char known[100]; static unsigned long long soft, hard = ~0ULL; static int mode, users, opened;
int nvmlInit_v2(void) { opened += !users++; return 0; }
int times_opened(void) { return opened; }
int nvmlShutdown(void) { users--; return 0; }
const char *nvmlErrorString(int code) { return code == 6 ? "Not Found" : "?"; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  *device = &known; return strcmp(uuid, "GPU-1") || users < 1 ? 6 : 0; }
int nvmlDeviceSetMemoryLimits_v1(void *device, struct set *one) {
  if (device != &known) return 2;
  strcpy(known, one->cgroup); soft = one->soft; hard = one->hard; return 0; }
int nvmlDeviceGetMemoryLimits_v1(void *device, struct get *one) {
  if (device != &known) return 2;
  if (strcmp(known, one->cgroup)) { one->soft = 0; one->hard = ~0ULL; } else { one->soft = soft; one->hard = hard; }
  one->used = 7; return 0; }
int nvmlDeviceGetComputeMode(void *device, int *one) { *one = mode; return 0; }
int nvmlDeviceSetComputeMode(void *device, int one) { mode = one; return 0; }
"""


@pytest.fixture
def library(tmp_path: Path) -> str:
    (tmp_path / "nvml.c").write_text(_LIBRARY)
    made = str(tmp_path / "libnvidia-ml.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, str(tmp_path / "nvml.c")], check=True)
    return made


def test_the_library_is_called_as_it_is_laid_out(library: str) -> None:
    gpus = Nvml(library)
    assert gpus.memory_limit("GPU-1", "/sys/fs/cgroup/a") == MemoryLimit(0, UNLIMITED)
    gpus.set_memory_limit("GPU-1", "/sys/fs/cgroup/a", MemoryLimit(0, 40 * GIB))
    assert gpus.memory_limit("GPU-1", "/sys/fs/cgroup/a") == MemoryLimit(0, 40 * GIB)
    assert gpus.memory_limit("GPU-1", "/sys/fs/cgroup/b") == MemoryLimit(0, UNLIMITED)
    gpus.set_compute_mode("GPU-1", ComputeMode.EXCLUSIVE_PROCESS)
    assert gpus.compute_mode("GPU-1") is ComputeMode.EXCLUSIVE_PROCESS


def test_the_driver_is_opened_once_for_several_calls(library: str) -> None:
    gpus = Nvml(library)
    with gpus.opened():
        for _ in range(3):
            gpus.compute_mode("GPU-1")
    assert ctypes.CDLL(library).times_opened() == 1
    gpus.compute_mode("GPU-1")
    assert ctypes.CDLL(library).times_opened() == 2


def test_errors_of_the_library_are_sentences(library: str, tmp_path: Path) -> None:
    with pytest.raises(NvmlError, match="nvmlDeviceGetHandleByUUID failed with 6: Not Found"):
        Nvml(library).compute_mode("GPU-2")
    with pytest.raises(NvmlError, match="cannot be loaded"):
        Nvml(str(tmp_path / "none.so")).compute_mode("GPU-1")
