"""What keypairs, users, projects and domains may still take while a plan is made."""

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
    """A ceiling in the way. used: what is held of it now."""

    scope: str
    label: str
    slot: str
    ceiling: int
    used: int
    asked: int

    @property
    def never(self) -> bool:
        """Even if nothing else were held of it."""
        return self.asked > self.ceiling


def demand(one: PendingSession | RunningSession) -> dict[str, int]:
    """What it counts for in each of its scopes."""
    return {**{slot: amount * one.count for slot, amount in one.slots.items()}, SESSIONS: 1}


def asked(one: PendingSession) -> dict[str, int]:
    """The same, and how many containers it has."""
    return {**demand(one), CONTAINERS: one.count}


class Ceilings:
    """What is left of each scope, and what of that is kept for whom. Only what is limited is in it."""

    def __init__(self, scopes: Mapping[str, ScopeSnapshot]) -> None:
        self._scopes = scopes
        self._kept: dict[tuple[str, str], tuple[SessionId, int]] = {}
        self._left = {
            key: {slot: most - scope.used.get(slot, 0) for slot, most in scope.ceiling.items()}
            for key, scope in scopes.items()
        }

    def limits(self, scopes: Iterable[str], wanted: Slots) -> list[ScopeLimit]:
        """All that is in the way of so much more in these scopes."""
        containers = wanted.get(CONTAINERS, 1)
        several = [
            ScopeLimit(key, self._scopes[key].label, CONTAINERS, most, 0, containers)
            for key in (scopes if containers > 1 else ())
            if (most := self._scopes[key].containers) is not None and containers > most
        ]
        return several + [
            self._limit(key, slot, wanted[slot])
            for key in scopes
            for slot, left in self._left[key].items()
            if 0 < wanted.get(slot, 0) > left
        ]

    def allow(self, scopes: Iterable[str], wanted: Slots) -> bool:
        """Nothing is in the way of so much more."""
        if wanted.get(CONTAINERS, 1) > 1:
            return not self.limits(scopes, wanted)
        for key in scopes:
            for slot, left in self._left[key].items():
                if 0 < wanted.get(slot, 0) > left:
                    return False
        return True

    def take(self, scopes: Iterable[str], wanted: Slots, times: int = 1) -> None:
        """times -1: give back."""
        for key in scopes:
            left = self._left[key]
            for slot in left:
                left[slot] -= wanted.get(slot, 0) * times

    def keep(self, one: SessionId, scopes: Iterable[str], wanted: Slots) -> None:
        """Others leave it so much of what limits it; of what is kept for somebody already, nothing is."""
        for key in scopes:
            for slot in self._left[key]:
                if amount := wanted.get(slot, 0):
                    self._kept.setdefault((key, slot), (one, amount))

    def keep_nothing(self) -> None:
        """What was kept is for everybody again."""
        self._kept.clear()

    def kept_from(self, one: SessionId, scopes: Iterable[str], wanted: Slots) -> tuple[str, str] | None:
        """Scope and slot of which another is to have what it would take."""
        if not self._kept:
            return None
        for key in scopes:
            for slot, left in self._left[key].items():
                whom, kept = self._kept.get((key, slot), (one, 0))
                if whom != one and wanted.get(slot, 0) > 0 and wanted[slot] > left - kept:
                    return key, slot
        return None

    @property
    def keeping(self) -> bool:
        """Something is kept for somebody."""
        return bool(self._kept)

    def left(self, scopes: Iterable[str], slot: str) -> int | None:
        """How much more of the slot they may take; None: they are not limited in it."""
        known = [self._left[key][slot] for key in scopes if slot in self._left[key]]
        return max(min(known), 0) if known else None

    def _limit(self, key: str, slot: str, asked: int) -> ScopeLimit:
        scope = self._scopes[key]
        most = scope.ceiling[slot]
        return ScopeLimit(key, scope.label, slot, most, most - self._left[key][slot], asked)
