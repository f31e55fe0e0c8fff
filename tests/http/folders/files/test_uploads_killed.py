"""The server is killed in the middle of an upload: nothing is half there, and the upload goes on where it was."""

import asyncio
import fcntl
import os
from pathlib import Path

import httpx2
import pytest
from crash.control_plane import API, ControlPlaneProcess, answering
from people import People, eventually
from tus_kit import BYTES, VERSION, metadata

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.signin.keypairs import service as keypairs

SIZE = 32 << 20


async def test_an_upload_survives_a_server_that_is_killed(
    database: Database, people: People, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), people.superadmin)
    plane = ControlPlaneProcess(tmp_path, database.url, f"unix://{tmp_path}/none.sock", "upload-killed")
    base = f"http://127.0.0.1:{plane.port}{API}"
    content = os.urandom(SIZE)
    plane.start()
    try:
        async with httpx2.AsyncClient(
            base_url=base, auth=(pair.access_key, pair.secret_key), timeout=30
        ) as client:
            await answering(client)
            root = tmp_path_factory.mktemp("disk") / "fast"
            await client.post("/storage-hosts", json={"name": "fast", "root": str(root)})
            made = (await client.post("/vfolders", json={"name": "data", "host": "fast"})).json()
            address = f"/vfolders/{made['id']}"
            headers = {**VERSION, "Upload-Length": str(SIZE), **metadata("big")}
            upload = (await client.post(f"{address}/uploads", headers=headers)).headers["location"]
            (stage,) = root.glob("*/*/stage")
            killed = asyncio.Event()
            sending = asyncio.create_task(send_until(killed, client, f"{address}/{upload}", content))
            await eventually(lambda: arrived(stage, SIZE // 2))
            plane.kill()
            killed.set()
            with pytest.raises(httpx2.TransportError):
                await sending
            assert list((stage.parent / "files").iterdir()) == []
            plane.start()
            await answering(client)
            head = await client.head(f"{address}/{upload}", headers=VERSION)
            at = int(head.headers["upload-offset"])
            assert at == SIZE // 2
            rest = {**BYTES, "Upload-Offset": str(at)}
            done = await client.patch(f"{address}/{upload}", headers=rest, content=content[at:])
            assert (done.status_code, done.headers["carrel-path"]) == (204, "big")
            assert (stage.parent / "files" / "big").read_bytes() == content
    finally:
        plane.kill()


async def test_an_upload_that_was_killed_before_its_file_was_placed_is_not_complete(
    database: Database, people: People, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), people.superadmin)
    plane = ControlPlaneProcess(tmp_path, database.url, f"unix://{tmp_path}/none.sock", "upload-unplaced")
    plane.start()
    try:
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{plane.port}{API}",
            auth=(pair.access_key, pair.secret_key),
            timeout=30,
        ) as client:
            await answering(client)
            root = tmp_path_factory.mktemp("disk") / "fast"
            await client.post("/storage-hosts", json={"name": "fast", "root": str(root)})
            made = (await client.post("/vfolders", json={"name": "data", "host": "fast"})).json()
            headers = {**VERSION, "Upload-Length": "6", **metadata("small")}
            answer = await client.post(f"/vfolders/{made['id']}/uploads", headers=headers)
            address = f"/vfolders/{made['id']}/{answer.headers['location']}"
            (stage,) = root.glob("*/*/stage")
            with (stage / ".lock").open("w") as lock:
                # Whoever puts a file into its place waits for this.
                fcntl.flock(lock, fcntl.LOCK_EX)
                rest = {**BYTES, "Upload-Offset": "0"}
                sending = asyncio.create_task(client.patch(address, headers=rest, content=b"abcdef"))
                await eventually(lambda: arrived(stage, 6))
                plane.kill()
            with pytest.raises(httpx2.TransportError):
                await sending
            plane.start()
            await answering(client)
            head = await client.head(address, headers=VERSION)
            assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("5", "6")
            done = await client.patch(address, headers={**BYTES, "Upload-Offset": "5"}, content=b"f")
            assert done.status_code == 204
            assert (stage.parent / "files" / "small").read_bytes() == b"abcdef"
            assert (await client.head(address, headers=VERSION)).headers["upload-offset"] == "6"
    finally:
        plane.kill()


async def send_until(
    killed: asyncio.Event, client: httpx2.AsyncClient, address: str, content: bytes
) -> httpx2.Response:
    """Half of it, and the rest when nobody listens any more."""

    async def pieces():  # type: ignore[no-untyped-def]
        yield content[: SIZE // 2]
        await killed.wait()
        yield content[SIZE // 2 :]

    return await client.patch(address, headers={**BYTES, "Upload-Offset": "0"}, content=pieces())


async def arrived(stage: Path, wanted: int) -> bool:
    return any(each.stat().st_size >= wanted for each in stage.glob("upload-*"))
