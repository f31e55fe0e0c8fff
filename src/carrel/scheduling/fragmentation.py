"""How broken up the devices of a group are, and which sessions would free whole devices if they moved.

Sessions move only onto devices that are in use already, in their own group, so that each freed device counts. Of
several containers, or with whole devices, they stay.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.core.slots import WHOLE
from carrel.scheduling.snapshot import NodeSnapshot, RunningSession, Slots

MOST_FREED = 20
MOST_TRIED = 200
"""Devices of a group for which it is tried to move their sessions: those with the fewest."""

Place = tuple[NodeId, str]
"""A device on a node."""


@dataclass(frozen=True, slots=True)
class Move:
    """A session that leaves a device for another. amount: thousandths."""

    session: SessionId
    amount: int
    to: Place


@dataclass(frozen=True, slots=True)
class FreedDevice:
    """A device that is free as a whole once these sessions, all that hold parts of it, have moved."""

    device: Place
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """Of a family in a group, on the nodes that accept sessions. free, broken, full: how many of the devices are free,
    allocated in part, and completely. smallest: what a container gets at least, in thousandths. stranded: the sum of
    what is left of broken devices, where that is less. freed: each step assumes those before it.
    """

    group: GroupId
    family: str
    devices: int
    free: int
    broken: int
    full: int
    smallest: int
    stranded: int
    freed: tuple[FreedDevice, ...]


@dataclass(frozen=True, slots=True)
class _HeldPart:
    """What a session holds of a device. slots: of its container, except those of devices; None: it cannot move."""

    session: SessionId
    amount: int
    slots: Slots | None


def fragmentation(
    nodes: Iterable[NodeSnapshot],
    running: Iterable[RunningSession],
    smallest: Mapping[str, int],
    *,
    most_freed: int = MOST_FREED,
) -> tuple[Fragmentation, ...]:
    """By group and family. smallest: of each family, as in `Fragmentation`."""
    parts = _parts(running)
    by_group: defaultdict[tuple[GroupId, str], list[NodeSnapshot]] = defaultdict(list)
    for node in nodes:
        if not node.closed and not node.elastic:
            for family in sorted({device.family for device in node.devices}):
                by_group[node.group, family].append(node)
    return tuple(
        _of_family(group, family, there, parts, smallest.get(family, WHOLE), most_freed)
        for (group, family), there in sorted(by_group.items())
    )


def _of_family(
    group: GroupId,
    family: str,
    nodes: Sequence[NodeSnapshot],
    parts: Mapping[Place, Sequence[_HeldPart]],
    smallest: int,
    most_freed: int,
) -> Fragmentation:
    left = {
        (node.id, device.id): max(WHOLE - device.used, 0)
        for node in nodes
        for device in node.devices
        if device.family == family
    }
    broken = [amount for amount in left.values() if 0 < amount < WHOLE]
    return Fragmentation(
        group=group,
        family=family,
        devices=len(left),
        free=sum(amount == WHOLE for amount in left.values()),
        broken=len(broken),
        full=sum(amount == 0 for amount in left.values()),
        smallest=smallest,
        stranded=sum(amount for amount in broken if amount < smallest),
        freed=tuple(_Moving(nodes, left, parts).freed(most_freed)),
    )


class _Moving:
    """The devices of a family in a group, while sessions move between them. left: of each device, in thousandths."""

    def __init__(
        self,
        nodes: Sequence[NodeSnapshot],
        left: Mapping[Place, int],
        parts: Mapping[Place, Sequence[_HeldPart]],
    ) -> None:
        self._nodes = {node.id: node for node in nodes}
        self._left = dict(left)
        self._parts = parts
        self._moved: Counter[tuple[NodeId, str]] = Counter()
        """What moves have added to the use of nodes, by slot."""
        self._by_left: defaultdict[int, dict[Place, None]] = defaultdict(dict)
        for place, amount in left.items():
            if amount < WHOLE:
                self._by_left[amount][place] = None

    def freed(self, most: int) -> Iterator[FreedDevice]:
        """Devices with the fewest sessions first."""
        tried = [
            place
            for place, amount in self._left.items()
            if amount < WHOLE
            and self._parts.get(place)
            and all(p.slots is not None for p in self._parts[place])
        ]
        tried.sort(key=lambda place: (len(self._parts[place]), WHOLE - self._left[place], place))
        received: set[Place] = set()
        count = 0
        for place in tried[:MOST_TRIED]:
            if count == most:
                return
            if place not in received and (moves := self._moves_from(place)):
                received.update(move.to for move in moves)
                count += 1
                yield FreedDevice(place, moves)

    def _moves_from(self, place: Place) -> tuple[Move, ...]:
        """Best fit, the largest part first; empty, and nothing is changed, if they do not all fit elsewhere."""
        parts = sorted(self._parts[place], key=lambda part: (-part.amount, part.session))
        moves: list[Move] = []
        for part in parts:
            to = self._target(place, part)
            if to is None:
                for done, move in zip(parts, moves, strict=False):
                    self._take(place, move.to, done, -1)
                return ()
            self._take(place, to, part, 1)
            moves.append(Move(part.session, part.amount, to))
        self._set(place, WHOLE)
        return tuple(moves)

    def _target(self, place: Place, part: _HeldPart) -> Place | None:
        for amount in sorted(self._by_left):
            if amount >= part.amount:
                for to in self._by_left[amount]:
                    if to != place and self._runs(place[0], to[0], part.slots or {}):
                        return to
        return None

    def _runs(self, source: NodeId, target: NodeId, slots: Slots) -> bool:
        """Whether a container of the one node may run on the other, and has room there."""
        if source == target:
            return True
        old, new = self._nodes[source], self._nodes[target]
        if (old.network, old.architecture) != (new.network, new.architecture) or old.root > new.root:
            return False
        return all(
            new.used.get(slot, 0) + self._moved[target, slot] + amount <= new.capacity.get(slot, 0)
            for slot, amount in slots.items()
        )

    def _take(self, source: Place, target: Place, part: _HeldPart, sign: int) -> None:
        self._set(target, self._left[target] - sign * part.amount)
        for slot, amount in (part.slots or {}).items():
            self._moved[target[0], slot] += sign * amount
            self._moved[source[0], slot] -= sign * amount

    def _set(self, place: Place, left: int) -> None:
        """Free devices take no sessions that move."""
        former = self._left[place]
        self._by_left[former].pop(place, None)
        if not self._by_left[former]:
            del self._by_left[former]
        self._left[place] = left
        if left < WHOLE:
            self._by_left[left][place] = None


def _parts(running: Iterable[RunningSession]) -> Mapping[Place, Sequence[_HeldPart]]:
    """What sessions hold of each device."""
    by_device: defaultdict[Place, list[_HeldPart]] = defaultdict(list)
    for session in running:
        moves = len(session.parts) == 1
        for placement, size in zip(session.parts, session.sizes, strict=False):
            held = [one for devices in placement.devices.values() for one in devices.items()]
            slots = {slot: amount for slot, amount in size.items() if slot not in placement.devices}
            can = moves and len(held) == 1 and held[0][1] < WHOLE
            for device, amount in held:
                part = _HeldPart(session.id, amount, slots if can else None)
                by_device[placement.node, device].append(part)
    return by_device
