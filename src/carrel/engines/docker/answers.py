"""Conversion of the daemon's responses to port types. Pure: decoded JSON in, port types out."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import aiodocker

from carrel.engines import runtimes
from carrel.engines.accelerated import cannot_attach
from carrel.engines.docker.api import disk_full
from carrel.engines.docker.container_config import LABEL_EPOCH, LABEL_ID
from carrel.engines.docker.daemon_events import LastRun
from carrel.engines.docker.rights import has_remapping
from carrel.engines.optional import LIVE_LIMITS
from carrel.engines.port import (
    IDLE,
    IN_PLACE_RESTART,
    LOG_STREAMS,
    OOM_EVENTS,
    ROOT_INSIDE,
    CommandBegun,
    ContainerGone,
    ContainerSpec,
    ContainerUsage,
    EngineError,
    ImageUnusable,
    MountUnusable,
    NodeInfo,
    Observed,
    ObservedState,
)
from carrel.engines.pulling import pull_error
from carrel.engines.refused import RefusedProcess, forbidden, missing, unstartable

_NO_TAG = "<none>:<none>"
_PODMAN_WITH_CDI = (5, 4)
_STATES = {
    "created": ObservedState.STARTING,
    "restarting": ObservedState.STARTING,
    "running": ObservedState.RUNNING,
    "paused": ObservedState.RUNNING,
}


def observed(inspected: Mapping[str, Any]) -> Observed:
    """The state from an inspection; `out_of_memory` only from the daemon's flag, which is set on exit."""
    state = inspected["State"]
    labels = inspected["Config"]["Labels"]
    mapped = _STATES.get(state["Status"], ObservedState.EXITED)
    # A container that failed to start has the state "created", with an exit code and an error.
    ended = mapped is ObservedState.EXITED
    return Observed(
        id=labels[LABEL_ID],
        state=mapped,
        address=address(inspected) if mapped is ObservedState.RUNNING else None,
        exit_code=state["ExitCode"] if ended else None,
        out_of_memory=bool(state["OOMKilled"]),
        epoch=int(labels.get(LABEL_EPOCH) or 0),
        started_at=_time(state["StartedAt"]),
    )


def created(row: Mapping[str, Any]) -> Observed:
    """The state of a container that was never started, from its row of the list."""
    labels = row["Labels"]
    return Observed(
        id=labels[LABEL_ID],
        state=_STATES["created"],
        address=None,
        epoch=int(labels.get(LABEL_EPOCH) or 0),
    )


def succeeded(row: Mapping[str, Any], run: LastRun | None) -> Observed | None:
    """The state of a container whose process has succeeded, from its row of the list and its last run; None for others.

    Without `out_of_memory`, which events tell.
    """
    if row["State"] != "exited" or run is None or run.exit_code != 0:
        return None
    labels = row["Labels"]
    return Observed(
        id=labels[LABEL_ID],
        state=ObservedState.EXITED,
        address=None,
        exit_code=0,
        epoch=int(labels.get(LABEL_EPOCH) or 0),
        started_at=run.started_at,
    )


def has_run(inspected: Mapping[str, Any]) -> bool:
    """True if the container was ever started."""
    return _time(inspected["State"]["StartedAt"]) is not None


def address(answer: Mapping[str, Any]) -> str | None:
    """The container's address, from an inspection or a row of the list."""
    for network in ((answer.get("NetworkSettings") or {}).get("Networks") or {}).values():
        if network.get("IPAddress"):
            return str(network["IPAddress"])
    return None


def _time(text: str) -> datetime | None:
    """A time of the daemon, which writes year 1 for never and nanoseconds, which `fromisoformat` rejects."""
    if text.startswith("0001-"):
        return None
    seconds, dot, fraction = text.partition(".")
    if not dot:
        return datetime.fromisoformat(text)
    digits = fraction.rstrip("Z").split("+")[0].split("-")[0]
    zone = fraction[len(digits) :]
    return datetime.fromisoformat(f"{seconds}.{digits[:6]:0<6}{zone}")


def usage(
    container: str, stats: Mapping[str, Any] | None, *, disk_bytes: int | None = None
) -> ContainerUsage | None:
    """Usage from one reading of the daemon's statistics; None if the container no longer runs."""
    # The response is empty if the container is just exiting.
    memory = (stats or {}).get("memory_stats") or {}
    if stats is None or "usage" not in memory:
        return None
    detail = memory.get("stats") or {}
    # Reclaimable page cache: the first name is cgroup v1's, the second v2's.
    cache_bytes = detail.get("total_inactive_file", detail.get("inactive_file", 0))
    return ContainerUsage(
        container,
        cpu_ns=stats["cpu_stats"]["cpu_usage"]["total_usage"],
        mem_bytes=max(memory["usage"] - cache_bytes, 0),
        read_bytes=_transferred(stats, "read"),
        write_bytes=_transferred(stats, "write"),
        rx_bytes=_through_networks(stats, "rx_bytes"),
        tx_bytes=_through_networks(stats, "tx_bytes"),
        disk_bytes=disk_bytes,
    )


