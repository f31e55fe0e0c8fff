"""What containers use of the accelerators that they hold alone.

Cards report memory in use also while nobody has them, and a Gaudi process keeps its memory until it ends. So the memory
of a container is what is in use beyond the baseline: the least that was in use lately while no container held the
device. A container is labelled with the baselines of its devices when it is created, since they cannot be measured
until it is removed. Source: hl-smi of an idle HL-325L shows 672 MiB.
"""

import json
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from carrel.accelerators.port import UNKNOWN, Accelerators, DeviceMetrics, states_of
from carrel.core.slots import WHOLE
from carrel.engines.port import ContainerUsage

_SAMPLES = 12
"""For a baseline. Some of them may be of a process that was just ending or starting."""
_NOISE_BYTES = 256 << 20
"""Memory beyond the baseline that is no use yet."""


class HeldDevice(NamedTuple):
    """thousandths: of the device. baseline: bytes; None: not known."""

    thousandths: int
    baseline: int | None


Held = Mapping[str, HeldDevice]
"""What a container holds, by device."""
NO_DEVICES: Held = {}


def to_label(held: Held) -> str:
    return json.dumps(held)


def of_label(label: str | None) -> Held:
    """label: None or empty for a container without accelerators, or from before there was such a label."""
    return {device: HeldDevice(*values) for device, values in json.loads(label or "{}").items()}


class AcceleratorUse:
    """The devices of one machine, or those that others measure."""

    def __init__(self, accelerators: Sequence[Accelerators] = ()) -> None:
        self._accelerators = accelerators
        self._unallocated: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=_SAMPLES))

    def held(self, devices: Mapping[str, int]) -> Held:
        """What a new container holds. devices: device -> thousandths."""
        return {
            device: HeldDevice(thousandths, min(self._unallocated.get(device, ()), default=None))
            for device, thousandths in devices.items()
        }

    def measured(self, usages: Iterable[ContainerUsage], held: Mapping[str, Held]) -> list[ContainerUsage]:
        """The usages with their use of accelerators. held: by container, of all that run. May block."""
        metrics = {state.device.id: state.metrics for state in states_of(self._accelerators)}
        return self.combined(usages, held, metrics)

    def combined(
        self,
        usages: Iterable[ContainerUsage],
        held: Mapping[str, Held],
        measured: Mapping[str, DeviceMetrics],
    ) -> list[ContainerUsage]:
        """As `measured`, with the metrics of devices."""
        self._observe(measured, {device for each in held.values() for device in each})
        return [_with_use(usage, held.get(usage.id, {}), measured) for usage in usages]

    def _observe(self, measured: Mapping[str, DeviceMetrics], held: Collection[str]) -> None:
        for device, metrics in measured.items():
            if metrics.mem_used_bytes is not None and device not in held:
                self._unallocated[device].append(metrics.mem_used_bytes)


def _with_use(usage: ContainerUsage, held: Held, measured: Mapping[str, DeviceMetrics]) -> ContainerUsage:
    alone = {device: one for device, one in held.items() if one.thousandths == WHOLE}
    metrics = {device: measured.get(device, UNKNOWN) for device in alone}
    return replace(
        usage,
        accelerator_percent=_mean([one.utilization_percent for one in metrics.values()]),
        accelerator_mem_percent=_mean(
            [_mem_percent(metrics[device], one.baseline) for device, one in alone.items()]
        ),
    )


def _mem_percent(metrics: DeviceMetrics, baseline: int | None) -> float | None:
    used, total = metrics.mem_used_bytes, metrics.mem_total_bytes
    if used is None or not total or baseline is None:
        return None
    beyond = used - baseline
    return 100 * beyond / total if beyond > _NOISE_BYTES else 0.0


def _mean(percents: Sequence[float | None]) -> int | None:
    """None if one of them is not known. Little use of one of many devices does not become none."""
    known = [percent for percent in percents if percent is not None]
    if not known or len(known) < len(percents):
        return None
    mean = sum(known) / len(known)
    return max(round(mean), 1 if mean > 0 else 0)
