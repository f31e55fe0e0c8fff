"""The devices of a cluster's nodes: of device plug-ins and of drivers with claims, and what is measured of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from carrel.accelerators.port import UNKNOWN, DeviceMetrics, slots_of
from carrel.core.slots import WHOLE, SlotKind
from carrel.engines.accelerator_use import AcceleratorUse, Held
from carrel.engines.kubernetes import exporter_text
from carrel.engines.kubernetes.claimed_devices import ClaimedDevices
from carrel.engines.kubernetes.device_classes import DeviceOffer
from carrel.engines.kubernetes.device_metrics import DeviceMetricsReader
from carrel.engines.kubernetes.pod_answers import ListedPod
from carrel.engines.kubernetes.pods import PodNames
from carrel.engines.port import ContainerUsage, NodeInfo

_NONE = DeviceOffer((), ())


class ClusterDevices:
    """claimed: devices of drivers. metrics: of all."""

    def __init__(self, names: PodNames, claimed: ClaimedDevices, metrics: DeviceMetricsReader) -> None:
        self._names, self._claimed, self._metrics = names, claimed, metrics
        self._use = AcceleratorUse()
        self._seen: Mapping[str, Collection[str]] = {}
        """The devices of each node, when they were listed last."""

    async def added(
        self,
        nodes: Sequence[NodeInfo],
        machines: Collection[Mapping[str, Any]],
        ours: Collection[ListedPod],
    ) -> Sequence[NodeInfo]:
        """The nodes with devices of drivers, and with what is measured. Raises: ApiError, EngineUnavailable."""
        held: defaultdict[str, set[str]] = defaultdict(set)
        for pod in ours:
            held[pod.chosen] |= pod.devices
        offers = await self._claimed.offered(held)
        complete = [_with(node, offers.get(node.name, _NONE), self._claimed.kinds) for node in nodes]
        if not self._metrics.measures:
            # Of units of device plug-ins, nothing is known.
            return [replace(node, device_states=offers.get(node.name, _NONE).states) for node in complete]
        self._seen = {node.name: [one.device.id for one in node.device_states] for node in complete}
        measured = self._measured(machines, ours)
        return [
            replace(
                node,
                device_states=tuple(
                    replace(state, metrics=measured.get((node.name, state.device.id), UNKNOWN))
                    for state in node.device_states
                ),
            )
            for node in complete
        ]

    def used(
        self,
        usages: Sequence[ContainerUsage],
        machines: Collection[Mapping[str, Any]],
        ours: Iterable[ListedPod],
    ) -> Sequence[ContainerUsage]:
        """The usages with their use of accelerators, where it is measured."""
        if not self._metrics.measures:
            return usages
        pods = [pod for pod in ours if pod.devices]
        measured = {_key(*where): one for where, one in self._measured(machines, pods).items()}
        held: dict[str, Held] = {
            pod.observed.id: self._use.held({_key(pod.chosen, device): WHOLE for device in pod.devices})
            for pod in pods
        }
        return self._use.combined(usages, held, measured)

    def _measured(
        self, machines: Collection[Mapping[str, Any]], ours: Iterable[ListedPod]
    ) -> Mapping[tuple[str, str], DeviceMetrics]:
        """By node and device."""
        latest = self._metrics.latest([one for one in machines if self._seen.get(one["metadata"]["name"])])
        holders: defaultdict[str, dict[tuple[str, str], Collection[str]]] = defaultdict(dict)
        for pod in ours:
            if pod.devices:
                name = self._names.namespace, self._names.pod(pod.observed.id)
                holders[pod.chosen][name] = pod.devices
        return {
            (node, device): metrics
            for node, devices in self._seen.items()
            for device, metrics in exporter_text.by_device(latest, devices, holders[node]).items()
        }


def _with(node: NodeInfo, offer: DeviceOffer, kinds: Collection[SlotKind]) -> NodeInfo:
    families = {state.device.family for state in offer.states}
    own = tuple(kind for kind in kinds if kind.family in families)
    slot_kinds = tuple({kind.name: kind for kind in (*node.slot_kinds, *own)}.values())
    devices = (*node.devices, *offer.devices)
    return replace(
        node,
        devices=devices,
        device_states=(*node.device_states, *offer.states),
        slot_kinds=slot_kinds,
        slots={**node.slots, **slots_of(devices, slot_kinds)},
    )


def _key(node: str, device: str) -> str:
    return f"{node}/{device}"
