"""Files of a folder through the API: who may do what with them, and what others learn of it."""

import asyncio
import contextlib
import errno
import io
import os
import threading
import zipfile
from pathlib import Path

import httpx2
import psycopg
import pytest
from databases import sql
from files_kit import Folder, folder, known
from folder_kit import ended
from installation import Api
from limit_kit import limit
from people import eventually
from people_kit import status_and_code
from sqlalchemy import text

from carrel.folders.files import links
from carrel.storage import listing, paths, staged, tree


async def shared(api: Api, data: Folder, name: str, permission: str) -> Folder:
    """The same folder as somebody has it whom it is shared with."""
    answer = await data.post("/shares", {"users": [f"{name}@example.org"], "permission": permission})
    assert answer.status_code in (200, 201), answer.text
    who = await api.as_(name)
    (offer,) = (await who.get("/invitations")).json()["items"]
    assert (await who.post(f"/invitations/{offer['id']}/accept")).status_code < 300
    return await known(api, who, data.id)


async def audited(api: Api) -> list[tuple[str, dict]]:  # type: ignore[type-arg]
    async with api.database.transaction() as tx:
        rows = await tx.execute(
            text(
                "SELECT action, details FROM audit WHERE object_kind = 'file' AND outcome = 'done' ORDER BY id"
            )
        )
        return [(row.action, row.details) for row in rows]


async def test_files_are_written_listed_moved_and_removed(api: Api, data: Folder):
    written = await data.write("a/b/c.txt", b"hello")
    assert written.status_code == 200, written.text
    shown = written.json()
    fields = ("name", "path", "kind", "size_bytes", "type", "mode")
    assert [shown[field] for field in fields] == ["c.txt", "a/b/c.txt", "file", 5, "text/plain", "644"]
    assert (data.files / "a/b/c.txt").stat().st_uid == (data.files / "a").stat().st_uid == 1000
    made = await data.post("/files/directories", {"path": "x/y"})
    assert (made.status_code, made.json()["kind"], made.json()["etag"]) == (201, "directory", None)
    assert (await data.post("/files/directories", {"path": "x/y"})).status_code == 201, "it is there"
    listing = (await data.get("/files")).json()
    assert [each["name"] for each in listing["items"]] == ["a", "x"]
    assert (listing["total"], listing["permission"], listing["next_cursor"]) == (2, "rw-delete", None)
    moved = await data.post("/files/move", {"paths": ["a/b/c.txt", "gone"], "to": "x"})
    assert moved.json()["paths"] == ["x/c.txt"]
    assert [(each["path"], each["code"]) for each in moved.json()["refused"]] == [("gone", "file.not_found")]
    renamed = await data.post("/files/move", {"paths": ["x/c.txt"], "rename_to": "x/d.txt"})
    assert renamed.json() == {"paths": ["x/d.txt"], "refused": []}
    matches = (await data.get("/files/search", params={"q": "D.T"})).json()
    assert ([each["path"] for each in matches["items"]], matches["complete"]) == (["x/d.txt"], True)
    removed = await data.post("/files/remove", {"paths": ["x", "a", "x"]})
    assert removed.json() == {"paths": ["x", "a"], "refused": []}
    assert await data.names() == []
    actions = [action for action, _ in await audited(api)]
    assert actions == [
        "file.write",
        "file.make_directory",
        "file.make_directory",
        "file.move",
        "file.move",
        "file.remove",
    ]
    cleaning = await sql(api.database, "SELECT kind, arguments->>'entry' FROM vfolder_tasks")
    assert cleaning == [
        ("clean", os.listdir(data.stage)[1 - os.listdir(data.stage)[0].startswith("removed-")])
    ]


async def test_several_things_of_which_some_or_all_are_refused_have_a_status_that_says_so(data: Folder):
    for name in ("a", "b"):
        assert (await data.write(name, b"")).status_code == 200
    for path in ("/files/move", "/files/remove"):
        to = {"to": ""} if path == "/files/move" else {}
        refused = await data.post(path, {"paths": ["gone", "lost"], **to})
        assert status_and_code(refused) == (404, "file.not_found")
        assert [each["path"] for each in refused.json()["details"]["refused"]] == ["gone", "lost"]
        assert "None of 2" in refused.json()["detail"]
        one = await data.post(path, {"paths": ["gone"], **to})
        assert status_and_code(one) == (404, "file.not_found")
        assert [each["code"] for each in one.json()["details"]["refused"]] == ["file.not_found"]
        partly = await data.post(path, {"paths": ["a", "gone"], **to})
        assert partly.status_code == 207
        assert (partly.json()["paths"], [each["path"] for each in partly.json()["refused"]]) == (
            ["a"],
            ["gone"],
        )
    (data.files / "d").mkdir()
    assert status_and_code(await data.post("/files/pack", {"paths": ["d"]})) == (409, "file.not_a_file")
    assert status_and_code(await data.post("/files/pack", {"paths": ["gone", "d"]})) == (
        404,
        "file.not_found",
    )
    assert (await data.post("/files/pack", {"paths": ["gone", "b"]})).status_code == 200


