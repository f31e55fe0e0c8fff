"""Zero-copy transfer of large bodies from socket to socket.

Linux's splice(2) moves pages from the app's socket through a pipe to the client's, so that a gigabyte costs this
process 0.2 s of CPU time instead of 0.5 s, and no memory. The sockets belong to transports of the event loop; the
caller ensures that it neither reads the one nor writes the other meanwhile.
"""

import asyncio
import errno
import fcntl
import os
import sys
from collections.abc import Callable

from carrel.gateway import metrics

WORTHWHILE_BYTES = 1 << 20
_PIPE_BYTES = 1 << 20
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP})

# Not SPLICE_F_MORE: it would delay the end of each part while the app produces the next one.
_FLAGS = getattr(os, "SPLICE_F_NONBLOCK", 0) | getattr(os, "SPLICE_F_MOVE", 0)

AVAILABLE = sys.platform == "linux" and hasattr(os, "splice")


async def move(
    source: asyncio.Transport, target: asyncio.Transport, count: int, record_activity: Callable[[], None]
) -> int:
    """Move up to this many bytes. Returns the number moved; fewer only if the source ended or splice is unsupported.

    record_activity: called after each transfer.

    Raises: ConnectionError if the target disconnected.
    """
    # The event loop refuses to watch a descriptor owned by a transport, so duplicate it.
    fds = [os.dup(transport.get_extra_info("socket").fileno()) for transport in (source, target)]
    try:
        ends = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        fds += ends
        _enlarge(ends[1])
        return await _Mover(fds[0], fds[1], ends, count, record_activity).run()
    finally:
        for fd in fds:
            os.close(fd)


def _enlarge(pipe: int) -> None:
    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        pass  # the total pipe size of an unprivileged user may be limited


class _Mover:
    """Moves data when the source is readable or, with a full pipe, when the target is writable."""

    def __init__(
        self, source: int, target: int, pipe: tuple[int, int], count: int, record_activity: Callable[[], None]
    ) -> None:
        self._record_activity = record_activity
        self._source = source
        self._target = target
        self._out, self._in = pipe
        self._left = count
        self._in_pipe = 0
        self._moved = 0
        self._waits_to_write = False
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[int] = self._loop.create_future()

    async def run(self) -> int:
        self._loop.add_reader(self._source, self._step)
        try:
            return await self._done
        finally:
            self._loop.remove_reader(self._source)
            self._loop.remove_writer(self._target)

    def _step(self) -> None:
        if self._done.done():
            return
        try:
            self._fill()
            self._empty()
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno in _UNSUPPORTED and not self._moved and not self._in_pipe:
                self._done.set_result(0)
            else:
                self._done.set_exception(ConnectionError(str(error)))
            return
        if not self._left:
            self._done.set_result(self._moved)

    def _fill(self) -> None:
        if self._in_pipe:
            return
        self._in_pipe = os.splice(
            self._source,
            self._in,
            min(self._left, _PIPE_BYTES),
            flags=_FLAGS,
        )
        if not self._in_pipe:
            # The source ended early.
            self._left = 0
            return
        self._left -= self._in_pipe

    def _empty(self) -> None:
        try:
            while self._in_pipe:
                gone = os.splice(
                    self._out,
                    self._target,
                    self._in_pipe,
                    flags=_FLAGS,
                )
                self._in_pipe -= gone
                self._moved += gone
                metrics.TO_CLIENT.inc(gone)
                self._record_activity()
        except BlockingIOError:
            self._wait_for(writing=True)
            raise
        self._wait_for(writing=False)

    def _wait_for(self, *, writing: bool) -> None:
        if writing == self._waits_to_write:
            return
        self._waits_to_write = writing
        if writing:
            self._loop.remove_reader(self._source)
            self._loop.add_writer(self._target, self._step)
        else:
            self._loop.remove_writer(self._target)
            self._loop.add_reader(self._source, self._step)
