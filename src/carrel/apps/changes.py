"""Waking whoever waits for sessions to change their state, in this process."""

import asyncio

from carrel.db.listener import Listener
from carrel.sessions import transitions
from carrel.tables.session_states import SessionState


class SessionChanges:
    """One subscription for all who wait. Which session changed is not said: look at the row."""

    def __init__(self, listener: Listener) -> None:
        self._next = asyncio.Event()
        for state in SessionState:
            listener.subscribe(transitions.topic(state), self._fire)

    @property
    def next(self) -> asyncio.Event:
        """Set at the next change of any session. Take it first, then look, then wait for it."""
        return self._next

    def _fire(self) -> None:
        fired, self._next = self._next, asyncio.Event()
        fired.set()
