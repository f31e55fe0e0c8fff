"""Many small files in one request: tar files that are taken apart into a folder, and made of one."""

import errno
import io
import os
import tarfile

import httpx2
import pytest
from databases import sql
from files_kit import Folder, folder
from installation import Api
from limit_kit import limit
from pack_kit import odd, tar
from people_kit import status_and_code
from sqlalchemy import text

from carrel.folders import quotas
from carrel.folders.files import authorization, packs
from carrel.storage import staged
from carrel.tables.folders import VFolder


async def unpack(data: Folder, body: bytes, **query: str) -> httpx2.Response:
    return await data.ask("POST", "/files/unpack", params=query, content=body)


def odd_archive() -> bytes:
    """Files and directories, and what cannot become either."""
    return tar(
        odd("./", tarfile.DIRTYPE),
        odd("empty/", tarfile.DIRTYPE),
        ("./a/run.sh", b"#!"),
        ("a/ü", b"y" * 5000),
        ("taken", b"new"),
        odd("link", tarfile.SYMTYPE, linkname="/etc/passwd"),
        odd("hard", tarfile.LNKTYPE, linkname="a/ü"),
        odd("pipe", tarfile.FIFOTYPE),
        ("../out", b"z"),
        ("/etc/out", b"z"),
        ("taken/below", b"z"),
        ("last", b""),
        ("last", b"once more"),
    )


async def test_a_tar_file_becomes_files_and_what_cannot_be_is_named(api: Api, data: Folder):
    (data.files / "to").mkdir()
    (data.files / "to" / "taken").write_bytes(b"old")
    os.chown(data.files / "to", 1000, 1000)
    answer = await unpack(data, odd_archive(), path="to")
    assert answer.status_code == 200, answer.text
    assert sorted(answer.json()["paths"]) == ["to/a/run.sh", "to/a/ü", "to/last"]
    assert {each["path"]: each["code"] for each in answer.json()["refused"]} == {
        "taken": "file.exists",
        "link": "file.not_a_file",
        "hard": "file.not_a_file",
        "pipe": "file.not_a_file",
        "../out": "file.path",
        "/etc/out": "file.path",
        "taken/below": "file.not_a_directory",
        "last": "file.exists",
    }
    assert sorted(str(unpacked.relative_to(data.files)) for unpacked in data.files.rglob("*")) == [
        "to",
        "to/a",
        "to/a/run.sh",
        "to/a/ü",
        "to/empty",
        "to/last",
        "to/taken",
    ]
    assert (data.files / "to/a/ü").read_bytes() == b"y" * 5000
    unpacked = (data.files / "to/a/ü").stat()
    assert (unpacked.st_uid, unpacked.st_mtime_ns) == (1000, 1_700_000_000_250_000_000)
    assert os.listdir(data.stage) == [".lock"]


async def test_a_name_that_is_taken_is_replaced_or_changed_as_asked(data: Folder):
    for name in ("taken", "last"):
        await data.write(f"to/{name}", b"old")
    again = await unpack(data, tar(("taken", b"new"), ("last", b"more")), path="to", clash="replace")
    assert (again.json()["paths"], (data.files / "to/taken").read_bytes()) == (
        ["to/taken", "to/last"],
        b"new",
    )
    third = await unpack(data, tar(("taken", b"3")), path="to", clash="rename")
    assert third.json()["paths"] == ["to/taken (1)"]


@pytest.mark.parametrize("mib", [1, 2], ids=["in memory", "by way of the disk"])
async def test_a_tar_file_may_be_larger_than_other_bodies(data: Folder, mib: int):
    content = b"z" * ((mib << 20) + (1 << 19))
    answer = await unpack(data, tar(("one", content), ("two", b"")))
    assert answer.status_code == 200, answer.text
    assert answer.json()["paths"] == ["one", "two"]
    assert (data.files / "one").read_bytes() == content


