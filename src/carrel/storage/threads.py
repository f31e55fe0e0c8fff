"""Threads of one storage host, so that a host that hangs blocks its own callers, for a bounded time, and nobody else.

A thread inside a system call on a dead file system cannot be ended. It is left where it is; while too many are stuck,
new calls are refused at once. The threads are daemons: the process can end without them.
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
    """Runs blocking work for one host. name: the host's, for sentences."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._quick, self._slow = _Pool(f"storage-{name}"), _Pool(f"storage-{name}-slow")
        metrics.HOSTS.add(self)

    async def call(self, work: Callable[..., T], *args: Any, deadline_s: float | None = DEADLINE_S) -> T:
        """What the work gives. deadline_s None: for long work that reports its advance, in a thread of its own.

        Work that may take longer than most is in nobody's way: its threads are others.
        Work that was begun goes on until it is done, also when its caller is cancelled or gave up; what was not
        begun by then is not done.
        Raises: StorageUnavailable, also after the deadline; OverQuota, StorageFull; what the work raises.
        """
        if self.stuck >= _STUCK_LIMIT:
            raise StorageUnavailable(f"The storage host {self._name} does not answer.")
        future: Future[T] = Future()
        if deadline_s is None:
            threading.Thread(
                target=_do, args=(future, work, args), daemon=True, name=f"storage-{self._name}-long"
            ).start()
        else:
            pool = self._quick if deadline_s <= DEADLINE_S else self._slow
            pool.give((future, deadline_s, work, args))
        answer = asyncio.wrap_future(future)
        answer.add_done_callback(_look)
        try:
            await asyncio.wait({answer}, timeout=deadline_s)
        finally:
            future.cancel()
        if not future.done() or future.cancelled():
            raise StorageUnavailable(
                f"The storage host {self._name} did not answer within {deadline_s:.0f} seconds."
            )
        try:
            return future.result()
        except OSError as error:
            raise translated(error, self._name) from error

    @property
    def stuck(self) -> int:
        """How many threads are in calls that should have been over."""
        return self._quick.stuck + self._slow.stuck

    @property
    def host(self) -> str:
        return self._name

    @property
    def running(self) -> int:
        """Calls that a thread has begun, without those that have no deadline."""
        return self._quick.running + self._slow.running

    @property
    def queued(self) -> int:
        """Calls that wait for a thread."""
        return self._quick.queued + self._slow.queued

    def close(self) -> None:
        """Let idle threads end. Twice: no-op."""
        self._quick.close()
        self._slow.close()


class _Pool:
    """Threads that are started when they are needed. name: theirs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._started = 0
        self._running: dict[Future[Any], float] = {}
        """What is being done, and when it should have been: by this and not by who still waits we know who is stuck."""

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
            # Not kept until the next comes: files are closed with it.
            del job, future, work, args

    def _watched(
        self, future: "Future[Any]", deadline_s: float, work: Callable[..., Any], *args: object
    ) -> Any:
        self._running[future] = time.monotonic() + deadline_s
        try:
            return work(*args)
        finally:
            # Before its caller hears: whoever comes again at once finds this thread idle.
            del self._running[future]
            self._idle.release()


def _do(future: "Future[Any]", work: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """False: it was given up before it was begun."""
    if not future.set_running_or_notify_cancel():
        return False
    try:
        future.set_result(work(*args))
    except BaseException as error:
        future.set_exception(error)
    return True


def _look(answer: "asyncio.Future[Any]") -> None:
    """Look at what it ended with, so that nobody reports it as lost when its caller has gone."""
    if not answer.cancelled():
        answer.exception()


def translated(error: OSError, host: str) -> Exception:
    """The storage's own "no" as one of ours; any other error as it is."""
    if isinstance(error, StorageError):
        return error
    if error.errno == errno.EDQUOT:
        return OverQuota("The quota for folders is used up.")
    if error.errno == errno.ENOSPC:
        return StorageFull(f"The storage host {host} is full.")
    if error.errno in _AWAY:
        return StorageUnavailable(f"The storage host {host} does not answer.")
    return error
