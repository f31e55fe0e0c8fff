"""Tells whether any untried session of a round may still start, without trying each of them."""

from collections.abc import Callable, Iterable

from carrel.scheduling.requirements import SessionRequirements
from carrel.scheduling.snapshot import PendingSession


class RemainingCandidates:
    """True while one of the sessions that were not tried yet may start.

    has_room: for all sessions with the same request. may: for all that also count against the same scopes. Both stay
    False once they are, because a round only takes capacity. One session that may start settles the question, so that
    few are tried.
    """

    def __init__(
        self,
        waiting: Iterable[tuple[PendingSession, SessionRequirements]],
        has_room: Callable[[PendingSession], bool],
        may: Callable[[PendingSession], bool],
    ) -> None:
        self._has_room = has_room
        self._may = may
        self._left: dict[SessionRequirements, dict[tuple[str, ...], int]] = {}
        self._one: dict[tuple[SessionRequirements, tuple[str, ...]], PendingSession] = {}
        for one, request in waiting:
            left = self._left.setdefault(request, {})
            if one.scopes in left:
                left[one.scopes] += 1
            else:
                left[one.scopes] = 1
                self._one[request, one.scopes] = one
        self._open = {request: list(left) for request, left in self._left.items()}
        self._sure = False

    def __bool__(self) -> bool:
        while self._open:
            request, scopes = next(reversed(self._open.items()))
            if self._sure and self._left[request][scopes[-1]]:
                return True
            self._sure = self._one_of(request, scopes)
            if not self._sure:
                del self._open[request]
        return False

    def tried(self, one: PendingSession, request: SessionRequirements, *, took: bool) -> None:
        """The session was tried. took: it took capacity or reserved some."""
        self._left[request][one.scopes] -= 1
        self._sure = self._sure and not took

    def _one_of(self, request: SessionRequirements, scopes: list[tuple[str, ...]]) -> bool:
        """Whether one of them may start. Drops scopes that may not; the last that remains is the one that may."""
        if not self._has_room(self._one[request, scopes[-1]]):
            return False
        while scopes and not (self._left[request][scopes[-1]] and self._may(self._one[request, scopes[-1]])):
            scopes.pop()
        return bool(scopes)