def _transferred(stats: Mapping[str, Any], direction: str) -> int | None:
    """Bytes of disk I/O; the daemon reports no devices where its kernel does not count them, or before the first."""
    devices = (stats.get("blkio_stats") or {}).get("io_service_bytes_recursive")
    if not devices:
        return None
    return sum(int(device["value"]) for device in devices if device["op"].lower() == direction)


def _through_networks(stats: Mapping[str, Any], counter: str) -> int | None:
    networks = stats.get("networks")
    return sum(int(network[counter]) for network in networks.values()) if networks else None


def node(
    info: Mapping[str, Any],
    version: Mapping[str, Any],
    images: Sequence[Mapping[str, Any]],
    capabilities: frozenset[str],
) -> NodeInfo:
    """The daemon's machine. images: its image list. found: capabilities probed elsewhere."""
    options = " ".join(info.get("SecurityOptions") or ())
    claims = {
        IN_PLACE_RESTART: True,
        LOG_STREAMS: True,
        OOM_EVENTS: _product(version) == "Docker" and bool(info.get("MemoryLimit")),
        "init": has_init(version),
        "seccomp": has_seccomp(info),
        "apparmor": "name=apparmor" in options,
        "rootless": "name=rootless" in options,
        ROOT_INSIDE: has_remapping(info),
        LIVE_LIMITS: _product(version) == "Docker" and bool(info.get("MemoryLimit")),
        "cgroup-v2": str(info.get("CgroupVersion")) == "2",
        "memory-limit": bool(info.get("MemoryLimit")),
        "swap-limit": bool(info.get("SwapLimit")),
        "cpu-limit": bool(info.get("CpuCfsQuota")),
        "pids-limit": bool(info.get("PidsLimit")),
    }
    return NodeInfo(
        name=info["Name"],
        architecture=info["Architecture"],
        slots={"cpu": info["NCPU"] * 1000, "mem": info["MemTotal"]},
        engine=f"{_product(version)} {version.get('Version', '')}".strip(),
        capabilities=capabilities
        | {claim for claim, holds in claims.items() if holds}
        | {runtimes.capability(name) for name in offered_runtimes(info, version)},
        images=frozenset(tag for image in images for tag in image.get("RepoTags") or () if tag != _NO_TAG),
        labels=dict(label.partition("=")[::2] for label in info.get("Labels") or ()),
    )


def offered_runtimes(info: Mapping[str, Any], version: Mapping[str, Any]) -> Mapping[str, Any]:
    """The runtimes that containers can have. Podman's API ignores the choice, and lists runtimes that are not
    installed.
    """
    return info.get("Runtimes") or {} if _product(version) == "Docker" else {}


def has_cdi(info: Mapping[str, Any], version: Mapping[str, Any]) -> bool:
    """True if the daemon injects devices by the Container Device Interface.

    Docker lists the directories of the specifications; off by default before Docker 28. Podman has it always, and its
    API honors requests since 5.4 (containers/podman, pull request 25171); earlier ones ignore them.
    """
    if _product(version) == "Docker":
        return bool(info.get("CDISpecDirs"))
    return (
        tuple(int(part) for part in re.findall(r"[0-9]+", version.get("Version", ""))[:2]) >= _PODMAN_WITH_CDI
    )


def has_seccomp(info: Mapping[str, Any]) -> bool:
    """True if the daemon supports seccomp."""
    return "name=seccomp" in " ".join(info.get("SecurityOptions") or ())


def has_init(version: Mapping[str, Any]) -> bool:
    """True if the daemon has a working docker-init."""
    parts = {part["Name"]: part for part in version.get("Components") or ()}
    return parts.get("docker-init", {}).get("Version", "") not in ("", "N/A")


def _product(version: Mapping[str, Any]) -> str:
    podman = any("podman" in part["Name"].lower() for part in version.get("Components") or ())
    return "Podman" if podman else "Docker"


def is_taken(error: aiodocker.DockerError) -> bool:
    """True if another container has the name. Podman has no status of its own for it."""
    return error.status == 409 or "is already in use by" in error.message


def create_error(spec: ContainerSpec, error: aiodocker.DockerError) -> EngineError:
    """The error of a failed container creation."""
    text = error.message.rstrip(".")
    if full := disk_full(text):
        return full
    if lost := _lost_source(text) or _lost_node(text):
        return lost
    if error.status == 404 or "invalid reference format" in text:
        return pull_error(spec.image, text)
    # 400: the request is invalid, so a retry does not help.
    return EngineError(f"The container could not be created: {text}.", retriable=error.status != 400)


