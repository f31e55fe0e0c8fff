"""The storages of this process: back end and threads of each host, created on first use."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import select

from carrel.core.errors import CarrelError, NotFound, Refused, Unavailable
from carrel.core.ids import StorageHostId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.storage.make import make
from carrel.storage.port import OverQuota, StorageBackend, StorageError, StorageFull
from carrel.storage.threads import DEADLINE_S, Threads
from carrel.tables.storage_hosts import StorageHost

T = TypeVar("T")
Make = Callable[[str, Path, Mapping[str, Any]], StorageBackend]


@dataclass(frozen=True)
class HostStorage:
    """An active host. Use `backend` for what needs no disk access (paths, capabilities), and `call` for the rest."""

    name: str
    backend: StorageBackend
    threads: Threads

    async def call(self, work: Callable[..., T], *args: Any, deadline_s: float | None = DEADLINE_S) -> T:
        """The result of the work; see `Threads.call`.

        Raises: Unavailable, Refused (quota, full) for errors of the storage; otherwise the error of the work.
        """
        try:
            return await self.threads.call(work, *args, deadline_s=deadline_s)
        except StorageError as error:
            raise refusal(error) from error


def refusal(error: StorageError) -> CarrelError:
    """An error of the storage as a `CarrelError`."""
    code = f"storage.{error.code.removeprefix('storage_')}"
    if isinstance(error, OverQuota):
        return Refused(code, error.message, hint="Delete something, or ask an administrator for more.")
    if isinstance(error, StorageFull):
        return Refused(code, error.message, hint="Delete something, or ask an administrator.")
    return Unavailable(code, error.message, hint="Try again later, or ask an administrator.")


def opened(seal: SecretBox, host: StorageHostId, settings: bytes) -> Mapping[str, Any]:
    """A host's settings, decrypted from the form of `sealed`. Raises: Unavailable when they cannot be decrypted."""
    values: Mapping[str, Any] = json.loads(seal.open(settings, _purpose(host)))
    return values


def _purpose(host: StorageHostId) -> str:
    return f"storage_host:{host}"


class Storages:
    """Storages of all hosts by id. A host's back end, root and settings are immutable."""

    def __init__(self, database: Database, make: Make = make, *, seal: SecretBox | None = None) -> None:
        """seal: decrypts the settings of hosts that have any."""
        self._database = database
        self._seal = seal
        self._make = make
        self._known: dict[StorageHostId, HostStorage] = {}

    async def of(self, host: StorageHostId) -> HostStorage:
        """The storage of this host. Raises: NotFound."""
        storage = self._known.get(host)
        if storage is None:
            async with self._database.transaction() as tx:
                row = (await tx.execute(select(StorageHost).where(StorageHost.id == host))).scalar()
            if row is None:
                raise NotFound("storage_host.not_found", f"There is no storage host {host}.")
            storage = self._known.setdefault(
                host, self.tried(row.name, row.backend, Path(row.root), self._settings(row))
            )
        return storage

    def tried(self, name: str, kind: str, root: Path, settings: Mapping[str, Any]) -> HostStorage:
        """A storage that is not a host yet, for checking it. Raises: Invalid for its settings."""
        return HostStorage(name, self._make(kind, root, settings), Threads(name))

    def sealed(self, host: StorageHostId, settings: Mapping[str, Any]) -> bytes | None:
        """The settings in stored form; None when there are none."""
        if not settings:
            return None
        assert self._seal, "made with one where hosts are added"
        return self._seal.close(json.dumps(settings).encode(), _purpose(host))

    def _settings(self, row: StorageHost) -> Mapping[str, Any]:
        if row.settings is None:
            return {}
        assert self._seal, "made with one where hosts are used"
        return opened(self._seal, row.id, row.settings)

    def close(self) -> None:
        """Stop their threads."""
        for storage in self._known.values():
            storage.threads.close()
        self._known.clear()
