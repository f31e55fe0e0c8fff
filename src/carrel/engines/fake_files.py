"""Files in the mounts of a fake container: real files of this machine; symbolic links are not followed."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from carrel.engines.port import Mount

_STEP = os.O_NOFOLLOW | os.O_CLOEXEC


def read(mounts: Sequence[Mount], path: str) -> bytes:
    """The content of the file. Raises: OSError."""
    with _opened(mounts, path, os.O_RDONLY) as handle, os.fdopen(os.dup(handle), "rb") as file:
        return file.read()


def touch(mounts: Sequence[Mount], path: str) -> None:
    """Create an empty file if missing. Raises: OSError."""
    with _opened(mounts, path, os.O_WRONLY | os.O_CREAT):
        pass


@contextmanager
def _opened(mounts: Sequence[Mount], path: str, way: int) -> Iterator[int]:
    mount, below = _resolve(mounts, path)
    if mount.read_only and way != os.O_RDONLY:
        raise OSError(f"{path}: Read-only file system")
    names = [*PurePosixPath(mount.subpath).parts, *below.parts]
    handle = os.open(mount.source, os.O_PATH | os.O_DIRECTORY | _STEP)
    try:
        for name in names[:-1]:
            deeper = os.open(name, os.O_PATH | os.O_DIRECTORY | _STEP, dir_fd=handle)
            os.close(handle)
            handle = deeper
        file = os.open(names[-1], way | _STEP, 0o644, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield file
    finally:
        os.close(file)


def _resolve(mounts: Sequence[Mount], path: str) -> tuple[Mount, PurePosixPath]:
    for mount in mounts:
        if PurePosixPath(path).is_relative_to(mount.target):
            return mount, PurePosixPath(path).relative_to(mount.target)
    raise FileNotFoundError(f"{path}: No such file or directory")


def lost(mounts: Sequence[Mount]) -> str | None:
    """The first mount source that does not exist."""
    return next((mount.source for mount in mounts if not Path(mount.source).is_dir()), None)
