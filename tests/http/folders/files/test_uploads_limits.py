"""What comes in holds to the quota whatever a client announces, and a request that fails leaves nothing promised."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from databases import scalar
from files_kit import Folder, folder
from installation import Api
from limit_kit import limit
from people import eventually
from people_kit import status_and_code
from structlog.testing import capture_logs
from tus_kit import BYTES, VERSION, arrived, basic, begun, metadata, patch, staged

from carrel.core.errors import Unavailable
from carrel.folders.files.change_events import FileChanges
from carrel.storage import staged as staging

ROOM = 3 << 20


async def unannounced(size: int) -> AsyncIterator[bytes]:
    for _ in range(size >> 16):
        yield bytes(1 << 16)


async def test_a_quota_holds_for_bytes_that_nobody_announced(api: Api, data: Folder):
    await limit(api.database, "user", folder_bytes=ROOM)
    assert status_and_code(await data.write("a", unannounced(2 * ROOM))) == (409, "quota.bytes")
    deferred = await begun(data, "b", None)
    assert status_and_code(await patch(data, deferred, 0, unannounced(2 * ROOM))) == (409, "quota.bytes")
    assert await arrived(data, deferred) <= ROOM
    late = await patch(data, deferred, await arrived(data, deferred), b"", Upload_Length=str(ROOM + 1))
    assert status_and_code(late) == (409, "quota.bytes")
    packed = await data.ask(
        "POST", "/files/unpack", content=unannounced(2 * ROOM), headers={"Content-Type": "application/x-tar"}
    )
    assert status_and_code(packed) == (409, "quota.bytes")
    assert (await data.write("c", unannounced(1 << 20))).status_code == 200
    assert await data.names() == ["c"]


async def test_an_upload_that_could_not_begin_promises_nothing(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    await limit(api.database, "user", folder_bytes=ROOM)
    known = {**VERSION, "Upload-Length": str(ROOM), **metadata("a")}

    def away(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(staging, "create", away)
        assert (await data.post("/uploads", headers=known)).status_code == 503
    assert (await data.post("/uploads", headers=known)).status_code == 201


async def test_an_upload_that_fails_before_its_address_is_known_leaves_nothing(api: Api, data: Folder):
    size = 2 << 20
    known = {**BYTES, "Upload-Length": str(size), "Content-Length": str(size), **metadata("a")}

    async def body() -> AsyncIterator[bytes]:
        yield bytes(size // 2)
        assert (await data.write("a", b"first")).status_code == 200
        yield bytes(size // 2)

    assert status_and_code(await data.ask("POST", "/uploads", headers=known, content=body())) == (
        409,
        "file.exists",
    )
    assert staged(data) == []
    assert (await data.get("/uploads")).json()["items"] == []


async def test_a_thousand_parts_take_a_few_questions_and_one_open_file_at_a_time(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    parts = []
    for number in range(40):
        headers = {**BYTES, "Upload-Length": "3", "Upload-Concat": "partial"}
        made = await data.ask("POST", "/uploads", headers=headers, content=b"%03d" % number)
        assert made.status_code == 201, made.text
        parts.append(made.headers["location"].rpartition("/")[2])
    opened, most = 0, 0
    enter, close = staging.opened, staging.Staged.close

    def counted(*given: object) -> staging.Staged:
        nonlocal opened, most
        opened, most = opened + 1, max(most, opened + 1)
        return enter(*given)

    def closed(file: staging.Staged) -> None:
        nonlocal opened
        opened -= file.fd >= 0
        close(file)

    monkeypatch.setattr(staging, "opened", counted)
    monkeypatch.setattr(staging.Staged, "close", closed)
    addresses = " ".join(f"uploads/{part}" for part in parts)
    joined = await data.post(
        "/uploads", headers={**VERSION, "Upload-Concat": f"final;{addresses}", **metadata("a")}
    )
    assert joined.status_code == 201, joined.text
    assert (data.files / "a").read_bytes() == b"".join(b"%03d" % number for number in range(40))
    assert most == 1
    assert staged(data) == []


async def test_what_could_not_be_told_is_told_later(data: Folder, api: Api):
    changes: FileChanges = api.services.file_changes

    class Away:
        def transaction(self) -> object:
            raise Unavailable("database.unavailable", "The database does not respond.")

    own = FileChanges(Away(), changes._clock)  # type: ignore[arg-type]
    folder_ = (await data.get()).json()

    class Row:
        id = folder_["id"]

    own.note(Row(), 7)  # type: ignore[arg-type]
    await own.publish()
    own._database = api.database
    await own.publish()

    async def used() -> bool:
        used_bytes = await scalar(api.database, "SELECT used_bytes FROM vfolders WHERE id = :id", id=Row.id)
        return bool(used_bytes == folder_["used_bytes"] + 7)

    assert await used()


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("size", [1000, 3 << 20])
async def test_who_leaves_in_the_middle_of_sending_is_no_error_of_ours(
    api: Api, data: Folder, size: int, stays: bool
):
    head = (
        f"PUT /api/v1/vfolders/{data.id}/content?path=a HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: {await basic(api, data)}\r\nContent-Length: {size}\r\n\r\n"
    )
    with capture_logs() as logs:
        for _ in range(1 if stays else 20):
            _, writer = await asyncio.open_connection("127.0.0.1", api.port)
            writer.write(head.encode() + bytes(size // 2))
            await writer.drain()
            if stays:
                # Another is answered: what came before was read.
                await data.get()
            writer.transport.abort()

        async def gone() -> bool:
            return staged(data) == []

        assert await eventually(gone)
        assert (await data.get("/files")).json()["total"] == 0
    assert [each for each in logs if each["log_level"] == "error"] == []


async def test_a_quota_is_looked_at_before_anything_is_sent(api: Api, data: Folder):
    await limit(api.database, "user", folder_bytes=1000)
    refused = await data.post("/uploads", headers={**VERSION, "Upload-Length": "1001", **metadata("a")})
    assert status_and_code(refused) == (409, "quota.bytes")
    assert status_and_code(await data.write("a", b"x" * 1001)) == (409, "quota.bytes")
    deferred = await begun(data, "a", None)
    assert status_and_code(await patch(data, deferred, 0, b"", Upload_Length="1001")) == (409, "quota.bytes")
    assert (await data.write("b", b"x" * 900)).status_code == 200

    async def counted() -> bool:
        return (await data.write("c", b"x" * 200)).status_code == 409

    assert await eventually(counted), "what came in counts before it is measured"


async def test_a_full_disk_says_so_and_leaves_nothing_half(
    api: Api, tmp_path_factory: pytest.TempPathFactory
):
    root = tmp_path_factory.mktemp("full")
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "none", str(root)], check=False
    ).returncode:
        pytest.skip("this machine does not let us mount")
    try:
        data = await folder(api, root=root)
        upload = await begun(data, "a", 8 << 20)
        full = await patch(data, upload, 0, bytes(8 << 20))
        assert status_and_code(full) == (409, "storage.full"), full.text
        assert 0 < await arrived(data, upload) <= 4 << 20
        assert status_and_code(await data.write("b", bytes(4 << 20))) == (409, "storage.full")
        assert await data.names() == []
        assert (await data.ask("DELETE", upload, headers=VERSION)).status_code == 204
        assert (await data.write("b", bytes(1 << 20))).status_code == 200, "there is room again"
    finally:
        api.services.storages.close()
        subprocess.run(["umount", "-l", str(root)], check=True)


@pytest.mark.parametrize("announced", [{}, {"Content_Length": str(256 << 20)}])
async def test_memory_does_not_grow_with_what_is_uploaded(api: Api, data: Folder, announced: dict[str, str]):
    size = 256 << 20
    upload = await begun(data, "a", size)

    async def zeros() -> AsyncIterator[bytes]:
        piece = bytes(1 << 20)
        for _ in range(size >> 20):
            yield piece

    before = resident()
    assert (await patch(data, upload, 0, zeros(), **announced)).status_code == 204
    assert resident() - before < 64 << 20
    assert (data.files / "a").stat().st_size == size


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
