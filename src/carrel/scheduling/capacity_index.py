"""An index of nodes, sorted as a strategy prefers them, that finds the first with room without looking at each.

The nodes are in buckets of a few dozen. Each bucket has an upper bound for every slot: the most that one of its nodes
has free. A bucket whose bound is too small is skipped. A bound is too high after a node has left the bucket; a search
that finds nothing in the bucket corrects it. Results are exact either way: each node is checked before it is chosen.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carrel.scheduling.free_capacity import FreeCapacity, SlotAmountPairs

SIZE = 24
"""Nodes in a new bucket. A bucket with twice as many is split."""

Key = tuple[Any, ...]
"""A sort key of a node; the smallest is the best. Its last element is the node's index."""


class CapacityIndex:
    """seen: how many entries of `FreeCapacity.changed` the index reflects."""

    def __init__(self, capacity: FreeCapacity, slots: Iterable[str], keys: Sequence[Key]) -> None:
        """keys: of all nodes to be found, sorted. slots: that `find` is called for."""
        self.seen = len(capacity.changed)
        self._capacity = capacity
        self._slots = tuple(slots)
        self._key_of = {key[-1]: key for key in keys}
        self._buckets = [list(keys[start : start + SIZE]) for start in range(0, len(keys), SIZE)]
        self._firsts = [bucket[0] for bucket in self._buckets]
        order = np.array([key[-1] for key in keys], dtype=np.intp)
        starts = np.arange(0, len(keys), SIZE)
        self._bounds = [np.maximum.reduceat(capacity.column(slot)[order], starts) for slot in self._slots]

    def __contains__(self, index: int) -> bool:
        return index in self._key_of

    def find(self, amounts: SlotAmountPairs, least: Key) -> int | None:
        """The first node with room whose key is at least `least`. amounts: of the index's slots, in order."""
        if not self._buckets:
            return None
        # 1. search the bucket where such keys begin, after the smaller ones; the node is mostly one of the first there
        start = max(bisect_right(self._firsts, least) - 1, 0)
        bucket = self._buckets[start]
        if (node := self._among(islice(bucket, bisect_left(bucket, least), None), amounts)) is not None:
            return node
        # 2. search the buckets after it whose bounds are large enough
        start += 1
        enough: NDArray[np.bool_] = np.ones(len(self._buckets) - start, dtype=bool)
        for most, (_, amount) in zip(self._bounds, amounts, strict=True):
            enough &= most[start:] >= amount
        for number in (enough.nonzero()[0] + start).tolist():
            if (node := self._among(self._buckets[number], amounts)) is not None:
                return node
            self._update_bound(number)
        return None

    def move(self, index: int, key: Key) -> None:
        """Move a node of the index to its new key."""
        old = self._key_of[index]
        number = bisect_right(self._firsts, old) - 1
        bucket = self._buckets[number]
        del bucket[bisect_left(bucket, old)]
        if not bucket and len(self._buckets) > 1:
            self._remove_bucket(number)
        self._key_of[index] = key
        number = max(bisect_right(self._firsts, key) - 1, 0)
        insort(self._buckets[number], key)
        self._firsts[number] = min(self._firsts[number], key)
        free = self._capacity.free[index]
        for most, slot in zip(self._bounds, self._slots, strict=True):
            if (amount := free.get(slot, 0)) > most.item(number):
                most[number] = amount
        if len(self._buckets[number]) > 2 * SIZE:
            self._split(number)

    def _among(self, keys: Iterable[Key], amounts: SlotAmountPairs) -> int | None:
        """The first with room."""
        free = self._capacity.free
        for key in keys:
            index: int = key[-1]
            has = free[index]
            for slot, amount in amounts:
                if has.get(slot, 0) < amount:
                    break
            else:
                return index
        return None

    def _split(self, number: int) -> None:
        bucket = self._buckets[number]
        self._buckets[number : number + 1] = [bucket[:SIZE], bucket[SIZE:]]
        self._firsts.insert(number + 1, bucket[SIZE])
        self._bounds = [np.insert(most, number, 0) for most in self._bounds]
        self._update_bound(number)
        self._update_bound(number + 1)

    def _remove_bucket(self, number: int) -> None:
        del self._buckets[number], self._firsts[number]
        self._bounds = [np.delete(most, number) for most in self._bounds]

    def _update_bound(self, number: int) -> None:
        there = [self._capacity.free[key[-1]] for key in self._buckets[number]]
        for most, slot in zip(self._bounds, self._slots, strict=True):
            most[number] = max((free.get(slot, 0) for free in there), default=-1)
