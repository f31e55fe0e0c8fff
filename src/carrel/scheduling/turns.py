"""Whose turn it is, among the heads of all group queues."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from carrel.core.ids import GroupId, SessionId
from carrel.scheduling.snapshot import PendingSession

_Head = tuple[int, datetime, SessionId, int, PendingSession]
"""In order: priority, arrival, id, rank of the group for the session, and the session."""


def in_turn(lines: Mapping[GroupId, Iterator[PendingSession]]) -> Iterator[PendingSession]:
    """The longest-waiting head of all group queues, because groups share ceilings.

    A session that accepts several groups has its turn in each of them, after those that it prefers: the queue waits
    for that, unless the queues wait for each other.
    """
    if len(lines) == 1:
        yield from next(iter(lines.values()))
        return
    heads = [head for line in lines.values() for head in _next(line)]
    heapq.heapify(heads)
    early: list[_Head] = []
    had: set[tuple[SessionId, GroupId]] = set()
    while heads or early:
        # 1. choose the head; if all are early, one of them
        head = heads[0] if heads else min(early)
        one = head[-1]
        if not heads:
            early.remove(head)
            heads.append(head)
        elif any(group in lines and (one.id, group) not in had for group in one.groups[: head[3]]):
            early.append(heapq.heappop(heads))
            continue
        yield one
        # 2. only now, because the next head of its group may depend on this result
        for after in _next(lines[one.group]):
            heapq.heapreplace(heads, after)
            break
        else:
            heapq.heappop(heads)
        # 3. its turn in another group may have come
        if one.choices:
            had.add((one.id, one.group))
            for other in [other for other in early if other[2] == one.id]:
                early.remove(other)
                heapq.heappush(heads, other)


def _next(line: Iterator[PendingSession]) -> Iterable[_Head]:
    one = next(line, None)
    return () if one is None else ((-one.priority, one.since, one.id, one.groups.index(one.group), one),)
