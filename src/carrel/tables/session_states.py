"""The lifecycle of a session: the single definition of its states.

TERMINATING has a target state (the row's `outcome`): TERMINATED, CANCELLED if it never ran, or ERROR; PENDING, when the
session leaves its node to restart elsewhere; or SCHEDULED, when it restarts in place and keeps its slots. A session
that failed to start returns to PENDING, up to a number of attempts.
"""

from datetime import timedelta
from enum import StrEnum

from carrel.core.lifecycle import Lifecycle


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


class SessionKind(StrEnum):
    """interactive: runs until it is terminated. batch: runs a command once. inference: serves a model."""

    INTERACTIVE = "interactive"
    BATCH = "batch"
    INFERENCE = "inference"


class Result(StrEnum):
    """Result of a batch session that has ended.

    success, failure: of its command; failure also if it could not run. timed_out: ended at its time limit. cancelled:
    ended before its command did.
    """

    SUCCESS = "success"
    FAILURE = "failure"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class Rights(StrEnum):
    """Rights of a session's user inside it. plain: an unprivileged user. root: also root, by `sudo`."""

    PLAIN = "plain"
    ROOT = "root"


_S = SessionState

LIFECYCLE = Lifecycle(
    moves={
        _S.PENDING: frozenset({_S.SCHEDULED, _S.CANCELLED}),
        _S.SCHEDULED: frozenset({_S.PREPARING, _S.TERMINATING, _S.PENDING}),
        _S.PREPARING: frozenset({_S.STARTING, _S.RUNNING, _S.TERMINATING, _S.PENDING}),
        _S.STARTING: frozenset({_S.RUNNING, _S.TERMINATING, _S.PENDING}),
        _S.RUNNING: frozenset({_S.STARTING, _S.TERMINATING}),
        _S.TERMINATING: frozenset({_S.TERMINATED, _S.CANCELLED, _S.ERROR, _S.PENDING, _S.SCHEDULED}),
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


class ContainerState(StrEnum):
    """State of one container of a session. PENDING: without a node.

    EXITED: it ended or disappeared, and is not restarted; still to be removed from the engine. GONE: nothing of it is
    left on the engine, and it holds no slots. ABANDONED: its session was ended by force; it may still be on the engine,
    and holds its slots until the engine confirms that it is gone.
    """

    PENDING = "PENDING"
    SCHEDULED = "SCHEDULED"
    PREPARING = "PREPARING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    EXITED = "EXITED"
    ABANDONED = "ABANDONED"
    GONE = "GONE"


_C = ContainerState

CONTAINER_LIFECYCLE = Lifecycle(
    moves={
        _C.PENDING: frozenset({_C.SCHEDULED, _C.GONE}),
        _C.SCHEDULED: frozenset({_C.PREPARING, _C.PENDING, _C.ABANDONED, _C.GONE}),
        _C.PREPARING: frozenset({_C.STARTING, _C.RUNNING, _C.PENDING, _C.ABANDONED, _C.GONE}),
        _C.STARTING: frozenset({_C.RUNNING, _C.PENDING, _C.ABANDONED, _C.GONE}),
        _C.RUNNING: frozenset({_C.SCHEDULED, _C.STARTING, _C.EXITED, _C.PENDING, _C.ABANDONED, _C.GONE}),
        _C.EXITED: frozenset({_C.SCHEDULED, _C.ABANDONED, _C.GONE}),
        _C.ABANDONED: frozenset({_C.GONE}),
        # A session that leaves its nodes restarts elsewhere, with the same containers.
        _C.GONE: frozenset({_C.PENDING}),
    },
    deadlines={},
)


ENDED = frozenset({_C.EXITED, _C.ABANDONED, _C.GONE})
"""States of a container whose main process has ended, or counts as ended."""


class ContainerRole(StrEnum):
    """main: the default container of terminals, commands, logs and apps. sub: every other, whatever its role is called
    in the request.
    """

    MAIN = "main"
    SUB = "sub"


class ClusterPlacement(StrEnum):
    """together: all containers on one node; in a group with a topology, in the narrowest domain that has room for all.
    spread: on any nodes that reach each other; in a group with a topology, in different domains first.
    """

    TOGETHER = "together"
    SPREAD = "spread"


class OnFailure(StrEnum):
    """What a sub container that fails or disappears means. end: the session ends. continue: the others go on."""

    END = "end"
    CONTINUE = "continue"
