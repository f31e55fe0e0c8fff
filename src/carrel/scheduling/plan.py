"""The plan: first come, first served, with a bounded skip-ahead.

A session that does not fit lets later ones pass, but only while it has waited less than PATIENCE; after
that nobody starts before it, so a large one is never starved by a stream of small ones. A session that no
ready node could hold even when empty (its node is down) holds nobody back: draining would not help it.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

from carrel.core.ids import NodeId
from carrel.core.units import add, format_slot
from carrel.scheduling.snapshot import NodeView, Placement, Plan, Refusal, Snapshot, Waiting

PATIENCE = timedelta(minutes=5)
HELD_BACK = "An earlier session has waited so long that nothing may start before it."


def plan(snapshot: Snapshot) -> Plan:
    """Who starts now and where, and why each of the others waits.

    Twice, with the first plan applied: places nobody and refuses the same for the same reasons.
    """
    # 1. place whom we can, in order
    used: dict[NodeId, Mapping[str, int]] = {node.id: node.used for node in snapshot.nodes}
    placements: list[Placement] = []
    refused: list[tuple[Waiting, bool]] = []
    guarded = False
    for request in snapshot.waiting:
        node = None if guarded else _place(snapshot.nodes, used, request.slots)
        if node is not None:
            used[node.id] = add(used[node.id], request.slots)
            placements.append(Placement(request.id, node.id))
            continue
        refused.append((request, guarded))
        if snapshot.now - request.since > PATIENCE:
            guarded = guarded or any(_holds(node, {}, request.slots) for node in snapshot.nodes)
    # 2. say why the others wait, with all placements made: a reason is read after them
    reasons = [
        HELD_BACK if held_back else explain(snapshot.nodes, used, request.slots)
        for request, held_back in refused
    ]
    refusals = (
        Refusal(request.id, reason, position)
        for position, ((request, _), reason) in enumerate(zip(refused, reasons, strict=True), start=1)
    )
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
            free = max(node.capacity.get(slot, 0) - used[node.id].get(slot, 0), 0)
            if amount > free:
                causes[f"needs {format_slot(slot, amount)}, {format_slot(slot, free)} free"] += 1
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
        if not _holds(node, used[node.id], slots):
            continue
        share = min(
            (
                (node.capacity[slot] - used[node.id].get(slot, 0) - amount) / node.capacity[slot]
                for slot, amount in slots.items()
                if amount
            ),
            default=1.0,
        )
        if best is None or (-share, node.name) < best:
            best, chosen = (-share, node.name), node
    return chosen


def _holds(node: NodeView, used: Mapping[str, int], slots: Mapping[str, int]) -> bool:
    """There is room for it beside what is used. A slot that is not wanted need not exist."""
    return node.ready and all(
        node.capacity.get(slot, 0) - used.get(slot, 0) >= amount for slot, amount in slots.items() if amount
    )
