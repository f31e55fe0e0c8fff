"""The server is killed in the middle of an upload: nothing is half there, and the upload goes on where it was."""

import asyncio
import fcntl
import os
from pathlib import Path

import httpx2
import pytest
from killed_kit import FolderServer, folder_server
from people import eventually
from tus_kit import BYTES, VERSION, metadata

from carrel.folders.files.arrivals import BATCH

__all__ = ["folder_server"]

SIZE = 32 << 20


async def begin(server: FolderServer, name: str, size: int) -> str:
    """The address of a new upload of so many bytes into the folder."""
    headers = {**VERSION, "Upload-Length": str(size), **metadata(name)}
    answer = await server.client.post(f"{server.folder}/uploads", headers=headers)
    return f"{server.folder}/{answer.headers['location']}"


async def test_an_upload_survives_a_server_that_is_killed(folder_server: FolderServer):
    server, client = folder_server, folder_server.client
    content = os.urandom(SIZE)
    upload = await begin(server, "big", SIZE)
    killed = asyncio.Event()
    sending = asyncio.create_task(send_until(killed, client, upload, content))
    # The server still has the last, incomplete batch in its memory.
    await eventually(lambda: arrived(server.stage, SIZE // 2 - BATCH))
    server.kill()
    killed.set()
    with pytest.raises(httpx2.TransportError):
        await sending
    assert list(server.files.iterdir()) == []
    await server.start_again()
    at = int((await client.head(upload, headers=VERSION)).headers["upload-offset"])
    assert SIZE // 2 - BATCH <= at <= SIZE // 2
    rest = {**BYTES, "Upload-Offset": str(at)}
    done = await client.patch(upload, headers=rest, content=content[at:])
    assert (done.status_code, done.headers["carrel-path"]) == (204, "big")
    assert (server.files / "big").read_bytes() == content


async def test_an_upload_that_was_killed_before_its_file_was_placed_is_not_complete(
    folder_server: FolderServer,
):
    server, client = folder_server, folder_server.client
    upload = await begin(server, "small", 6)
    with (server.stage / ".lock").open("w") as lock:
        # Whoever puts a file into its place waits for this.
        fcntl.flock(lock, fcntl.LOCK_EX)
        rest = {**BYTES, "Upload-Offset": "0"}
        sending = asyncio.create_task(client.patch(upload, headers=rest, content=b"abcdef"))
        await eventually(lambda: arrived(server.stage, 6))
        server.kill()
    with pytest.raises(httpx2.TransportError):
        await sending
    await server.start_again()
    head = await client.head(upload, headers=VERSION)
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("5", "6")
    done = await client.patch(upload, headers={**BYTES, "Upload-Offset": "5"}, content=b"f")
    assert done.status_code == 204
    assert (server.files / "small").read_bytes() == b"abcdef"
    assert (await client.head(upload, headers=VERSION)).headers["upload-offset"] == "6"


async def send_until(
    killed: asyncio.Event, client: httpx2.AsyncClient, address: str, content: bytes
) -> httpx2.Response:
    """Half of it, and the rest when nobody listens any more."""

    async def pieces():  # type: ignore[no-untyped-def]
        yield content[: SIZE // 2]
        await killed.wait()
        yield content[SIZE // 2 :]

    return await client.patch(address, headers={**BYTES, "Upload-Offset": "0"}, content=pieces())


async def arrived(stage: Path, size: int) -> bool:
    return any(each.stat().st_size >= size for each in stage.glob("upload-*"))
