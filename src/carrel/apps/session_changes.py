"""Wake tasks of this process that wait for changes of sessions' states and shares."""

import asyncio

from carrel.db.listener import Listener
from carrel.sessions import announcements
from carrel.tables.session_shares import TOPIC as SHARES_CHANGED
from carrel.tables.session_states import SessionState


class SessionChanges:
    """One subscription for all waiters. It does not tell which session changed: read the row."""

    def __init__(self, listener: Listener) -> None:
        self._next = asyncio.Event()
        for state in SessionState:
            listener.subscribe(announcements.topic(state), self._fire)
        listener.subscribe(SHARES_CHANGED, self._fire)

    @property
    def next(self) -> asyncio.Event:
        """An event set at the next change of any session. Take it first, then read the row, then wait."""
        return self._next

    def _fire(self) -> None:
        fired, self._next = self._next, asyncio.Event()
        fired.set()
