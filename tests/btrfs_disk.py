"""A Btrfs of a test's own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def btrfs_disk(folder: Path) -> Iterator[Path]:
    """A Btrfs of its own in the folder until the block ends. Only root may mount, so others skip."""
    if os.geteuid() != 0 or shutil.which("mkfs.btrfs") is None:
        pytest.skip("needs root and btrfs-progs")
    image, at = folder / "btrfs.img", folder / "btrfs"
    at.mkdir()
    with image.open("wb") as file:
        file.truncate(1 << 30)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True)
    subprocess.run(["mount", "-o", "loop", image, at], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=True)
        image.unlink()
