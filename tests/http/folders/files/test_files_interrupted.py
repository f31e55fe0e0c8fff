"""A change of files whose audit entry did not come has one later: one, and only if it was made."""

import asyncio
import io
import tarfile
from collections.abc import Awaitable, Callable

import httpx2
import pytest
from files_kit import Folder, folder
from installation import Api, installation
from people import eventually
from sqlalchemy import text
from tus_kit import begun, patch

from carrel.audit import service as audit
from carrel.core.clock import SystemClock
from carrel.core.errors import Unavailable
from carrel.folders.files import interrupted
from carrel.storage.intents import INTENTS, Intent

Change = Callable[[Folder], Awaitable[httpx2.Response]]


@pytest.fixture
async def data(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    made = await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")
    await made.write("here", b"here")
    await made.write("d/inner", b"inner")
    return made


def packed(*names: str) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as file:
        for name in names:
            about = tarfile.TarInfo(name)
            about.size = 4
            file.addfile(about, io.BytesIO(b"pack"))
    return written.getvalue()


async def uploaded(data: Folder) -> httpx2.Response:
    return await patch(data, await begun(data, "new", 6), 0, b"abcdef")


def dav(method: str, path: str, content: bytes = b"", **headers: str) -> Change:
    async def ask(data: Folder) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if to := named.get("destination"):
            named["destination"] = f"/dav/{data.id}/{to}"
        address = f"/dav/{data.id}/{path}"
        return await data.owner.http.request(method, address, content=content, headers=named)

    return ask


CHANGES: dict[str, tuple[Change, str, list[str]]] = {
    "write": (lambda data: data.write("new", b"new"), "file.write", ["new"]),
    "large write": (lambda data: data.write("new", bytes(3 << 20)), "file.write", ["new"]),
    "upload": (uploaded, "file.upload", ["new"]),
    "unpack": (
        lambda data: data.post("/files/unpack", content=packed("a", "here", "b/c")),
        "file.upload",
        ["a", "b/c"],
    ),
    "make directory": (
        lambda data: data.post("/files/directories", {"path": "new/er"}),
        "file.make_directory",
        ["new/er"],
    ),
    "move": (
        lambda data: data.post("/files/move", {"paths": ["here", "none"], "to": "d"}),
        "file.move",
        ["d/here"],
    ),
    "remove": (
        lambda data: data.post("/files/remove", {"paths": ["here", "none", "d"]}),
        "file.remove",
        ["here", "d"],
    ),
    "PUT": (dav("PUT", "new", b"new"), "file.write", ["new"]),
    "PROPPATCH": (
        dav(
            "PROPPATCH",
            "here",
            b'<propertyupdate xmlns="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><set><prop>'
            b"<Z:Win32LastModifiedTime>Wed, 15 Nov 2023 22:13:20 GMT</Z:Win32LastModifiedTime></prop></set>"
            b"</propertyupdate>",
        ),
        "file.write",
        ["here"],
    ),
    "MKCOL": (dav("MKCOL", "new"), "file.make_directory", ["new"]),
    "MOVE": (dav("MOVE", "here", destination="d/there"), "file.move", ["d/there"]),
    "COPY": (dav("COPY", "here", destination="d/there"), "file.copy", ["d/there"]),
    "DELETE": (dav("DELETE", "d"), "file.remove", ["d"]),
}


async def entries(api: Api, data: Folder) -> list[tuple[str, list[str], bool]]:
    """Of each its action and paths, and whether it came late."""
    async with api.database.transaction() as tx:
        rows = await tx.execute(
            text(
                "SELECT action, details FROM audit WHERE object_id = :id AND action LIKE 'file.%' ORDER BY id"
            ),
            {"id": data.id},
        )
        actions = [(row.action, row.details["paths"], "interrupted_at" in row.details) for row in rows]
    return actions[2:]  # without those of the fixture


async def write_down(api: Api) -> None:
    await interrupted.write_down_all(api.database.transaction, api.services.storages, SystemClock())


async def nothing_left(data: Folder) -> None:
    directory = data.files.parents[2] / INTENTS
    await eventually(lambda: not any(each.stat().st_size for each in directory.iterdir()))


def fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on entries of files cannot be written."""

    def record(*given: object, **options: object) -> None:
        raise Unavailable("database.unavailable", "Away.")

    monkeypatch.setattr(audit, "record", record)


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_whose_entry_did_not_come_has_one_later(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch, name: str
):
    change, action, paths = CHANGES[name]
    with monkeypatch.context() as patched:
        fail(patched)
        assert (await change(data)).status_code in (207, 503)
    assert await entries(api, data) == []
    for _ in range(2):
        await write_down(api)
        assert await entries(api, data) == [(action, paths, True)]
    await nothing_left(data)


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_whose_entry_came_has_no_other(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch, name: str
):
    change, action, paths = CHANGES[name]
    with monkeypatch.context() as patched:
        patched.setattr(Intent, "end", Intent.close)
        assert (await change(data)).is_success
        assert await entries(api, data) == [(action, paths, False)]
        await asyncio.sleep(0)
    await write_down(api)
    assert await entries(api, data) == [(action, paths, False)]
    await nothing_left(data)


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_that_came_about_leaves_no_intent(api: Api, data: Folder, name: str):
    assert (await CHANGES[name][0](data)).is_success
    await nothing_left(data)


async def test_a_change_that_was_refused_has_no_entry(api: Api, data: Folder):
    assert (await data.write("here", b"new", If_None_Match="*")).status_code == 412
    assert (await data.post("/files/move", {"paths": ["none"], "to": "d"})).status_code == 404
    assert (await data.post("/files/remove", {"paths": ["none"]})).status_code == 404
    assert (await data.post("/files/unpack", content=packed("here"))).status_code in (200, 409)
    assert (await data.post("/files/directories", {"path": "here/new"})).status_code == 409
    await nothing_left(data)
    await write_down(api)
    assert await entries(api, data) == []


async def test_what_somebody_is_still_at_is_left_to_them(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    reached, go_on = asyncio.Event(), asyncio.Event()
    waiting = api.services.file_notes._commit

    async def commit(*given: object) -> object:
        reached.set()
        await go_on.wait()
        return await waiting(*given)

    monkeypatch.setattr(api.services.file_notes, "_commit", commit)
    writing = asyncio.create_task(data.write("new", b"new"))
    await reached.wait()
    await write_down(api)
    assert await entries(api, data) == []
    go_on.set()
    assert (await writing).is_success
    assert await entries(api, data) == [("file.write", ["new"], False)]


async def test_an_upload_that_was_placed_without_its_entry_is_complete(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    upload = await begun(data, "new", 6)
    with monkeypatch.context() as patched:
        fail(patched)
        assert (await patch(data, upload, 0, b"abcdef")).status_code == 503
    head = await data.ask("HEAD", upload, headers={"Tus-Resumable": "1.0.0"})
    assert (head.status_code, head.headers["upload-offset"]) == (200, "6"), head.text
    await write_down(api)
    assert await entries(api, data) == [("file.upload", ["new"], True)]


async def test_an_emptied_intent_is_used_again_while_it_is_there(api: Api, data: Folder):
    directory = data.files.parents[2] / INTENTS
    await nothing_left(data)
    spare = {each.name for each in directory.iterdir()}
    assert spare
    for number in range(5):
        await data.write(f"new{number}", b"new")
        await nothing_left(data)
    assert {each.name for each in directory.iterdir()} == spare
    for each in directory.iterdir():
        each.unlink()
    await data.write("newer", b"new")
    await nothing_left(data)
    assert [path for _, (path,), late in await entries(api, data) if not late][-1:] == ["newer"]
    assert not {each.name for each in directory.iterdir()} & spare


async def test_an_api_that_starts_writes_down_what_one_before_it_left(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    """The controllers, which look now and then, may run elsewhere: there are none here."""
    with monkeypatch.context() as patched:
        fail(patched)
        assert (await data.write("new", b"new")).status_code == 503
    data_dir = api.services.settings.data_dir
    async with installation(api.database, api.people, data_dir, controllers=False, engine=api.engine):
        await eventually(lambda: entries(api, data))
        await nothing_left(data)
    assert await entries(api, data) == [("file.write", ["new"], True)]
