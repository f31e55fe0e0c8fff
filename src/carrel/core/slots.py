"""Kinds of slots of accelerators, as data for scheduler, admission and clients.

Every node has `cpu` (millicores) and `mem` (bytes); every other slot has a `SlotKind`, declared by a plug-in.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

WHOLE = 1000
"""Thousandths of a whole device."""
SHARES_SUFFIX = ".shares"
"""Shares of a family are named FAMILY.shares, and no other slot has this suffix: readers and writers of amounts (API,
command line, page) know the unit by the name, even before a node has declared it. `SlotKind` rejects other names.
"""


class SlotType(StrEnum):
    """COUNT: whole devices. SHARES: thousandths of devices. UNIQUE: whole devices, at most one per container."""

    COUNT = "count"
    SHARES = "shares"
    UNIQUE = "unique"


@dataclass(frozen=True, slots=True)
class SlotKind:
    """A way to request the devices of a family.

    name: FAMILY.WORD, such as cuda.device, cuda.shares or cuda.mig-1g.18gb. family: of devices; all slots of a family
    use the same devices, and a container requests only one of them. quantum: amounts are multiples of it. allowed: the
    only valid amounts, such as (1, 2, 4, 8); empty: any. title: for people, such as "GPU (H200)". unit: name of one
    unit, such as "GPU"; for shares the name of 1000.
    Raises: ValueError for an inconsistent definition.
    """

    name: str
    family: str
    type: SlotType
    quantum: int = 1
    allowed: tuple[int, ...] = ()
    title: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        shares = self.family + SHARES_SUFFIX
        if self.type is SlotType.SHARES and self.name != shares:
            raise ValueError(f"{self.name}: the shares of {self.family} are named {shares}")
        if self.type is not SlotType.SHARES and self.name.endswith(SHARES_SUFFIX):
            raise ValueError(f"{self.name}: only shares have a name that ends in {SHARES_SUFFIX}")
        if "." not in self.name or self.quantum < 1 or any(amount < 1 for amount in self.allowed):
            raise ValueError(f"{self.name} is no kind of slot")

    @property
    def thousandths(self) -> int:
        """Thousandths of a device per unit."""
        return 1 if self.type is SlotType.SHARES else WHOLE

    @property
    def scale(self) -> int:
        """The amount displayed as one: 1000 shares are a device."""
        return WHOLE if self.type is SlotType.SHARES else 1

    def allows(self, amount: int) -> bool:
        """True if the amount is valid for a container."""
        if self.type is SlotType.UNIQUE and amount > 1:
            return False
        return amount % self.quantum == 0 and (not self.allowed or amount in self.allowed)

    def nearest(self, amount: int) -> tuple[int, ...]:
        """The nearest valid amounts, ascending: one or two."""
        if self.type is SlotType.UNIQUE:
            return (1,)
        below, above = amount - amount % self.quantum, amount - amount % self.quantum + self.quantum
        near = self.allowed or tuple(one for one in (below, above) if one > 0)
        smaller, larger = [one for one in near if one <= amount], [one for one in near if one >= amount]
        return (*smaller[-1:], *[one for one in larger[:1] if one not in smaller[-1:]])


class DeviceShares(IntEnum):
    """What of devices a container has. OF_SEVERAL: a part of one, and other ones of the same family."""

    NONE = 0
    OF_ONE = 1
    OF_SEVERAL = 2


def shares_in(slots: Mapping[str, int]) -> DeviceShares:
    """Of a container with these amounts."""
    shares = {slot: amount for slot, amount in slots.items() if amount and slot.endswith(SHARES_SUFFIX)}
    for slot, amount in shares.items():
        whole = slots.get(f"{slot.removesuffix(SHARES_SUFFIX)}.device", 0)
        if amount % WHOLE and (amount > WHOLE or whole):
            return DeviceShares.OF_SEVERAL
    return DeviceShares.OF_ONE if shares else DeviceShares.NONE


def thousandths_of(kinds: Iterable[SlotKind], family: str) -> Mapping[str, int]:
    """The slots of a family: slot -> thousandths of a device per unit."""
    return {kind.name: kind.thousandths for kind in kinds if kind.family == family}
