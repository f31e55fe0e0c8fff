"""Limits on folders: how many and how much, told to their owners and held however many ask at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx2
import pytest
from databases import sql
from installation import Api
from people_kit import domain_admin, project_admin, status_and_code
from quota_kit import MIB, Care, Limit, fill, made, quota
from sqlalchemy import update

from carrel.core.errors import Refused
from carrel.core.ids import FolderId
from carrel.folders import quotas
from carrel.storage.fake import FakeQuotaBackend
from carrel.tables.folders import VFolder


async def test_the_number_of_folders_holds_however_many_ask_at_once(api: Api, limit: Limit):
    user = await api.as_("user")
    await limit(folders=3)
    answers = await asyncio.gather(*(user.post("/vfolders", {"name": f"f{n}"}) for n in range(8)))
    assert sorted(a.status_code for a in answers) == [201] * 3 + [409] * 5
    assert {a.json()["code"] for a in answers if a.status_code == 409} == {"quota.folders"}
    one = next(a.json()["id"] for a in answers if a.status_code == 201)
    assert (await user.post(f"/vfolders/{one}/trash")).status_code == 200
    refused = await user.post("/vfolders", {"name": "more"})
    assert status_and_code(refused) == (409, "quota.folders"), "the trash counts"
    assert refused.json()["details"] == {"folders": 3, "most_folders": 3}
    assert (await (await api.as_("colleague")).post("/vfolders", {"name": "theirs"})).status_code == 201


async def test_a_projects_folders_count_for_the_project(api: Api, limit: Limit):
    lead_ = await project_admin(api)
    await limit("project", folders=1)
    await limit("user", folders=0)
    await made(lead_, "shared", project=api.people.project)
    refused = await lead_.post("/vfolders", {"name": "another", "project": api.people.project})
    assert status_and_code(refused) == (409, "quota.folders")
    assert status_and_code(await lead_.post("/vfolders", {"name": "own"})) == (409, "quota.folders")


async def test_at_the_limit_nothing_more_comes_in(api: Api, care: Care, limit: Limit):
    user = await api.as_("user")
    folder = await made(user, "data")
    await fill(api, folder["id"], 3 * MIB)
    await care.round()
    await limit(folder_bytes=4 * MIB)

    async def refused(more: int) -> bool:
        async with api.database.transaction() as tx:
            row = await tx.get_one(VFolder, FolderId(folder["id"]))
            with suppress(Refused):
                await quotas.require_room(tx, row, more)
                return False
            return True

    assert [await refused(more) for more in (0, MIB // 2, 2 * MIB)] == [False, False, True]
    await limit(folder_bytes=2 * MIB)
    assert await refused(0)
    await limit(folder_bytes="unlimited")
    assert not await refused(1 << 50)


async def test_uploads_that_have_begun_count_for_those_that_begin(api: Api, limit: Limit):
    user = await api.as_("user")
    folder, other = await made(user, "data"), await made(user, "other")
    await limit(folder_bytes=1000)

    async def begin(where: str, name: str) -> httpx2.Response:
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "600", "Upload-Metadata": f"path {name}"}
        return await user.post(f"/vfolders/{where}/uploads", headers=headers)

    answers = await asyncio.gather(*(begin(folder["id"], f"YWF{n}") for n in range(4)))
    assert sorted(each.status_code for each in answers) == [201, 409, 409, 409]
    assert status_and_code(await begin(other["id"], "YQ==")) == (409, "quota.bytes"), "of the same owner"
    begun = next(each.headers["location"] for each in answers if each.status_code == 201)
    ended = await user.delete(f"/vfolders/{folder['id']}/{begun}", headers={"Tus-Resumable": "1.0.0"})
    assert ended.status_code == 204, ended.text
    assert (await begin(other["id"], "YQ==")).status_code == 201


async def test_owners_are_told_once_when_the_limit_comes_near_is_reached_and_is_far_again(
    api: Api, care: Care, limit: Limit
):
    user = await api.as_("user")
    await limit(folder_bytes=10 * MIB)
    folder = await made(user, "data")
    for number, size in enumerate((5, 1, 3, 0, 2, 1, 0)):
        await fill(api, folder["id"], size * MIB, f"file{number}")
        await care.round(minutes=5)
    assert (await quota(user))["user@example.org"]["level"] == "insufficient"
    await fill(api, folder["id"], 0, "file0")
    await care.round(minutes=5)
    notifications = await sql(
        api.database, "SELECT owner_id, data ->> 'level' FROM events WHERE kind = 'quota.updated' ORDER BY id"
    )
    owner = api.people.user.user_id
    assert notifications == [(owner, "caution"), (owner, "insufficient"), (owner, "adequate")]


async def test_a_host_that_enforces_quotas_is_told_them(
    api: Api, care: Care, limit: Limit, tmp_path_factory: pytest.TempPathFactory
):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    root = tmp_path_factory.mktemp("disks") / "hard"
    assert (await admin.post("/storage-hosts", {"name": "hard", "root": str(root)})).status_code == 201
    await made(user, "data", host="hard")
    await care.round()
    hard = care.backends["hard"]
    assert isinstance(hard, FakeQuotaBackend)
    scope = quotas.scope_of(owner=api.people.user.user_id)
    for most, limits in ((MIB, {scope: MIB}), (2 * MIB, {scope: 2 * MIB}), ("unlimited", {})):
        await limit(folder_bytes=most)
        await care.round(seconds=30)
        assert hard.limits == limits
    hard.calls.clear()
    await care.round(seconds=30)
    assert "set_quota" not in hard.calls


async def test_quotas_are_listed_for_those_who_may_see_them(api: Api):
    admin, head, lead_, user, foreigner = [
        await api.as_("superadmin"),
        await domain_admin(api),
        await project_admin(api),
        await api.as_("user"),
        await api.as_("foreigner"),
    ]
    assert set(await quota(user)) == {"default/default", "user@example.org"}
    assert set(await quota(user, of="all")) == {"default/default", "user@example.org"}
    assert set(await quota(lead_, of="all")) == {"default/default", "lead@example.org"}
    assert set(await quota(foreigner, of="all")) == {"abroad/default", "foreigner@example.org"}
    seen = await quota(head, of="all")
    assert "foreigner@example.org" not in seen
    assert {"user@example.org", "stranger@example.org", "default/other"} <= set(seen)
    assert {"foreigner@example.org", "abroad/default"} <= set(await quota(admin, of="all"))
    assert set(await quota(admin, of="all", kind="project")) == {
        "abroad/default",
        "default/default",
        "default/other",
    }
    assert set(await quota(admin, of="all", q="FOREIGN")) == {"foreigner@example.org"}
    async with api.database.transaction() as tx:
        await tx.execute(update(VFolder).values(used_bytes=0))
    await made(user, "data")
    async with api.database.transaction() as tx:
        await tx.execute(update(VFolder).values(used_bytes=5 * MIB))
    first = (await admin.get("/quotas", params={"of": "all", "sort": "-used_bytes", "limit": 1})).json()
    assert [(row["label"], row["used_bytes"]) for row in first["items"]] == [("user@example.org", 5 * MIB)]
    rest = await admin.get(
        "/quotas", params={"of": "all", "sort": "-used_bytes", "cursor": first["next_cursor"]}
    )
    assert "user@example.org" not in {row["label"] for row in rest.json()["items"]}
    assert len(rest.json()["items"]) == 9


async def test_who_would_be_over_a_limit_on_folders_is_said_and_gauges_tell_what_they_take(api: Api):
    admin, user, lead_ = await api.as_("superadmin"), await api.as_("user"), await project_admin(api)
    for name in ("one", "two"):
        await made(user, name)
    await made(lead_, "shared", project=api.people.project)
    async with api.database.transaction() as tx:
        await tx.execute(update(VFolder).values(used_bytes=3 * MIB))

    async def over(kind: str, **limits: object) -> list[tuple[object, ...]]:
        answer = await admin.post(f"/policies/default-{kind}/over", {"limits": limits})
        assert answer.status_code == 200, answer.text
        return [(o["scope"], o["id"], o["slot"], o["ceiling"], o["used"]) for o in answer.json()["items"]]

    me, project = api.people.user.user_id, api.people.project
    assert await over("user", folders=1, folder_bytes=5 * MIB) == [
        ("user", me, "folders", 1, 2),
        ("user", me, "folder_bytes", 5 * MIB, 6 * MIB),
    ]
    assert await over("user", folders=2, folder_bytes=6 * MIB) == await over("user") == []
    assert await over("project", folders=0) == [("project", project, "folders", 0, 1)]
    gauges = (await admin.get("/metrics")).text
    assert 'carrel_storage_folder_bytes{host="local"} 9.437184e+06' in gauges, "9 MiB"
    assert 'carrel_storage_up{host="local"} 0.0' in gauges, "nobody looked at it yet"


async def test_a_file_may_be_as_large_as_the_installation_says(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    folder = f"/vfolders/{(await made(user, 'data'))['id']}"
    assert (await admin.patch("/site", {"upload_most_bytes": 100})).status_code == 200
    tus = {"Tus-Resumable": "1.0.0", "Upload-Metadata": "path YQ=="}

    async def begun(**headers: str) -> str:
        answer = await user.post(f"{folder}/uploads", headers={**tus, **headers})
        assert answer.status_code in (201, 413), answer.text
        return answer.headers.get("location", answer.json()["code"] if answer.content else "")

    assert await begun(**{"Upload-Length": "101"}) == "upload.too_large"
    assert (await begun(**{"Upload-Length": "100"})).startswith("uploads/")
    # Of one whose length is not known at first, and of parts, no more comes in either.
    place = f"{folder}/{await begun(**{'Upload-Defer-Length': '1'})}"
    more = {**tus, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
    assert status_and_code(await user.ask("PATCH", place, headers=more, content=b"x" * 101)) == (
        413,
        "upload.too_large",
    )
    parts = []
    for _ in range(2):
        part = await begun(**{"Upload-Concat": "partial", "Upload-Length": "60"})
        sent = await user.ask("PATCH", f"{folder}/{part}", headers=more, content=b"x" * 60)
        assert sent.status_code == 204, sent.text
        parts.append(part.rpartition("/")[2])
    assert await begun(**{"Upload-Concat": "final;" + " ".join(parts)}) == "upload.too_large"
    for content, headers in ((b"x" * 101, {}), (_pieces(), {"Transfer-Encoding": "chunked"})):
        written = await user.ask(
            "PUT", f"{folder}/content", params={"path": "b"}, content=content, headers=headers
        )
        assert status_and_code(written) == (413, "upload.too_large")
    assert (
        await user.ask("PUT", f"{folder}/content", params={"path": "b"}, content=b"x" * 100)
    ).status_code == 200


async def _pieces() -> AsyncIterator[bytes]:
    for _ in range(3):
        yield b"x" * 50