async def test_what_makes_no_sense_is_refused_in_words(data: Folder):
    await data.write("a", b"")
    for method, path, options in (
        ("GET", "/files", {"params": {"path": "../x"}}),
        ("GET", "/files", {"params": {"cursor": "bm9uc2Vuc2U"}}),
        ("GET", "/files/info", {"params": {"path": "a\0b"}}),
        ("GET", "/content", {"params": {"path": ""}}),
        ("PUT", "/content", {"params": {"path": "a/../b"}, "content": b""}),
        ("POST", "/files/move", {"json": {"paths": ["a"], "to": "", "rename_to": "b"}}),
        ("POST", "/files/move", {"json": {"paths": ["a", "b"], "rename_to": "b"}}),
        ("POST", "/files/move", {"json": {"paths": ["a"]}}),
        ("POST", "/files/copy", {"json": {"paths": [""], "to": "b"}}),
        ("GET", "/archive", {"params": {"path": ["", "a"]}}),
    ):
        answer = await data.ask(method, path, **options)
        assert answer.status_code == 422, (method, path, options, answer.text)
        assert answer.json()["hint"] or answer.json()["field"]
    assert status_and_code(await data.get("/files", params={"path": "a"})) == (409, "file.not_a_directory")
    assert status_and_code(await data.get("/files", params={"path": "b"})) == (404, "file.not_found")


async def test_each_permission_allows_what_it_says(api: Api, data: Folder):
    await data.write("a", b"1")
    (data.files / "d").mkdir()
    allowed: dict[str, list[int]] = {}
    for name, permission in (("colleague", "ro"), ("stranger", "rw")):
        theirs = await shared(api, data, name, permission)
        answers = [
            await theirs.get("/files"),
            await theirs.content("a"),
            await theirs.get("/archive", params={"path": "a"}),
            await theirs.post("/links", {"paths": ["a"]}),
            await theirs.write("a", b"2"),
            await theirs.post("/files/directories", {"path": "new"}),
            await theirs.post("/files/move", {"paths": ["a"], "rename_to": "d/a"}),
            await theirs.post(
                "/uploads",
                headers={"Tus-Resumable": "1.0.0", "Upload-Length": "9", "Upload-Metadata": "path dXA="},
            ),
            await theirs.post("/files/copy", {"paths": ["d"], "to": "new"}),
            await theirs.post("/files/move", {"paths": ["d/a"], "to": "", "clash": "replace"}),
            await theirs.post("/files/remove", {"paths": ["d"]}),
        ]
        allowed[permission] = [answer.status_code for answer in answers]
        assert all(
            answer.json()["code"] == "vfolder.permission" for answer in answers if answer.status_code == 403
        )
    assert allowed == {
        "ro": [200, 200, 200, 201, *[403] * 7],
        "rw": [200, 200, 200, 201, 200, 201, 200, 201, 202, 403, 403],
    }
    foreigner = await known(api, await api.as_("foreigner"), data.id)
    assert status_and_code(await foreigner.get("/files")) == (404, "vfolder.not_found")
    admin = await known(api, await api.as_("superadmin"), data.id)
    assert (await admin.get("/files")).status_code == 403, "who administers a folder does not see into it"


