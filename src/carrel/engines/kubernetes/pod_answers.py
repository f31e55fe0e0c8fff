"""Conversion of the API server's objects to port types. Pure: decoded JSON in, port types out."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from carrel.accelerators.port import DeviceState, slots_of
from carrel.engines.kubernetes import extended_resources, pod_events, pod_folders, pod_layers, taints
from carrel.engines.kubernetes.pods import (
    LABEL_EPOCH,
    LABEL_ID,
    OCCUPIED,
    PREPARE,
    SESSION,
    devices_of,
    node_of,
)
from carrel.engines.kubernetes.quantities import quantity
from carrel.engines.kubernetes.taints import Toleration
from carrel.engines.optional import StoredImage
from carrel.engines.port import (
    ELASTIC,
    IDLE,
    LOCAL_IMAGES,
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

_KILLED = 137
_PULLS_FAILED = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_CREATES_FAILED = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError")
_NO_PROGRAM = re.compile(r"no such file or directory|executable file not found")
_CAPABILITIES = frozenset({"cpu-limit", "memory-limit", "seccomp", ELASTIC})


@dataclass(frozen=True, slots=True)
class ListedPod:
    """What is kept of a pod of ours. node: "" if it has none yet. end: as `pod_events.end`. devices: that it holds, on
    the node that was chosen for it.
    """

    uid: str
    node: str
    observed: Observed
    end: str
    devices: frozenset[str] = frozenset()
    chosen: str = ""


def listed(pod: Mapping[str, Any]) -> ListedPod:
    """What is kept of a pod of ours."""
    return ListedPod(
        pod["metadata"]["uid"],
        pod["spec"].get("nodeName") or "",
        observed(pod),
        pod_events.end(pod),
        devices_of(pod),
        node_of(pod),
    )


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a pod reserves. node: "" if it has none yet. cpu: in millicores. mem: in bytes. extended: resources of
    device plug-ins.
    """

    node: str
    cpu: int
    mem: int
    extended: Mapping[str, int] = field(default_factory=dict)


def observed(pod: Mapping[str, Any]) -> Observed:
    """The state of a pod."""
    labels, status = pod["metadata"]["labels"], pod["status"]
    state = container_state(pod, SESSION)
    running, ended = state.get("running"), state.get("terminated")
    over = ended is not None or status.get("phase") in ("Failed", "Succeeded")
    current = running or ended or {}
    started_at = current.get("startedAt")
    return Observed(
        id=labels[LABEL_ID],
        state=ObservedState.EXITED
        if over
        else ObservedState.RUNNING
        if running is not None
        else ObservedState.STARTING,
        address=status.get("podIP") if running is not None and not over else None,
        # A pod that was evicted may have no exit code.
        exit_code=(ended or {}).get("exitCode", _KILLED) if over else None,
        out_of_memory=(ended or {}).get("reason") == "OOMKilled",
        reason=pod_events.end(pod) if over else "",
        epoch=int(labels.get(LABEL_EPOCH) or 0),
        started_at=datetime.fromisoformat(started_at) if started_at else None,
        node=pod.get("spec", {}).get("nodeName", ""),
        evicted=_is_evicted(pod, over=over),
    )


def _is_evicted(pod: Mapping[str, Any], *, over: bool) -> bool:
    """True if the cluster ends the pod, or has ended it: `kubectl drain`, a lack of memory or disk, a shutdown.

    Source: https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions (1.26)
    """
    status = pod["status"]
    if status.get("phase") == "Failed" and status.get("reason"):
        # One whose process failed has no reason.
        return True
    return (over or "deletionTimestamp" in pod["metadata"]) and any(
        one["type"] == "DisruptionTarget" and one["status"] == "True"
        for one in status.get("conditions") or ()
    )


