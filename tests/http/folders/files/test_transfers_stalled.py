"""Clients that read nothing or send nothing: threads and memory stay bounded, and everybody else is served."""

import asyncio
import contextlib
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from files_kit import Folder, folder
from installation import Api
from people import eventually
from people_kit import status_and_code
from tus_kit import basic

from carrel.core.errors import CarrelError
from carrel.core.ids import UserId
from carrel.folders.files import arrivals, transfers
from carrel.folders.files.transfers import TransferLimits
from carrel.http import body
from carrel.http.sendfile import ZeroCopyProtocol

CLIENTS = 300
MIB = 1 << 20


@pytest.fixture
async def data(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A folder with a large file."""
    made = await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")
    with (made.files / "large").open("wb") as file:
        file.truncate(64 * MIB)
    return made


@contextlib.contextmanager
def stalled(
    api: Api, request: str, body: bytes = b"", *, clients: int = CLIENTS
) -> Iterator[list[socket.socket]]:
    """Connections that have sent this and then read and send nothing."""
    with contextlib.ExitStack() as stack:
        connections = []
        for _ in range(clients):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", api.port))
            connection.sendall(request.encode() + body)
            connections.append(connection)
        yield connections


def get(path: str, auth: str) -> str:
    return f"GET /api/v1{path} HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n\r\n"


def statuses(connections: list[socket.socket]) -> Counter[str]:
    """How many answers have begun with each status; nothing is taken from the sockets."""
    counts = Counter[str]()
    for connection in connections:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            counts[connection.recv(12, socket.MSG_PEEK | socket.MSG_DONTWAIT).decode()[9:]] += 1
    return counts


def resident() -> int:
    return int(psutil.Process().memory_info().rss)


@pytest.mark.parametrize("path", ["/archive?path=large", "/content?path=large"])
async def test_downloads_that_nobody_reads_are_bounded(api: Api, data: Folder, path: str):
    other = await folder(api, owner="colleague", name="other")
    assert (await other.write("theirs", b"x" * MIB)).status_code == 200
    auth = await basic(api, data)
    threads, memory = threading.active_count(), resident()
    with stalled(api, get(f"/vfolders/{data.id}{path}", auth)) as connections:

        async def answered() -> bool:
            return statuses(connections).total() == CLIENTS

        await eventually(answered, within_s=120)
        counts = statuses(connections)
        assert 0 < counts["200"] <= transfers.MOST_PER_PERSON
        # On a busy machine a few may wait for the database for too long.
        assert set(counts) <= {"200", "429", "503"}
        assert threading.active_count() - threads <= transfers.MOST_PER_PERSON + 40
        assert resident() - memory < 128 * MIB
        assert len((await other.content("theirs")).content) == MIB
        assert (await data.owner.get("/vfolders")).status_code == 200
        api.services.downloads._most_per_person = counts["200"]
        refused = await data.get(path)
        assert status_and_code(refused) == (429, "file.too_many_transfers")
        assert int(refused.headers["retry-after"]) > 0
        assert refused.json()["hint"]

    async def closed() -> bool:
        return (await data.get(path)).status_code == 200

    assert await eventually(closed), "who left has no transfer open"


@pytest.mark.parametrize("path", ["/archive?path=large", "/content?path=large"])
async def test_who_reads_nothing_is_disconnected(
    api: Api, data: Folder, path: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ZeroCopyProtocol, "send_timeout_s", 0.5)
    request = get(f"/vfolders/{data.id}{path}", await basic(api, data))
    with stalled(api, request, clients=transfers.MOST_PER_PERSON) as connections:

        async def all_taken() -> bool:
            return statuses(connections)["200"] == transfers.MOST_PER_PERSON

        async def free() -> bool:
            return (await data.get(path)).status_code == 200

        await eventually(all_taken, within_s=60)
        assert await eventually(free, within_s=60)


async def test_uploads_that_send_nothing_are_bounded(api: Api, data: Folder):
    auth = await basic(api, data)
    head = (
        f"PUT /api/v1/vfolders/{data.id}/content?path=a HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n"
        f"Content-Length: {MIB}\r\n\r\n"
    )
    memory = resident()
    with stalled(api, head, os.urandom(100 << 10)) as connections:

        async def refused() -> bool:
            counts = statuses(connections)
            return counts["429"] + counts["503"] == CLIENTS - transfers.MOST_PER_PERSON

        await eventually(refused, within_s=120)
        assert resident() - memory < 128 * MIB
        assert status_and_code(await data.write("b", b"b")) == (429, "file.too_many_transfers")
        assert (
            await (await folder(api, owner="colleague", name="other")).write("b", b"b")
        ).status_code == 200


@pytest.mark.parametrize("announced", [MIB, 8 * MIB])
async def test_an_upload_that_sends_nothing_for_too_long_is_disconnected(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch, announced: int
):
    for module in (body, arrivals):
        monkeypatch.setattr(module, "PROGRESS_TIMEOUT_S", 0.5)
    auth = await basic(api, data)
    head = (
        f"PUT /api/v1/vfolders/{data.id}/content?path=a HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n"
        f"Content-Length: {announced}\r\n\r\n"
    )
    with stalled(api, head, b"some", clients=transfers.MOST_PER_PERSON) as connections:
        for connection in connections:
            connection.settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                assert await asyncio.to_thread(connection.recv, 1) == b"", (
                    "the connection ends without an answer"
                )
    assert (await data.write("b", b"b")).status_code == 200
    assert await data.names() == ["b", "large"]
    assert not list(Path(data.stage).glob("written-*"))


def test_a_process_has_a_most_for_all_people_together():
    full = TransferLimits(most_per_person=2, most=3)
    slots = [full.open(UserId(person)) for person in ("a", "a", "b")]
    for person, code in (("a", "file.too_many_transfers"), ("b", "file.server_busy")):
        with pytest.raises(CarrelError) as raised:
            full.open(UserId(person))
        assert raised.value.code == code
    slots.pop().close()
    full.open(UserId("c")).close()
    del slots
    assert [full.open(UserId("a")) for _ in range(2)], "a slot that nobody closed is free again"
