"""Nodes in the order in which a strategy prefers them, so that the first with room is found without looking at each.

They stand on shelves of some dozens. A shelf is labelled with the most that a node on it has free of each slot, and
is passed by when that is too little. A label says too much after a node has left; whoever is misled by it writes it
anew. What is found is exact either way: each node is looked at before it is chosen.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carrel.scheduling.stock import Stock, Wanted

SIZE = 24
"""So many nodes stand on a shelf at first; at twice as many it becomes two."""

Key = tuple[Any, ...]
"""By what nodes are compared, numbers that count in turn, the best has the smallest. The last is the node's index."""


class Shelves:
    """seen: how much of the stock had changed when they were last brought up to date."""

    def __init__(self, stock: Stock, slots: Iterable[str], keys: Sequence[Key]) -> None:
        """keys: of all nodes that are to be found, in order. slots: that will be asked for."""
        self.seen = len(stock.changed)
        self._stock = stock
        self._slots = tuple(slots)
        self._key_of = {key[-1]: key for key in keys}
        self._shelves = [list(keys[start : start + SIZE]) for start in range(0, len(keys), SIZE)]
        self._firsts = [shelf[0] for shelf in self._shelves]
        order = np.array([key[-1] for key in keys], dtype=np.intp)
        starts = np.arange(0, len(keys), SIZE)
        self._most = [np.maximum.reduceat(stock.column(slot)[order], starts) for slot in self._slots]

    def __contains__(self, index: int) -> bool:
        return index in self._key_of

    def find(self, wanted: Wanted, least: Key) -> int | None:
        """The first node with room whose key is not smaller than `least`. wanted: of the shelves' slots, in order."""
        if not self._shelves:
            return None
        # 1. on the shelf where such keys begin, behind those that are smaller: mostly it is one of the first there
        start = max(bisect_right(self._firsts, least) - 1, 0)
        shelf = self._shelves[start]
        if (found := self._among(islice(shelf, bisect_left(shelf, least), None), wanted)) is not None:
            return found
        # 2. on those after it whose labels say so
        start += 1
        enough: NDArray[np.bool_] = np.ones(len(self._shelves) - start, dtype=bool)
        for most, (_, amount) in zip(self._most, wanted, strict=True):
            enough &= most[start:] >= amount
        for number in (enough.nonzero()[0] + start).tolist():
            if (found := self._among(self._shelves[number], wanted)) is not None:
                return found
            self._label(number)
        return None

    def move(self, index: int, key: Key) -> None:
        """Put a node that is on them, and changed, where it belongs now."""
        old = self._key_of[index]
        number = bisect_right(self._firsts, old) - 1
        shelf = self._shelves[number]
        del shelf[bisect_left(shelf, old)]
        if not shelf and len(self._shelves) > 1:
            self._take_down(number)
        self._key_of[index] = key
        number = max(bisect_right(self._firsts, key) - 1, 0)
        insort(self._shelves[number], key)
        self._firsts[number] = min(self._firsts[number], key)
        free = self._stock.free[index]
        for most, slot in zip(self._most, self._slots, strict=True):
            if (amount := free.get(slot, 0)) > most.item(number):
                most[number] = amount
        if len(self._shelves[number]) > 2 * SIZE:
            self._split(number)

    def _among(self, keys: Iterable[Key], wanted: Wanted) -> int | None:
        """The first with room."""
        free = self._stock.free
        for key in keys:
            index: int = key[-1]
            has = free[index]
            for slot, amount in wanted:
                if has.get(slot, 0) < amount:
                    break
            else:
                return index
        return None

    def _split(self, number: int) -> None:
        shelf = self._shelves[number]
        self._shelves[number : number + 1] = [shelf[:SIZE], shelf[SIZE:]]
        self._firsts.insert(number + 1, shelf[SIZE])
        self._most = [np.insert(most, number, 0) for most in self._most]
        self._label(number)
        self._label(number + 1)

    def _take_down(self, number: int) -> None:
        del self._shelves[number], self._firsts[number]
        self._most = [np.delete(most, number) for most in self._most]

    def _label(self, number: int) -> None:
        there = [self._stock.free[key[-1]] for key in self._shelves[number]]
        for most, slot in zip(self._most, self._slots, strict=True):
            most[number] = max((free.get(slot, 0) for free in there), default=-1)