def container_state(pod: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The state of one of its containers: one of waiting, running and terminated; empty before there is one."""
    status = pod["status"]
    for one in (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())):
        if one["name"] == name:
            state: Mapping[str, Any] = one["state"]
            return state
    return {}


def image_identity(pod: Mapping[str, Any]) -> tuple[str, str]:
    """The digest and the id of the image that its main container runs; "" for what the kubelet does not say.

    Source: the kubelet's imageID: NAME@sha256:... of a pulled image, sha256:... of one that was imported into the node.
    """
    for one in pod["status"].get("containerStatuses", ()):
        if one["name"] == SESSION and one.get("imageID"):
            _, at, digest = one["imageID"].rpartition("@")
            return (digest if at else ""), digest
    return "", ""


def start_error(spec: ContainerSpec, pod: Mapping[str, Any]) -> EngineError | None:
    """The error of a start that does not succeed by itself; None while it may."""
    if spec.layer and (why := pod_layers.start_failure(pod, spec.layer)):
        return pod_layers.missing(spec.layer, why)
    for name in (PREPARE, SESSION):
        state = container_state(pod, name)
        failed = state.get("terminated") or state.get("waiting") or {}
        reason, text = failed.get("reason", ""), failed.get("message", "").rstrip(".")
        if reason in _PULLS_FAILED:
            return _image_error(spec, text)
        if reason in _CREATES_FAILED:
            return _create_error(spec, text, preparing=name == PREPARE)
        if name == PREPARE and failed.get("exitCode") == OCCUPIED:
            return MountUnusable(
                f"The image {spec.image} already has a file where a folder is to be mounted; choose another path.",
                retriable=False,
            )
        if name == PREPARE and failed.get("exitCode") == pod_folders.MISSING:
            return pod_folders.missing(spec.mounts)
        if name == PREPARE and failed.get("exitCode"):
            return EngineError("The session's home could not be prepared.", retriable=True)
    if pod["status"].get("phase") == "Failed":
        why = pod["status"].get("message") or pod["status"].get("reason") or "no reason given"
        return EngineError(f"The cluster ended it before it began: {why.rstrip('.')}.", retriable=True)
    if not spec.elastic and (message := not_placed(pod)):
        return EngineError(f"The cluster does not place it: {message}.", retriable=True)
    return None


def not_placed(pod: Mapping[str, Any], events: Iterable[Mapping[str, Any]] = ()) -> str:
    """Why the cluster has no node for it, in its words; "" if it has, or has not looked yet. An autoscaler that adds no
    machine knows better than the scheduler.
    """
    for condition in pod["status"].get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
            refused = [one for one in events if one["reason"] == "NotTriggerScaleUp"]
            message: str = (refused[-1] if refused else condition).get("message") or "no reason is given"
            return message.rstrip(".")
    return ""


def pulled(pod: Mapping[str, Any]) -> bool:
    """True if its image has just been pulled, or is there."""
    return "running" in container_state(pod, PREPARE)


def mount_error(events: Iterable[Mapping[str, Any]]) -> MountUnusable | None:
    """The error of a directory that cannot be mounted on the node; None if there is none."""
    for event in events:
        if event["reason"] != "FailedMount":
            continue
        text = event.get("message") or ""
        if match := re.search(r"hostPath type check failed: (.+) is not a directory", text):
            return MountUnusable(
                f"The directory {match[1]}, which is to be mounted, is not on the node.", retriable=True
            )
        if re.search(r'for volume "folder-\d+" : mount failed', text):
            last = text.strip().splitlines()[-1].rstrip(".")
            return MountUnusable(f"A folder cannot be mounted on the node: {last}.", retriable=True)
    return None


def _image_error(spec: ContainerSpec, text: str) -> EngineError:
    if spec.image.startswith(LOCAL_IMAGES):
        return ImageUnusable(
            f"The image {spec.image} was built on Carrel's machine: no registry has it, and neither has the node. Push "
            "it to a registry from which the cluster pulls, and use its name there, or import it into the nodes."
        )
    return pull_error(spec.image, text)


def _create_error(spec: ContainerSpec, text: str, *, preparing: bool) -> EngineError:
    if "exec format error" in text:
        return ImageUnusable(f"The image {spec.image} does not support the architecture of this node.")
    if _NO_PROGRAM.search(text):
        if preparing or spec.command[0] == IDLE[0]:
            return ImageUnusable(
                f"The image {spec.image} has no shell (/bin/sh), so a session cannot run in it."
            )
        return EngineError(
            f"The image {spec.image} cannot run the command {spec.command[0]!r}.",
            retriable=False,
            code="command_unusable",
        )
    return EngineError(f"The container could not be started: {text}.", retriable=True)


def has_user_namespaces(machine: Mapping[str, Any], handler: str) -> bool:
    """True if pods with this handler can have user namespaces on the node."""
    return any(
        one.get("name", "") == handler and (one.get("features") or {}).get("userNamespaces")
        for one in machine["status"].get("runtimeHandlers") or ()
    )


def remapped_everywhere(spec: ContainerSpec, ready: Mapping[str, Mapping[str, Any]], handler: str) -> bool:
    """True if its pod has user namespaces on each node to which it may go, of which there is at least one.

    ready: nodes by name.
    """
    if spec.elastic is None:
        suitable = [ready[spec.node]] if spec.node in ready else []
    else:
        suitable = [
            machine
            for machine in ready.values()
            if all(one.met_by(machine["metadata"].get("labels") or {}) for one in spec.elastic)
        ]
    return bool(suitable) and all(has_user_namespaces(one, handler) for one in suitable)


def nodes(
    machines: Iterable[Mapping[str, Any]],
    foreign: Iterable[Reservation],
    tolerations: Sequence[Toleration] = (),
    *,
    ours: Iterable[ListedPod] = (),
    extended: Collection[str] = (),
) -> tuple[NodeInfo, ...]:
    """The cluster's machines. foreign: what pods of others reserve, which is not offered. tolerations: of ours.

    ours: our pods. extended: see `extended_resources.kind_of`. Its units, which have states of devices, are never known
    to be out of order.
    """
    by_node: defaultdict[str, list[Reservation]] = defaultdict(list)
    for one in foreign:
        by_node[one.node].append(one)
    held: defaultdict[str, set[str]] = defaultdict(set)
    for pod in ours:
        held[pod.chosen] |= pod.devices
    return tuple(
        _with_devices(
            _node(machine, by_node[name], tolerations),
            extended_resources.offered(machine, _extended(by_node[name]), held[name], extended),
        )
        for machine in machines
        for name in (machine["metadata"]["name"],)
    )


def _extended(reservations: Iterable[Reservation]) -> Mapping[str, int]:
    return sum((Counter(one.extended) for one in reservations), Counter())


def _with_devices(node: NodeInfo, offer: extended_resources.UnitOffer) -> NodeInfo:
    return replace(
        node,
        devices=offer.devices,
        device_states=tuple(DeviceState(unit, identified=False) for unit in offer.units),
        slot_kinds=offer.kinds,
        slots={**node.slots, **slots_of(offer.devices, offer.kinds)},
    )


def _node(
    machine: Mapping[str, Any], foreign: Sequence[Reservation], tolerations: Sequence[Toleration]
) -> NodeInfo:
    status = machine["status"]
    allocatable = status["allocatable"]
    return NodeInfo(
        name=machine["metadata"]["name"],
        architecture=status["nodeInfo"]["architecture"],
        slots={
            "cpu": max(quantity(allocatable["cpu"], 1000) - sum(one.cpu for one in foreign), 0),
            "mem": max(quantity(allocatable["memory"]) - sum(one.mem for one in foreign), 0),
        },
        engine=f"Kubernetes {status['nodeInfo']['kubeletVersion'].removeprefix('v')}",
        capabilities=_CAPABILITIES,
        images=frozenset(name for image in status.get("images", ()) for name in image.get("names") or ()),
        labels=dict(machine["metadata"].get("labels") or {}),
        closed=taints.closed(machine, tolerations),
        ending=taints.ending(machine),
    )


def images(machine: Mapping[str, Any]) -> tuple[StoredImage, ...]:
    """The images on a node, identified by their first digest: the cluster does not tell their ids."""
    stored = []
    for one in machine["status"].get("images", ()):
        names = one.get("names") or ()
        digests = tuple(name for name in names if "@" in name)
        references = tuple(name for name in names if "@" not in name)
        if names:
            key = digests[0].partition("@")[2] if digests else names[0]
            stored.append(StoredImage(key, references, one["sizeBytes"], digests=digests))
    return tuple({one.id: one for one in stored}.values())


def reservation(pod: Mapping[str, Any]) -> Reservation:
    """What a pod reserves on its node: the largest of what it needs at once."""

    def requests_of(container: Mapping[str, Any]) -> Mapping[str, str]:
        return (container.get("resources") or {}).get("requests") or {}

    def requested(container: Mapping[str, Any]) -> tuple[int, int]:
        requests = requests_of(container)
        return quantity(requests.get("cpu", "0"), 1000), quantity(requests.get("memory", "0"))

    spec = pod["spec"]
    initial = spec.get("initContainers") or ()
    # Those that are restarted run beside the main containers.
    steady = [*spec["containers"], *(one for one in initial if one.get("restartPolicy") == "Always")]
    running = [requested(one) for one in steady]
    before = [requested(one) for one in initial]
    overhead = requested({"resources": {"requests": spec.get("overhead") or {}}})
    cpu, mem = (
        max(sum(one[kind] for one in running), *(one[kind] for one in before), 0) + overhead[kind]
        for kind in (0, 1)
    )
    extended = sum((extended_resources.requested(requests_of(one)) for one in steady), Counter[str]())
    for one in initial:
        extended |= extended_resources.requested(requests_of(one))
    return Reservation(spec.get("nodeName") or "", cpu, mem, extended)


def usages(summary: Mapping[str, Any], ours: Mapping[str, str]) -> Iterable[ContainerUsage]:
    """Readings from a node's summary. ours: uid of a pod -> id of its container."""
    for pod in summary.get("pods", ()):
        container = ours.get(pod["podRef"]["uid"])
        stats = next((one for one in pod.get("containers", ()) if one["name"] == SESSION), None)
        if container is None or stats is None or "usageCoreNanoSeconds" not in stats.get("cpu", {}):
            continue
        interfaces = (pod.get("network") or {}).get("interfaces") or ()
        disk = [stats.get("rootfs") or {}, *(one for one in pod.get("volume", ()) if one["name"] == SESSION)]
        measured = [one["usedBytes"] for one in disk if "usedBytes" in one]
        yield ContainerUsage(
            container,
            cpu_ns=stats["cpu"]["usageCoreNanoSeconds"],
            mem_bytes=(stats.get("memory") or {}).get("workingSetBytes", 0),
            rx_bytes=sum(one.get("rxBytes", 0) for one in interfaces) if interfaces else None,
            tx_bytes=sum(one.get("txBytes", 0) for one in interfaces) if interfaces else None,
            disk_bytes=sum(measured) if len(measured) == len(disk) > 1 else None,
        )
