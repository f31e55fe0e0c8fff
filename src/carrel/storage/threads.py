"""Worker threads per storage host, so that a hanging host blocks only its own callers, and for a bounded time.

A thread in a system call on a dead file system cannot be ended and is abandoned; while too many are stuck, new calls
fail immediately. The threads are daemons, so the process can exit without them.
"""

import asyncio
import errno
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from carrel.storage import metrics
from carrel.storage.port import OverQuota, StorageError, StorageFull, StorageUnavailable

T = TypeVar("T")
DEADLINE_S = 15.0
_LIMIT = 16
_STUCK_LIMIT = _LIMIT // 2
_AWAY = frozenset({errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.ENODEV})

_Job = tuple["Future[Any]", float, Callable[..., Any], tuple[Any, ...]]


class Threads:
    """Runs blocking work for one host. name: of the host, for messages."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._fast, self._slow = _ThreadPool(f"storage-{name}"), _ThreadPool(f"storage-{name}-slow")
        metrics.HOSTS.add(self)

    async def call(self, work: Callable[..., T], *args: Any, deadline_s: float | None = DEADLINE_S) -> T:
        """The result of the work. deadline_s None: long work that reports progress, in a separate thread.

        Work that may take longer than usual has separate threads and does not delay other calls. Started work runs to
        completion, even if its caller is cancelled or times out; work that has not started is dropped.
        Raises: StorageUnavailable, also after the deadline; OverQuota, StorageFull; exceptions of the work.
        """
        if self.stuck >= _STUCK_LIMIT:
            raise StorageUnavailable(f"The storage host {self._name} does not respond.")
        future: Future[T] = Future()
        if deadline_s is None:
            threading.Thread(
                target=_do, args=(future, work, args), daemon=True, name=f"storage-{self._name}-long"
            ).start()
        else:
            pool = self._fast if deadline_s <= DEADLINE_S else self._slow
            pool.give((future, deadline_s, work, args))
        answer = asyncio.wrap_future(future)
        answer.add_done_callback(_look)
        try:
            await asyncio.wait({answer}, timeout=deadline_s)
        finally:
            future.cancel()
        if not future.done() or future.cancelled():
            raise StorageUnavailable(
                f"The storage host {self._name} did not respond within {deadline_s:.0f} seconds."
            )
        try:
            return future.result()
        except OSError as error:
            raise translated(error, self._name) from error

    @property
    def stuck(self) -> int:
        """Number of threads in calls past their deadline."""
        return self._fast.stuck + self._slow.stuck

    @property
    def host(self) -> str:
        return self._name

    @property
    def running(self) -> int:
        """Number of started calls, without those that have no deadline."""
        return self._fast.running + self._slow.running

    @property
    def queued(self) -> int:
        """Number of calls that wait for a thread."""
        return self._fast.queued + self._slow.queued

    def close(self) -> None:
        """End idle threads. Twice: no-op."""
        self._fast.close()
        self._slow.close()


class _ThreadPool:
    """Threads started on demand. name: of the threads."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._started = 0
        self._running: dict[Future[Any], float] = {}
        """Running calls with their deadlines: stuck calls are counted by this, not by waiting callers."""

    @property
    def stuck(self) -> int:
        now = time.monotonic()
        return sum(due < now for due in tuple(self._running.values()))

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def queued(self) -> int:
        return self._jobs.qsize()

    def close(self) -> None:
        for _ in range(self._started):
            self._jobs.put(None)
        self._started = 0

    def give(self, job: _Job) -> None:
        self._jobs.put(job)
        if not self._idle.acquire(blocking=False) and self._started < _LIMIT:
            self._started += 1
            threading.Thread(target=self._work, daemon=True, name=self._name).start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, deadline_s, work, args = job
            if not _do(future, partial(self._watched, future, deadline_s, work), args):
                self._idle.release()
            # Drop references before waiting: they keep files open.
            del job, future, work, args

    def _watched(
        self, future: "Future[Any]", deadline_s: float, work: Callable[..., Any], *args: object
    ) -> Any:
        self._running[future] = time.monotonic() + deadline_s
        try:
            return work(*args)
        finally:
            # Before the caller is notified: an immediate next call finds this thread idle.
            del self._running[future]
            self._idle.release()


def _do(future: "Future[Any]", work: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Do the work; False if it was cancelled before it started."""
    if not future.set_running_or_notify_cancel():
        return False
    try:
        future.set_result(work(*args))
    except BaseException as error:
        future.set_exception(error)
    return True


def _look(answer: "asyncio.Future[Any]") -> None:
    """Retrieve the exception, so that asyncio does not log it as lost if the caller is gone."""
    if not answer.cancelled():
        answer.exception()


def translated(error: OSError, host: str) -> Exception:
    """Errors of the storage as `StorageError`; other errors unchanged."""
    if isinstance(error, StorageError):
        return error
    if error.errno == errno.EDQUOT:
        return OverQuota("The quota for folders is used up.")
    if error.errno == errno.ENOSPC:
        return StorageFull(f"The storage host {host} is full.")
    if error.errno in _AWAY:
        return StorageUnavailable(f"The storage host {host} does not respond.")
    return error
