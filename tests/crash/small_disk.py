"""A disk of its own, as small as a test needs it, to be filled."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def _require_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk of its own")


@contextmanager
def small_disk(folder: Path, mib: int) -> Iterator[Path]:
    """A directory in the folder that is such a disk until the block ends. Only root may mount, so others skip."""
    _require_root()
    image, at = folder / "disk.img", folder / "disk"
    at.mkdir()
    with image.open("wb") as file:
        file.truncate(mib << 20)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, at], check=True)
    try:
        at.chmod(0o711)
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=True)
        image.unlink()


@contextmanager
def small_tmpfs(at: Path, size: str) -> Iterator[Path]:
    """The same in memory, at this directory. size: as mount takes it, "64k"."""
    _require_root()
    at.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "none", at], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=True)


def fill(disk: Path, name: str, *, but_mib: int = 0) -> Path:
    """A new file that takes all space but that much."""
    filler, space = disk / name, os.statvfs(disk)
    size = space.f_bavail * space.f_frsize - (but_mib << 20)
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.tell() < size or not but_mib:
            file.write(bytes(4096 if size - file.tell() < 1 << 20 else 1 << 20))
        os.fsync(file.fileno())
    return filler
