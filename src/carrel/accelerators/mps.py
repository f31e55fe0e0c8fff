"""NVIDIA's Multi-Process Service, version 3: a server for each shared GPU, and in it a namespace for each container.

What must be there is a function of what containers hold, `differences` says what has to change, and `Mps` does it:
namespaces exist only as long as the daemon, so they are restored after its restart and after Carrel's.

Sources: NVIDIA, "Multi-Process Service", release 615: "MPS v3 Interface", "MPS v3 Namespaces".
"""

import csv
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from carrel.accelerators.hardware import Machine, ToolError
from carrel.accelerators.nvml import ComputeMode, GpuControl, NvmlError

CONTROL = "nvidia-cuda-mps-control"
DIRECTORY = Path("/run/nvidia-mps")
"""Of the sockets of a daemon of root, unless it is told another one."""
_PREFIX = "carrel_"
_CSV = "--format=csv,noheader"
_SERVER, _NAMESPACE = 6, 6
"""The fields of a line that are read."""
_READY = "ready"
_MIB = 1 << 20


class NamespaceLimits(NamedTuple):
    """threads: percentage of the processors of a GPU. mem_mib: of its memory."""

    threads: int
    mem_mib: int


Namespaces = Mapping[str, NamespaceLimits]
"""Of one server, by name."""


def server_of(gpu: str) -> str:
    """Its name: lower-case letters, digits and underscores only."""
    return _PREFIX + gpu.removeprefix("GPU-").replace("-", "").lower()


def namespace_of(container: str) -> str:
    return _PREFIX + container.lower().replace("-", "_")


@dataclass(frozen=True, slots=True)
class MpsState:
    """servers: the namespaces of each of ours that is ready."""

    servers: Mapping[str, Namespaces]


class Change(StrEnum):
    CREATE_SERVER = "create server"
    RESERVE = "reserve"
    CREATE_NAMESPACE = "create namespace"
    LIMIT = "limit"
    DELETE_NAMESPACE = "delete namespace"
    RELEASE = "release"
    DELETE_SERVER = "delete server"


class MpsStep(NamedTuple):
    """server: its name. gpu: the UUID; empty where it makes no difference."""

    change: Change
    server: str
    gpu: str = ""
    namespace: str = ""
    limits: NamespaceLimits | None = None


def differences(
    desired: Mapping[str, Namespaces], state: MpsState, exclusive: Collection[str]
) -> Iterator[MpsStep]:
    """What leads from the state to the desired one, in order. desired: the namespaces of each shared GPU. exclusive:
    the GPUs in this mode; they keep it when the daemon ends and its servers are gone.

    A GPU gets its server before the mode that lets only one process use it: otherwise a container could be this one.
    """
    for gpu, namespaces in sorted(desired.items()):
        server = server_of(gpu)
        if server not in state.servers:
            yield MpsStep(Change.CREATE_SERVER, server, gpu)
        if gpu not in exclusive:
            yield MpsStep(Change.RESERVE, server, gpu)
        there = state.servers.get(server, {})
        for name, limits in sorted(namespaces.items()):
            if name not in there:
                yield MpsStep(Change.CREATE_NAMESPACE, server, namespace=name)
            if there.get(name) != limits:
                yield MpsStep(Change.LIMIT, server, namespace=name, limits=limits)
        for name in sorted(there.keys() - namespaces.keys()):
            yield MpsStep(Change.DELETE_NAMESPACE, server, namespace=name)
    for gpu in sorted(set(exclusive) - desired.keys()):
        yield MpsStep(Change.RELEASE, server_of(gpu), gpu)
    for server in sorted(state.servers.keys() - {server_of(gpu) for gpu in desired}):
        yield MpsStep(Change.DELETE_SERVER, server)


