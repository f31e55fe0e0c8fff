"""The sets of whole devices that a container may get, by the blocks that they declare.

All devices of a set are of one widest block. Within a block, they are of one narrower block if that is large enough,
otherwise of whole narrower blocks and, for the rest, of one more; of a block that is given as a whole, they are all. So
two Gaudis are a pair and four are a quad. With an amount that is possible, every smaller one is.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.core.device_blocks import Block
from carrel.scheduling.snapshot import DeviceSnapshot


@dataclass(frozen=True, slots=True)
class _Free:
    """What is free of a block. most: devices that one container can get. parts: its narrower blocks."""

    block: Block
    devices: Sequence[str]
    parts: Sequence["_Free"]
    most: int

    @property
    def whole(self) -> bool:
        return self.most >= self.block.size

    def fit(self, count: int) -> tuple[int, int, str]:
        """The best is the least: where the smallest free block is broken, then where the fewest devices are free."""
        return self._broken(count), len(self.devices), self.block.name

    def _broken(self, count: int) -> int:
        narrower = [] if self.whole else [part._broken(count) for part in self.parts if part.most >= count]
        return min(narrower, default=len(self.devices))


def most(devices: Iterable[DeviceSnapshot]) -> int:
    """The largest set."""
    return max((one.most for one in _parts(devices, 0)), default=0)


def choose(devices: Iterable[DeviceSnapshot], count: int) -> list[str] | None:
    """A set of this size, of the blocks with the fewest free devices; None if there is none."""
    fitting = [one for one in _parts(devices, 0) if one.most >= count]
    return _take(min(fitting, key=lambda one: one.fit(count)), count) if fitting else None


def _parts(devices: Iterable[DeviceSnapshot], depth: int) -> list[_Free]:
    """The blocks at this depth below the widest."""
    members: defaultdict[Block, list[DeviceSnapshot]] = defaultdict(list)
    for device in devices:
        if depth < len(device.blocks):
            members[device.blocks[-1 - depth]].append(device)
    return [_free(block, those, depth) for block, those in members.items()]


def _free(block: Block, devices: Sequence[DeviceSnapshot], depth: int) -> _Free:
    free = sorted(device.id for device in devices if not device.used)
    parts = _parts(devices, depth + 1)
    if parts:
        most = sum(one.block.size for one in parts if one.whole)
        most += max((one.most for one in parts if not one.whole), default=0)
        single = max(one.most for one in parts)
    else:
        most, single = len(free), min(len(free), 1)
    return _Free(block, free, parts, single if block.whole and most < block.size else most)


def _take(one: _Free, count: int) -> list[str]:
    """count: at most what it has."""
    if not one.parts:
        return list(one.devices[:count])
    taken: list[str] = []
    left = list(one.parts)
    while (rest := count - len(taken)) and not any(part.most >= rest for part in left):
        next_one = min(
            (part for part in left if part.whole), key=lambda part: (-part.block.size, part.fit(rest))
        )
        taken += _take(next_one, next_one.block.size)
        left.remove(next_one)
    if rest:
        best = min((part for part in left if part.most >= rest), key=lambda part: part.fit(rest))
        taken += _take(best, rest)
    return taken
