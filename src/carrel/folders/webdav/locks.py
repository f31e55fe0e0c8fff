"""Locks of WebDAV clients: in memory, so a restart drops them; clients then request new ones."""

from typing import Any

from wsgidav.dav_error import HTTP_INSUFFICIENT_STORAGE, DAVError
from wsgidav.lock_man.lock_storage import LockStorageDict

_MOST = 10_000


class Locks(LockStorageDict):  # type: ignore[misc]
    """Lock storage with a size limit."""

    def create(self, path: str, lock: dict[str, Any]) -> dict[str, Any]:
        if self._dict is not None and len(self._dict) >= _MOST:
            raise DAVError(HTTP_INSUFFICIENT_STORAGE, "There are too many locks.")
        created: dict[str, Any] = super().create(path, lock)
        return created
