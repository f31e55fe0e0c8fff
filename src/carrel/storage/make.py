"""Back ends by name."""

from pathlib import Path

from carrel.storage.btrfs import BtrfsBackend
from carrel.storage.port import StorageBackend
from carrel.storage.posix import PosixBackend


def make(kind: str, root: Path) -> StorageBackend:
    """The back end of this kind for this root; touches no disk. Raises: ValueError for a kind that there is not."""
    if kind == "posix":
        return PosixBackend(root)
    if kind == "btrfs":
        return BtrfsBackend(root)
    raise ValueError(f"there is no storage back end {kind!r}")