class Mps:
    """The daemon, which runs as root on the machine itself. directory: of its sockets."""

    def __init__(self, machine: Machine, gpus: GpuControl, directory: Path = DIRECTORY) -> None:
        self._machine, self._gpus = machine, gpus
        relative = str(directory).lstrip("/")
        self._directory = machine.root / relative if machine.simulated else directory

    def answers(self) -> bool:
        """True if a daemon of this version does."""
        try:
            self._rows(_SERVER, "server", "list")
        except ToolError:
            return False
        return True

    def socket_directory(self, gpu: str, container: str) -> Path:
        """What a container gets: the sockets of its namespace, and no others."""
        return self._directory / server_of(gpu) / namespace_of(container)

    def apply(
        self, desired: Mapping[str, Namespaces], exclusive: Collection[str], failed: Mapping[str, str] = {}
    ) -> Mapping[str, str]:
        """Have these namespaces and no others of ours, and read them back. exclusive: the GPUs in this mode. failed:
        those that are left as they are, with a sentence that says why; returned with those for which it fails now.
        """
        failed, state = dict(failed), MpsState({})
        try:
            state = self.state()
        except ToolError as error:
            failed |= {gpu: str(error) for gpu in desired}
        by_server = {server_of(gpu): gpu for gpu in (*desired, *exclusive, *failed)}
        changed = False
        for step in differences(desired, state, exclusive):
            gpu = by_server.get(step.server, step.server)
            if gpu not in failed:
                changed = True
                try:
                    self._take(step)
                except (ToolError, NvmlError) as error:
                    failed[gpu] = str(error)
        left = {gpu: namespaces for gpu, namespaces in desired.items() if gpu not in failed}
        return {**self._missing(left), **failed} if changed else failed

    def state(self) -> MpsState:
        """Of what is ours. A server that is not ready, or does not answer, counts as missing. Raises: ToolError."""
        servers = {
            name
            for name, _, _, status, *_ in self._rows(_SERVER, "server", "list")
            if name.startswith(_PREFIX) and status.lower() == _READY
        }
        namespaces: dict[str, Namespaces] = {}
        for server in servers:
            with suppress(ToolError):
                namespaces[server] = self._namespaces(server)
        return MpsState(namespaces)

    def _namespaces(self, server: str) -> Namespaces:
        rows = self._rows(_NAMESPACE, "namespace", "list", f"--server={server}")
        return {
            name: NamespaceLimits(_percentage(threads), _mebibytes(memory))
            for name, _, _, memory, threads, *_ in rows
            if name.startswith(_PREFIX)
        }

    def _missing(self, desired: Mapping[str, Namespaces]) -> Mapping[str, str]:
        """A server that fails vanishes without an error, and its clients would run without limits."""
        try:
            servers = self.state().servers
        except ToolError as error:
            return {gpu: str(error) for gpu in desired}
        problems = {gpu: self._problem(gpu, desired[gpu], servers.get(server_of(gpu))) for gpu in desired}
        return {gpu: problem for gpu, problem in problems.items() if problem}

    def _problem(self, gpu: str, desired: Namespaces, there: Namespaces | None) -> str:
        if there is None:
            return f"The server of MPS for {gpu} is not ready."
        if dict(there) != dict(desired):
            return f"The namespaces of MPS for {gpu} are not those that were set."
        try:
            mode = self._gpus.compute_mode(gpu)
        except NvmlError as error:
            return str(error)
        return "" if mode is ComputeMode.EXCLUSIVE_PROCESS else f"The GPU {gpu} is not reserved for MPS."

    def _take(self, step: MpsStep) -> None:
        match step.change:
            case Change.CREATE_SERVER:
                self._run("server", "create", step.server, "--uid=0", f"--allowed-devices={step.gpu}")
            case Change.RESERVE:
                self._gpus.set_compute_mode(step.gpu, ComputeMode.EXCLUSIVE_PROCESS)
            case Change.CREATE_NAMESPACE:
                self._run("namespace", "create", step.namespace, f"--server={step.server}")
            case Change.LIMIT:
                assert step.limits
                # A namespace without limits has none at all: it does not inherit those of its server.
                self._run(
                    *("namespace", "set", step.namespace, f"--server={step.server}"),
                    f"--pinned-memory-limit={step.limits.mem_mib}M",
                    f"--active-thread-percentage={step.limits.threads}",
                )
            case Change.DELETE_NAMESPACE:
                self._run("namespace", "delete", step.namespace, f"--server={step.server}", "--force")
            case Change.RELEASE:
                self._gpus.set_compute_mode(step.gpu, ComputeMode.DEFAULT)
            case Change.DELETE_SERVER:
                self._run("server", "delete", step.server, "--force")

    def _rows(self, fields: int, *arguments: str) -> list[list[str]]:
        rows = [
            [field.strip() for field in row] for row in csv.reader(self._run(*arguments, _CSV).splitlines())
        ]
        if any(len(row) < fields for row in rows):
            raise ToolError(f"{CONTROL} does not answer as version 3 does.")
        return rows

    def _run(self, *arguments: str) -> str:
        env = {"CUDA_MPS_PIPE_DIRECTORY": str(self._directory)}
        return self._machine.run(CONTROL, "-p", "3", *arguments, env=env)


def _percentage(text: str) -> int:
    """Of 25.00; -1 for what is none."""
    try:
        return int(float(text))
    except ValueError:
        return -1


def _mebibytes(text: str) -> int:
    """Of 20G or 512M; -1 for what is none."""
    units = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}
    number, unit = text[:-1], text[-1:].upper()
    if number.isdecimal() and unit in units:
        return int(int(number) * units[unit])
    return int(text) // _MIB if text.isdecimal() else -1
