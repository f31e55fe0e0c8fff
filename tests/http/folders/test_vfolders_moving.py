"""Folders that go elsewhere: copied, moved to another storage host, handed over; and the tasks that do it."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import scalar, sql
from folder_kit import (
    backend,
    ended,
    files_of,
    folder,
    in_state,
    mounted,
    second_host,
    shared,
    trail,
    unmounted,
)
from installation import Api, Caller
from limit_kit import limit
from people import eventually
from people_kit import domain_admin, project_admin, status_and_code
from sqlalchemy import text

from carrel.storage import whole_folders
from carrel.storage.port import Advance, FolderLocation, StorageFull, Tick
from carrel.storage.posix import MARK


def fill(files: Path) -> None:
    (files / "deep" / "er").mkdir(parents=True)
    (files / "deep" / "er" / "file").write_bytes(b"x" * 70_000)
    (files / "link").symlink_to("/etc/passwd")
    for each in (files / "deep", files / "deep" / "er", files / "deep" / "er" / "file"):
        os.chown(each, 1000, 1000)


def content(files: Path) -> dict[str, object]:
    return {
        str(path.relative_to(files)): os.readlink(path) if path.is_symlink() else path.stat().st_size
        for path in sorted(files.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


async def task_of(caller: Caller, folder: str) -> dict:  # type: ignore[type-arg]
    """The last thing that was done with a folder, once it is over."""
    tasks = (await caller.get("/vfolder-tasks", params={"folder": folder})).json()["items"]
    return await ended(caller, tasks[0]["id"])


async def test_a_clone_is_another_folder_with_the_same_in_it(living: Api, tmp_path_factory):  # type: ignore[no-untyped-def]
    user, colleague = await living.as_("user"), await living.as_("colleague")
    await second_host(living, tmp_path_factory.mktemp("second"))
    source = await folder(user)
    fill(await files_of(living, source["id"]))
    await shared(living, user, "data", "colleague")
    for who, body in ((user, {"name": "copy"}), (colleague, {"name": "mine", "host": "second"})):
        made = await who.post(f"/vfolders/{source['id']}/clone", body)
        assert made.status_code == 201, made.text
        assert (made.json()["state"], made.json()["task"]["kind"]) == ("COPYING", "clone")
        copy = await in_state(who, made.json()["id"], "READY")
        task = await task_of(who, copy["id"])
        assert (task["state"], task["done_bytes"], task["total_bytes"]) == ("done", 70_000, 70_000)
        files = await files_of(living, copy["id"])
        assert content(files) == content(await files_of(living, source["id"]))
        assert os.listdir(files.parent / "stage") == []
        assert (files.stat().st_uid, (files / "deep").stat().st_uid) == (1000, 1000)
    # Another's folder that is not shared cannot be read, hence not copied; an administrator sees only that it is.
    head = await domain_admin(living)
    assert status_and_code(await head.post(f"/vfolders/{source['id']}/clone", {"name": "x"})) == (
        403,
        "policy.forbidden",
    )
    assert status_and_code(await user.post(f"/vfolders/{source['id']}/clone", {"name": "copy"})) == (
        409,
        "vfolder.name_taken",
    )


async def test_a_folder_moves_to_another_host_with_all_that_is_in_it(living: Api, tmp_path_factory):  # type: ignore[no-untyped-def]
    user = await living.as_("user")
    second = await second_host(living, tmp_path_factory.mktemp("second"))
    made = await folder(user, host="local")
    old = await files_of(living, made["id"])
    fill(old)
    before = content(old)
    session = await mounted(living, user, made["id"])
    assert status_and_code(await user.post("/vfolders/data/move", {"host": "second"})) == (
        409,
        "vfolder.mounted",
    )
    await unmounted(living, session)
    assert status_and_code(await user.post("/vfolders/data/move", {"host": "local"})) == (
        409,
        "vfolder.is_there",
    )
    answer = await user.post("/vfolders/data/move", {"host": "second"})
    assert answer.status_code == 200, answer.text
    moved = await in_state(user, made["id"], "READY")
    assert moved["host"] == {"id": second, "name": "second"}
    entry = (await user.get("/audit?action=vfolder.update&outcome=done")).json()["items"][0]
    assert entry["details"]["to"] == "second"
    assert (await task_of(user, made["id"]))["state"] == "done"
    assert content(await files_of(living, made["id"])) == before
    assert not old.exists()
    assert (await user.post("/vfolders/data/trash")).status_code == 200


async def test_whom_a_folder_cannot_be_handed_over_to_is_refused(living: Api):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    await folder(user)
    for whom in ("foreigner@example.org", "nobody@example.org"):
        refused = await user.post("/vfolders/data/hand-over", {"user": whom})
        assert status_and_code(refused) == (404, "vfolder.no_such_person")
        assert refused.json()["detail"].replace(whom, "") == ("There is no user  who can receive folders.")
    assert status_and_code(await user.post("/vfolders/data/hand-over", {})) == (422, "vfolder.heir")
    assert status_and_code(await user.post("/vfolders/data/hand-over", {"user": "user@example.org"})) == (
        409,
        "vfolder.is_theirs",
    )
    assert status_and_code(
        await user.post("/vfolders/data/hand-over", {"project": living.people.project})
    ) == (
        403,
        "policy.forbidden",
    )
    await folder(user, ".dot")
    dotted = await user.post("/vfolders/.dot/hand-over", {"user": "colleague@example.org"})
    assert status_and_code(dotted) == (422, "vfolder.automatic")
    await folder(colleague)
    assert status_and_code(
        await user.post("/vfolders/data/hand-over", {"user": "colleague@example.org"})
    ) == (
        409,
        "vfolder.name_taken",
    )


async def test_a_folder_is_handed_over_with_all_that_is_in_it(living: Api):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    made = await folder(user)
    old = await files_of(living, made["id"])
    fill(old)
    before = content(old)
    await shared(living, user, "data", "colleague")
    given = await user.post("/vfolders/data/hand-over", {"user": "colleague@example.org"})
    assert given.status_code == 200, given.text
    got = await in_state(colleague, made["id"], "READY")
    assert (got["owner"]["email"], got["mine"], got["shared"]) == ("colleague@example.org", True, 0)
    assert status_and_code(await user.get(f"/vfolders/{made['id']}")) == (404, "vfolder.not_found")
    new = await files_of(living, made["id"])
    assert (content(new), old.exists()) == (before, False)
    assert f"user-{living.people.colleague.user_id}" in str(new)
    entry = (await user.get("/audit?action=vfolder.hand_over&outcome=done")).json()["items"][0]
    assert entry["details"]["to"] == "colleague@example.org"


async def test_a_folder_is_handed_over_to_a_project_by_whom_may_make_folders_of_it(living: Api):
    user, lead = await living.as_("user"), await project_admin(living)
    own = await folder(lead, "ours")
    answer = await lead.post("/vfolders/ours/hand-over", {"project": living.people.project})
    assert answer.status_code == 200, answer.text
    ours = await in_state(user, own["id"], "READY")
    assert (ours["project"]["id"], ours["owner"], ours["my_permission"]) == (
        living.people.project,
        None,
        "rw",
    )


async def test_a_repeated_request_shows_nothing_that_is_not_ones_own_any_more(api: Api):
    user, lead = await api.as_("user"), await project_admin(api)
    key = {"Idempotency-Key": "once"}
    first = (await user.post("/vfolders", {"name": "data"}, headers=key)).json()
    given = await user.post("/vfolders/data/hand-over", {"user": "colleague@example.org"})
    assert given.status_code == 200, given.text
    again = await user.post("/vfolders", {"name": "data"}, headers=key)
    assert (again.status_code, again.json()["owner"]["email"]) == (201, "user@example.org")
    assert again.json()["id"] != first["id"]
    ours = {"name": "ours", "project": api.people.project}
    assert (await lead.post("/vfolders", ours, headers=key)).status_code == 201
    await sql(api.database, "DELETE FROM memberships WHERE user_id = :id", id=lead.actor.user_id)

    async def refused() -> bool:
        return (await lead.post("/vfolders", ours, headers=key)).status_code in (403, 404)

    await eventually(refused)


async def test_limits_hold_for_what_is_handed_over(living: Api):
    admin, user, colleague = [await living.as_(name) for name in ("superadmin", "user", "colleague")]
    await folder(user)
    await folder(colleague, "theirs")
    limits = {"slots": {}, "sessions": "unlimited", "folders": 1, "folder_bytes": "unlimited"}
    made = await admin.post("/policies", {"kind": "user", "name": "tight", "limits": limits})
    assert made.status_code == 201, made.text
    holders = {"users": ["colleague@example.org"]}
    assigned = await admin.ask("PUT", f"/policies/{made.json()['id']}/holders", json=holders)
    assert assigned.status_code == 200, assigned.text
    refused = await user.post("/vfolders/data/hand-over", {"user": "colleague@example.org"})
    assert status_and_code(refused) == (409, "quota.folders")
    assert status_and_code(await colleague.post("/vfolders", {"name": "second"})) == (409, "quota.folders")
    assert status_and_code(await colleague.post("/vfolders/theirs/clone", {"name": "second"})) == (
        409,
        "quota.folders",
    )
    assert (await user.get("/vfolders/data")).json()["owner"]["email"] == "user@example.org"


async def test_copies_that_somebody_else_cannot_have_are_refused(living: Api):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    made = await folder(user)
    await folder(colleague, "taken")
    theirs = {"owner": "colleague@example.org"}
    for body, refusal in (
        ({"name": "copy", "owner": "foreigner@example.org"}, (404, "vfolder.no_such_person")),
        ({"name": "copy", **theirs, "project": living.people.project}, (422, "vfolder.heir")),
        ({"name": ".copy", **theirs}, (422, "vfolder.automatic")),
        ({"name": "taken", **theirs}, (409, "vfolder.name_taken")),
    ):
        assert status_and_code(await user.post("/vfolders/data/clone", body)) == refusal, body
    hidden = await colleague.post(f"/vfolders/{made['id']}/clone", {"name": "x", "owner": "user@example.org"})
    assert status_and_code(hidden) == (404, "vfolder.not_found")
    await limit(living.database, "user", folders=1)
    refused = await user.post("/vfolders/data/clone", {"name": "more", **theirs})
    assert status_and_code(refused) == (409, "quota.folders")
    assert "colleague@example.org has 1 of 1" in refused.json()["detail"]


async def test_a_copy_is_made_for_somebody_else(living: Api):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    made = await folder(user)
    fill(await files_of(living, made["id"]))
    theirs = {"owner": "colleague@example.org"}
    given = await user.post("/vfolders/data/clone", {"name": "copy", **theirs})
    assert given.status_code == 201, given.text
    copy = given.json()
    assert (copy["owner"]["email"], copy["mine"], copy["my_permission"]) == (
        "colleague@example.org",
        False,
        None,
    )
    assert (await ended(user, copy["task"]["id"]))["state"] == "done", (
        "its progress is seen by who asked for it"
    )
    got = await in_state(colleague, copy["id"], "READY")
    assert got["mine"]
    there = await files_of(living, copy["id"])
    assert content(there) == content(await files_of(living, made["id"]))
    assert f"user-{living.people.colleague.user_id}" in str(there)
    assert status_and_code(await user.get(f"/vfolders/{copy['id']}")) == (404, "vfolder.not_found")
    done = [details["after"] for action, name, details in await trail(living) if name == "copy"]
    assert [(after["owner"], after["source"]) for after in done] == [("colleague@example.org", made["id"])]
    notifications = await scalar(
        living.database,
        "SELECT count(*) FROM events WHERE kind = 'vfolder.created' AND owner_id = :id"
        " AND data ->> 'name' = 'copy'",
        id=living.people.colleague.user_id,
    )
    assert notifications == 1


async def test_a_copy_for_somebody_else_that_fails_leaves_them_nothing(
    living: Api, monkeypatch: pytest.MonkeyPatch
):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    await folder(user)

    def full(*_: object) -> None:
        raise StorageFull("The storage host local is full.")

    monkeypatch.setattr(whole_folders, "copy_tree", full)
    body = {"name": "copy", "owner": "colleague@example.org"}
    copy = (await user.post("/vfolders/data/clone", body)).json()
    task = await ended(user, copy["task"]["id"])
    assert (task["state"], task["problem"]) == ("failed", "The storage host local is full.")

    async def gone() -> bool:
        return (await colleague.get(f"/vfolders/{copy['id']}")).status_code == 404

    await eventually(gone)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Copies that end only when they are cancelled, or with the test."""
    over = threading.Event()

    def crawl(source: int, target_parent: int, name: str, tick: Tick) -> Advance:
        os.mkdir(name, dir_fd=target_parent)
        while not over.wait(0.01):
            tick(Advance(1, 1, 10, 10))
        return Advance(1, 1, 10, 10)

    monkeypatch.setattr(whole_folders, "copy_tree", crawl)
    yield
    over.set()