async def test_every_path_is_in_the_audit_trail(api: Api, data: Folder):
    names = [f"d/{number:03}" for number in range(120)]
    await unpack(data, tar(*[(name, name.encode()) for name in names]))
    answer = await data.post("/files/pack", {"paths": [*names, "d", "no such"]})
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as file:
        got = {member.name: file.extractfile(member).read() for member in file}  # type: ignore[union-attr]
        assert file.getmember("d/000").mtime == 1_700_000_000.25
    assert got == {name: name.encode() for name in names}
    async with api.database.transaction() as tx:
        rows = (
            await tx.execute(
                text(
                    "SELECT action, details FROM audit WHERE object_id = :id AND action LIKE 'file.%' ORDER BY id"
                ),
                {"id": data.id},
            )
        ).all()
    uploads = [row.details for row in rows if row.action == "file.upload"]
    assert [path for row in uploads for path in row["paths"]] == names
    assert sum(row["bytes"] for row in uploads) == 5 * 120
    assert [path for row in rows if row.action == "file.download" for path in row.details["paths"]][
        :120
    ] == names


async def test_what_is_no_tar_file_or_too_much_is_refused(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    archive = tar(("a", b"x" * 3000))
    for body in (b"x" * 2000, archive[:1500]):
        assert status_and_code(await unpack(data, body)) == (422, "invalid.request")
    assert (await unpack(data, b"")).json() == {"paths": [], "refused": []}
    monkeypatch.setattr(packs, "LARGEST", len(archive) - 1)
    assert status_and_code(await unpack(data, archive)) == (413, "file.too_large")
    monkeypatch.undo()
    await sql(
        api.database,
        "INSERT INTO site (id, values) VALUES (1, '{\"upload_most_bytes\": 2000}') "
        "ON CONFLICT (id) DO UPDATE SET values = excluded.values",
    )
    answer = (await unpack(data, tar(("a", b"x" * 3000), ("b", b"y")))).json()
    assert (answer["paths"], answer["refused"][0]["code"]) == (["b"], "upload.too_large")
    assert os.listdir(data.stage) == [".lock"]


async def test_a_disk_that_fills_up_keeps_what_came_and_names_the_rest(
    data: Folder, monkeypatch: pytest.MonkeyPatch
):
    real, written = staged.Staged.write, []

    def full(file: staged.Staged, pieces: list[bytes], checking: object = None) -> None:
        written.append(file.name)
        if file.name.endswith(".470"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file, pieces, checking)

    monkeypatch.setattr(staged.Staged, "write", full)
    answer = (await unpack(data, tar(*[(f"{number:03}", b"x") for number in range(500)]))).json()
    assert answer["paths"] == [f"{number:03}" for number in range(400)]
    assert [(each["path"], each["code"]) for each in answer["refused"]] == [
        (f"{number:03}", "storage.full") for number in range(400, 500)
    ]
    assert sorted(os.listdir(data.files)) == answer["paths"]
    assert os.listdir(data.stage) == [".lock"]


async def test_what_is_asked_at_once_is_what_is_asked_one_by_one(api: Api, data: Folder):
    admin = await api.as_("superadmin")
    project = api.people.project
    theirs = await folder(api, "superadmin", name="ours", project=project)
    for owner, made in ((data.owner, data), (admin, theirs)):
        async with api.database.transaction() as tx:
            row = await tx.get(VFolder, made.id)
            assert row is not None
            unlimited = await quotas.room_of(tx, row.scope)
        admitted = await authorization.inward(api.services, owner.actor, made.id)
        assert (admitted.room, admitted.opened.folder.scope) == (unlimited, row.scope)
        await sql(api.database, "UPDATE vfolders SET used_bytes = 600 WHERE id = :id", id=made.id)
        await limit(api.database, "user", folder_bytes=1000)
        await limit(api.database, "project", folder_bytes=1000)
        async with api.database.transaction() as tx:
            assert await quotas.room_of(tx, row.scope) == 400
        assert (await authorization.inward(api.services, owner.actor, made.id)).room == 400
