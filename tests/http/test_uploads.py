"""Resumable uploads: tus 1.0.0 by its text, by a client of others, and by what goes wrong on the way."""

import asyncio
import base64
import contextlib
import hashlib
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import httpx2
import pytest
from files_kit import Folder, folder
from installation import Api
from people import eventually
from people_kit import said
from sqlalchemy import text
from tusclient.client import TusClient

from carrel.core.clock import SystemClock
from carrel.core.errors import Unavailable
from carrel.files import arrivals, leftovers, upload_rows
from carrel.storage import staged as staging

VERSION = {"Tus-Resumable": "1.0.0"}
BYTES = {**VERSION, "Content-Type": "application/offset+octet-stream"}


@pytest.fixture
async def data(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")


def metadata(path: str, **more: str) -> dict[str, str]:
    pairs = {"path": path, **more}.items()
    return {"Upload-Metadata": ",".join(f"{k} {base64.b64encode(v.encode()).decode()}" for k, v in pairs)}


async def begun(data: Folder, path: str, length: int | None, **more: str) -> str:
    """The address of a new upload, below the folder's."""
    known = {"Upload-Defer-Length": "1"} if length is None else {"Upload-Length": str(length)}
    answer = await data.post("/uploads", headers={**VERSION, **known, **metadata(path, **more)})
    assert answer.status_code == 201, answer.text
    assert answer.headers["tus-resumable"] == "1.0.0"
    return "/" + answer.headers["location"]


async def patch(data: Folder, upload: str, offset: int, content: object, **headers: str) -> httpx2.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return await data.ask(
        "PATCH", upload, headers={**BYTES, "Upload-Offset": str(offset), **names}, content=content
    )


async def arrived(data: Folder, upload: str) -> int:
    answer = await data.ask("HEAD", upload, headers=VERSION)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    return int(answer.headers["upload-offset"])


def staged(data: Folder) -> list[str]:
    return sorted(name for name in os.listdir(data.stage) if name != ".lock")


async def test_a_file_arrives_in_pieces(api: Api, data: Folder):
    content = os.urandom(5 << 20)
    upload = await begun(data, "a/b.bin", len(content))
    assert [(u["path"], u["offset_bytes"]) for u in (await data.get("/uploads")).json()["items"]] == [
        ("a/b.bin", 0)
    ]
    first = await patch(data, upload, 0, content[: 3 << 20])
    assert (first.status_code, first.headers["upload-offset"]) == (204, str(3 << 20))
    assert "GMT" in first.headers["upload-expires"]
    assert await data.names() == [], "nothing is seen before it is whole"
    head = await data.ask("HEAD", upload, headers=VERSION)
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == (str(3 << 20), str(5 << 20))
    assert head.headers["upload-metadata"] == metadata("a/b.bin")["Upload-Metadata"]
    wrong = await patch(data, upload, 1, b"x")
    assert (said(wrong), wrong.headers["tus-resumable"]) == ((409, "upload.offset"), "1.0.0")
    last = await patch(data, upload, 3 << 20, content[3 << 20 :])
    assert (last.status_code, last.headers["carrel-path"]) == (204, "a/b.bin")
    assert ((data.files / "a/b.bin").read_bytes() == content, staged(data)) == (True, [])
    assert (data.files / "a/b.bin").stat().st_uid == 1000
    assert await arrived(data, upload) == len(content), (
        "who did not get the last answer learns that it is done"
    )
    assert (await patch(data, upload, len(content), b"")).status_code == 204
    assert (await data.get("/uploads")).json()["items"] == []
    async with api.database.transaction() as tx:
        rows = await tx.execute(text("SELECT details FROM audit WHERE action = 'file.upload'"))
        (details,) = rows.scalars()
    assert details == {"paths": ["a/b.bin"], "count": 1, "bytes": len(content)}


async def test_headers_that_the_protocol_does_not_know_are_refused(data: Folder):
    length, there = {"Upload-Length": "3"}, metadata("a")
    for headers, status in (
        ({**length, **there}, 412),
        ({**length, **there, "Tus-Resumable": "0.2.2"}, 412),
        ({**VERSION, **there}, 400),
        ({**VERSION, **there, **length, "Upload-Defer-Length": "1"}, 400),
        ({**VERSION, **there, "Upload-Defer-Length": "2"}, 400),
        ({**VERSION, **there, "Upload-Length": "-1"}, 400),
        ({**VERSION, **there, "Upload-Length": "9" * 30}, 400),
        ({**VERSION, **length}, 400),
        ({**VERSION, **length, "Upload-Metadata": "path not-base64!"}, 400),
        ({**VERSION, **length, "Upload-Metadata": "path YQ==,path YQ=="}, 400),
        ({**VERSION, **length, "Upload-Metadata": "path /w=="}, 400),
        ({**VERSION, **length, **metadata("a", clash="never")}, 400),
        ({**VERSION, **length, **there, "Content-Type": "text/plain"}, 415),
        ({**VERSION, **there, "Upload-Concat": "final;"}, 400),
        ({**VERSION, **length, **there, "Upload-Concat": "final;a"}, 400),
        ({**VERSION, **there, "Upload-Concat": "final;nothing"}, 404),
        ({**VERSION, **length, **metadata("../a")}, 422),
        ({**VERSION, **length, **metadata("a\0b")}, 422),
    ):
        answer = await data.post("/uploads", headers=headers)
        assert answer.status_code == status, (headers, answer.text)
        assert (answer.headers["tus-resumable"], answer.headers["tus-version"]) == ("1.0.0", "1.0.0")
    assert staged(data) == []
    upload = await begun(data, "a", 3)
    for headers, status in (
        ({"Upload-Offset": "0", **VERSION}, 415),
        (BYTES, 400),
        ({**BYTES, "Upload-Offset": "x"}, 400),
        ({**BYTES, "Upload-Offset": "0", "Tus-Resumable": "2.0.0"}, 412),
        ({**BYTES, "Upload-Offset": "0", "Upload-Checksum": "crc32 AAAA"}, 400),
        ({**BYTES, "Upload-Offset": "0", "Upload-Checksum": "sha1 AAAA"}, 400),
        ({**BYTES, "Upload-Offset": "0", "Upload-Length": "4"}, 409),
    ):
        answer = await data.ask("PATCH", upload, headers=headers, content=b"abc")
        assert answer.status_code == status, (headers, answer.text)
    too_much = await patch(data, upload, 0, b"abcd")
    assert said(too_much) == (413, "upload.too_large")
    assert await arrived(data, upload) == 0


async def test_the_server_says_what_it_can_do(data: Folder):
    answer = await data.ask("OPTIONS", "/uploads")
    assert answer.status_code == 204
    assert answer.headers["tus-version"] == "1.0.0"
    assert set(answer.headers["tus-extension"].split(",")) == {
        "creation", "creation-with-upload", "creation-defer-length", "termination", "checksum", "expiration",
        "concatenation",
    }  # fmt: skip
    assert answer.headers["tus-checksum-algorithm"] == "sha1,sha256,md5"
    assert int(answer.headers["tus-max-size"]) == (1 << 63) - 1


async def test_a_small_file_needs_one_request_and_an_empty_one_no_bytes(data: Folder):
    answer = await data.post(
        "/uploads", headers={**BYTES, "Upload-Length": "3", **metadata("a")}, content=b"abc"
    )
    assert (answer.status_code, answer.headers["upload-offset"], answer.headers["carrel-path"]) == (
        201,
        "3",
        "a",
    )
    part = await data.post(
        "/uploads", headers={**BYTES, "Upload-Length": "6", **metadata("b")}, content=b"abc"
    )
    assert part.headers["upload-offset"] == "3"
    assert (await patch(data, "/" + part.headers["location"], 3, b"def")).status_code == 204
    await begun(data, "empty", 0)
    assert [(data.files / name).read_bytes() for name in ("a", "b", "empty")] == [b"abc", b"abcdef", b""]


async def test_the_length_may_be_said_later_and_not_be_changed(data: Folder):
    upload = await begun(data, "a", None)
    assert (await data.ask("HEAD", upload, headers=VERSION)).headers["upload-defer-length"] == "1"

    async def pieces() -> AsyncIterator[bytes]:
        yield b"abc"
        yield b"def"

    assert (await patch(data, upload, 0, pieces())).headers["upload-offset"] == "6"
    assert said(await patch(data, upload, 6, b"", Upload_Length="3")) == (409, "upload.length")
    assert (await patch(data, upload, 6, b"g", Upload_Length="8")).headers["upload-offset"] == "7"
    assert said(await patch(data, upload, 7, b"h", Upload_Length="9")) == (409, "upload.length")
    assert (await patch(data, upload, 7, b"h")).status_code == 204
    assert (data.files / "a").read_bytes() == b"abcdefgh"


async def test_bytes_that_were_garbled_do_not_count(data: Folder):
    upload = await begun(data, "a", 12)
    for at, (name, content) in enumerate((("sha1", b"abcd"), ("sha256", b"efgh"), ("md5", b"ijkl"))):
        right = f"{name} {base64.b64encode(hashlib.new(name, content).digest()).decode()}"
        wrong = await patch(data, upload, at * 4, b"xxxx", Upload_Checksum=right)
        assert (wrong.status_code, wrong.json()["code"]) == (460, "upload.checksum")
        assert (await arrived(data, upload), len(staged(data))) == (at * 4, 1)
        assert (await patch(data, upload, at * 4, content, Upload_Checksum=right)).status_code == 204
    assert ((data.files / "a").read_bytes(), staged(data)) == (b"abcdefghijkl", [])


async def test_parts_that_came_at_once_become_one_file(data: Folder):
    content = os.urandom(300_000)
    parts = []
    for start in (0, 100_000, 200_000):
        headers = {**VERSION, "Upload-Length": "100000", "Upload-Concat": "partial", **metadata("whole")}
        answer = await data.post("/uploads", headers=headers)
        parts.append((start, "/" + answer.headers["location"]))
    listed = (await data.get("/uploads")).json()["items"]
    assert [(each["path"], each["partial"]) for each in listed] == [("whole", True)] * 3
    urls = " ".join(f"/api/v1/vfolders/{data.id}{upload}" for _, upload in parts)
    final = {**VERSION, **metadata("whole"), "Upload-Concat": f"final;{urls}"}
    assert said(await data.post("/uploads", headers=final)) == (409, "upload.part_unfinished")
    await asyncio.gather(*(patch(data, upload, 0, content[start:][:100_000]) for start, upload in parts))
    head = await data.ask("HEAD", parts[0][1], headers=VERSION)
    assert (head.headers["upload-concat"], head.headers["upload-offset"]) == ("partial", "100000")
    made = await data.post("/uploads", headers=final)
    assert (made.status_code, made.headers["carrel-path"]) == (201, "whole"), made.text
    assert ((data.files / "whole").read_bytes() == content, staged(data)) == (True, [])
    upload = "/" + made.headers["location"]
    head = await data.ask("HEAD", upload, headers=VERSION)
    assert head.headers["upload-concat"].startswith("final;")
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("300000", "300000")
    assert said(await patch(data, upload, 300_000, b"x")) == (403, "upload.final")
    assert (await data.ask("HEAD", parts[0][1], headers=VERSION)).status_code == 404


async def test_an_upload_can_be_given_up_and_is_its_makers_alone(api: Api, data: Folder):
    upload = await begun(data, "a", 6)
    await patch(data, upload, 0, b"abc")
    other = Folder(await api.as_("colleague"), data.id, data.files, data.stage)
    await data.post("/shares", {"users": ["colleague@example.org"], "permission": "rw"})
    (offer,) = (await other.owner.get("/invitations")).json()["items"]
    await other.owner.post(f"/invitations/{offer['id']}/accept")
    assert (await other.ask("HEAD", upload, headers=VERSION)).status_code == 404
    assert said(await patch(other, upload, 3, b"def")) == (404, "upload.not_found")
    assert (await data.ask("DELETE", upload, headers=VERSION)).status_code == 204
    assert (await data.ask("HEAD", upload, headers=VERSION)).status_code == 404
    assert said(await data.ask("DELETE", upload, headers=VERSION)) == (404, "upload.not_found")
    assert staged(data) == []


async def test_a_name_that_is_taken_is_asked_about_before_anything_is_sent(data: Folder):
    await data.write("a.txt", b"old")
    (data.files / "d").mkdir()
    for path, clash, code in (
        ("a.txt", "refuse", "file.exists"), ("d", "replace", "file.exists"), ("a.txt/b", "rename", None),
    ):  # fmt: skip
        refused = await data.post(
            "/uploads", headers={**VERSION, "Upload-Length": "3", **metadata(path, clash=clash)}
        )
        assert refused.status_code == 409
        assert code is None or refused.json()["code"] == code
    numbered = await begun(data, "a.txt", 3, clash="rename")
    assert (await patch(data, numbered, 0, b"new")).headers["carrel-path"] == "a%20%281%29.txt"
    replacing = await begun(data, "a.txt", 3, clash="replace")
    await patch(data, replacing, 0, b"new")
    assert [(data.files / name).read_bytes() for name in ("a.txt", "a (1).txt")] == [b"new", b"new"]
    late = await begun(data, "late", 3)
    await data.write("late", b"first")
    assert said(await patch(data, late, 0, b"abc")) == (409, "file.exists")
    assert (data.files / "late").read_bytes() == b"first"


async def test_other_methods_come_in_the_clothes_of_post(data: Folder):
    upload = await begun(data, "a", 3)
    headers = {**BYTES, "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH"}
    assert (await data.post(upload, headers=headers, content=b"ab")).headers["upload-offset"] == "2"
    assert (await data.post(upload, headers={**VERSION, "X-HTTP-Method-Override": "HEAD"})).status_code == 200
    assert (await data.post(upload, headers=VERSION)).status_code == 400
    assert (
        await data.post(upload, headers={**VERSION, "X-HTTP-Method-Override": "DELETE"})
    ).status_code == 204


@contextlib.contextmanager
def line(api: Api, data: Folder, upload: str, offset: int, length: int, auth: str) -> Iterator[socket.socket]:
    """A connection that has begun to send so many bytes."""
    with socket.create_connection(("127.0.0.1", api.port)) as connection:
        head = (
            f"PATCH /api/v1/vfolders/{data.id}{upload} HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n"
            f"Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n"
            f"Upload-Offset: {offset}\r\nContent-Length: {length}\r\n\r\n"
        )
        connection.sendall(head.encode())
        yield connection


async def basic(api: Api, data: Folder) -> str:
    assert data.owner.actor is not None
    return str(httpx2.BasicAuth(*await api.keypair(data.owner.actor))._auth_header)


async def size_of(data: Folder, wanted: int) -> None:
    async def grown() -> bool:
        return any((data.stage / name).stat().st_size >= wanted for name in staged(data))

    assert await eventually(grown)


async def test_a_line_that_breaks_costs_nothing_that_arrived(api: Api, data: Folder):
    content = os.urandom(3 << 20)
    upload = await begun(data, "a", len(content))
    with line(api, data, upload, 0, len(content), await basic(api, data)) as connection:
        await asyncio.to_thread(connection.sendall, content[:1_500_000])
        await size_of(data, 1 << 20)

    async def rest() -> int | None:
        at = await arrived(data, upload)
        return at if at == 1_500_000 else None

    assert await eventually(rest) == 1_500_000
    assert (await patch(data, upload, 1_500_000, content[1_500_000:])).status_code == 204
    assert (data.files / "a").read_bytes() == content


async def test_two_cannot_send_at_once_but_who_stalls_makes_way(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    content = os.urandom(2 << 20)
    upload = await begun(data, "a", len(content))
    with line(api, data, upload, 0, len(content), await basic(api, data)) as connection:
        await asyncio.to_thread(connection.sendall, content[: (1 << 20) + 10])
        await size_of(data, 1 << 20)
        monkeypatch.setattr(arrivals, "STALLED_S", 3600.0)
        assert said(await patch(data, upload, 1 << 20, b"x")) == (423, "upload.locked")
        monkeypatch.setattr(arrivals, "STALLED_S", 0.0)
        at = await arrived(data, upload)
        assert at == (1 << 20) + 10, "what the other had sent counts"
        assert (await patch(data, upload, at, content[at:])).status_code == 204
    assert (data.files / "a").read_bytes() == content


async def test_an_upload_that_is_given_up_stops_arriving(api: Api, data: Folder):
    upload = await begun(data, "a", 2 << 20)
    with line(api, data, upload, 0, 2 << 20, await basic(api, data)) as connection:
        await asyncio.to_thread(connection.sendall, bytes((1 << 20) + 10))
        await size_of(data, 1 << 20)
        assert (await data.ask("DELETE", upload, headers=VERSION)).status_code == 204
    assert (staged(data), await data.names()) == ([], [])


async def test_an_upload_that_nobody_goes_on_with_is_forgotten(api: Api, data: Folder):
    upload, other = await begun(data, "a", 6), await begun(data, "b", 6)
    await patch(data, upload, 0, b"abc")
    now = SystemClock().now()
    transaction, storages = api.database.transaction, api.app.state.storages
    await leftovers.prune(transaction, storages, now)
    assert len(staged(data)) == 2
    with line(api, data, other, 0, 6, await basic(api, data)) as connection:
        connection.sendall(b"abc")

        # Asked by another request, it could be that one which is at it.
        async def arriving() -> bool:
            return api.app.state.arrivals.is_arriving(other.rsplit("/", 1)[1])

        assert await eventually(arriving)
        await leftovers.prune(transaction, storages, now + upload_rows.KEPT + timedelta(minutes=1))
        assert len(staged(data)) == 1, "somebody is at it"
    assert (await data.ask("HEAD", upload, headers=VERSION)).status_code == 404


async def test_what_a_killed_server_left_of_a_request_is_swept(api: Api, data: Folder):
    live = staging.create(data.stage, f"{staging.WRITTEN}live")
    for name in (f"{staging.WRITTEN}dead", "upload-a.part", "upload-a", "removed-a"):
        (data.stage / name).touch()
    now = SystemClock().now()
    transaction, storages = api.database.transaction, api.app.state.storages
    await leftovers.sweep(transaction, storages, now)
    assert len(staged(data)) == 5, "they may be being written"
    await leftovers.sweep(transaction, storages, now + leftovers.OLD + timedelta(minutes=1))
    assert staged(data) == ["removed-a", "upload-a", live.name]
    live.close()


@pytest.mark.parametrize(("clash", "got"), [("refuse", "a"), ("rename", "a (1)")])
async def test_a_file_whose_arrival_nobody_could_write_down_has_arrived(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch, clash: str, got: str
):
    if clash == "rename":
        assert (await data.write("a", b"other")).status_code == 200
    upload = await begun(data, "a", 6, clash=clash, modified="1700000000.25")
    with monkeypatch.context() as patched:

        async def die(*_: object) -> None:
            raise Unavailable("database.unavailable", "The server was killed here.")

        patched.setattr(upload_rows, "note_done", die)
        assert (await patch(data, upload, 0, b"abcdef")).status_code == 503
    assert (data.files / got).read_bytes() == b"abcdef"
    again = await patch(data, upload, 6, b"")
    assert (again.status_code, again.headers["upload-offset"], unquote(again.headers["carrel-path"])) == (
        204,
        "6",
        got,
    )
    assert await arrived(data, upload) == 6
    async with api.database.transaction() as tx:
        noted = "SELECT details FROM audit WHERE object_id = :id AND action = 'file.upload'"
        rows = (await tx.execute(text(noted), {"id": data.id})).scalars().all()
    assert [(row["paths"], row["bytes"]) for row in rows] == [([got], 6)]


async def test_an_upload_whose_bytes_are_gone_is_over(data: Folder):
    """As when its folder has moved to another host, which takes along what is finished."""
    upload = await begun(data, "a", 6, modified="1700000000")
    assert (await data.write("a", b"sixish")).status_code == 200
    for name in os.listdir(data.stage):
        os.unlink(data.stage / name)
    assert said(await patch(data, upload, 0, b"abc")) == (404, "upload.not_found")
    assert (await data.ask("HEAD", upload, headers=VERSION)).status_code == 404


async def test_a_quota_is_looked_at_before_anything_is_sent(api: Api, data: Folder):
    async with api.database.transaction() as tx:
        await tx.execute(
            text(
                """UPDATE resource_policies SET limits = limits || '{"folder_bytes": 1000}' WHERE kind = 'user'"""
            )
        )
    refused = await data.post("/uploads", headers={**VERSION, "Upload-Length": "1001", **metadata("a")})
    assert said(refused) == (409, "quota.bytes")
    assert said(await data.write("a", b"x" * 1001)) == (409, "quota.bytes")
    deferred = await begun(data, "a", None)
    assert said(await patch(data, deferred, 0, b"", Upload_Length="1001")) == (409, "quota.bytes")
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
        assert said(full) == (409, "storage.full"), full.text
        assert 0 < await arrived(data, upload) <= 4 << 20
        assert said(await data.write("b", bytes(4 << 20))) == (409, "storage.full")
        assert await data.names() == []
        assert (await data.ask("DELETE", upload, headers=VERSION)).status_code == 204
        assert (await data.write("b", bytes(1 << 20))).status_code == 200, "there is room again"
    finally:
        api.app.state.storages.close()
        subprocess.run(["umount", "-l", str(root)], check=True)


def tuspy(api: Api, data: Folder, auth: str) -> TusClient:
    return TusClient(f"{api.url}/api/v1/vfolders/{data.id}/uploads", headers={"Authorization": auth})


async def test_a_client_of_others_uploads_and_goes_on(api: Api, data: Folder, tmp_path: Path):
    content = os.urandom(1_000_003)
    (tmp_path / "source").write_bytes(content)
    client = tuspy(api, data, await basic(api, data))

    def some() -> str:
        uploader = client.uploader(
            str(tmp_path / "source"), chunk_size=100_000, metadata={"path": "dir/é.bin"}
        )
        uploader.upload_chunk()
        uploader.upload_chunk()
        return str(uploader.url)

    def rest(url: str) -> int:
        uploader = client.uploader(
            str(tmp_path / "source"), chunk_size=300_000, url=url, upload_checksum=True
        )
        began = uploader.offset
        uploader.upload()
        return int(began)

    url = await asyncio.to_thread(some)
    assert await asyncio.to_thread(rest, url) == 200_000
    assert (data.files / "dir/é.bin").read_bytes() == content


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
