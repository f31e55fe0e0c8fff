"""A list of the API server that a watch keeps current, so that reading it again costs nothing.

Each object is reduced to what is kept of it, page by page: thousands of decoded pods would take hundreds of megabytes.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from carrel.engines.kubernetes.kubernetes_api import KubernetesApi

T = TypeVar("T")

PAUSE_S = 1.0
"""Before the next watch, after one that ended without an event."""


@dataclass(frozen=True, slots=True)
class _WatchedObject(Generic[T]):
    """uid, version: of the object that it was made from."""

    uid: str
    version: int
    kept: T


class WatchedList(Generic[T]):
    """keep: what is kept of an object. changed: called with what was kept before, and now; None: absent. Of what is
    deleted, it is the last state.

    A watch brings changes a moment after they were made. What the caller itself has changed is current at once, if it
    says so: see `put` and `drop`.
    """

    def __init__(
        self,
        api: KubernetesApi,
        path: str,
        chosen: Mapping[str, str],
        keep: Callable[[Any], T],
        changed: Callable[[T | None, T | None], None] = lambda before, now: None,
    ) -> None:
        self._api = api
        self._path = path
        self._chosen = chosen
        self._keep = keep
        self._changed = changed
        self._entries: dict[str, _WatchedObject[T]] | None = None
        self._version = 0
        """All changes up to it are applied."""
        self._dropped: set[str] = set()
        """UIDs of dropped objects whose deletion the watch has not reported yet."""
        self._meanwhile: list[Callable[[], None]] | None = None
        """What is noted while the list is requested, which may be older."""

    async def read(self) -> Collection[T]:
        """What is kept of each object: at once while it is watched, by a list otherwise.

        Raises: ApiError, EngineUnavailable.
        """
        if self._entries is None:
            kept, _ = await self._api.reduced_items(self._path, self._chosen, self._keep)
            return kept
        return self.watched

    @property
    def watched(self) -> Collection[T]:
        """What is kept of each object, without a request; nothing unless it is watched."""
        return [entry.kept for entry in (self._entries or {}).values()]

    def get(self, name: str) -> T | None:
        """What is kept of the object with this name, without a namespace; None if it is absent or not watched."""
        entry = (self._entries or {}).get(name)
        return entry.kept if entry else None

    @property
    def is_watched(self) -> bool:
        return self._entries is not None

    async def run(self) -> None:
        """Watch until the server becomes unavailable, or no longer knows the version.

        Raises: ApiError, EngineUnavailable.
        """
        try:
            self._meanwhile = []
            listed, version = await self._list()
            self._entries, self._version, self._dropped = listed, int(version), set()
            meanwhile, self._meanwhile = self._meanwhile, None
            for note in meanwhile:
                note()
            # The server ends a watch after some minutes; it goes on where it was.
            while True:
                latest = version
                async for event in self._api.changes(self._path, self._chosen, version):
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] == "DELETED":
                        self._remove(event["object"])
                    elif event["type"] != "BOOKMARK":
                        self.put(event["object"])
                    self._version = int(version)
                if version == latest:
                    await asyncio.sleep(PAUSE_S)
        finally:
            self._entries = self._meanwhile = None

    def put(self, item: Any) -> None:
        """Note an object as it is now; ignored if a newer one is known, or its deletion."""
        if self._entries is None:
            self._note_later(lambda: self.put(item))
            return
        if item["metadata"]["uid"] in self._dropped:
            return
        key, entry = self._entry(item)
        before = self._entries.get(key)
        if entry.version > (before.version if before else self._version):
            self._entries[key] = entry
            self._changed(before.kept if before else None, entry.kept)

    def drop(self, item: Any) -> None:
        """Note that an object is gone."""
        if self._entries is None:
            self._note_later(lambda: self.drop(item))
        elif self._remove(item):
            self._dropped.add(item["metadata"]["uid"])

    def _note_later(self, note: Callable[[], None]) -> None:
        if self._meanwhile is not None:
            self._meanwhile.append(note)

    def _remove(self, item: Any) -> bool:
        """False if it is gone already, and another may have its name."""
        key, uid = _key(item), item["metadata"]["uid"]
        self._dropped.discard(uid)
        before = (self._entries or {}).get(key)
        if self._entries is None or before is None or before.uid != uid:
            return False
        del self._entries[key]
        self._changed(self._keep(item), None)
        return True

    async def _list(self) -> tuple[dict[str, _WatchedObject[T]], str]:
        listed, version = await self._api.reduced_items(self._path, self._chosen, self._entry)
        return dict(listed), version

    def _entry(self, item: Any) -> tuple[str, _WatchedObject[T]]:
        metadata = item["metadata"]
        return _key(item), _WatchedObject(metadata["uid"], int(metadata["resourceVersion"]), self._keep(item))


def _key(item: Any) -> str:
    metadata = item["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else metadata["name"]
