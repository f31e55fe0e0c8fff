"""Parallel transfers: shared progress, retries, and worker threads."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_QUEUE_SIZE = 2000
_REPORT_EVERY_S = 0.1
_PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 10.0, 15.0, 15.0)
PASSING = frozenset({408, 423, 429, 460, 502, 503, 504})
"""Timeout, still locked by a lost connection, rate limit, checksum mismatch, server unavailable."""
_FOR_ALL = frozenset({401, 403, 502, 503, 504, 507})
_MOST_FAILURES = 1000
_EXIT_TIMEOUT_S = 1.0


def holds_for_all(error: CarrelError) -> bool:
    """True for errors that affect all files: not permitted, no space, server unavailable."""
    return error.status in _FOR_ALL or error.code == "client.disk_full"


class Stopped(Exception):
    """The transfer was stopped; workers stop without cleanup."""


class Meter:
    """Progress of a transfer and its stop flag; updated by several threads.

    total_files, total_bytes: found so far; final once `complete`.
    """

    def __init__(self, on_progress: Callable[[Meter], None] | None = None) -> None:
        self.files = self.total_files = 0
        self.bytes = self.total_bytes = 0
        self.complete = False
        self._on_progress = on_progress
        self._reported_at = 0.0
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def add_file(self, size: int) -> None:
        """One more file to move."""
        with self._lock:
            self.total_files += 1
            self.total_bytes += size

    def add(self, size: int) -> None:
        """Add transferred bytes; negative for bytes to be sent again. Raises: Stopped."""
        with self._lock:
            self.bytes += size
        self._report()

    def finished(self) -> None:
        """Count a completed file."""
        with self._lock:
            self.files += 1
        self._report()

    def pause(self, seconds: float) -> None:
        """Wait. Raises: Stopped, at once."""
        if self._stop.wait(seconds):
            raise Stopped

    def stop(self) -> None:
        """Stop all threads."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def _report(self) -> None:
        if self._stop.is_set():
            raise Stopped
        now = time.monotonic()
        if self._on_progress and now - self._reported_at >= _REPORT_EVERY_S:
            self._reported_at = now
            self._on_progress(self)


class Patience:
    """Decides after an error whether to retry, with a limited back-off."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._pauses = iter(_PAUSES_S)

    def after(self, error: CarrelError) -> None:
        """Wait until the next retry. Raises: the error, if there is no retry."""
        pause_s = next(self._pauses, None) if error.status in PASSING else None
        if pause_s is None:
            raise error
        self._meter.pause(pause_s)

    def renew(self) -> None:
        """Reset the back-off after progress."""
        self._pauses = iter(_PAUSES_S)


class WorkerPool:
    """A pool of worker threads, as a context manager that waits for all jobs.

    failures: errors by job name. An error that affects every job stops all of them and is raised.
    """

    def __init__(self, size: int, meter: Meter) -> None:
        self._meter = meter
        self._jobs: queue.Queue[tuple[str, Callable[[], None]] | None] = queue.Queue(_QUEUE_SIZE)
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(size)]
        self._fatal: BaseException | None = None
        self.failures: list[tuple[str, CarrelError]] = []

    def give(self, name: str, job: Callable[[], None]) -> None:
        """Queue a job; blocks while the queue is full. Raises: Stopped."""
        while True:
            if self._meter.stopped:
                raise Stopped
            try:
                self._jobs.put((name, job), timeout=0.2)
                return
            except queue.Full:
                continue

    def fail(self, name: str, error: CarrelError) -> None:
        """Record a failure."""
        if len(self.failures) < _MOST_FAILURES:
            self.failures.append((name, error))

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if raised:
            self._meter.stop()
        for _ in self._threads:
            self._end_one()
        # On an early stop, do not wait for an unresponsive server.
        ends_at = time.monotonic() + _EXIT_TIMEOUT_S
        for thread in self._threads:
            thread.join(max(0.0, ends_at - time.monotonic()) if raised else None)
        if self._fatal and (raised is None or isinstance(raised, Stopped)):
            raise self._fatal from None

    def _end_one(self) -> None:
        while True:
            try:
                self._jobs.put(None, timeout=0.2)
                return
            except queue.Full:
                if self._meter.stopped:
                    return

    def _work(self) -> None:
        while not self._meter.stopped:
            try:
                given = self._jobs.get(timeout=0.2)
            except queue.Empty:
                continue
            if given is None:
                return
            name, job = given
            try:
                job()
            except Stopped:
                return
            except CarrelError as error:
                if holds_for_all(error):
                    self._fatal = self._fatal or error
                    self._meter.stop()
                    return
                self.fail(name, error)
            except BaseException as defect:
                self._fatal = self._fatal or defect
                self._meter.stop()
                return
