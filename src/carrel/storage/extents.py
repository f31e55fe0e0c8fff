"""Copying of file content: by reflink if the file system supports it, else inside the kernel, preserving holes."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator

_FICLONE = 0x40049409
_CHUNK = 64 << 20
_CANNOT = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EPERM})


def copy_bytes(source: int, target: int, size: int, advance: Callable[[int], None]) -> None:
    """Fill an empty file with the first `size` bytes of another. advance: called with the size of each copied part.

    If the source shrinks meanwhile, the end is filled with zeros. Raises: OSError.
    """
    if _shared(source, target):
        advance(size)
        return
    for start, end in _data(source, size):
        while start < end and (count := _copy(source, target, start, min(end - start, _CHUNK))):
            start += count
            advance(count)
    os.ftruncate(target, size)


def _shared(source: int, target: int) -> bool:
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno in _CANNOT:
            return False
        raise
    return True


def _data(source: int, size: int) -> Iterator[tuple[int, int]]:
    """Data extents as (start, end), in order; the gaps are holes."""
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole up to the end
                return
            if error.errno != errno.EINVAL:
                raise
            yield end, size  # the file system does not support holes
            return
        if start >= size:
            return
        end = min(os.lseek(source, start, os.SEEK_HOLE), size)
        yield start, end


def _copy(source: int, target: int, at: int, count: int) -> int:
    """The number of bytes copied; 0 at the end of the source."""
    try:
        if done := os.copy_file_range(source, target, count, at, at):
            return done
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    os.lseek(target, at, os.SEEK_SET)
    return os.sendfile(target, source, at, count)
