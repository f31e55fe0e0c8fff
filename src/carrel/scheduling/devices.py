"""Which accelerators of a node a container gets.

Best fit: a part of a device goes where the least is left over, whole devices go where the smallest set of near
ones suffices, so that neither devices nor sets are broken into without need.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from carrel.core.slots import WHOLE
from carrel.scheduling.snapshot import DeviceSnapshot, NodeSnapshot


def families(devices: Iterable[DeviceSnapshot]) -> dict[str, str]:
    """The slots that these devices serve, and the family of each."""
    slots = {device.family: device.slots for device in devices}
    return {slot: family for family, served in slots.items() for slot in served}


def units(nodes: Iterable[NodeSnapshot]) -> dict[str, tuple[str, int]]:
    """The slots of accelerators that there are: slot -> its family, and the thousandths that one of it takes."""
    slots = {device.family: device.slots for node in nodes for device in node.devices}
    return {slot: (family, unit) for family, served in slots.items() for slot, unit in served.items()}


def capacity(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """How much of the slot these devices make in all."""
    return sum(WHOLE // device.slots[slot] for device in devices if slot in device.slots)


def unit(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """The thousandths of a device that one of the slot takes."""
    return next((device.slots[slot] for device in devices if slot in device.slots), WHOLE)


def used(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """How much of the devices that serve the slot is in use, in thousandths."""
    return sum(device.used for device in devices if slot in device.slots)


def available(devices: Iterable[DeviceSnapshot], slot: str) -> int:
    """The most of the slot that one container could get now: everything up to it can be had, nothing beyond."""
    mine, unit = _serving(devices, slot)
    free = [WHOLE - device.used for device in mine]
    whole = sum(amount == WHOLE for amount in free) * WHOLE // unit
    return whole + max((amount // unit for amount in free if amount < WHOLE), default=0)


def copies(devices: Iterable[DeviceSnapshot], slot: str, amount: int, most: int) -> int:
    """How many containers could get so much of the slot each, all at once, up to `most`."""
    mine, unit = _serving(devices, slot)
    whole, part = divmod(amount * unit, WHOLE)
    free = [WHOLE - device.used for device in mine]
    untouched = sum(left == WHOLE for left in free)
    if not part:
        return min(most, untouched // whole)
    # Parts go on devices that are in use already, and then so many on each that is broken for them.
    on_used = sum(left // part for left in free if left < WHOLE)
    count = 0
    while count < most:
        broken = -(-max(count + 1 - on_used, 0) // (WHOLE // part))
        if (count + 1) * whole + broken > untouched:
            break
        count += 1
    return count


def choose(devices: Iterable[DeviceSnapshot], slot: str, amount: int) -> Mapping[str, int] | None:
    """Device -> thousandths of it, or None when it cannot be had.

    More than a device's worth of shares is whole devices, and a part of one more.
    """
    mine, unit = _serving(devices, slot)
    whole, part = divmod(amount * unit, WHOLE)
    chosen = _whole(mine, whole)
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
    """Those that serve the slot, and the thousandths that one of it takes."""
    mine = [device for device in devices if slot in device.slots]
    return mine, unit(mine, slot)


def _whole(devices: Sequence[DeviceSnapshot], count: int) -> list[str] | None:
    """So many untouched devices: of the smallest set that has enough, else of as few sets as will do."""
    sets: defaultdict[int, list[str]] = defaultdict(list)
    for device in devices:
        if not device.used:
            sets[device.set].append(device.id)
    if sum(map(len, sets.values())) < count:
        return None
    chosen: list[str] = []
    while len(chosen) < count:
        missing = count - len(chosen)
        enough = [key for key in sets if len(sets[key]) >= missing]
        key = (
            min(enough, key=lambda k: (len(sets[k]), k))
            if enough
            else min(sets, key=lambda k: (-len(sets[k]), k))
        )
        chosen += sorted(sets.pop(key))[:missing]
    return chosen


def _part(devices: Sequence[DeviceSnapshot], part: int) -> str | None:
    """The device with the least left over after it; an untouched one only at need, and of a set already broken."""
    whole_in: defaultdict[int, int] = defaultdict(int)
    for device in devices:
        whole_in[device.set] += not device.used
    fitting = [device for device in devices if WHOLE - device.used >= part]
    best = min(fitting, key=lambda d: (WHOLE - d.used, whole_in[d.set], d.id), default=None)
    return best.id if best else None
