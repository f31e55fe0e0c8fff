"""The server is killed while it takes a tar file apart: what is seen is whole, and sending it again helps."""

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from crash.control_plane import API, ControlPlaneProcess, answering
from pack_kit import tar
from people import People, eventually

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.folders.files import leftovers
from carrel.folders.hosts.storages import Storages
from carrel.signin.keypairs import service as keypairs

FILES = 1500


async def test_a_tar_file_can_be_sent_again_after_the_server_was_killed(
    database: Database, people: People, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), people.superadmin)
    plane = ControlPlaneProcess(tmp_path, database.url, f"unix://{tmp_path}/none.sock", "pack-killed")
    contents = {f"{number % 7}/{number}": f"{number} ".encode() * 1500 for number in range(FILES)}
    body = tar(*contents.items())
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
            address = f"/vfolders/{made['id']}/files/unpack"
            (stage,) = root.glob("*/*/stage")
            sending = asyncio.create_task(client.post(address, content=body))
            await eventually(lambda: len(there(stage)) > FILES // 10)
            plane.kill()
            with pytest.raises(httpx2.TransportError):
                await sending
            came = there(stage)
            assert len(came) < FILES
            assert came.items() <= contents.items(), "what is seen is whole"
            plane.start()
            await answering(client)
            again = (await client.post(address, content=body)).json()
    finally:
        plane.kill()
    assert {refused["path"] for refused in again["refused"]} == came.keys()
    assert {refused["code"] for refused in again["refused"]} == {"file.exists"}
    assert there(stage) == contents
    # What it had on its way is deleted when it is certain that nobody writes it any more.
    later = SystemClock().now() + leftovers.OLD + timedelta(minutes=1)
    await leftovers.sweep(database.transaction, Storages(database), later)
    assert [left.name for left in stage.iterdir()] == [".lock"]


def there(stage: Path) -> dict[str, bytes]:
    files = stage.parent / "files"
    return {str(each.relative_to(files)): each.read_bytes() for each in files.rglob("*") if each.is_file()}
