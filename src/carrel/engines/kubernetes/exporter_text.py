"""What exporters of vendors say of devices, from the text format of Prometheus. Pure.

Sources: documentation of NVIDIA's DCGM exporter, AMD's device metrics exporter, Intel Gaudi's metric exporter and
Rebellions' metrics exporter. DCGM writes what it does not know as a number near 2^31, 2^47 or 2^63.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from carrel.accelerators.port import DeviceMetrics

_MIB = 1 << 20
_FREE = "mem_free_bytes"
_DEVICE = ("UUID", "uuid", "gpu_uuid", "serial_number")
_POD = ("exported_pod", "pod", "pod_name")
_NAMESPACE = ("exported_namespace", "namespace", "pod_namespace")
_MIG = "GPU_I_ID"
"""What is measured of a MIG instance has the UUID of its GPU."""


class _Scaled(NamedTuple):
    field: str
    scale: float = 1


_SERIES: Mapping[str, _Scaled] = {
    "dcgm_fi_dev_gpu_util": _Scaled("utilization_percent"),
    "dcgm_fi_dev_fb_used": _Scaled("mem_used_bytes", _MIB),
    "dcgm_fi_dev_fb_free": _Scaled(_FREE, _MIB),
    "dcgm_fi_dev_fb_total": _Scaled("mem_total_bytes", _MIB),
    "dcgm_fi_dev_gpu_temp": _Scaled("temperature_c"),
    "dcgm_fi_dev_power_usage": _Scaled("power_w"),
    "gpu_gfx_activity": _Scaled("utilization_percent"),
    "gpu_used_vram": _Scaled("mem_used_bytes", _MIB),
    "gpu_total_vram": _Scaled("mem_total_bytes", _MIB),
    "gpu_junction_temperature": _Scaled("temperature_c"),
    "gpu_package_power": _Scaled("power_w"),
    "habanalabs_utilization": _Scaled("utilization_percent"),
    "habanalabs_memory_used_bytes": _Scaled("mem_used_bytes"),
    "habanalabs_memory_total_bytes": _Scaled("mem_total_bytes"),
    "habanalabs_temperature_onchip": _Scaled("temperature_c"),
    "habanalabs_power_mw": _Scaled("power_w", 0.001),
    # Versions differ in the unit of memory.
    "rbln_device_status:utilization": _Scaled("utilization_percent"),
    "rbln_device_status:temperature": _Scaled("temperature_c"),
    "rbln_device_status:card_power": _Scaled("power_w"),
}
"""By name in lower case, without the prefix of AMD's exporter."""
_MOST = {"utilization_percent": 100.0, "temperature_c": 250.0, "power_w": 10_000.0}
_MOST_BYTES = float(1 << 44)


@dataclass(frozen=True, slots=True)
class ExporterReading:
    """device: its UUID or serial. pod: namespace and name of the pod that has it; None: not known."""

    device: str
    pod: tuple[str, str] | None
    metrics: DeviceMetrics


def read(text: str) -> Sequence[ExporterReading]:
    """The devices, by name. Raises: ValueError for other formats."""
    values: dict[str, dict[str, float]] = {}
    pods: dict[str, tuple[str, str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            series = _SERIES.get(sample.name.lower().removeprefix("amd_"))
            device = _first(sample.labels, _DEVICE)
            if series is None or not device or sample.labels.get(_MIG):
                continue
            number = sample.value * series.scale
            if 0 <= number <= _MOST.get(series.field, _MOST_BYTES):
                values.setdefault(device, {})[series.field] = number
            if pod := _first(sample.labels, _POD):
                pods[device] = _first(sample.labels, _NAMESPACE), pod
    return [
        ExporterReading(device, pods.get(device), _metrics(known)) for device, known in sorted(values.items())
    ]


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _metrics(known: Mapping[str, float]) -> DeviceMetrics:
    used, total = known.get("mem_used_bytes"), known.get("mem_total_bytes")
    if total is None and used is not None and _FREE in known:
        total = used + known[_FREE]
    return DeviceMetrics(
        known.get("utilization_percent"),
        None if used is None else round(used),
        None if total is None else round(total),
        known.get("temperature_c"),
        known.get("power_w"),
    )


@dataclass(frozen=True, slots=True)
class ReadingIndex:
    """by_identity: by UUID or serial in lower case. by_pod: of the devices of each pod, in their order."""

    by_identity: Mapping[str, DeviceMetrics]
    by_pod: Mapping[tuple[str, str], Sequence[DeviceMetrics]]


def indexed(readings: Iterable[ExporterReading]) -> ReadingIndex:
    """The readings, to look up the devices of many nodes in."""
    by_identity: dict[str, DeviceMetrics] = {}
    by_pod: defaultdict[tuple[str, str], list[DeviceMetrics]] = defaultdict(list)
    for one in readings:
        by_identity[one.device.lower()] = one.metrics
        if one.pod is not None:
            by_pod[one.pod].append(one.metrics)
    return ReadingIndex(by_identity, by_pod)


def by_device(
    measured: ReadingIndex, devices: Iterable[str], holders: Mapping[tuple[str, str], Iterable[str]]
) -> Mapping[str, DeviceMetrics]:
    """The metrics of a node's devices: by the UUID in their ids; of units, by the pods that hold them.

    holders: the devices of each of our pods there. A pod's units are not told apart by the cluster: they have the
    metrics of its devices in their order.
    """
    known = {
        device: metrics
        for device in devices
        if (metrics := measured.by_identity.get(device.rpartition("/")[2].lower())) is not None
    }
    for pod, held in holders.items():
        units = sorted(device for device in held if device not in known)
        its = measured.by_pod.get(pod, ())
        if len(its) == len(units):
            known |= dict(zip(units, its, strict=True))
    return known
