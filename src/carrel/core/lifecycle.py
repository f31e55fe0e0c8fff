"""A lifecycle as one table, the source of CHECK constraint, API enum and diagram."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State", bound=StrEnum)


@dataclass(frozen=True)
class Lifecycle(Generic[State]):
    """moves: successors of each state. deadlines: how long a state may last before its failure exit."""

    moves: Mapping[State, frozenset[State]]
    deadlines: Mapping[State, timedelta]

    @property
    def final(self) -> frozenset[State]:
        """States without successors."""
        return frozenset(state for state, targets in self.moves.items() if not targets)

    @property
    def live(self) -> frozenset[State]:
        return frozenset(self.moves) - self.final

    def sources(self, target: State) -> frozenset[State]:
        """The predecessors of a state."""
        return frozenset(state for state, targets in self.moves.items() if target in targets)

    def mermaid(self) -> str:
        """The lifecycle as a diagram for the documentation."""
        arrows = [f"    {a} --> {b}" for a, targets in self.moves.items() for b in sorted(targets)]
        return "\n".join(["stateDiagram-v2", *arrows])