def start_error(spec: ContainerSpec, error: aiodocker.DockerError) -> EngineError:
    """The error of a failed start: removed meanwhile, unsuitable image, wrong command, or the engine."""
    text = error.message.rstrip(".")
    if full := disk_full(text):
        return full
    if lost := _lost_source(text) or _lost_node(text):
        return lost
    if error.status == 404 and "No such container" in text:
        return ContainerGone(f"The container {spec.id} was removed while it was starting.")
    if spec.mounts and "not a directory" in text:
        return _in_the_way(spec)
    if "exec format error" in text:
        return ImageUnusable(f"The image {spec.image} does not support the architecture of this machine.")
    missing = any(sign in text for sign in ("no such file or directory", "executable file not found"))
    if missing and spec.command[0] == IDLE[0]:
        return ImageUnusable(
            f"The image {spec.image} has no shell (/bin/sh), so a session cannot run in it without the app layer."
        )
    if missing or ("permission denied" in text and "exec" in text):
        return EngineError(
            f"The shell of the image {spec.image} may not be run by its users."
            if spec.command[0] == IDLE[0]
            else f"The image {spec.image} cannot run the command {spec.command[0]!r}.",
            retriable=False,
            code="command_unusable",
        )
    if text.startswith("task ") and text.endswith("already exists"):
        # Containerd or the daemon crashed and lost the container but not its processes; the Docker API cannot repair
        # that.
        lost_track = (
            "The container engine lost track of the container's processes and does not start it again"
        )
        if spec.once:
            return CommandBegun(f"{lost_track}; its command may have run.")
        return EngineError(f"{lost_track}; end the session and make another.", retriable=True)
    return EngineError(f"The container could not be started: {text}.", retriable=True)


def link_error(spec: ContainerSpec, error: aiodocker.DockerError) -> EngineError:
    """The error if the links to the container's folders could not be created."""
    text = error.message.rstrip(".")
    if full := disk_full(text):
        return full
    if lost := _lost_source(text):
        return lost
    if "cannot overwrite" in text or "not a directory" in text:
        return _in_the_way(spec)
    return EngineError(f"The folders could not be mounted: {text}.", retriable=True)


def _in_the_way(spec: ContainerSpec) -> MountUnusable:
    return MountUnusable(
        f"The image {spec.image} already has a file where a folder is to be mounted; choose another path.",
        retriable=False,
    )


_NO_SOURCE = re.compile(
    r"bind source path does not exist: (.+)|error while creating mount source path '(.+?)'"
)


def _lost_source(text: str) -> MountUnusable | None:
    """The error if a mount source is missing; None for other errors."""
    match = _NO_SOURCE.search(text)
    if match is None:
        return None
    return MountUnusable(
        f"The directory {match[1] or match[2]}, which is to be mounted, is not on the engine's machine.",
        retriable=True,
    )


_NO_NODE = re.compile(r"adding custom device [\"'](.+?)[\"']|stat (/dev/\S+?): no such file or directory")
_NO_CDI_DEVICE = re.compile(r"unresolvable CDI devices (\S+(?:, \S+)*)")


def _lost_node(text: str) -> EngineError | None:
    """The error if a device file or CDI device is missing; None for other errors."""
    if match := _NO_NODE.search(text):
        return cannot_attach(
            f"The device file {match[1] or match[2]} of its accelerators is not on the engine's machine."
        )
    if match := _NO_CDI_DEVICE.search(text):
        return cannot_attach(f"No CDI specification of the engine's machine has its accelerators {match[1]}.")
    return None


_NO_PROCESS = re.compile(
    r"^(?:Error: )?(?:OCI runtime exec failed: |(?:crun|runc): )(.+?)(?:: unknown)?\s*$", re.DOTALL
)
_NO_FILE = re.compile(
    r'executable file (?:not found|`[^`]*` not found)|exec: "[^"]*": .*no such file or directory'
)
_NO_PROGRAM = re.compile(
    r'exec: "[^"]*": .*permission denied|open executable: permission denied', re.IGNORECASE
)


def unstarted(name: str, text: str, *, with_terminal: bool) -> RefusedProcess | None:
    """The result of a command that failed to start, from the runtime's message; None if this is not such a message."""
    match = _NO_PROCESS.match(text)
    if match is None:
        return None
    if _NO_FILE.search(match[1]):
        return missing(name, with_terminal=with_terminal)
    if _NO_PROGRAM.search(match[1]):
        return forbidden(name, with_terminal=with_terminal)
    return unstartable(name, match[1], with_terminal=with_terminal)
