"""A lifecycle as one table, from which the CHECK constraint, the API's enum and the diagram come."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State", bound=StrEnum)


@dataclass(frozen=True)
class Lifecycle(Generic[State]):
    """moves: where each state may go. deadlines: how long a state may last before its failure exit."""

    moves: Mapping[State, frozenset[State]]
    deadlines: Mapping[State, timedelta]

    @property
    def final(self) -> frozenset[State]:
        """States that nothing leaves."""
        return frozenset(state for state, targets in self.moves.items() if not targets)

    @property
    def live(self) -> frozenset[State]:
        return frozenset(self.moves) - self.final

    def sources(self, target: State) -> frozenset[State]:
        """The states from which one may go to the target."""
        return frozenset(state for state, targets in self.moves.items() if target in targets)

    def mermaid(self) -> str:
        """The table as a diagram for the documentation."""
        arrows = [f"    {a} --> {b}" for a, targets in self.moves.items() for b in sorted(targets)]
        return "\n".join(["stateDiagram-v2", *arrows])
