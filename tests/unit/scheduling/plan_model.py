"""What is possible on a cluster, found by trying everything: slow, obvious, and without a line of the planner's."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from carrel.core.ids import NodeId
from carrel.scheduling.snapshot import (
    SESSIONS,
    ClusterMode,
    ContainerPlacement,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    Placement,
    Plan,
    QueueOrder,
    ScopeSnapshot,
    ShareSnapshot,
    Slots,
    Snapshot,
    Strategy,
)

UNIT = {"device": 1000, "shares": 1}


def device_slots(node: NodeSnapshot, slots: Slots) -> dict[str, int]:
    """Those slots of a container that come out of the node's devices."""
    families = {device.family for device in node.devices}
    return {slot: amount for slot, amount in slots.items() if amount and slot.rpartition(".")[0] in families}


def admitted(node: NodeSnapshot, one: PendingSession) -> bool:
    same = not one.architecture or not node.architecture or node.architecture == one.architecture
    open_to_it = not node.closed and (node.root or not one.root) and not node.lacks(one.without)
    return node.group == one.group and open_to_it and (one.node is None or one.node == node.id) and same


def within(node: NodeSnapshot) -> bool:
    """It holds no more than it may; whether devices are withheld is the ledger's to say beforehand."""
    return all(
        node.used.get(slot, 0) <= most for slot, most in node.capacity.items() if "." not in slot
    ) and all(device.used <= 1000 for device in node.devices)


def ways(node: NodeSnapshot, slots: Slots) -> Iterator[ContainerPlacement]:
    """Every way in which one container could be put on the node now."""
    of_devices = device_slots(node, slots)
    for slot, amount in slots.items():
        if amount and slot not in of_devices and node.used.get(slot, 0) + amount > node.capacity.get(slot, 0):
            return
    requested = 0
    for slot, amount in sorted(of_devices.items()):
        family, _, kind = slot.rpartition(".")
        requested += amount * UNIT[kind]
        used = sum(device.used for device in node.devices if device.family == family)
        if used + requested > node.capacity.get(slot, 0) * UNIT[kind]:
            return
    for chosen in _devices(node, sorted(of_devices.items())):
        yield ContainerPlacement(node.id, chosen)


def _devices(node: NodeSnapshot, slots: list[tuple[str, int]]) -> Iterator[dict[str, dict[str, int]]]:
    if not slots:
        yield {}
        return
    (slot, amount), rest = slots[0], slots[1:]
    family, _, kind = slot.rpartition(".")
    devices, part = divmod(amount * UNIT[kind], 1000)
    mine = [device for device in node.devices if device.family == family]
    for untouched in combinations([device.id for device in mine if not device.used], devices):
        taken = dict.fromkeys(untouched, 1000)
        others = [device.id for device in mine if device.id not in taken and device.used + part <= 1000]
        for last in others if part else [None]:
            chosen = {**taken, last: part} if last else taken
            left = with_part(node, {}, ContainerPlacement(node.id, {slot: chosen}))
            for more in _devices(left, rest):
                yield {slot: chosen, **more}


def with_part(node: NodeSnapshot, slots: Slots, part: ContainerPlacement) -> NodeSnapshot:
    """The node when the container is there."""
    taken: dict[str, int] = {}
    for devices in part.devices.values():
        for device, amount in devices.items():
            taken[device] = taken.get(device, 0) + amount
    used = {slot: node.used.get(slot, 0) + slots.get(slot, 0) for slot in {*node.used, *slots}}
    cards = tuple(replace(one, used=one.used + taken.get(one.id, 0)) for one in node.devices)
    return replace(node, used=used, devices=cards)


def most_on(node: NodeSnapshot, one: PendingSession, most: int) -> int:
    """How many of its containers the node could take at once."""
    if most == 0 or not admitted(node, one):
        return 0
    best = 0
    for part in ways(node, one.slots):
        best = max(best, 1 + most_on(with_part(node, one.slots, part), one, most - 1))
        if best == most:
            break
    return best


def fits(snapshot: Snapshot, one: PendingSession) -> bool:
    """All its containers could be placed now, whatever is kept for whom."""
    counts = [most_on(node, one, one.count) for node in snapshot.nodes]
    together = one.count == 1 or on_one_node(snapshot, one)
    return max(counts, default=0) >= one.count if together else sum(counts) >= one.count


def on_one_node(snapshot: Snapshot, one: PendingSession) -> bool:
    near = any(group.topology for group in snapshot.groups if group.id == one.group) or one.within
    return one.mode is ClusterMode.SINGLE_NODE or (one.mode is ClusterMode.NARROWEST and not near)


