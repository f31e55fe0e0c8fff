"""Back ends by the name of their kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from carrel.plugins import Port, find
from carrel.storage.port import StorageBackend


def make(kind: str, root: Path, settings: Mapping[str, Any] | None = None) -> StorageBackend:
    """The back end of this kind for this root; touches no disk. settings: those that it has besides the root.

    Raises: Unavailable for a kind that there is not; Invalid for settings with which none could work.
    """
    plugin = find(Port.STORAGE, kind)
    return cast(StorageBackend, plugin.make(plugin.checked({**(settings or {}), "root": root})))
