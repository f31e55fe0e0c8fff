"""Causes of database outages: one problem code each."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import psycopg
import sqlalchemy.exc
import structlog

from carrel.core.errors import Unavailable
from carrel.db import metrics

log = structlog.get_logger()

FULL_BYTES = 32 << 20
"""With less free space PostgreSQL may stop: its log grows by 16 MiB at a time."""
_RETRY_FULL_S = 10


@dataclass(frozen=True)
class OutageCause:
    """The problem reported for a cause."""

    code: str
    message: str
    hint: str


_UNAVAILABLE = OutageCause(
    "database.unavailable",
    "The database does not respond.",
    "Try again in a moment; an administrator can run `carrel status`.",
)
_FULL = OutageCause(
    "server.disk_full",
    "The server's disk is full; nothing can be saved.",
    "Running sessions continue. Everything else resumes when an administrator has freed space.",
)
_BUSY = OutageCause(
    "database.busy",
    "All database connections of this server are in use.",
    "Try again in a moment. If it stays, an administrator can look for slow statements in pg_stat_activity.",
)
_TOO_MANY_CONNECTIONS = OutageCause(
    "database.too_many_connections",
    "PostgreSQL accepts no more connections.",
    "Try again in a moment. An administrator can close other clients or raise max_connections.",
)
_NO_MEMORY = OutageCause(
    "database.out_of_resources",
    "PostgreSQL ran out of memory or of another resource that its configuration limits.",
    "Try again in a moment. An administrator finds the cause in PostgreSQL's log.",
)
_READ_ONLY = OutageCause(
    "database.read_only",
    "The database only answers reads: it is a standby, or default_transaction_read_only is on.",
    "An administrator must point database_url at the primary server.",
)
_BY_SQLSTATE: dict[str, OutageCause] = {
    "40P01": OutageCause(
        "database.deadlock",
        "PostgreSQL canceled this change because of a deadlock with another one. Nothing was changed.",
        "Try again.",
    ),
    "40001": OutageCause(
        "database.serialization_failure",
        "The change conflicts with a concurrent one. Nothing was changed.",
        "Try again.",
    ),
    "55P03": OutageCause(
        "database.lock_timeout",
        "Another transaction held a lock for longer than lock_timeout. Nothing was changed.",
        "Try again in a moment.",
    ),
    "57014": OutageCause(
        "database.statement_timeout",
        "PostgreSQL canceled the statement: it took longer than statement_timeout, or an administrator canceled it."
        " Nothing was changed.",
        "Try again. An administrator can raise statement_timeout.",
    ),
    "53300": _TOO_MANY_CONNECTIONS,
    "53100": _FULL,
    "25P04": OutageCause(
        "database.transaction_timeout",
        "PostgreSQL ended the transaction because it was open longer than transaction_timeout. Nothing was changed.",
        "Try again. An administrator can raise transaction_timeout.",
    ),
    "25006": _READ_ONLY,
}
"""Source: PostgreSQL's appendix A, error codes."""
_BY_CLASS: dict[str, OutageCause] = {
    "08": _UNAVAILABLE,  # connection exceptions
    "53": _NO_MEMORY,  # insufficient resources
    "57": _UNAVAILABLE,  # operator intervention: starting, stopping, or crashed
    "58": _UNAVAILABLE,  # system errors, such as a failed read
}
_AT_CONNECT: dict[str, OutageCause] = {
    "too many clients": _TOO_MANY_CONNECTIONS,
    "remaining connection slots": _TOO_MANY_CONNECTIONS,
    "too many connections": _TOO_MANY_CONNECTIONS,
}
"""By message text: libpq passes on no SQLSTATE for refused connections."""
_REPEATABLE = frozenset({"40P01", "40001"})


def is_repeatable(error: BaseException) -> bool:
    """True if PostgreSQL aborted the transaction in favor of another one, so that a retry may succeed."""
    return _sqlstate(error) in _REPEATABLE


@dataclass(frozen=True)
class Outage:
    """folder: data directory of the embedded server; None for an external server."""

    folder: Path | None = None

    def explain(self, error: BaseException) -> Unavailable | None:
        """The problem for an error of the driver or the pool; None if the statement itself is at fault."""
        cause = self._cause(error)
        if cause is None:
            return None
        metrics.ERRORS.labels(cause.code).inc()
        log.warning("database.refused", code=cause.code, sqlstate=_sqlstate(error), error=_primary(error))
        details = {"retry_after_s": _RETRY_FULL_S} if cause is _FULL else {}
        return Unavailable(cause.code, cause.message, hint=cause.hint, details=details)

    def _cause(self, error: BaseException) -> OutageCause | None:
        state = _sqlstate(error)
        if isinstance(error, sqlalchemy.exc.TimeoutError):
            cause: OutageCause | None = _BUSY
        elif state is not None:
            cause = _BY_SQLSTATE.get(state) or _BY_CLASS.get(state[:2])
        elif isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            text = str(error)
            cause = next((each for sign, each in _AT_CONNECT.items() if sign in text), _UNAVAILABLE)
        else:
            cause = None
        return _FULL if cause in (_UNAVAILABLE, _BUSY) and self._disk_is_full() else cause

    def _disk_is_full(self) -> bool:
        # A server that could not write its log has exited without a message.
        try:
            return self.folder is not None and shutil.disk_usage(self.folder).free < FULL_BYTES
        except OSError:
            return False


def _sqlstate(error: BaseException) -> str | None:
    return error.sqlstate if isinstance(error, psycopg.Error) else None


def _primary(error: BaseException) -> str:
    """PostgreSQL's primary message, without details, which may contain values."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return primary or str(error).strip()[:500]