@pytest.mark.parametrize("size", [700_000, 1000])
async def test_a_download_gives_ranges(data: Folder, size: int):
    content = os.urandom(size)
    await data.write("file", content)
    complete = await data.content("file")
    tag = complete.headers["etag"]
    assert (
        complete.status_code,
        complete.content == content[:size],
        complete.headers["accept-ranges"],
    ) == (
        200,
        True,
        "bytes",
    )
    for byte_range, start, end in (
        ("bytes=0-0", 0, 1),
        ("bytes=10-", 10, size),
        ("bytes=-7", size - 7, size),
        (f"bytes=5-{size * 2}", 5, size),
        (f"bytes=-{size * 2}", 0, size),
    ):
        part = await data.content("file", Range=byte_range, If_Range=tag)
        assert part.content == content[start:end], byte_range
        if end - start < size:
            assert (part.status_code, part.headers["content-range"]) == (
                206,
                f"bytes {start}-{end - 1}/{size}",
            )
    for ignored in ("bytes=3-2", "bytes=a-b", "bytes=0-1,5-6", "lines=1-2"):
        assert (await data.content("file", Range=ignored)).status_code == 200, ignored
    beyond = await data.content("file", Range=f"bytes={size}-")
    assert (status_and_code(beyond), beyond.headers["content-range"]) == (
        (416, "file.range"),
        f"bytes */{size}",
    )
    assert (await data.content("file")).content == content, "the connection is still of use"


async def test_no_range_of_an_empty_file_can_be_had(data: Folder):
    await data.write("empty", b"")
    assert (await data.content("empty")).content == b""
    assert status_and_code(await data.content("empty", Range="bytes=0-")) == (416, "file.range")


@pytest.mark.parametrize("size", [700_000, 1000])
async def test_a_download_knows_what_the_client_has(data: Folder, size: int):
    await data.write("file", os.urandom(size))
    tag = (await data.content("file")).headers["etag"]
    assert (await data.content("file", Range="bytes=0-1", If_Range='"other"')).status_code == 200
    kept = await data.content("file", If_None_Match=f'"x", W/{tag}')
    assert (kept.status_code, kept.content, kept.headers["etag"]) == (304, b"", tag)
    assert status_and_code(await data.content("file", If_Match='"other"')) == (412, "file.changed")
    assert (await data.content("file", If_Match=tag)).status_code == 200
    head = await data.ask("HEAD", "/content", params={"path": "file"})
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(size), b"")


