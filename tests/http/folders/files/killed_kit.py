"""A server process that has one folder, to kill while it writes into it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from crash.control_plane import API, ControlPlaneProcess, answering
from people import People

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.signin.keypairs import service as keypairs


@dataclass(frozen=True)
class FolderServer:
    """client: the superadmin's, below /api/v1. folder: its address. stage: where its back end writes first."""

    client: httpx2.AsyncClient
    folder: str
    stage: Path
    _plane: ControlPlaneProcess

    @property
    def files(self) -> Path:
        """What is seen in the folder."""
        return self.stage.parent / "files"

    def kill(self) -> None:
        self._plane.kill()

    async def start_again(self) -> None:
        self._plane.start()
        await answering(self.client)


@pytest.fixture
async def folder_server(
    database: Database, people: People, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[FolderServer]:
    """A server that runs; it is killed at the end."""
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), people.superadmin)
    plane = ControlPlaneProcess(tmp_path, database.url, f"unix://{tmp_path}/none.sock", "folder-server")
    plane.start()
    try:
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{plane.port}{API}",
            auth=(pair.access_key, pair.secret_key),
            timeout=60,
        ) as client:
            await answering(client)
            root = tmp_path_factory.mktemp("disk") / "fast"
            await client.post("/storage-hosts", json={"name": "fast", "root": str(root)})
            made = (await client.post("/vfolders", json={"name": "data", "host": "fast"})).json()
            (stage,) = root.glob("*/*/stage")
            yield FolderServer(client, f"/vfolders/{made['id']}", stage, plane)
    finally:
        plane.kill()
