"""Uploads, downloads and starting apps through two copies of the API."""

import asyncio
import os

import pytest
from access_kit import bound
from copies_kit import Copies
from databases import sql
from files_kit import Folder, folder
from people import eventually
from people_kit import status_and_code
from tus_kit import VERSION, arrived, basic, begun, line, patch, size_of

from carrel.folders.files import arriving

PIECE = 1 << 18


@pytest.fixture
async def data(copies: Copies, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A user's folder, through the load balancer."""
    return await folder(copies.api, root=tmp_path_factory.mktemp("disk") / "fast")


async def test_the_pieces_of_an_upload_may_go_to_any_copy(data: Folder) -> None:
    content = os.urandom(5 * PIECE)
    upload = await begun(data, "a", len(content))
    for at in range(0, len(content), PIECE):
        assert await arrived(data, upload) == at
        assert (await patch(data, upload, at, content[at : at + PIECE])).status_code == 204
    assert [await arrived(data, upload) for _ in range(2)] == [len(content)] * 2
    assert (data.files / "a").read_bytes() == content


async def test_two_copies_cannot_receive_at_once_but_a_stalled_request_makes_way(
    copies: Copies, data: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arriving, "STALLED_S", 3600.0)
    content = os.urandom(2 << 20)
    upload = await begun(data, "a", len(content))
    with line(copies.api, data, upload, 0, len(content), await basic(copies.api, data)) as connection:
        await asyncio.to_thread(connection.sendall, content[: (1 << 20) + 10])
        await size_of(data, 1 << 20)
        for _ in range(2):  # in both copies
            assert status_and_code(await patch(data, upload, 1 << 20, b"x")) == (423, "upload.locked")
        monkeypatch.setattr(arriving, "STALLED_S", 0.0)
        receiving = next(s.arrivals for s in copies.services if s.arrivals._known)
        elsewhere = next(s.arrivals for s in copies.services if s.arrivals is not receiving)
        path = f"/api/v1/vfolders/{data.id}{upload}"
        url = copies.copies[[s.arrivals for s in copies.services].index(elsewhere)].url
        headers = {**VERSION, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
        answer = await data.owner.http.patch(url + path, headers=headers, content=b"x")
        assert status_and_code(answer) == (409, "upload.offset"), "what the other had sent counts"
        assert not receiving._known
    at = await arrived(data, upload)
    assert at == (1 << 20) + 10
    assert (await patch(data, upload, at, content[at:])).status_code == 204
    assert (data.files / "a").read_bytes() == content


async def test_an_upload_is_given_up_through_the_other_copy(copies: Copies, data: Folder) -> None:
    for _ in range(2):  # the removal reaches the receiving copy once, and the other one once
        upload = await begun(data, "a", 2 << 20)
        with line(copies.api, data, upload, 0, 2 << 20, await basic(copies.api, data)) as connection:
            await asyncio.to_thread(connection.sendall, bytes((1 << 20) + 10))
            await size_of(data, 1 << 20)
            assert (await data.ask("DELETE", upload, headers=VERSION)).status_code == 204
            await eventually(lambda: not any(s.arrivals._known for s in copies.services))
        assert (await data.ask("HEAD", upload, headers=VERSION)).status_code == 404
        await data.names()  # so that the next round begins at the other copy


async def test_a_download_link_opens_in_every_copy(copies: Copies, data: Folder) -> None:
    (data.files / "a").write_bytes(b"content")
    link = (await data.post("/links", {"paths": ["a"]})).json()["url"]
    anonymous = await copies.api.client()
    assert [(await anonymous.get(link)).content for _ in range(2)] == [b"content"] * 2


async def test_an_app_is_started_once_by_all_copies(copies: Copies) -> None:
    with_port = copies.balanced
    with bound() as free:
        port = free.getsockname()[1]
    home = with_port.engine.home
    # It takes a while, and leaves a line for each time that it is started.
    command = f"echo started >>{home}/starts; sleep 0.7; exec python3 -m http.server --bind 127.0.0.1 {port}"
    app = {"name": "web", "title": "Web", "protocol": "http", "port": port, "ready": "/", "command": []}
    session = await with_port.session(apps=[{**app, "command": ["sh", "-c", command]}])
    await sql(with_port.database, "UPDATE containers SET address = '127.0.0.1'")
    path = f"/api/v1/sessions/{session}/apps/web/open"
    async with with_port.http() as user:
        answers = await asyncio.gather(*(user.post(path) for _ in range(6)))
        assert [answer.status for answer in answers] == [200] * 6
    assert (home / "starts").read_text() == "started\n"
    assert await sql(with_port.database, "SELECT app FROM app_leases") == []
