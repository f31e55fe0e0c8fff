"""Choose the accelerators of a node for a container.

Best fit: a fraction goes to the device with the least capacity left over, whole devices to the smallest sufficient
set of near devices (clique, then PCI switch, then NUMA node), so that devices and sets are not fragmented. Devices with
blocks are given in the sets that these allow only.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from carrel.core.slots import WHOLE
from carrel.scheduling import valid_sets
from carrel.scheduling.snapshot import DeviceSnapshot, NodeSnapshot, Slots


class Unit(NamedTuple):
    """One unit of an accelerator slot. thousandths: of a device. in_blocks: some of the devices have blocks."""

    family: str
    thousandths: int
    in_blocks: bool = False


_Place = tuple[Hashable, ...]
"""As `DeviceSnapshot.near`."""
_BY_ID = attrgetter("id")

NO_DEVICE = Unit("", WHOLE)
"""Of a slot that no device serves."""


def families(devices: Iterable[DeviceSnapshot]) -> dict[str, str]:
    """The slots that these devices serve, and the family of each."""
    return {slot: family for family, served in _served(devices).items() for slot in served}


def units(nodes: Iterable[NodeSnapshot]) -> dict[str, Unit]:
    """All accelerator slots."""
    units: dict[str, Unit] = {}
    for node in nodes:
        for device in {one.family: one for one in node.devices}.values():
            for slot, thousandths in device.slots.items():
                if slot not in units or (device.blocks and not units[slot].in_blocks):
                    units[slot] = Unit(device.family, thousandths, bool(device.blocks))
    return units


def _served(devices: Iterable[DeviceSnapshot]) -> dict[str, Mapping[str, int]]:
    """The slots of each family: on a node, they are those of any of its devices."""
    return {device.family: device.slots for device in devices}


def capacity(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """The total amount of the slot on these devices."""
    return sum(WHOLE // device.slots[slot] for device in devices if slot in device.slots)


def unit(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """Thousandths of a device per unit of the slot."""
    return next((device.slots[slot] for device in devices if slot in device.slots), WHOLE)


def used(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """Thousandths in use of the devices that serve the slot."""
    return sum(device.used for device in devices if slot in device.slots)


def available(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """The largest amount of the slot that one container can get now; every smaller amount fits too."""
    mine, unit = _serving(devices, slot)
    if _in_blocks(mine):
        return valid_sets.most(mine)
    free = [WHOLE - device.used for device in mine]
    part = max([amount for amount in free if amount < WHOLE], default=0)
    return free.count(WHOLE) * WHOLE // unit + part // unit


def copies(devices: Iterable[DeviceSnapshot], slot: str, amount: int, most: int) -> int:
    """How many containers can get this amount of the slot each at the same time, up to `most`."""
    mine, unit = _serving(devices, slot)
    if _in_blocks(mine):
        return _copies_in_blocks(mine, amount, most)
    whole, part = divmod(amount * unit, WHOLE)
    free = [WHOLE - device.used for device in mine]
    untouched = sum(left == WHOLE for left in free)
    if not part:
        return min(most, untouched // whole)
    # Fractions go to partly used devices first, then to free ones.
    on_used = sum(left // part for left in free if left < WHOLE)
    count = 0
    while count < most:
        broken = -(-max(count + 1 - on_used, 0) // (WHOLE // part))
        if (count + 1) * whole + broken > untouched:
            break
        count += 1
    return count


def choose(devices: Iterable[DeviceSnapshot], slot: str, amount: int) -> Mapping[str, int] | None:
    """Device -> thousandths of it, or None if it does not fit.

    More than 1000 shares are whole devices plus a fraction of another one.
    """
    mine, unit = _serving(devices, slot)
    whole, part = divmod(amount * unit, WHOLE)
    chosen = valid_sets.choose(mine, whole) if _in_blocks(mine) else _whole_devices(mine, whole)
    if chosen is None:
        return None
    taken = dict.fromkeys(chosen, WHOLE)
    if part:
        one = _part([device for device in mine if device.id not in taken], part)
        if one is None:
            return None
        taken[one] = part
    return taken


def _serving(devices: Iterable[DeviceSnapshot], slot: str) -> tuple[list[DeviceSnapshot], int]:
    """The devices that serve the slot, and the thousandths that one unit takes."""
    mine = [device for device in devices if slot in device.slots]
    return mine, unit(mine, slot)


def largest(offered: Slots, devices: Iterable[DeviceSnapshot]) -> Slots:
    """The most that one container can get of an empty node. offered: its capacity."""
    in_blocks = [replace(device, used=0) for device in devices if device.blocks]
    if not in_blocks:
        return offered
    slots = families(in_blocks)
    return {
        slot: min(amount, available(in_blocks, slot)) if slot in slots else amount
        for slot, amount in offered.items()
    }


def _in_blocks(devices: Sequence[DeviceSnapshot]) -> bool:
    return bool(devices) and bool(devices[0].blocks)


def _copies_in_blocks(devices: Sequence[DeviceSnapshot], count: int, most: int) -> int:
    left, copies = list(devices), 0
    while copies < most and (taken := valid_sets.choose(left, count)) is not None:
        left = [replace(device, used=WHOLE) if device.id in taken else device for device in left]
        copies += 1
    return copies


def _whole_devices(devices: Sequence[DeviceSnapshot], count: int) -> list[str] | None:
    """That many free devices, as near to each other as possible; see `_nearest`."""
    if not count:
        return []
    free = [device for device in devices if not device.used]
    if len(free) <= count:
        return [device.id for device in free] if len(free) == count else None
    free.sort(key=_BY_ID)
    places = tuple([device.near or (device.set,) for device in free])
    return [free[at].id for at in _chosen(places, count)]


@lru_cache(1 << 12)
def _chosen(places: Sequence[_Place], count: int) -> tuple[int, ...]:
    """Which of the devices with these places. Cached: machines of a kind have the same ones, in every plan."""
    return tuple(_nearest(places, list(range(len(places))), count, len(places[0])))


def _nearest(places: Sequence[_Place], free: list[int], count: int, kinds: int) -> list[int]:
    """That many of the free ones: from the smallest sufficient group of the nearest kind of which one suffices,
    otherwise from as few groups as possible. kinds: how many of `DeviceSnapshot.near` distinguish them.
    """
    for kind in range(kinds):
        groups, _ = _groups(places, free, kind)
        if enough := [key for key, group in groups.items() if len(group) >= count]:
            free, kinds = groups[min(enough, key=lambda key: (len(groups[key]), key))], kind
            break
    if len(free) == count or not kinds or count < 1:
        return free[:count]
    # No group of a nearer kind is enough: take the largest one, and what is nearest of the others.
    groups, alone = _groups(places, free, kinds - 1)
    largest = min([*groups.values(), *alone], key=lambda group: (-len(group), group[0]))
    rest = [at for at in free if at not in largest]
    return largest + _nearest(places, rest, count - len(largest), kinds)


def _groups(
    places: Sequence[_Place], free: Iterable[int], kind: int
) -> tuple[dict[Any, list[int]], list[list[int]]]:
    """The groups by their keys, which can be compared, and those in none, each by itself."""
    groups: dict[Any, list[int]] = {}
    alone: list[list[int]] = []
    for at in free:
        if (key := places[at][kind]) is None:
            alone.append([at])
        else:
            groups.setdefault(key, []).append(at)
    return groups, alone


def _part(devices: Sequence[DeviceSnapshot], part: int) -> str | None:
    """The device with the least capacity left over; a free one only if needed, preferably of a fragmented set."""
    whole_in: defaultdict[int, int] = defaultdict(int)
    for device in devices:
        whole_in[device.set] += not device.used
    fitting = [device for device in devices if WHOLE - device.used >= part]
    best = min(fitting, key=lambda d: (WHOLE - d.used, whole_in[d.set], d.id), default=None)
    return best.id if best else None
