"""Creation of back ends by kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from carrel.plugins import Port, find
from carrel.storage.port import StorageBackend


def make(kind: str, root: Path, settings: Mapping[str, Any] | None = None) -> StorageBackend:
    """A back end of this kind for this root; does not access the disk. settings: in addition to the root.

    Raises: Unavailable for an unknown kind; Invalid for settings that cannot work.
    """
    plugin = find(Port.STORAGE, kind)
    return cast(StorageBackend, plugin.make(plugin.checked({**(settings or {}), "root": root})))