async def test_what_is_being_copied_stays_and_a_cancelled_copy_goes(living: Api, slow: None):
    user, stranger = await living.as_("user"), await living.as_("stranger")
    source = await folder(user)
    copy = (await user.post("/vfolders/data/clone", {"name": "copy"})).json()

    async def under_way() -> bool:
        task = (await user.get("/vfolders/copy")).json()["task"]
        return task["state"] == "running" and task["done_bytes"] == 1 and task["total_files"] == 10

    await eventually(under_way)
    for path, body in (
        ("/vfolders/data/trash", None),
        ("/vfolders/data/hand-over", {"user": "colleague@example.org"}),
        ("/vfolders/data/clone", {"name": "copy"}),
    ):
        code = "vfolder.name_taken" if "clone" in path else "vfolder.busy"
        assert status_and_code(await user.post(path, body)) == (409, code), path
    assert status_and_code(await user.post("/vfolders/copy/trash")) == (409, "vfolder.state")
    files = await files_of(living, copy["id"])
    task = copy["task"]["id"]
    for who in (stranger, await living.as_("colleague")):
        assert status_and_code(await who.post(f"/vfolder-tasks/{task}/cancel")) == (
            404,
            "vfolder_task.not_found",
        )
    for _ in range(2):
        assert (await user.post(f"/vfolder-tasks/{task}/cancel")).status_code == 200
    assert (await ended(user, task))["state"] == "cancelled"

    async def gone() -> bool:
        return (await user.get(f"/vfolders/{copy['id']}")).status_code == 404

    await eventually(gone)
    assert not files.parent.exists()
    assert (await user.get(f"/vfolders/{source['id']}")).json()["state"] == "READY"
    assert (await user.post(f"/vfolder-tasks/{task}/cancel")).json()["state"] == "cancelled"


