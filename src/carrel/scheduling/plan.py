"""The plan: first come, first served, with a bounded skip-ahead.

A session that does not fit lets later ones pass, but only while it has waited less than PATIENCE; after
that nobody starts before it, so a large one is never starved by a stream of small ones.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

from carrel.core.ids import NodeId
from carrel.core.units import add, format_slot, subtract
from carrel.scheduling.snapshot import NodeView, Placement, Plan, Refusal, Snapshot

PATIENCE = timedelta(minutes=5)


def plan(snapshot: Snapshot) -> Plan:
    """Who starts now and where, and why each of the others waits."""
    used: dict[NodeId, Mapping[str, int]] = {node.id: node.used for node in snapshot.nodes}
    placements: list[Placement] = []
    refusals: list[Refusal] = []
    held_back = False
    for request in snapshot.waiting:
        node = None if held_back else _place(snapshot.nodes, used, request.slots)
        if node is not None:
            used[node.id] = add(used[node.id], request.slots)
            placements.append(Placement(request.id, node.id))
            continue
        if held_back:
            reason = "An earlier session has waited so long that nothing may start before it."
        else:
            reason = explain(snapshot.nodes, used, request.slots)
            held_back = snapshot.now - request.since > PATIENCE
        refusals.append(Refusal(request.id, reason, len(refusals) + 1))
    return Plan(tuple(placements), tuple(refusals))


def explain(
    nodes: tuple[NodeView, ...], used: Mapping[NodeId, Mapping[str, int]], slots: Mapping[str, int]
) -> str:
    """Why no node can take it now, nodes counted by cause."""
    if not nodes:
        return "No node has joined yet."
    causes: Counter[str] = Counter()
    for node in nodes:
        if not node.ready:
            causes["not ready"] += 1
            continue
        for slot, amount in slots.items():
            free = node.capacity.get(slot, 0) - used[node.id].get(slot, 0)
            if amount > free:
                causes[f"needs {format_slot(slot, amount)}, {format_slot(slot, max(free, 0))} free"] += 1
                break
    return (
        "; ".join(f"{count} node{'s' * (count > 1)}: {cause}" for cause, count in sorted(causes.items()))
        + "."
    )


def _place(
    nodes: tuple[NodeView, ...], used: Mapping[NodeId, Mapping[str, int]], slots: Mapping[str, int]
) -> NodeView | None:
    """The node that is left with the most free share after taking it (spread), or None."""
    best: tuple[float, str] | None = None
    chosen = None
    for node in nodes:
        left = subtract(subtract(node.capacity, used[node.id]), slots)
        if not node.ready or any(left[slot] < 0 for slot in slots):
            continue
        share = min(left[slot] / node.capacity[slot] for slot in slots) if slots else 1.0
        if best is None or (-share, node.name) < best:
            best, chosen = (-share, node.name), node
    return chosen
