"""Uploads that are cut off, stall, are given up, or whose end nobody could write down."""

import asyncio
import os
from datetime import timedelta
from urllib.parse import unquote

import pytest
from files_kit import Folder
from installation import Api
from people import eventually
from people_kit import status_and_code
from sqlalchemy import text
from tus_kit import VERSION, arrived, basic, begun, line, patch, size_of, staged

from carrel.core.clock import SystemClock
from carrel.core.errors import Unavailable
from carrel.folders.files import arriving, leftovers, upload_rows
from carrel.storage import staged as staging


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
        monkeypatch.setattr(arriving, "STALLED_S", 3600.0)
        assert status_and_code(await patch(data, upload, 1 << 20, b"x")) == (423, "upload.locked")
        monkeypatch.setattr(arriving, "STALLED_S", 0.0)
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
    transaction, storages = api.database.transaction, api.services.storages
    await leftovers.prune(transaction, storages, now)
    assert len(staged(data)) == 2
    with line(api, data, other, 0, 6, await basic(api, data)) as connection:
        connection.sendall(b"abc")

        # Request by another request, it could be that one which is at it.
        async def arriving() -> bool:
            return api.services.arrivals.is_arriving(other.rsplit("/", 1)[1])

        assert await eventually(arriving)
        await leftovers.prune(transaction, storages, now + upload_rows.KEPT + timedelta(minutes=1))
        assert len(staged(data)) == 1, "somebody is at it"
    assert (await data.ask("HEAD", upload, headers=VERSION)).status_code == 404


async def test_what_a_killed_server_left_of_a_request_is_swept(api: Api, data: Folder):
    live = staging.create(data.stage, f"{staging.WRITTEN}live")
    for name in (f"{staging.WRITTEN}dead", "upload-a.part", "upload-a", "removed-a"):
        (data.stage / name).touch()
    now = SystemClock().now()
    transaction, storages = api.database.transaction, api.services.storages
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
    assert status_and_code(await patch(data, upload, 0, b"abc")) == (404, "upload.not_found")
    assert (await data.ask("HEAD", upload, headers=VERSION)).status_code == 404
