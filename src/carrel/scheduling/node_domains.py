"""The topology of a group's nodes: domains at levels from narrow to wide.

A domain is the nodes with one value of a label within a domain of each wider level, so `rack=r1` in two zones is two
domains. As in Kueue's topology-aware scheduling, but a node without the label of a level is in none of its domains,
instead of out of use.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from carrel.scheduling.ranking import Indexes
from carrel.scheduling.snapshot import NodeSnapshot

_NONE = -1


class Topology:
    """levels: labels, the narrowest first."""

    def __init__(self, levels: Sequence[str], nodes: Sequence[NodeSnapshot]) -> None:
        self.levels = tuple(levels)
        self._nodes = np.arange(len(nodes), dtype=np.intp)
        self._domains = [_numbers(nodes, at) for at in range(len(self.levels))]

    def domains(self, level: str) -> NDArray[np.intp]:
        """The number of each node's domain at this level, which is one of `levels`; below 0 if it is in none."""
        return self._domains[self.levels.index(level)]

    def nearest(self, nodes: Indexes, used: Sequence[int]) -> Indexes:
        """Those of these nodes that share the most with nodes in use by a session: the widest domain first, then
        narrower ones, then the node.
        """
        for domains in (*reversed(self._domains), self._nodes):
            counts = _counts(domains, used)
            counts[_NONE] = 0
            mine = counts[domains[nodes]]
            nodes = nodes[mine == mine.max()]
        return nodes

    def farthest(self, nodes: Indexes, used: Sequence[int]) -> Indexes:
        """The opposite of `nearest`; nodes without a label count as one domain."""
        for domains in (*reversed(self._domains), self._nodes):
            mine = _counts(domains, used)[domains[nodes]]
            nodes = nodes[mine == mine.min()]
        return nodes


def domains(labels: Mapping[str, str], levels: Sequence[str]) -> tuple[str, ...]:
    """`NodeSnapshot.domains` of a node with these labels."""
    return tuple([labels.get(level, "") for level in levels])


def _numbers(nodes: Sequence[NodeSnapshot], at: int) -> NDArray[np.intp]:
    # A node of an elastic group, which has no topology, has no values.
    keys = [(node.network, *node.domains[at:]) if any(node.domains[at : at + 1]) else None for node in nodes]
    numbers = {key: number for number, key in enumerate(sorted({key for key in keys if key}))}
    return np.array([numbers[key] if key else _NONE for key in keys], dtype=np.intp)


def _counts(domains: NDArray[np.intp], used: Sequence[int]) -> NDArray[np.intp]:
    """How many of the nodes in use are in each domain; at `_NONE`, the last: in none."""
    counts = np.zeros(int(domains.max(initial=0)) + 2, dtype=np.intp)
    np.add.at(counts, domains[np.asarray(used, dtype=np.intp)], 1)
    return counts
