"""Simulated accelerators for trying out scheduling: devices in two sets, units, an environment variable."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from carrel.accelerators.port import Attachment, Device, whole_and_shares
from carrel.core.slots import SlotKind, SlotType
from carrel.plugins import Plugin

_FAMILY = "fake"
_UNIT = "fake.unit-1g"


class FakeAcceleratorSettings(BaseModel):
    """The numbers of devices and units."""

    model_config = ConfigDict(frozen=True)

    count: int = Field(
        default=0, ge=0, le=64, description="Whole accelerators, of which sessions may have parts."
    )
    units: int = Field(
        default=0, ge=0, le=64, description="Parts cut in advance; a container gets one at most."
    )


class FakeAccelerators:
    """Simulated devices of the family "fake": fake0, fake1, ... The first half is one set, the rest another.

    In addition units: unit0, unit1, ..., each a device used by one container exclusively, like a MIG instance.
    """

    def __init__(self, count: int, units: int = 0) -> None:
        half = (count + 1) // 2
        self._devices = (
            *(
                Device(f"{_FAMILY}{number}", _FAMILY, "Fake accelerator", number // half)
                for number in range(count)
            ),
            *(Device(f"unit{number}", _UNIT, "Unit of a fake accelerator") for number in range(units)),
        )

    def discover(self) -> Sequence[Device]:
        return self._devices

    def kinds(self) -> Sequence[SlotKind]:
        return (
            *whole_and_shares(_FAMILY, "Fake accelerator"),
            SlotKind(_UNIT, _UNIT, SlotType.UNIQUE, title="Unit of a fake accelerator", unit="unit"),
        )

    def attach(self, held: Mapping[str, int]) -> Attachment:
        """CARREL_DEVICES: "fake0:500,fake1:1000"."""
        ours = {device.id for device in self._devices}
        mine = [f"{device}:{amount}" for device, amount in sorted(held.items()) if device in ours]
        return Attachment({"CARREL_DEVICES": ",".join(mine)}) if mine else Attachment()


PLUGIN = Plugin(
    FakeAcceleratorSettings,
    lambda settings: FakeAccelerators(settings.count, settings.units),
    "Fake accelerators",
)
