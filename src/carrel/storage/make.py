"""Back ends by the name of their kind."""

from pathlib import Path
from typing import cast

from carrel.plugins import Port, find
from carrel.storage.port import StorageBackend


def make(kind: str, root: Path) -> StorageBackend:
    """The back end of this kind for this root; touches no disk. Raises: Unavailable for a kind that there is not."""
    return cast(StorageBackend, find(Port.STORAGE, kind).made(root=root))