async def test_what_is_downloaded_is_never_a_page_of_ours(data: Folder):
    name = 'é"\n<script>.html'
    await data.write(name, b"<script>alert(1)</script>")
    for answer in (await data.content(name), await data.get("/archive", params={"path": name})):
        assert answer.headers["content-disposition"].startswith('attachment; filename="___<script>.html')
        assert "filename*=UTF-8''%C3%A9%22%0A%3Cscript%3E.html" in answer.headers["content-disposition"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox; default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["content-type"] in ("application/octet-stream", "application/zip")


async def test_nobody_writes_over_what_somebody_else_wrote_meanwhile(data: Folder):
    first = (await data.write("a.txt", b"one", If_None_Match="*")).json()
    assert status_and_code(await data.write("a.txt", b"two", If_None_Match="*")) == (412, "file.changed")
    second = await data.write("a.txt", b"two", If_Match=first["etag"])
    assert second.status_code == 200
    lost = await data.write("a.txt", b"three", If_Match=first["etag"])
    assert (status_and_code(lost), lost.json()["field"]) == ((412, "file.changed"), "path")
    (data.files / "a.txt").write_bytes(b"by a session")
    assert status_and_code(await data.write("a.txt", b"x", If_Match=second.json()["etag"])) == (
        412,
        "file.changed",
    )
    assert status_and_code(await data.write("missing", b"x", If_Match="*")) == (412, "file.changed")
    assert ((await data.content("a.txt")).content, os.listdir(data.stage)) == (b"by a session", [".lock"])
    assert status_and_code(await data.write("big", b"x" * ((64 << 20) + 1))) == (413, "file.too_large")
    assert os.listdir(data.stage) == [".lock"]


async def test_a_selection_comes_as_a_zip_file(api: Api, data: Folder):
    big = os.urandom(3 << 20)
    await data.write("d/big", big)
    await data.write("top.txt", b"top")
    answer = await data.get("/archive", params={"path": ["d", "top.txt"]})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert 'filename="data.zip"' in answer.headers["content-disposition"]
    file = zipfile.ZipFile(io.BytesIO(answer.content))
    assert (file.testzip(), file.namelist()) == (None, ["d/", "d/big", "top.txt"])
    assert file.read("d/big") == big
    everything = await data.get("/archive", params={"path": ""})
    assert zipfile.ZipFile(io.BytesIO(everything.content)).namelist()[0] == "data/"
    assert status_and_code(await data.get("/archive", params={"path": ["d", "gone"]})) == (
        404,
        "file.not_found",
    )
    assert [details["archive"] for action, details in await audited(api) if action == "file.download"] == [
        True
    ] * 2


async def test_who_leaves_a_zip_file_early_leaves_nothing_at_work(data: Folder):
    (data.files / "big").touch()
    os.truncate(data.files / "big", 1 << 32)
    async with data.owner.http.stream(
        "GET", f"/api/v1/vfolders/{data.id}/archive", params={"path": "big"}
    ) as answer:
        async for _ in answer.aiter_bytes():
            break

    async def closed() -> bool:
        return not any(str(data.files / "big") == target for target in open_files())

    assert await eventually(closed)


def open_files() -> list[str]:
    names = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            continue
    return names


async def test_a_file_that_shrinks_while_it_is_sent_ends_the_answer(data: Folder):
    (data.files / "big").touch()
    os.truncate(data.files / "big", 1 << 30)
    with pytest.raises(httpx2.RemoteProtocolError):
        await shrunk_while_sent(data)


async def shrunk_while_sent(data: Folder) -> None:
    url = f"/api/v1/vfolders/{data.id}/content"
    async with data.owner.http.stream("GET", url, params={"path": "big"}) as answer:
        async for _ in answer.aiter_bytes():
            os.truncate(data.files / "big", 1 << 20)


async def test_a_link_is_for_its_things_a_minute_and_its_makers_rights(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    await data.write("a", b"1")
    await data.write("d/b", b"2")
    nobody = await api.client()
    one, many, of_all = [
        (await data.post("/links", {"paths": paths})).json()["url"] for paths in (["a"], ["a", "d"], [""])
    ]
    answer = await nobody.get(one, headers={"Range": "bytes=0-0"})
    assert (answer.status_code, answer.content) == (200, b"1")
    for url, names in ((many, ["a", "d/", "d/b"]), (of_all, ["data/", "data/a", "data/d/", "data/d/b"])):
        content = (await nobody.get(url)).content
        assert sorted(zipfile.ZipFile(io.BytesIO(content)).namelist()) == names
    assert status_and_code(await nobody.get(one[:-2] + "AA")) == (404, "file.link_over")
    assert status_and_code(await nobody.get("/api/v1/downloads/nonsense")) == (404, "file.link_over")
    too_many = await data.post("/links", {"paths": [os.urandom(20).hex() for _ in range(1000)]})
    assert status_and_code(too_many) == (422, "file.too_many")
    theirs = await shared(api, data, "colleague", "ro")
    given = (await theirs.post("/links", {"paths": ["a"]})).json()["url"]
    assert (await nobody.get(given)).status_code == 200
    shares = (await data.get("/shares")).json()["items"]
    await data.ask("DELETE", f"/shares/{shares[0]['id']}")
    assert status_and_code(await nobody.get(given)) == (404, "vfolder.not_found")
    first = next(details for action, details in await audited(api) if action == "file.download")
    assert first["paths"] == ["a"]
    monkeypatch.setattr(links, "LASTS", links.LASTS * 0)
    late = (await data.post("/links", {"paths": ["a"]})).json()["url"]
    assert status_and_code(await nobody.get(late)) == (404, "file.link_over")


async def test_pages_are_told_of_changes_and_the_folder_is_measured_again(api: Api, data: Folder):
    for number in range(20):
        await data.write(f"d/{number}", b"x" * 100)

    async def state() -> tuple[int, int, bool]:
        async with api.database.transaction() as tx:
            row = await tx.execute(
                text("""SELECT (SELECT count(*) FROM events WHERE kind = 'files.changed' AND object_id = v.id),
                    used_bytes, touched_at IS NOT NULL FROM vfolders v WHERE id = :id"""),
                {"id": data.id},
            )
            return tuple(row.one())

    async def all_of_it() -> bool:
        return (await state())[1] == 2000

    assert await eventually(all_of_it)
    events, _, touched = await state()
    assert (0 < events < 20, touched) == (True, True)


async def test_a_copy_is_done_by_a_task(living: Api, tmp_path_factory: pytest.TempPathFactory):
    data = await folder(living, root=tmp_path_factory.mktemp("disk") / "fast")
    await data.write("d/e", b"content")
    answer = await data.post("/files/copy", {"paths": ["d"], "to": "copies"})
    assert answer.status_code == 202, answer.text
    task = answer.json()

    async def done() -> bool:
        shown = (await data.owner.get(f"/vfolder-tasks/{task['id']}")).json()
        assert shown["state"] != "failed", shown
        return bool(shown["state"] == "done")

    assert await eventually(done)
    assert (await data.content("copies/d/e")).content == b"content"
    assert status_and_code(await data.post("/files/copy", {"paths": ["none"], "to": ""})) == (
        404,
        "file.not_found",
    )
    await data.post("/files/remove", {"paths": ["d", "copies"]})

    async def clean() -> bool:
        return os.listdir(data.stage) == [".lock"]

    assert await eventually(clean)


async def test_a_directory_is_copied_only_where_the_quota_has_room_for_it(living: Api):
    data = await folder(living)
    await data.write("large/a", b"x" * 600_000)
    await data.write("linked/a", b"x" * 300_000)
    os.link(data.files / "linked" / "a", data.files / "linked" / "b")  # one file, and so it is in the copy
    await shared(living, data, "colleague", "ro")
    theirs = await folder(living, "colleague", name="theirs")
    await limit(living.database, "user", folder_bytes=500_000)
    copied = await known(living, theirs.owner, data.id)
    tasks = {}
    for name in ("large", "linked"):
        answer = await copied.post("/files/copy", {"paths": [name], "folder": theirs.id})
        assert answer.status_code == 202, answer.text
        tasks[name] = await ended(theirs.owner, answer.json()["id"])
    assert tasks["linked"]["state"] == "done", tasks["linked"]
    assert (tasks["large"]["state"], tasks["large"]["done_bytes"]) == ("failed", 0)
    assert "quota" in tasks["large"]["problem"]
    assert os.listdir(theirs.files) == ["linked"]


async def test_a_large_directory_is_listed_a_page_at_a_time(data: Folder):
    for number in range(450):
        (data.files / f"n{number:03}").touch()
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": 200, "sort": "-name"} | ({"cursor": cursor} if cursor else {})
        page = (await data.get("/files", params=query)).json()
        seen += [each["name"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"n{number:03}" for number in reversed(range(450))]
    wrong = (await data.get("/files", params={"limit": 1, "sort": "-name"})).json()["next_cursor"]
    assert status_and_code(await data.get("/files", params={"cursor": wrong, "sort": "size"})) == (
        422,
        "invalid.cursor",
    )


async def test_a_host_that_hangs_keeps_nobody_from_the_files_of_another(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    other = await folder(api, name="other")
    await data.write("a", bytes(1 << 20))
    await other.write("a", bytes(1 << 20))
    answers = threading.Event()
    opened = paths.directory

    def hanging(root: Path, path: str) -> contextlib.AbstractContextManager[int]:
        if root in (data.files, data.stage):
            answers.wait()
        return opened(root, path)

    monkeypatch.setattr(paths, "directory", hanging)
    monkeypatch.setattr(listing, "directory", hanging)
    waiting = [asyncio.create_task(each) for each in (data.content("a"), data.names())]
    assert await other.names() == ["a"]
    assert len((await other.content("a")).content) == 1 << 20
    assert not any(each.done() for each in waiting)
    answers.set()
    assert (await waiting[0]).status_code == 200
    assert await waiting[1] == ["a"]


async def test_what_is_written_into_a_folder_that_leaves_is_not_said_to_be_kept(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    """A move that begins between the look at the folder and the change copies what was there before."""
    real = staged.Staged.put

    def late(file: staged.Staged, *args: object, **options: object) -> str:
        with psycopg.connect(api.database.url) as other:
            other.execute("UPDATE vfolders SET state = 'MOVING' WHERE id = %s", [data.id])
        return real(file, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(staged.Staged, "put", late)
    assert status_and_code(await data.write("late.txt", b"hello")) == (409, "vfolder.state")


async def test_what_was_done_before_the_host_failed_is_told_and_written_down(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    names = ["a", "b", "c"]
    for name in names:
        (data.files / name).write_bytes(b"")
    (data.files / "x").mkdir()
    move = tree.move

    def failing(root: Path, path: str, *more: object) -> str:
        if path == "b":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return move(root, path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(tree, "move", failing)
    moved = await data.post("/files/move", {"paths": names, "to": "x"})
    assert moved.status_code == 207, moved.text
    assert moved.json()["paths"] == ["x/a"]
    assert [(each["path"], each["code"]) for each in moved.json()["refused"]] == [
        ("b", "storage.unavailable"),
        ("c", "storage.unavailable"),
    ]
    admin = await api.as_("superadmin")
    audit = (await admin.get("/audit", params={"action": "file.move"})).json()["items"]
    assert [row["details"]["paths"] for row in audit] == [["x/a"]]
    again = await data.post("/files/move", {"paths": ["b", "c"], "to": "x"})
    assert status_and_code(again) == (503, "storage.unavailable")
