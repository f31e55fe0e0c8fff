"""The simulated installation: nodes, resource groups with weights, and ceilings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from carrel.core.ids import GroupId
from carrel.core.units import Slots
from carrel.scheduling.snapshot import (
    GroupSnapshot,
    NodeSnapshot,
    QueueOrder,
    ScopeSnapshot,
    ShareSnapshot,
    Snapshot,
)

KINDS = ("domain", "project", "user")
"""Kinds of scopes with weights and ceilings, in the order of a session's path."""
ANYBODY = "*"
"""Key for every id of a kind that is not listed."""


@dataclass(frozen=True)
class SimulatedInstallation:
    """weights: by group, then by (kind, id). ceilings: by (kind, id). pending: maximum pending time.

    names: of domains, projects and groups, by id, where known.
    """

    nodes: tuple[NodeSnapshot, ...]
    groups: tuple[GroupSnapshot, ...]
    weights: Mapping[GroupId, Mapping[tuple[str, str], float]] = field(default_factory=dict)
    ceilings: Mapping[tuple[str, str], Slots] = field(default_factory=dict)
    pending: Mapping[GroupId, timedelta] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def start(self, paths: Iterable[tuple[str, str, str]], now: datetime) -> Snapshot:
        """The state before the first arrival. paths: of all sessions."""
        known = sorted(set(paths))
        levels = {path[:length] for path in known for length in (1, 2, 3)}
        groups = tuple(
            replace(
                group, shares={path: ShareSnapshot(weight=self.weight(group.id, path)) for path in levels}
            )
            if group.order is QueueOrder.FAIR_SHARE
            else group
            for group in self.groups
        )
        scopes = {
            f"{kind}:{name}": ScopeSnapshot(f"{kind} {self.names.get(name, name)}", ceiling)
            for kind, name in dict.fromkeys(each for path in known for each in zip(KINDS, path, strict=True))
            if (ceiling := self._ceiling(kind, name))
        }
        return Snapshot(self.nodes, (), now, groups, scopes)

    def scopes(self, path: tuple[str, str, str]) -> tuple[str, ...]:
        """The keys of the scopes that limit it."""
        return tuple(
            f"{kind}:{name}" for kind, name in zip(KINDS, path, strict=True) if self._ceiling(kind, name)
        )

    def weight(self, group: GroupId, path: tuple[str, ...]) -> float:
        """Weight of a domain, project or user, depending on the length of the path. Not listed: 1."""
        return self.weights.get(group, {}).get((KINDS[len(path) - 1], path[-1]), 1.0)

    def _ceiling(self, kind: str, name: str) -> Slots:
        return self.ceilings.get((kind, name), self.ceilings.get((kind, ANYBODY), {}))
