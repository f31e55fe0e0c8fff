"""Large bodies that go from the socket to the file: the connection stays in step, whatever becomes of them."""

import asyncio
import base64
import errno
import hashlib
import http.client
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from files_kit import Folder, folder
from installation import Api
from people import eventually
from tus_kit import BYTES, arrived, basic, begun, patch

from carrel.folders.files import arrivals
from carrel.folders.files.folder_access import OpenedFolder
from carrel.http.intake import Intake
from carrel.storage.staged import Staged

SIZE = (3 << 20) + 12_345


@pytest.fixture
async def data(api: Api, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Folder:
    async def never(*_: object) -> None:
        raise AssertionError("it was to go straight")

    monkeypatch.setattr(arrivals, "_collect", never)
    return await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")


@contextmanager
def connection(api: Api) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", api.port, timeout=20)) as made:
        yield made


async def test_requests_behind_a_large_body_are_understood(api: Api, data: Folder):
    first, second = os.urandom(SIZE), os.urandom(SIZE)
    auth = await basic(api, data)
    paths = [await begun(data, name, SIZE) for name in ("a", "b")]

    def head(method: str, path: str, *more: str) -> bytes:
        lines = (
            f"{method} /api/v1/vfolders/{data.id}{path} HTTP/1.1",
            "Host: x",
            f"Authorization: {auth}",
            "Tus-Resumable: 1.0.0",
            *more,
        )
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    brought = ("Content-Type: application/offset+octet-stream", "Upload-Offset: 0", f"Content-Length: {SIZE}")
    everything = (
        head("PATCH", paths[0], *brought)
        + first
        + head("PATCH", paths[1], *brought)
        + second
        + head("HEAD", paths[1], "Connection: close")
    )

    def talk() -> bytes:
        with socket.create_connection(("127.0.0.1", api.port), timeout=20) as line:
            line.sendall(everything)
            return b"".join(iter(lambda: line.recv(1 << 16), b""))

    answers = (await asyncio.to_thread(talk)).lower()
    assert [answers.count(status) for status in (b"http/1.1 204", b"http/1.1 200")] == [2, 1], answers
    assert answers.count(f"upload-offset: {SIZE}".encode()) == 3
    assert ((data.files / "a").read_bytes(), (data.files / "b").read_bytes()) == (first, second)


async def test_whoever_waits_to_be_asked_for_a_large_body_is_asked(api: Api, data: Folder):
    content, auth = os.urandom(SIZE), await basic(api, data)
    upload = await begun(data, "a", SIZE)
    head = (
        f"PATCH /api/v1/vfolders/{data.id}{upload} HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n"
        "Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\n"
        f"Content-Length: {SIZE}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    )

    def talk() -> tuple[bytes, bytes]:
        with socket.create_connection(("127.0.0.1", api.port), timeout=20) as line:
            line.sendall(head.encode())
            interim = line.recv(1 << 16)
            line.sendall(content)
            return interim, b"".join(iter(lambda: line.recv(1 << 16), b""))

    interim, answered = await asyncio.to_thread(talk)
    assert (interim[:13], answered[:13]) == (b"HTTP/1.1 100 ", b"HTTP/1.1 204 ")
    assert (data.files / "a").read_bytes() == content


async def test_a_large_body_that_was_garbled_does_not_count(data: Folder):
    content = os.urandom(SIZE)
    upload = await begun(data, "a", SIZE)
    wrong, right = (base64.b64encode(hashlib.sha1(of).digest()).decode() for of in (b"x", content))
    garbled = await patch(data, upload, 0, content, Upload_Checksum=f"sha1 {wrong}")
    assert garbled.status_code == 460, garbled.text
    assert await arrived(data, upload) == 0
    assert (await patch(data, upload, 0, content, Upload_Checksum=f"sha1 {right}")).status_code == 204
    assert (data.files / "a").read_bytes() == content


@pytest.mark.parametrize(
    ("error", "said_so"),
    [(errno.ENOSPC, (409, b"storage.full")), (errno.EIO, (503, b"storage.unavailable"))],
)
async def test_a_disk_that_fails_leaves_the_connection_usable(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch, error: int, said_so: tuple[int, bytes]
):
    upload = await begun(data, "a", 2 * SIZE)
    auth = {"Authorization": await basic(api, data)}
    write = Staged.write

    def filling(file: Staged, pieces: list[bytes], checking: object = None) -> None:
        write(file, pieces, checking)
        if file.size() > SIZE:
            raise OSError(error, os.strerror(error))

    monkeypatch.setattr(Staged, "write", filling)
    path = f"/api/v1/vfolders/{data.id}"

    def talk(line: http.client.HTTPConnection) -> tuple[int, bytes, int]:
        line.request("PATCH", path + upload, bytes(2 * SIZE), {**auth, **BYTES, "Upload-Offset": "0"})
        full = line.getresponse()
        problem = full.read()
        line.auto_open = 0
        line.request("GET", path, headers=auth)
        return full.status, problem, line.getresponse().status

    with connection(api) as line:
        status, problem, after = await asyncio.to_thread(partial(talk, line))
    assert (status, after) == (said_so[0], 200)
    assert said_so[1] in problem
    assert SIZE < await arrived(data, upload) < 2 * SIZE


async def test_a_host_that_hangs_ends_the_connection_and_nothing_else(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    upload = await begun(data, "a", SIZE)
    auth = {"Authorization": await basic(api, data), **BYTES, "Upload-Offset": "0"}
    write, answers = Staged.write, threading.Event()

    def hanging(file: Staged, pieces: list[bytes], checking: object = None) -> None:
        if isinstance(pieces[0], memoryview):
            answers.wait(30)
        write(file, pieces, checking)

    async def impatient(
        reached: OpenedFolder, work: Callable[..., Any], *given: Any, deadline_s: float = 0
    ) -> Any:
        return await reached.storage.call(work, *given, deadline_s=1.0)

    monkeypatch.setattr(Staged, "write", hanging)
    monkeypatch.setattr(OpenedFolder, "call", impatient)

    def talk(line: http.client.HTTPConnection) -> str:
        try:
            line.request("PATCH", f"/api/v1/vfolders/{data.id}{upload}", bytes(SIZE), auth)
            answer = line.getresponse()
        except ConnectionError:
            return "cut"
        return f"{answer.status} {answer.headers['connection']}"

    with connection(api) as line:
        assert await asyncio.to_thread(talk, line) in {"cut", "503 close"}
    assert (await data.get()).status_code == 200
    answers.set()


async def test_a_slow_line_is_written_down_while_it_sends(api: Api, data: Folder):
    upload = await begun(data, "a", SIZE)
    auth = await basic(api, data)
    line = socket.create_connection(("127.0.0.1", api.port))
    head = (
        f"PATCH /api/v1/vfolders/{data.id}{upload} HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n"
        "Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\n"
        f"Content-Length: {SIZE}\r\n\r\n"
    )
    with line:
        await asyncio.to_thread(line.sendall, head.encode() + bytes(1000))
        staged = data.stage / f"upload-{upload.rpartition('/')[2]}"
        for size in (1000, 1003):
            await eventually(lambda size=size: staged.stat().st_size >= size)
            line.sendall(b"xyz")


@pytest.mark.parametrize("disconnected", [False, True])
def test_nothing_is_taken_from_a_client_who_is_gone(disconnected: bool):
    cycle = SimpleNamespace(disconnected=disconnected)
    protocol = SimpleNamespace(transport=SimpleNamespace(is_closing=lambda: not disconnected))
    with pytest.raises(ConnectionError), Intake(protocol, cycle):  # type: ignore[arg-type]
        pass
