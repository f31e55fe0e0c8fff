"""Nodes, scopes and shares over time: sessions start and end, and `snapshot` gives the current state."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from carrel.core.ids import GroupId
from carrel.scheduling.ceilings import demand, total_slots
from carrel.scheduling.snapshot import (
    ContainerPlacement,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    Placement,
    QueueOrder,
    RunningSession,
    ShareSnapshot,
    Slots,
    Snapshot,
)
from carrel.scheduling.usage_decay import moved_on

Path = tuple[str, ...]


@dataclass
class _Share:
    """at: time of `past`; usage is unchanged since then."""

    at: datetime
    held: dict[str, float] = field(default_factory=dict)
    past: dict[str, float] = field(default_factory=dict)
    weight: float = 1.0


class Cluster:
    """Starts from the snapshot, without pending sessions. The caller advances the clock."""

    def __init__(self, start: Snapshot) -> None:
        self.now = start.now
        self._nodes = {node.id: node for node in start.nodes}
        self._scopes = dict(start.scopes)
        self._groups = {group.id: group for group in start.groups}
        self._shares: dict[GroupId, defaultdict[Path, _Share]] = {
            group.id: self._shares_of(group) for group in start.groups
        }

    def take(self, one: RunningSession) -> None:
        """Allocate its placements."""
        self._change(one, 1)
        group = self._groups.get(one.group)
        if group is not None:
            self._groups[group.id] = replace(group, after=self._nodes[one.parts[-1].node].name)

    def give_back(self, one: RunningSession) -> None:
        """Release its placements."""
        self._change(one, -1)

    def snapshot(self, waiting: Iterable[PendingSession]) -> Snapshot:
        """A snapshot of now with these pending sessions."""
        line = tuple(waiting)
        paths: defaultdict[GroupId, set[Path]] = defaultdict(set)
        for one in line:
            for group in one.groups:
                paths[group].add(one.path)
        groups = tuple(replace(g, shares=self._views(g, paths[g.id])) for g in self._groups.values())
        return Snapshot(tuple(self._nodes.values()), line, self.now, groups, dict(self._scopes))

    def _shares_of(self, group: GroupSnapshot) -> defaultdict[Path, _Share]:
        shares = defaultdict[Path, _Share](lambda: _Share(self.now))
        for path, share in group.shares.items():
            shares[path] = _Share(self.now, dict(share.held), dict(share.past), share.weight)
        return shares

    def _change(self, one: RunningSession, times: int) -> None:
        for part, slots in zip(one.parts, one.sizes, strict=True):
            self._nodes[part.node] = _changed(self._nodes[part.node], slots, part, times)
        request = demand(one)
        for key in one.scopes:
            if scope := self._scopes.get(key):
                self._scopes[key] = replace(scope, used=_plus(scope.used, request, times))
        if (group := self._groups.get(one.group)) is None:
            return
        for path in _levels(group, one.path):
            held = self._brought_up(group, path).held
            for slot, amount in total_slots(one).items():
                held[slot] = held.get(slot, 0.0) + amount * times

    def _brought_up(self, group: GroupSnapshot, path: Path) -> _Share:
        share = self._shares[group.id][path]
        if group.order is QueueOrder.FAIR_SHARE and share.at != self.now:
            share.past = moved_on(share.past, share.held, self.now - share.at, group.half_life)
        share.at = self.now
        return share

    def _views(self, group: GroupSnapshot, paths: Iterable[Path]) -> dict[Path, ShareSnapshot]:
        views: dict[Path, ShareSnapshot] = {}
        for level in {level for path in paths for level in _levels(group, path)}:
            share = self._brought_up(group, level)
            views[level] = ShareSnapshot(dict(share.held), share.past, share.weight)
        return views


def started(one: PendingSession, place: Placement, now: datetime) -> RunningSession:
    """The placed session as a running one. It ends at its time limit, if it has one."""
    ends = now + one.lasts if one.lasts else None
    return RunningSession(
        one.id, one.slots, place.parts, one.scopes, one.path, place.group, ends, one.mixed, one.array
    )


def _levels(group: GroupSnapshot, path: Path) -> tuple[Path, ...]:
    """The paths for which this group's ordering tracks shares."""
    if group.order is QueueOrder.DRF:
        return (path[2:],)
    return (path[:1], path[:2], path) if group.order is QueueOrder.FAIR_SHARE else ()


def _changed(node: NodeSnapshot, slots: Slots, part: ContainerPlacement, times: int) -> NodeSnapshot:
    devices = node.devices
    taken: dict[str, int] = {}
    for of_slot in part.devices.values():
        for device, amount in of_slot.items():
            taken[device] = taken.get(device, 0) + amount
    if taken:
        devices = tuple(
            replace(one, used=one.used + taken[one.id] * times) if one.id in taken else one for one in devices
        )
    return replace(node, used=_plus(node.used, slots, times), devices=devices)


def _plus(used: Slots, more: Slots, times: int) -> dict[str, int]:
    return {slot: used.get(slot, 0) + more.get(slot, 0) * times for slot in used.keys() | more.keys()}
