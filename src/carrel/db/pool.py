"""The pool of connections for transactions: SQLAlchemy's, which also closes those that are no longer needed."""

import time

from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry

PERIOD_S = 15.0


class Pool(AsyncAdaptedQueuePool):
    """Keeps as many connections as were in use at once in the current and the last period.

    Each connection costs PostgreSQL up to 12 MiB for what it remembers of tables. waiting: callers that wait for one.
    """

    waiting = 0
    _most = _most_before = 0
    """In use at once, in the period since `_since` and in the one before."""
    _since = 0.0

    def _do_get(self) -> ConnectionPoolEntry:
        self.waiting += 1
        try:
            return super()._do_get()
        finally:
            self.waiting -= 1

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        self._note(self.checkedout(), time.monotonic())
        if self.checkedin() < max(self._most, self._most_before):
            super()._do_return_conn(record)
            return
        try:
            record.close()
        finally:
            self._dec_overflow()

    def _note(self, in_use: int, now: float) -> None:
        if now - self._since >= PERIOD_S:
            self._most_before = self._most if now - self._since < 2 * PERIOD_S else 0
            self._most, self._since = 0, now
        self._most = max(self._most, in_use)