async def test_who_has_a_folder_sees_and_ends_what_others_do_with_it(api: Api):
    owner, colleague = await api.as_("user"), await api.as_("colleague")
    data = await folder(owner)
    await shared(api, owner, data["id"], "colleague", "rw")
    own = await folder(colleague, "own")
    for ref in (data["id"], own["id"]):
        await colleague.ask("PUT", f"/vfolders/{ref}/content", params={"path": "a"}, content=b"x")
    out = {"paths": ["a"], "folder": own["id"], "to": "copies"}
    into = {"paths": ["a"], "folder": data["id"], "to": "copies"}
    started = [
        (await colleague.post(f"/vfolders/{data['id']}/files/copy", out)).json(),
        (await colleague.post(f"/vfolders/{own['id']}/files/copy", into)).json(),
        (await colleague.post(f"/vfolders/{data['id']}/clone", {"name": "clone"})).json()["task"],
    ]
    theirs = (await owner.post("/vfolders/data/files/copy", {"paths": ["a"], "to": "copies"})).json()["id"]
    tasks = [each["id"] for each in started]
    listed = (await owner.get("/vfolder-tasks", params={"folder": data["id"]})).json()["items"]
    assert {each["id"] for each in listed} == {*tasks, theirs}
    seen = (await colleague.get("/vfolder-tasks", params={"folder": data["id"]})).json()["items"]
    assert {each["id"] for each in seen} == set(tasks)
    for task in tasks:
        assert (await owner.get(f"/vfolder-tasks/{task}")).status_code == 200
        for verb in ("", "/cancel"):
            stranger = await api.as_("stranger")
            answer = await (stranger.post if verb else stranger.get)(f"/vfolder-tasks/{task}{verb}")
            assert status_and_code(answer) == (404, "vfolder_task.not_found")
        assert (await owner.post(f"/vfolder-tasks/{task}/cancel")).status_code == 200
    assert status_and_code(await colleague.post(f"/vfolder-tasks/{theirs}/cancel")) == (
        404,
        "vfolder_task.not_found",
    )
    async with api.database.transaction() as tx:
        cancelled = await tx.execute(text("SELECT id FROM vfolder_tasks WHERE cancel"))
        assert set(cancelled.scalars()) == set(tasks)


