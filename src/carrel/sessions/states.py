"""The lifecycle of a session. Everything that names a state comes from this table.

TERMINATING knows where it ends (the row's `outcome`): TERMINATED, CANCELLED before it ever ran, or ERROR; or PENDING,
when it leaves its node to start again elsewhere. A session that could not be started goes back to PENDING until it has
been tried often enough.
"""

from datetime import timedelta
from enum import StrEnum

from carrel.core.states import Lifecycle


class SessionState(StrEnum):
    PENDING = "PENDING"
    SCHEDULED = "SCHEDULED"
    PREPARING = "PREPARING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"


_S = SessionState

LIFECYCLE = Lifecycle(
    moves={
        _S.PENDING: frozenset({_S.SCHEDULED, _S.CANCELLED}),
        _S.SCHEDULED: frozenset({_S.PREPARING, _S.TERMINATING, _S.PENDING}),
        _S.PREPARING: frozenset({_S.STARTING, _S.RUNNING, _S.TERMINATING, _S.PENDING}),
        _S.STARTING: frozenset({_S.RUNNING, _S.TERMINATING, _S.PENDING}),
        _S.RUNNING: frozenset({_S.STARTING, _S.TERMINATING}),
        _S.TERMINATING: frozenset({_S.TERMINATED, _S.CANCELLED, _S.ERROR, _S.PENDING}),
        _S.TERMINATED: frozenset(),
        _S.CANCELLED: frozenset(),
        _S.ERROR: frozenset(),
    },
    deadlines={
        _S.SCHEDULED: timedelta(minutes=5),
        _S.PREPARING: timedelta(minutes=60),
        _S.STARTING: timedelta(minutes=5),
        _S.TERMINATING: timedelta(minutes=10),
    },
)

PLACED = frozenset({_S.SCHEDULED, _S.PREPARING, _S.STARTING, _S.RUNNING, _S.TERMINATING})
"""States in which the session holds its slots."""

LAUNCHING = frozenset({_S.SCHEDULED, _S.PREPARING, _S.STARTING})
