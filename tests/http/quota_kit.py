"""Folders with sizes and limits, and the controller that measures them, over fake storages."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from controller_kit import tools
from installation import Api, Caller

from carrel.controllers.storage_monitor import StorageMonitor
from carrel.core.ids import FolderId
from carrel.db.leader import Leader
from carrel.folders.hosts.storages import Storages
from carrel.storage.fake import FakeBackend, FakeQuotaBackend
from carrel.storage.port import FolderLocation
from carrel.tables.folders import VFolder

MIB = 1 << 20
Limit = Callable[..., Awaitable[None]]


class Hands:
    """A clock that tests move on."""

    def __init__(self) -> None:
        self.at = datetime(2026, 6, 15, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def on(self, **by: int) -> None:
        self.at += timedelta(**by)


class Late(FakeBackend):
    """Counts what was written half a minute later."""

    usage_late_s = 30.0


class Care:
    """The controller over fake storages; each host's back end by the name of its root."""

    def __init__(self, api: Api, leader: Leader) -> None:
        self.clock = Hands()
        self.backends: dict[str, FakeBackend] = {}
        self.storages = Storages(api.database, self._made)
        self.storage = StorageMonitor(tools(api.database, leader, clock=self.clock, storages=self.storages))

    def _made(self, kind: str, root: Path, settings: object) -> FakeBackend:
        fake = {"hard": FakeQuotaBackend, "late": Late}.get(root.name, FakeBackend)
        return self.backends.setdefault(root.name, fake(root))

    async def round(self, **by: int) -> None:
        """Later, everything that is due."""
        self.clock.on(**by)
        # The first step asks whether hosts answer, the second works on those that do.
        for _ in range(2):
            await self.storage.step()
            await self.storage.drain()


async def made(who: Caller, name: str, **fields: object) -> dict:  # type: ignore[type-arg]
    answer = await who.post("/vfolders", {"name": name, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def quota(who: Caller, **params: object) -> dict[str, dict]:  # type: ignore[type-arg]
    answer = await who.get("/quotas", params=params)
    assert answer.status_code == 200, answer.text
    return {row["label"]: row for row in answer.json()["items"]}


async def fill(api: Api, folder: str, size: int, name: str = "file") -> None:
    """Put a file of that size into a folder, and say that it changed."""
    async with api.database.transaction() as tx:
        row = await tx.get_one(VFolder, FolderId(folder))
        storage = await api.services.storages.of(row.host_id)
        (storage.backend.files(FolderLocation(row.scope, row.id)) / name).write_bytes(b"x" * size)
        row.touched_at = (row.measured_at or datetime(2026, 6, 15, 12, tzinfo=UTC)) + timedelta(
            milliseconds=1
        )
