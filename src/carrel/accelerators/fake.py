"""Accelerators that are not there, to try scheduling with: two sets of near ones, and an environment variable."""

from collections.abc import Mapping, Sequence

from carrel.accelerators.port import Attachment, Device

_FAMILY = "fake"


class FakeAccelerators:
    """So many devices of the family "fake": fake0, fake1, ... The first half of them is one set, the rest another."""

    def __init__(self, count: int) -> None:
        half = (count + 1) // 2
        self._devices = tuple(
            Device(f"{_FAMILY}{number}", _FAMILY, "Fake accelerator", number // half)
            for number in range(count)
        )

    def discover(self) -> Sequence[Device]:
        return self._devices

    def attach(self, held: Mapping[str, int]) -> Attachment:
        """CARREL_DEVICES: "fake0:500,fake1:1000"."""
        ours = {device.id for device in self._devices}
        mine = [f"{device}:{amount}" for device, amount in sorted(held.items()) if device in ours]
        return Attachment({"CARREL_DEVICES": ",".join(mine)}) if mine else Attachment()
