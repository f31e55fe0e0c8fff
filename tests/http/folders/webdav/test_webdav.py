"""Folders as network drives: by rclone, by the protocol's own test program, and by hand."""

import asyncio
import os
from pathlib import Path

import httpx2
import pytest
from files_kit import Folder, folder
from installation import Api, Caller
from limit_kit import limit
from sqlalchemy import text

from carrel.folders.webdav import properties


async def dav(who: Caller, method: str, path: str, **options: object) -> httpx2.Response:
    return await who.http.request(method, f"/dav/{path}", **options)


async def run(*command: str, cwd: Path | None = None, **environment: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=os.environ | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


async def noted(api: Api, folder_id: str) -> list[tuple[str, list[str]]]:
    async with api.database.transaction() as tx:
        rows = await tx.execute(
            text(
                "SELECT action, details FROM audit WHERE object_id = :id AND action LIKE 'file.%' ORDER BY id"
            ),
            {"id": folder_id},
        )
        return [(row.action, row.details["paths"]) for row in rows]


async def test_the_protocols_own_tests_pass(api: Api, data: Folder, tmp_path: Path):
    access_key, secret_key = await api.keypair(data.owner.actor)
    address = f"{api.url}/dav/data/"
    # litmus writes its logs into the current directory.
    litmus = ("litmus", "-k", address, access_key, secret_key)
    _, output = await run(*litmus, cwd=tmp_path, TESTS="basic copymove props locks http")
    assert [line for line in output.splitlines() if "FAIL" in line] == [], output
    assert "basic': of 16 tests run: 16 passed" in output, output
    assert "copymove': of 13 tests run: 13 passed" in output, output
    assert "props': of 30 tests run: 30 passed" in output, output
    assert "locks': of 41 tests run: 41 passed" in output, output


async def test_rclone_brings_a_tree_up_and_down_with_its_times(api: Api, data: Folder, tmp_path: Path):
    tree = tmp_path / "tree"
    (tree / "d").mkdir(parents=True)
    (tree / "d" / "가 b.txt").write_text("text")
    (tree / "large").write_bytes(os.urandom(3 << 20))
    os.utime(tree / "large", (1_700_000_000, 1_700_000_000))
    access_key, secret_key = await api.keypair(data.owner.actor)
    _, hidden = await run("rclone", "obscure", secret_key)
    settings = {
        "RCLONE_CONFIG": str(tmp_path / "none"),
        "RCLONE_CONFIG_HERE_TYPE": "webdav",
        "RCLONE_CONFIG_HERE_URL": f"{api.url}/dav",
        "RCLONE_CONFIG_HERE_VENDOR": "owncloud",
        "RCLONE_CONFIG_HERE_USER": access_key,
        "RCLONE_CONFIG_HERE_PASS": hidden.strip(),
    }

    async def rclone(*words: str) -> str:
        code, output = await run("rclone", *words, **settings)
        assert code == 0, output
        return output

    await rclone("sync", str(tree), "here:data/tree")
    assert (data.files / "tree/d/가 b.txt").read_text() == "text"
    assert (data.files / "tree/large").stat().st_mtime == 1_700_000_000
    assert (data.files / "tree/large").stat().st_uid == 1000
    assert "0 differences" in await rclone("check", str(tree), "here:data/tree", "--download")
    await rclone("moveto", "here:data/tree/large", "here:data/moved")
    await rclone("copyto", "here:data/moved", "here:data/copied")
    await rclone("copy", "here:data", str(tmp_path / "back"))
    assert (tmp_path / "back/copied").read_bytes() == (tree / "large").read_bytes()
    await rclone("purge", "here:data/tree")
    assert sorted(os.listdir(data.files)) == ["copied", "moved"]
    assert "data" in await rclone("lsd", "here:")


async def test_every_change_is_in_the_audit_trail_as_by_the_api(api: Api, data: Folder):
    who = data.owner
    assert (await dav(who, "MKCOL", "data/d")).status_code == 201
    assert (await dav(who, "PUT", "data/d/a", content=b"one")).status_code == 201
    assert (await dav(who, "PUT", "data/d/a", content=b"three")).status_code == 204
    to = {"Destination": f"{api.url}/dav/data/b"}
    assert (await dav(who, "COPY", "data/d/a", headers=to)).status_code == 201
    assert (await dav(who, "MOVE", "data/d/a", headers=to)).status_code == 204
    part = await dav(who, "GET", "data/b", headers={"Range": "bytes=1-2"})
    assert (part.status_code, part.content) == (206, b"hr")
    assert (await dav(who, "DELETE", "data/d")).status_code == 204
    assert await noted(api, data.id) == [
        ("file.make_directory", ["d"]),
        ("file.write", ["d/a"]),
        ("file.write", ["d/a"]),
        ("file.copy", ["b"]),
        ("file.move", ["b"]),
        ("file.download", ["b"]),
        ("file.remove", ["d"]),
    ]
    assert os.listdir(data.stage) == [".lock"]


async def test_who_may_only_read_changes_nothing(api: Api):
    ours = await folder(api, "superadmin", name="ours", project=api.people.project, permission="ro")
    (ours.files / "a").write_bytes(b"a")
    member = await api.as_("user")
    assert (await dav(member, "GET", "ours/a")).content == b"a"
    to = {"Destination": f"{api.url}/dav/ours/b"}
    for method, path, headers in (
        ("PUT", "a", {}),
        ("PUT", "new", {}),
        ("DELETE", "a", {}),
        ("MKCOL", "d", {}),
        ("MOVE", "a", to),
        ("COPY", "a", to),
        ("LOCK", "a", {}),
        ("PROPPATCH", "a", {}),
        ("PROPPATCH", "", {}),
    ):
        body = (
            _TOUCH
            if path and method == "PROPPATCH"
            else _INVENTED
            if not path
            else b"x"
            if method == "PUT"
            else b""
        )
        answer = await dav(member, method, f"ours/{path}", headers=headers, content=body)
        assert answer.status_code in (403, 207), (method, answer.text)
        assert "200 OK" not in answer.text
    assert [each.name for each in ours.files.iterdir()] == ["a"]
    assert (ours.files / "a").read_bytes() == b"a"
    refused = await dav(member, "PUT", "ours/a", content=b"x")
    async with api.database.transaction() as tx:
        rows = await tx.execute(
            text("SELECT reason FROM audit WHERE outcome = 'refused' AND action = 'vfolder.use'")
        )
        assert any("vfolder.permission" in row.reason for row in rows), refused.text


async def test_properties_of_clients_stay_with_their_file_and_are_few(
    data: Folder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(properties, "_MOST_FILES", 2)
    drive = data.owner

    async def shown(path: str) -> bool:
        return "tomorrow" in (await dav(drive, "PROPFIND", path, headers={"Depth": "0"})).text

    assert (await dav(drive, "MKCOL", "data/d")).status_code == 201
    for path in ("data/d/a", "data/b", "data/c"):
        assert (await dav(drive, "PUT", path, content=b"x")).status_code == 201
    assert "200 OK" in (await dav(drive, "PROPPATCH", "data/d/a", content=_INVENTED)).text
    await dav(drive, "MOVE", "data/d", headers={"Destination": "/dav/data/e"})
    assert await shown("data/e/a")
    await dav(drive, "DELETE", "data/e")
    await dav(drive, "MKCOL", "data/e")
    await dav(drive, "PUT", "data/e/a", content=b"x")
    assert not await shown("data/e/a")
    for path in ("data/e/a", "data/b", "data/c"):
        assert "200 OK" in (await dav(drive, "PROPPATCH", path, content=_INVENTED)).text
    assert [await shown(path) for path in ("data/e/a", "data/b", "data/c")] == [False, True, True]
    large = _INVENTED.replace(b"tomorrow", b"x" * 5000)
    assert "507" in (await dav(drive, "PROPPATCH", "data/b", content=large)).text
    assert "200 OK" not in (await dav(drive, "PROPPATCH", "", content=_INVENTED)).text


async def test_what_is_not_theirs_is_not_there(api: Api, data: Folder):
    (data.files / "a").write_bytes(b"a")
    stranger = await api.as_("superadmin")
    anonymous = await api.as_("anonymous")
    answer = await dav(anonymous, "PROPFIND", "", headers={"Depth": "1"})
    assert (answer.status_code, answer.headers["www-authenticate"][:5]) == (401, "Basic")
    browser = await api.browser("user")
    assert (await dav(browser, "GET", "data/a")).status_code == 401, "another site's page could use a cookie"
    listed = await dav(stranger, "PROPFIND", "", headers={"Depth": "1"})
    assert (listed.status_code, "data" in listed.text) == (207, False)


async def test_links_lead_nowhere(data: Folder, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (data.files / "link").symlink_to(outside)
    (data.files / "file").symlink_to(outside / "secret")
    who = data.owner
    for method in ("GET", "PROPFIND", "DELETE"):
        for path in ("data/link/secret", "data/file", "data/link"):
            answer = await dav(who, method, path, headers={"Depth": "0"})
            assert answer.status_code in (404, 409), (method, path, answer.status_code)
    assert (await dav(who, "PUT", "data/link/new", content=b"x")).status_code in (403, 404, 409)
    assert os.listdir(outside) == ["secret"]
    listed = await dav(who, "PROPFIND", "data", headers={"Depth": "1"})
    assert "link" not in listed.text


async def test_a_lock_is_of_a_folder_and_not_of_its_name(api: Api, data: Folder):
    theirs = await folder(api, "superadmin", name="data")
    locked = await dav(data.owner, "LOCK", "data/a", content=_LOCK)
    assert locked.status_code in (200, 201), locked.text
    assert (await dav(data.owner, "PUT", "data/a", content=b"x")).status_code == 423
    token = {"If": f"({locked.headers['lock-token']})"}
    assert (await dav(data.owner, "PUT", "data/a", content=b"x", headers=token)).status_code == 204
    assert (await dav(theirs.owner, "PUT", "data/a", content=b"y")).status_code == 201
    assert (data.files / "a").read_bytes() == b"x"


async def test_more_than_the_quota_leaves_is_refused(api: Api, data: Folder):
    await limit(api.database, "user", folder_bytes=1000)
    assert (await dav(data.owner, "PUT", "data/a", content=b"x" * 2000)).status_code in (409, 413, 507)

    async def pieces():  # type: ignore[no-untyped-def]
        for _ in range(20):
            yield b"x" * 100

    answer = await dav(data.owner, "PUT", "data/a", content=pieces())
    assert answer.status_code in (409, 413, 507), answer.text
    assert os.listdir(data.files) == []
    assert os.listdir(data.stage) in ([], [".lock"])
    listed = await dav(data.owner, "PROPFIND", "data", headers={"Depth": "0"})
    assert "quota-available-bytes>1000<" in listed.text


async def test_a_token_is_a_password(api: Api, data: Folder):
    secret = (await data.owner.post("/tokens", {"name": "drive", "scopes": ["vfolder.*"]})).json()["token"]
    client = await api.client(auth=("anybody", secret))
    assert (await client.request("PUT", "/dav/data/a", content=b"x")).status_code == 201
    wrong = await api.client(auth=("anybody", f"{secret}x"))
    assert (await wrong.request("GET", "/dav/data/a")).status_code == 401


async def test_a_whole_tree_is_not_listed_in_one_answer(data: Folder):
    assert (await dav(data.owner, "PROPFIND", "data")).status_code == 403


_LOCK = b"""<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>
<locktype><write/></locktype><owner>me</owner></lockinfo>"""
_TOUCH = b"""<?xml version="1.0"?><propertyupdate xmlns="DAV:"><set><prop>
<Win32LastModifiedTime xmlns="urn:schemas-microsoft-com:">Mon, 01 Jan 2024 00:00:00 GMT</Win32LastModifiedTime>
</prop></set></propertyupdate>"""
_INVENTED = b"""<?xml version="1.0"?><propertyupdate xmlns="DAV:"><set><prop>
<due xmlns="urn:example:todo">tomorrow</due></prop></set></propertyupdate>"""
