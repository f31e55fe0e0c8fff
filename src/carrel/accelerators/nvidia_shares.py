"""Shares of NVIDIA GPUs that are enforced: by memory limits of cgroups, and with MPS also by a part of the processors.

    slice   memory limit of the container's cgroup; containers take turns on the GPU, as long as they are
    mps3    the same, and a namespace of MPS with a percentage of the processors

Sources: NVIDIA, "Multi-Process Service", release 615, "MPS v3 Memory Partitioning": limits from driver 615 on, with
version 2 of cgroups, set by root; not for GPUs in MIG mode.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from carrel.accelerators.driver import AcceleratorDriver, Card, Vendor
from carrel.accelerators.hardware import Machine
from carrel.accelerators.mps import CONTROL, Mps, NamespaceLimits, namespace_of
from carrel.accelerators.nvml import ComputeMode, GpuControl, MemoryLimit, NvmlError
from carrel.accelerators.port import NOTHING, Attachment, Holders, MachinePath, ShareError, ShareTier, Sharing
from carrel.core.slots import WHOLE

LEAST_DRIVER = 615
RESERVE_BYTES = 1 << 30
"""Of each GPU: for the contexts of its processes, and for the server of MPS."""
_STEP_BYTES = 2 << 20
_MIB = 1 << 20
_DRIVER = re.compile(r"(?<![0-9.])([0-9]{3})\.[0-9]+(?:\.[0-9]+)?(?![0-9.])")
_PIPES = "/tmp/nvidia-mps"
"""Where programs look for MPS if no variable says so: without it they find the same."""
_SHARED_IN_TURNS = "Sessions share it that began before MPS answered: until they end, MPS cannot be used."
_SHARED_BY_MPS = "Sessions share it by MPS, which does not answer any more."


@dataclass(frozen=True, slots=True)
class SharingFacts:
    """What decides how shares are enforced. driver: its version; empty: unknown. in_mig: all GPUs are. mps3: a daemon
    of this version answers; mps: the program is installed.
    """

    driver: str
    has_cgroup2: bool
    is_root: bool
    in_mig: bool = False
    mps3: bool = False
    mps: bool = False


def tier_of(facts: SharingFacts) -> Sharing:
    """The strongest tier, with what is missing for the next ones."""
    if facts.in_mig:
        return Sharing(ShareTier.MIG, "All GPUs are in MIG mode.")
    missing = []
    if _major(facts.driver) < LEAST_DRIVER:
        driver = (
            f"The driver {facts.driver} is older than" if facts.driver else "The driver is not known to be"
        )
        missing.append(f"{driver} {LEAST_DRIVER}{'' if facts.driver else ' or newer'}.")
    if not facts.has_cgroup2:
        missing.append("The machine has no version 2 of cgroups.")
    if not facts.is_root:
        missing.append("Carrel does not run as root.")
    if missing:
        return Sharing(ShareTier.MPS2 if facts.mps else ShareTier.NONE, " ".join(missing))
    if not facts.mps3:
        return Sharing(ShareTier.SLICE, "No daemon of MPS version 3 answers.")
    return Sharing(ShareTier.MPS3)


def limit_of(mem_bytes: int, thousandths: int) -> int:
    """The memory of a share, in bytes."""
    return (mem_bytes - RESERVE_BYTES) * thousandths // WHOLE // _STEP_BYTES * _STEP_BYTES


def threads_of(thousandths: int) -> int:
    """The percentage of processors of a share."""
    return max(thousandths * 100 // WHOLE, 1)


def probe(machine: Machine, mps: Mps, *, is_root: bool, in_mig: bool) -> Sharing:
    """The tier of a machine with GPUs. May block."""
    match = _DRIVER.search((machine.text("proc/driver/nvidia/version") or "").partition("\n")[0])
    facts = SharingFacts(
        driver=match[0] if match else "",
        has_cgroup2=machine.text("sys/fs/cgroup/cgroup.controllers") is not None,
        is_root=is_root,
        in_mig=in_mig,
        mps=machine.has_tool(CONTROL),
    )
    if facts.mps and tier_of(facts).tier is ShareTier.SLICE:
        return tier_of(SharingFacts(facts.driver, True, True, mps3=mps.answers(), mps=True))
    return tier_of(facts)


class DividingVendor(Vendor, Protocol):
    """A vendor that knows how shares are enforced. tier: None before the first reading."""

    tier: Sharing | None


class NvidiaDriver(AcceleratorDriver):
    """GPUs of a machine, with their shares."""

    def __init__(self, vendor: DividingVendor, machine: Machine, gpus: GpuControl, mps: Mps) -> None:
        super().__init__(vendor, machine)
        self._dividing, self._gpus, self._mps = vendor, gpus, mps
        self._at_rest: ShareTier | None = None
        """The tier, if no shares were held the last time, and nothing was left of them."""

    def sharing(self) -> Sharing | None:
        return self._dividing.tier if self.states() else None

    def share(self, container: str, held: Mapping[str, int]) -> Attachment | None:
        shares, tier = self._shares(held), self._tier()
        if not shares or not tier.is_enforced:
            return None
        if tier is ShareTier.SLICE:
            return NOTHING
        families = {card.device.family for card in shares}
        if sum(card.device.family in families for id, card in self._cards.items() if id in held) > 1:
            raise ShareError(
                "With MPS a session has a share of one GPU: request whole GPUs, or less than one.",
                retriable=False,
            )
        [card] = shares
        directory = self._mps.socket_directory(card.handle, container)
        return Attachment(
            env={"CUDA_MPS_PIPE_DIRECTORY": _PIPES}, paths=(MachinePath(str(directory), _PIPES),)
        )

    def keep(self, holders: Holders) -> Mapping[str, str]:
        tier = self._tier()
        if not tier.is_enforced or not self._machine.has_tool(CONTROL):
            return {}
        is_shared = any(each for of_tier in holders.values() for each in map(self._shares, of_tier.values()))
        if self._at_rest is tier and not is_shared:
            return {}
        desired, failed = self._desired(holders.get(ShareTier.MPS3, {}))
        exclusive, unreadable = self._exclusive(self._usable() | desired.keys())
        if tier is ShareTier.MPS3:
            turns = self._handles(holders, ShareTier.SLICE, ShareTier.NONE)
            in_turns = dict.fromkeys(turns - exclusive, _SHARED_IN_TURNS)
            failed = self._mps.apply(desired, exclusive, {**failed, **unreadable, **in_turns})
        else:
            failed = {**self._released(exclusive - desired.keys()), **dict.fromkeys(desired, _SHARED_BY_MPS)}
        self._at_rest = None if is_shared or exclusive or failed else tier
        return {id: failed[card.handle] for id, card in self._cards.items() if card.handle in failed}

    def _desired(
        self, holders: Mapping[str, Mapping[str, int]]
    ) -> tuple[Mapping[str, Mapping[str, NamespaceLimits]], Mapping[str, str]]:
        """The namespaces of GPUs, and why those of some are not known: they are left as they are."""
        desired: defaultdict[str, dict[str, NamespaceLimits]] = defaultdict(dict)
        failed: dict[str, str] = {}
        for container, held in holders.items():
            # Until it is found again, as after a restart while the vendor's tool does not answer.
            failed |= dict.fromkeys(held.keys() - self._cards.keys(), "It is not known at the moment.")
            for card, thousandths in self._shares(held).items():
                namespaces = desired[card.handle]
                try:
                    limits = NamespaceLimits(threads_of(thousandths), _limit(card, thousandths) // _MIB)
                except ShareError as error:
                    failed[card.handle] = str(error)
                else:
                    namespaces[namespace_of(container)] = limits
        return desired, failed

    def _usable(self) -> set[str]:
        """The GPUs of which containers may get shares, so not MIG instances."""
        healthy = {device.id for device in self.discover()}
        return {
            card.handle
            for id, card in self._cards.items()
            if id in healthy and card.handle.startswith("GPU-")
        }

    def _handles(self, holders: Holders, *tiers: ShareTier) -> set[str]:
        """The GPUs that containers with these tiers share."""
        return {
            card.handle
            for tier in tiers
            for held in holders.get(tier, {}).values()
            for card in self._shares(held)
        }

    def _exclusive(self, gpus: Iterable[str]) -> tuple[set[str], Mapping[str, str]]:
        """Those in this mode, and why it is not known of some."""
        exclusive, failed, gpus = set(), {}, list(gpus)
        try:
            with self._gpus.opened():
                for gpu in gpus:
                    try:
                        if self._gpus.compute_mode(gpu) is ComputeMode.EXCLUSIVE_PROCESS:
                            exclusive.add(gpu)
                    except NvmlError as error:
                        failed[gpu] = str(error)
        except NvmlError as error:
            failed = dict.fromkeys(gpus, str(error))
        return exclusive, failed

    def _released(self, gpus: Iterable[str]) -> Mapping[str, str]:
        """Those that are still reserved for MPS, and why."""
        failed = {}
        for gpu in gpus:
            try:
                self._gpus.set_compute_mode(gpu, ComputeMode.DEFAULT)
            except NvmlError as error:
                failed[gpu] = str(error)
        return failed

    def enforce(
        self, container: str, held: Mapping[str, int], tier: ShareTier, pid: int, engine_id: str
    ) -> None:
        shares, cgroup = self._shares(held), self._cgroup(container, pid, engine_id)
        if len(shares) < sum(thousandths < WHOLE for thousandths in held.values()):
            raise ShareError("A device of which it has a share is not there.")
        mode = ComputeMode.EXCLUSIVE_PROCESS if tier is ShareTier.MPS3 else ComputeMode.DEFAULT
        try:
            for card, thousandths in shares.items():
                if self._gpus.compute_mode(card.handle) is not mode:
                    raise ShareError(f"The compute mode of {card.handle} is not {mode.name}.")
                self._set_limit(card, thousandths, cgroup)
        except NvmlError as error:
            raise ShareError(f"The memory limit of its share of a GPU cannot be set: {error}") from error

    def _set_limit(self, card: Card, thousandths: int, cgroup: str) -> None:
        # Nothing is guaranteed, since a guarantee outlives its cgroup in those above it. None is needed: the limits of
        # a GPU together are less than its memory.
        limit = MemoryLimit(0, _limit(card, thousandths))
        self._gpus.set_memory_limit(card.handle, cgroup, limit)
        if (there := self._gpus.memory_limit(card.handle, cgroup)) != limit:
            raise ShareError(
                f"The memory limit of its share of {card.handle} is {there.hard} bytes instead of {limit.hard}."
            )

    def _shares(self, held: Mapping[str, int]) -> Mapping[Card, int]:
        """Of GPUs that are shared, without whole ones."""
        return {self._cards[id]: part for id, part in held.items() if id in self._cards and part < WHOLE}

    def _tier(self) -> ShareTier:
        sharing = self.sharing()
        return sharing.tier if sharing else ShareTier.NONE

    def _cgroup(self, container: str, pid: int, engine_id: str) -> str:
        """The directory of the container's own cgroup. Raises: ShareError."""
        if self._machine.simulated:
            return f"/sys/fs/cgroup/simulated/{container}"
        lines = (self._machine.text(f"proc/{pid}/cgroup") or "").splitlines()
        path = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "/")
        # By now the process may have ended, and its number be that of another one.
        if not engine_id or engine_id not in path or ".." in path:
            raise ShareError("The cgroup of the container cannot be found.")
        return f"/sys/fs/cgroup{path}"


def _limit(card: Card, thousandths: int) -> int:
    """The memory of a share of this GPU. Raises: ShareError."""
    if (limit := limit_of(card.device.mem_bytes or 0, thousandths)) <= 0:
        raise ShareError(f"The memory of {card.handle} is not known, or too small for this share.")
    return limit


def _major(driver: str) -> int:
    return int(driver.partition(".")[0] or 0)
