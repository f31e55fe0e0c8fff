"""Arrays: how many of their sessions run at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from carrel.core.ids import SessionId
from carrel.scheduling.snapshot import PendingSession

REASON = "Its array runs at most {} at a time."
"""Why a session waits for others of its array."""


@dataclass(frozen=True, slots=True)
class ArrayLimit:
    """most: of its sessions at once. running: those that were placed and whose containers have not all exited."""

    most: int
    running: int


def set_aside(
    waiting: Iterable[PendingSession], limits: Mapping[SessionId, ArrayLimit]
) -> list[PendingSession]:
    """The sessions in the same order; of each limited array only as many may start as it allows, the first ones.

    The others are set aside, so that they reserve nothing and are in nobody's way.
    """
    waiting = list(waiting)
    members: defaultdict[SessionId, list[PendingSession]] = defaultdict(list)
    for one in waiting:
        if one.array and one.array in limits and not one.aside:
            members[one.array].append(one)
    later: dict[SessionId, int] = {}
    for array, own in members.items():
        limit = limits[array]
        own.sort(key=lambda one: (-one.priority, one.since, one.id))
        later |= {one.id: limit.most for one in own[max(limit.most - limit.running, 0) :]}
    return [
        replace(one, aside=REASON.format(later[one.id]), in_array_queue=True) if one.id in later else one
        for one in waiting
    ]
