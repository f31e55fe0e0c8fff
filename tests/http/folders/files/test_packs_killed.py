"""The server is killed while it takes a tar file apart: what is seen is whole, and sending it again helps."""

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from killed_kit import FolderServer, folder_server
from pack_kit import tar
from people import eventually

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.folders.files import leftovers
from carrel.folders.hosts.storages import Storages

__all__ = ["folder_server"]

FILES = 1500


async def test_a_tar_file_can_be_sent_again_after_the_server_was_killed(
    folder_server: FolderServer, database: Database
):
    server, client = folder_server, folder_server.client
    contents = {f"{number % 7}/{number}": f"{number} ".encode() * 1500 for number in range(FILES)}
    body = tar(*contents.items())
    address = f"{server.folder}/files/unpack"
    sending = asyncio.create_task(client.post(address, content=body))
    await eventually(lambda: len(there(server.files)) > FILES // 10)
    server.kill()
    with pytest.raises(httpx2.TransportError):
        await sending
    came = there(server.files)
    assert len(came) < FILES
    assert came.items() <= contents.items(), "what is seen is whole"
    await server.start_again()
    again = (await client.post(address, content=body)).json()
    server.kill()
    assert {refused["path"] for refused in again["refused"]} == came.keys()
    assert {refused["code"] for refused in again["refused"]} == {"file.exists"}
    assert there(server.files) == contents
    # What it had on its way is deleted when it is certain that nobody writes it any more.
    later = SystemClock().now() + leftovers.OLD + timedelta(minutes=1)
    await leftovers.sweep(database.transaction, Storages(database), later)
    assert [left.name for left in server.stage.iterdir()] == [".lock"]


def there(files: Path) -> dict[str, bytes]:
    return {str(each.relative_to(files)): each.read_bytes() for each in files.rglob("*") if each.is_file()}
