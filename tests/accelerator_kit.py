"""Accelerators whose condition and measurements a test chooses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from carrel.accelerators.port import (
    Attachment,
    Device,
    DeviceMetrics,
    DeviceState,
    whole_and_shares,
)
from carrel.core.slots import SlotKind


class ScriptedDevices:
    """npu0, npu1, ... of the family npu; a device with a problem is unhealthy at once."""

    def __init__(self, *metrics: DeviceMetrics) -> None:
        self._states = {
            f"npu{number}": DeviceState(Device(f"npu{number}", "npu"), metrics=one)
            for number, one in enumerate(metrics)
        }

        self._broken: set[str] = set()

    def measure(self, device: str, metrics: DeviceMetrics) -> None:
        self._states[device] = replace(self._states[device], metrics=metrics)

    def fail(self, device: str, problem: str) -> None:
        self._states[device] = replace(self._states[device], healthy=False, problem=problem)

    def recover(self, device: str) -> None:
        self._states[device] = replace(self._states[device], healthy=True, problem="")

    def lose(self, device: str) -> None:
        """As after a restart of its driver, which does not know it."""
        del self._states[device]

    def break_(self, device: str) -> None:
        """Containers get nothing of it, which no reading shows."""
        self._broken.add(device)

    def mend(self, device: str) -> None:
        self._broken.discard(device)

    def states(self) -> Sequence[DeviceState]:
        return list(self._states.values())

    def discover(self) -> Sequence[Device]:
        return [state.device for state in self.states() if state.healthy]

    def kinds(self) -> Sequence[SlotKind]:
        return whole_and_shares("npu")

    def attach(self, held: Mapping[str, int]) -> Attachment:
        given = sorted(held.keys() - self._broken)
        return Attachment(env={"NPU_DEVICES": ",".join(given)}) if given else Attachment()