def preferred(snapshot: Snapshot, one: PendingSession) -> NodeId:
    """Where one container without devices goes now, by its group's strategy; it fits somewhere."""
    (group,) = [group for group in snapshot.groups if group.id == one.group]
    there = sorted((node for node in snapshot.nodes if most_on(node, one, 1)), key=lambda node: node.name)
    if group.strategy is Strategy.ROUND_ROBIN:
        return next((node for node in there if node.name > group.after), there[0]).id
    sign = 1 if group.strategy is Strategy.CONCENTRATED else -1

    def key(node: NodeSnapshot) -> tuple[Fraction | int, ...]:
        slots = group.slot_priority or [slot for slot, amount in one.slots.items() if amount]
        parts = [sign * part_free(node, slot) for slot in slots]
        if not group.slot_priority:
            parts = [sign * min((abs(part) for part in parts), default=Fraction(0))]
        return (len({device.family for device in node.devices}), *parts)

    return min(there, key=key).id


def part_free(node: NodeSnapshot, slot: str) -> Fraction:
    """Of what the node has; of devices, what one container could get."""
    most = node.capacity.get(slot, 0)
    if "." in slot:
        free = next((n for n in range(most, 0, -1) if any(ways(node, {slot: n}))), 0)
    else:
        free = max(most - node.used.get(slot, 0), 0)
    return Fraction(free, most or 1)


def emptied(snapshot: Snapshot) -> Snapshot:
    """The same with nobody there."""
    return replace(
        snapshot,
        nodes=tuple(
            replace(node, used={}, devices=tuple(replace(device, used=0) for device in node.devices))
            for node in snapshot.nodes
        ),
    )


def counted(one: PendingSession) -> dict[str, int]:
    slots = {slot for size in one.sizes for slot in size}
    return {**{slot: sum(size.get(slot, 0) for size in one.sizes) for slot in slots}, SESSIONS: 1}


def over(scope: ScopeSnapshot, one: PendingSession) -> bool:
    """One more would be too much for the scope."""
    return any(
        amount and scope.used.get(slot, 0) + amount > scope.ceiling[slot]
        for slot, amount in counted(one).items()
        if slot in scope.ceiling
    )


def limited(snapshot: Snapshot, one: PendingSession) -> bool:
    return any(over(snapshot.scopes[key], one) for key in one.scopes)


def applied(snapshot: Snapshot, decided: Plan) -> Snapshot:
    """What the next pass would load. Fails where a placement is not possible, or goes over anything."""
    for placement in decided.placements:
        snapshot = with_placement(snapshot, placement)
    return snapshot


def with_placement(snapshot: Snapshot, placement: Placement) -> Snapshot:
    (one,) = [other for other in snapshot.waiting if other.id == placement.session]
    assert placement.group in one.groups
    one = one.in_group(placement.group)
    assert not one.aside
    assert len(placement.parts) == one.count, "all or nothing"
    if on_one_node(snapshot, one):
        assert len({part.node for part in placement.parts}) == 1
    nodes = {node.id: node for node in snapshot.nodes}
    assert len({nodes[part.node].network for part in placement.parts}) == 1, "they reach each other"
    for part, slots in zip(placement.parts, one.sizes, strict=True):
        node = nodes[part.node]
        assert admitted(node, one)
        assert any(part == way for way in ways(node, slots)), (part, node)
        nodes[node.id] = with_part(node, slots, part)
        assert within(nodes[node.id])
    assert not limited(snapshot, one), "no ceiling is exceeded"
    scopes = dict(snapshot.scopes)
    for key in one.scopes:
        used = scopes[key].used
        more = {slot: used.get(slot, 0) + amount for slot, amount in counted(one).items()}
        scopes[key] = replace(scopes[key], used={**used, **more})
    left = tuple(other for other in snapshot.waiting if other.id != one.id)
    group_of = [
        _having(group, one, nodes[placement.parts[-1].node].name) if group.id == one.group else group
        for group in snapshot.groups
    ]
    return replace(snapshot, nodes=tuple(nodes.values()), scopes=scopes, waiting=left, groups=tuple(group_of))


def _having(group: GroupSnapshot, one: PendingSession, last: str) -> GroupSnapshot:
    shares = dict(group.shares)
    more = counted(one)
    for path in (one.path[2:],) if group.order is QueueOrder.DRF else (one.path[:1], one.path[:2], one.path):
        share = shares.get(path, ShareSnapshot())
        held = {
            slot: share.held.get(slot, 0) + more.get(slot, 0) for slot in {*share.held, *more} - {SESSIONS}
        }
        shares[path] = replace(share, held=held)
    return replace(group, shares=shares, after=last)
