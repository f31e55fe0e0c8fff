"""Which accelerators of a node a container gets.

Best fit: a part of a device goes where the least is left over, whole devices go where the smallest set of near
ones suffices, so that neither devices nor sets are broken into without need.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from carrel.scheduling.snapshot import WHOLE, DeviceView

_KINDS = ("device", "shares")


@lru_cache(maxsize=1024)
def family_of(slot: str) -> str | None:
    """The family of accelerators that a slot takes from: "cuda" for cuda.device; None for cpu and mem."""
    family, _, kind = slot.rpartition(".")
    return family if family and kind in _KINDS else None


def capacity(devices: Sequence[DeviceView], slot: str) -> int:
    """How much of the slot these devices make in all."""
    count = sum(device.family == family_of(slot) for device in devices)
    return count if slot.endswith(".device") else count * WHOLE


def available(devices: Iterable[DeviceView], slot: str) -> int:
    """The most of the slot that one container could get now: everything up to it can be had, nothing beyond."""
    free = [WHOLE - device.used for device in devices if device.family == family_of(slot)]
    whole = sum(amount == WHOLE for amount in free)
    if slot.endswith(".device"):
        return whole
    return whole * WHOLE + max((amount for amount in free if amount < WHOLE), default=0)


def copies(devices: Iterable[DeviceView], slot: str, amount: int, most: int) -> int:
    """How many containers could get so much of the slot each, all at once, up to `most`."""
    whole, part = (amount, 0) if slot.endswith(".device") else divmod(amount, WHOLE)
    free = [WHOLE - device.used for device in devices if device.family == family_of(slot)]
    untouched = sum(amount == WHOLE for amount in free)
    if not part:
        return min(most, untouched // whole)
    # Parts go on devices that are in use already, and then so many on each that is broken for them.
    on_used = sum(amount // part for amount in free if amount < WHOLE)
    count = 0
    while count < most:
        broken = -(-max(count + 1 - on_used, 0) // (WHOLE // part))
        if (count + 1) * whole + broken > untouched:
            break
        count += 1
    return count


def choose(devices: Sequence[DeviceView], slot: str, amount: int) -> Mapping[str, int] | None:
    """Device -> thousandths of it, or None when it cannot be had.

    More than a device's worth of shares is whole devices, and a part of one more.
    """
    mine = [device for device in devices if device.family == family_of(slot)]
    whole, part = (amount, 0) if slot.endswith(".device") else divmod(amount, WHOLE)
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


def _whole(devices: Sequence[DeviceView], count: int) -> list[str] | None:
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


def _part(devices: Sequence[DeviceView], part: int) -> str | None:
    """The device with the least left over after it; an untouched one only at need, and of a set already broken."""
    whole_in: defaultdict[int, int] = defaultdict(int)
    for device in devices:
        whole_in[device.set] += not device.used
    fitting = [device for device in devices if WHOLE - device.used >= part]
    best = min(fitting, key=lambda d: (WHOLE - d.used, whole_in[d.set], d.id), default=None)
    return best.id if best else None