async def test_a_cancelled_move_leaves_the_folder_where_it_was(living: Api, slow: None, tmp_path_factory):  # type: ignore[no-untyped-def]
    user = await living.as_("user")
    second = await second_host(living, tmp_path_factory.mktemp("second"))
    made = await folder(user, host="local")
    answer = await user.post("/vfolders/data/move", {"host": "second"})
    assert answer.status_code == 200, answer.text
    moving = answer.json()
    assert (moving["state"], moving["host"]["name"]) == ("MOVING", "local")
    there = await backend(living, second)
    place = FolderLocation(f"user-{living.people.user.user_id}", made["id"])

    async def begun() -> bool:
        return there.stage(place).exists()

    await eventually(begun)
    assert (await user.post(f"/vfolder-tasks/{moving['task']['id']}/cancel")).status_code == 200
    assert (await ended(user, moving["task"]["id"]))["state"] == "cancelled"
    stays = (await user.get("/vfolders/data")).json()
    assert (stays["state"], stays["host"]["name"], stays["task"]) == ("READY", "local", None)
    assert there.places() == []


async def test_of_two_hosts_the_one_that_does_not_answer_is_named(
    living: Api, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
):
    user, root = await living.as_("user"), tmp_path_factory.mktemp("second")
    await second_host(living, root)
    await folder(user, host="second")
    failing = [True]

    def away(*given: object) -> object:
        if failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return copy_tree(*given)  # type: ignore[arg-type]

    copy_tree = whole_folders.copy_tree
    monkeypatch.setattr(whole_folders, "copy_tree", away)
    (root / MARK).rename(root / "elsewhere")
    copy = (await user.post("/vfolders/data/clone", {"name": "copy", "host": "local"})).json()

    async def said_why() -> object:
        return (await user.get(f"/vfolder-tasks/{copy['task']['id']}")).json()["problem"]

    assert str(root) in str(await eventually(said_why))
    (root / "elsewhere").rename(root / MARK)
    failing.clear()
    await in_state(user, copy["id"], "READY")


