"""Sync many files to disk at once by the kernel's asynchronous I/O.

A journaling file system commits once for all concurrent requests: two hundred files take as long as a few, while
consecutive fsync(2) calls wait for the disk two hundred times. Unlike syncfs(2), this does not wait for data of other
writers.

Contexts are reused: io_destroy(2) waits for all other cores (RCU), which takes as long as a disk write, 30 ms.

Source: io_submit(2), IOCB_CMD_FSYNC (Linux 4.18).
"""

import ctypes
import errno
import os
import platform
from collections.abc import Sequence
from contextlib import suppress

_FSYNC = 2
_CALLS = {"x86_64": (206, 207, 208, 209), "aarch64": (0, 1, 4, 2)}
"""System call numbers of io_setup, io_destroy, io_getevents, io_submit."""
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.EAGAIN, errno.EPERM, errno.EOPNOTSUPP})
_MOST_AT_ONCE = 512
_MOST_SPARE = 16
_libc = ctypes.CDLL(None, use_errno=True)
_spare: list[ctypes.c_ulong] = []
"""Idle contexts, each for `_MOST_AT_ONCE` files."""
os.register_at_fork(after_in_child=_spare.clear)  # they belong to the parent


class _Request(ctypes.Structure):
    """struct iocb."""

    _fields_ = [
        ("data", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("rw_flags", ctypes.c_int32),
        ("opcode", ctypes.c_uint16),
        ("priority", ctypes.c_int16),
        ("fd", ctypes.c_uint32),
        ("buffer", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("result_fd", ctypes.c_uint32),
    ]


class _Event(ctypes.Structure):
    """struct io_event."""

    _fields_ = [
        ("data", ctypes.c_uint64),
        ("request", ctypes.c_uint64),
        ("result", ctypes.c_int64),
        ("result2", ctypes.c_int64),
    ]


def sync_all(fds: Sequence[int]) -> None:
    """Sync content and attributes of all these files to disk. Raises: OSError."""
    while len(fds) > 1 and (done := _sync_together(fds[:_MOST_AT_ONCE])):
        fds = fds[done:]
    for fd in fds:  # files that the kernel did not accept
        os.fsync(fd)


def _sync_together(fds: Sequence[int]) -> int:
    """The number of leading files that are synced. Raises: OSError."""
    calls = _CALLS.get(platform.machine())
    if calls is None:
        return 0
    setup, destroy, get_events, submit = calls
    context = _context(setup)
    if context is None:
        return 0
    at_rest = False
    try:
        begun = _submitted(submit, context, fds)
        events = _events(get_events, context, begun)
        at_rest = True
    finally:
        if at_rest and len(_spare) < _MOST_SPARE:
            _spare.append(context)
        else:
            _libc.syscall(destroy, context)  # waits for pending requests
    for event in events:
        if event.result < 0:
            raise OSError(-event.result, os.strerror(-event.result))
    return begun


def _context(setup: int) -> ctypes.c_ulong | None:
    """A context for submitting; None if the kernel has none available. Raises: OSError."""
    with suppress(IndexError):
        return _spare.pop()
    context = ctypes.c_ulong(0)
    if _libc.syscall(setup, _MOST_AT_ONCE, ctypes.byref(context)) < 0:
        _require_unsupported()
        return None
    return context


def _submitted(submit: int, context: ctypes.c_ulong, fds: Sequence[int]) -> int:
    """The number of leading files that the kernel has accepted. Raises: OSError."""
    count = len(fds)
    requests = (_Request * count)()
    pointers = (ctypes.c_void_p * count)()
    first, size = ctypes.addressof(requests), ctypes.sizeof(_Request)
    for number, fd in enumerate(fds):
        requests[number].opcode, requests[number].fd = _FSYNC, fd
        pointers[number] = first + number * size
    begun = _libc.syscall(submit, context, ctypes.c_long(count), pointers)
    if begun < 0:
        _require_unsupported()
        return 0
    return int(begun)


def _events(get_events: int, context: ctypes.c_ulong, count: int) -> "ctypes.Array[_Event]":
    """Completion events of this many requests, after all have completed. Raises: OSError."""
    events = (_Event * count)()
    got = 0
    while got < count:
        left = ctypes.c_long(count - got)
        more = _libc.syscall(
            get_events, context, left, left, ctypes.byref(events, got * ctypes.sizeof(_Event)), None
        )
        if more < 0:
            number = ctypes.get_errno()
            if number == errno.EINTR:
                continue
            raise OSError(number, os.strerror(number))
        got += more
    return events


def _require_unsupported() -> None:
    """Check that the error means lack of kernel support, so that a fallback applies. Raises: OSError."""
    number = ctypes.get_errno()
    if number not in _UNSUPPORTED:
        raise OSError(number, os.strerror(number))
