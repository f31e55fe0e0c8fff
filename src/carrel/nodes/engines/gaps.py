"""What an engine cannot do, of what sessions on other engines can."""

from collections.abc import Iterable
from enum import StrEnum

from carrel.engines.optional import (
    LIVE_LIMITS,
    NETWORK_POLICY,
    DiskMetering,
    HostMetering,
    LayerPulling,
    Remote,
    SelfTesting,
)
from carrel.engines.port import (
    DISK_LIMIT,
    IN_PLACE_RESTART,
    LOG_STREAMS,
    OOM_EVENTS,
    ROOT_INSIDE,
    Engine,
    NodeInfo,
)


class Gap(StrEnum):
    UNPROTECTED = "unprotected"
    NETWORK_POLICY = "network_policy"
    ACCELERATORS = "accelerators"
    ROOT = "root"
    DISK_LIMITS = "disk_limits"
    RESIZING = "resizing"
    FILES = "files"
    LOG_STREAMS = "log_streams"
    OOM_EVENTS = "oom_events"
    HOST_USAGE = "host_usage"
    DISK_WATCH = "disk_watch"
    APP_LAYER = "app_layer"


SENTENCES = {
    Gap.UNPROTECTED: "Its connection is not protected: whoever is on the way to it can read and change everything.",
    Gap.NETWORK_POLICY: "Sessions may reach each other and the cluster: it is not known to enforce network policies.",
    Gap.ACCELERATORS: "It offers no accelerators.",
    Gap.ROOT: "Sessions cannot have root inside.",
    Gap.DISK_LIMITS: "What sessions write outside their folders is not limited.",
    Gap.RESIZING: "CPU and memory of running sessions cannot be changed.",
    Gap.FILES: "A session whose container has ended starts again without its files outside folders.",
    Gap.LOG_STREAMS: "Logs do not tell standard output and errors apart.",
    Gap.OOM_EVENTS: "That the memory limit ended a process is only known of the main process.",
    Gap.HOST_USAGE: "The load of whole machines is not measured.",
    Gap.DISK_WATCH: "Disks that fill quickly are noticed late.",
    Gap.APP_LAYER: "Sessions have only the programs of their images: no app layer is named.",
}
_CAPABILITIES = {
    Gap.ROOT: ROOT_INSIDE,
    Gap.DISK_LIMITS: DISK_LIMIT,
    Gap.RESIZING: LIVE_LIMITS,
    Gap.FILES: IN_PLACE_RESTART,
    Gap.LOG_STREAMS: LOG_STREAMS,
    Gap.OOM_EVENTS: OOM_EVENTS,
}
_PROTOCOLS = {
    Gap.HOST_USAGE: HostMetering,
    Gap.DISK_WATCH: DiskMetering,
}


def gaps(engine: Engine, nodes: Iterable[NodeInfo]) -> list[Gap]:
    """What the engine cannot do on any of its nodes."""
    there = list(nodes)
    capable = frozenset().union(*(one.capabilities for one in there))
    missing = {gap for gap, capability in _CAPABILITIES.items() if capability not in capable}
    missing |= {gap for gap, protocol in _PROTOCOLS.items() if not isinstance(engine, protocol)}
    if isinstance(engine, Remote) and not engine.protected:
        missing.add(Gap.UNPROTECTED)
    if isinstance(engine, SelfTesting) and NETWORK_POLICY not in capable:
        missing.add(Gap.NETWORK_POLICY)
    if isinstance(engine, LayerPulling) and not engine.layer:
        missing.add(Gap.APP_LAYER)
    if not any(one.devices for one in there):
        missing.add(Gap.ACCELERATORS)
    return [gap for gap in Gap if gap in missing]