async def test_a_copy_that_does_not_fit_says_so_and_can_only_be_deleted(
    living: Api, monkeypatch: pytest.MonkeyPatch
):
    user = await living.as_("user")
    await folder(user)
    await user.ask("PUT", "/vfolders/data/content", params={"path": "a"}, content=b"x" * 9000)

    async def counted() -> bool:
        return (await user.get("/vfolders/data")).json()["used_bytes"] >= 9000

    await eventually(counted)

    def full(source: int, target_parent: int, name: str, tick: Tick) -> None:
        os.mkdir(name, dir_fd=target_parent)
        raise StorageFull("The storage host local is full.")

    monkeypatch.setattr(whole_folders, "copy_tree", full)
    copy = (await user.post("/vfolders/data/clone", {"name": "copy"})).json()
    assert copy["used_bytes"] >= 9000
    failed = await in_state(user, copy["id"], "FAILED")
    assert failed["reason"] == "The storage host local is full."
    assert (failed["used_bytes"], failed["files"]) == (0, 0)
    files = await files_of(living, copy["id"])
    await eventually(lambda: not files.parent.exists())
    assert (await ended(user, copy["task"]["id"]))["problem"] == "The storage host local is full."
    refused = await user.post("/vfolders/copy/trash")
    assert (status_and_code(refused), refused.json()["hint"]) == (
        (409, "vfolder.state"),
        "Delete it for good.",
    )
    removal = (await user.delete("/vfolders/copy?name=copy")).json()
    assert (await ended(user, removal["id"]))["state"] == "done"
    assert ("vfolder.create", "copy") in [row[:2] for row in await trail(living)]
