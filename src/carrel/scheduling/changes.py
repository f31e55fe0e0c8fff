"""Changes that would start a pending session now. Each is tried on the same snapshot before it is offered."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from carrel.core.ids import GroupId, SessionId
from carrel.scheduling.ceilings import demand
from carrel.scheduling.cluster import Cluster
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import NodeSnapshot, PendingSession, RunningSession, Slots, Snapshot

_GRAIN = {"cpu": 100, "mem": 64 << 20}
"""Offered amounts are rounded down to these multiples, unless that gives zero."""
_ENDINGS = 10
"""Consider only this many of the owner's running sessions, the largest first."""


class Kind(StrEnum):
    GROUP = "group"
    ANY_NODE = "any_node"
    SMALLER = "smaller"
    END_OWN = "end_own"


@dataclass(frozen=True, slots=True)
class SuggestedChange:
    """cost: 0: nothing is given up; below 1: the fraction of the request given up; 1 or more: the number of sessions
    to end.

    slots: what to request instead, if changed. group: where to request it. sessions: which own sessions to end.
    """

    kind: Kind
    cost: float
    slots: Slots = field(default_factory=dict)
    group: GroupId | None = None
    sessions: tuple[SessionId, ...] = ()


def changes(
    snapshot: Snapshot,
    one: PendingSession,
    *,
    groups: Iterable[GroupId] = (),
    least: Mapping[str, int] | None = None,
) -> Sequence[SuggestedChange]:
    """Every kind of change that would start it in the next plan, the cheapest first.

    A pending session cannot be changed: another request means to cancel it and to queue again at the end.

    groups: other groups it may use. least: its minimum slots.
    """
    suggestions: list[SuggestedChange] = []
    for tries in (
        _elsewhere(one, groups),
        _on_any_node(one),
        _smaller(snapshot, one, least or {}),
        _ending_own(snapshot, one),
    ):
        for change, changed, without in tries:
            if _starts(snapshot, one, changed, without):
                suggestions.append(change)
                break
    return sorted(suggestions, key=lambda change: change.cost)


_Try = tuple[SuggestedChange, PendingSession, Sequence[RunningSession]]


def _starts(
    snapshot: Snapshot, one: PendingSession, changed: PendingSession, without: Sequence[RunningSession]
) -> bool:
    if without:
        cluster = Cluster(snapshot)
        for other in without:
            cluster.give_back(other)
        tried = cluster.snapshot(snapshot.waiting)
    else:
        given_up = _without(snapshot, one)
        tried = replace(given_up, waiting=(*given_up.waiting, replace(changed, since=snapshot.now)))
    return any(placement.session == one.id for placement in Planning(tried).decide())


def _without(snapshot: Snapshot, one: PendingSession) -> Snapshot:
    return replace(snapshot, waiting=tuple(other for other in snapshot.waiting if other.id != one.id))


def _elsewhere(one: PendingSession, groups: Iterable[GroupId]) -> Iterator[_Try]:
    for group in groups:
        if group not in one.groups:
            changed = replace(one, group=group, choices=(), node=None)
            yield SuggestedChange(Kind.GROUP, 0.0, group=group), changed, ()


def _on_any_node(one: PendingSession) -> Iterator[_Try]:
    if one.node is not None:
        yield SuggestedChange(Kind.ANY_NODE, 0.0), replace(one, node=None), ()


def _smaller(snapshot: Snapshot, one: PendingSession, least: Mapping[str, int]) -> Iterator[_Try]:
    """The slots that fit the node where the least is given up, and its ceilings."""
    planning = Planning(_without(snapshot, one))
    planning.run()
    room = planning.rooms.get(one.group)
    if room is None or one.count > 1:
        return
    request = demand(one)
    under = {slot: planning.ceilings.left(one.scopes, slot) for slot in request}
    offers: list[tuple[float, str, dict[str, int]]] = []
    for node, free in zip(room.nodes, room.free, strict=True):
        if node.closed or (one.node and node.id != one.node) or not one.runs_on(node, one.slots):
            continue
        slots = {
            slot: _offered(slot, amount, free.get(slot, 0), under[slot]) for slot, amount in one.slots.items()
        }
        if all(slots[slot] >= max(least.get(slot, 0), 1) for slot, amount in one.slots.items() if amount):
            given_up = max(
                (1 - slots[slot] / amount for slot, amount in one.slots.items() if amount), default=0.0
            )
            offers.append((given_up, node.name, slots))
    for given_up, _, slots in sorted(offers, key=lambda offer: offer[:2])[:3]:
        if 0 < given_up < 1:
            yield SuggestedChange(Kind.SMALLER, given_up, slots), replace(one, slots=slots), ()


def _offered(slot: str, requested: int, free: int, under: int | None) -> int:
    most = min(requested, free) if under is None else min(requested, free, under)
    grain = _GRAIN.get(slot, 1)
    return most if most == requested or most < grain else most - most % grain


def _ending_own(snapshot: Snapshot, one: PendingSession) -> Iterator[_Try]:
    """The smallest single session that suffices, otherwise a minimal set."""
    own = [other for other in snapshot.running if other.path[2] == one.path[2]]
    own = sorted(own, key=lambda other: _size(snapshot.nodes, other))[-_ENDINGS:]
    for other in own:
        yield SuggestedChange(Kind.END_OWN, 1.0, sessions=(other.id,)), one, (other,)
    if len(own) > 1 and _starts(snapshot, one, one, own):
        for other in tuple(own):
            fewer = [kept for kept in own if kept is not other]
            if _starts(snapshot, one, one, fewer):
                own = fewer
        yield (
            SuggestedChange(Kind.END_OWN, float(len(own)), sessions=tuple(other.id for other in own)),
            one,
            own,
        )


def _size(nodes: Sequence[NodeSnapshot], running: RunningSession) -> tuple[float, str]:
    """The largest fraction of a node that one of its containers holds."""
    home = next((node for node in nodes if node.id == running.parts[0].node), None)
    capacity = home.capacity if home else {}
    return max(
        (amount / (capacity.get(slot) or 1) for slot, amount in running.slots.items()), default=0.0
    ), running.id
