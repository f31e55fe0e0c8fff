"""Remaining ceilings of keypairs, users, projects and domains while a plan is made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from carrel.core.ids import SessionId
from carrel.scheduling.snapshot import (
    CONTAINERS,
    SESSIONS,
    PendingSession,
    RunningSession,
    ScopeSnapshot,
    Slots,
)


@dataclass(frozen=True, slots=True)
class ScopeLimit:
    """A ceiling that blocks a session. used: the current usage."""

    scope: str
    label: str
    slot: str
    ceiling: int
    used: int
    asked: int

    @property
    def never(self) -> bool:
        """The request exceeds it even without other usage."""
        return self.asked > self.ceiling


def demand(one: PendingSession | RunningSession) -> dict[str, int]:
    """What a session counts for in each of its scopes."""
    return {**total_slots(one), SESSIONS: 1}


def total_slots(one: PendingSession | RunningSession) -> dict[str, int]:
    """The slots of all its containers together."""
    if not one.mixed:
        return {slot: amount * one.count for slot, amount in one.slots.items()}
    total: dict[str, int] = {}
    for slots in one.mixed:
        for slot, amount in slots.items():
            total[slot] = total.get(slot, 0) + amount
    return total


def requested_amounts(one: PendingSession) -> dict[str, int]:
    """As `demand_of`, plus the number of containers."""
    return {**demand(one), CONTAINERS: one.count}


class Ceilings:
    """Remaining amounts of each limited scope, and the reservations on them."""

    def __init__(self, scopes: Mapping[str, ScopeSnapshot]) -> None:
        self._scopes = scopes
        self._kept: dict[tuple[str, str], tuple[SessionId, int]] = {}
        self._left = {
            key: {slot: most - scope.used.get(slot, 0) for slot, most in scope.ceiling.items()}
            for key, scope in scopes.items()
        }

    def limits(self, scopes: Iterable[str], slots: Slots) -> list[ScopeLimit]:
        """All ceilings of these scopes that block the demand."""
        containers = slots.get(CONTAINERS, 1)
        several = [
            ScopeLimit(key, self._scopes[key].label, CONTAINERS, most, 0, containers)
            for key in (scopes if containers > 1 else ())
            if (most := self._scopes[key].containers) is not None and containers > most
        ]
        return several + [
            self._limit(key, slot, slots[slot])
            for key in scopes
            for slot, left in self._left[key].items()
            if 0 < slots.get(slot, 0) > left
        ]

    def allow(self, scopes: Iterable[str], slots: Slots) -> bool:
        """True if no ceiling blocks the demand."""
        if slots.get(CONTAINERS, 1) > 1:
            return not self.limits(scopes, slots)
        for key in scopes:
            for slot, left in self._left[key].items():
                if 0 < slots.get(slot, 0) > left:
                    return False
        return True

    def take(self, scopes: Iterable[str], slots: Slots, times: int = 1) -> None:
        """times -1: release."""
        for key in scopes:
            left = self._left[key]
            for slot in left:
                left[slot] -= slots.get(slot, 0) * times

    def keep(self, one: SessionId, scopes: Iterable[str], slots: Slots) -> None:
        """Reserve the demand in each limited scope. A slot that is already reserved is skipped."""
        for key in scopes:
            for slot in self._left[key]:
                if amount := slots.get(slot, 0):
                    self._kept.setdefault((key, slot), (one, amount))

    def keep_nothing(self) -> None:
        """Release the reservation."""
        self._kept.clear()

    def kept_from(self, one: SessionId, scopes: Iterable[str], slots: Slots) -> tuple[str, str] | None:
        """A scope and slot that is reserved for another session."""
        if not self._kept:
            return None
        for key in scopes:
            for slot, left in self._left[key].items():
                holder, kept = self._kept.get((key, slot), (one, 0))
                if holder != one and slots.get(slot, 0) > 0 and slots[slot] > left - kept:
                    return key, slot
        return None

    @property
    def keeping(self) -> bool:
        """True if anything is reserved."""
        return bool(self._kept)

    def left(self, scopes: Iterable[str], slot: str) -> int | None:
        """The remaining amount of the slot; None: not limited."""
        known = [self._left[key][slot] for key in scopes if slot in self._left[key]]
        return max(min(known), 0) if known else None

    def _limit(self, key: str, slot: str, requested: int) -> ScopeLimit:
        scope = self._scopes[key]
        most = scope.ceiling[slot]
        return ScopeLimit(key, scope.label, slot, most, most - self._left[key][slot], requested)
