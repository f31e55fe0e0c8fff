"""Folders through the API: made, found, changed, thrown away, and who may."""

import asyncio

import pytest
from databases import sql
from folder_kit import ended, files_of, folder, in_state, mounted, shared, trail, unmounted
from installation import Api, Caller
from people import eventually
from people_kit import domain_admin, project_admin, status_and_code

from carrel.controllers.housekeeping import Housekeeping
from carrel.core.errors import Unavailable


async def test_a_folder_lives_and_goes(living: Api):
    user = await living.as_("user")
    made = await folder(user, "data", usage_mode="data")
    assert (made["state"], made["mine"], made["my_permission"]) == ("READY", True, "rw-delete")
    assert (made["owner"]["email"], made["host"]["name"]) == ("user@example.org", "local")
    assert made["automatic"] is False
    files = await files_of(living, made["id"])
    (files / "kept.txt").write_text("kept")
    changed = await user.patch("/vfolders/data", {"name": "set", "permission": "ro", "usage_mode": "model"})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["name"], changed.json()["permission"]) == ("set", "ro")
    trashed = (await user.post("/vfolders/set/trash")).json()
    assert (trashed["state"], trashed["expires_at"] > trashed["trashed_at"]) == ("TRASHED", True)
    assert (files / "kept.txt").read_text() == "kept"
    assert (await user.post("/vfolders/set/restore")).json()["state"] == "READY"
    await user.post("/vfolders/set/trash")
    assert status_and_code(await user.delete("/vfolders/set", params={"name": "sit"})) == (
        422,
        "vfolder.unconfirmed",
    )
    task = await user.delete("/vfolders/set", params={"name": "set"})
    done = await ended(user, task.json()["id"])
    assert (done["state"], done["kind"], done["folder_name"], done["folder_id"]) == (
        "done",
        "remove",
        "set",
        None,
    )
    assert (await user.get(f"/vfolders/{made['id']}")).status_code == 404
    assert not files.parent.exists()
    assert [row[0] for row in await trail(living)] == [
        "vfolder.create",
        "vfolder.update",
        "vfolder.update",
        "vfolder.update",
        "vfolder.update",
        "vfolder.remove",
        "vfolder.remove",
    ]


async def test_a_changed_folder_is_written_down_as_it_was_and_as_it_is(living: Api):
    user = await living.as_("user")
    await folder(user, "data", usage_mode="data")
    changed = await user.patch("/vfolders/data", {"name": "set", "permission": "ro", "usage_mode": "model"})
    assert changed.status_code == 200, changed.text
    assert (await trail(living))[1][2] == {
        "before": {"name": "data", "permission": "rw", "usage_mode": "data"},
        "after": {"name": "set", "permission": "ro", "usage_mode": "model"},
    }


async def test_a_removal_is_one_however_often_it_is_asked_for_and_cannot_be_ended(api: Api):
    user = await api.as_("user")
    made = await folder(user)
    await user.post("/vfolders/data/trash")
    first, again = [await user.delete(f"/vfolders/{made['id']}", params={"name": "data"}) for _ in range(2)]
    assert (first.status_code, again.status_code, again.json()["id"]) == (200, 200, first.json()["id"])
    refused = await user.post(f"/vfolder-tasks/{first.json()['id']}/cancel")
    assert status_and_code(refused) == (409, "vfolder_task.not_cancellable")


async def test_names_are_one_of_an_owner_and_free_again_in_the_trash(living: Api):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    first = await folder(user)
    assert status_and_code(await user.post("/vfolders", {"name": "data"})) == (409, "vfolder.name_taken")
    await folder(colleague)
    for bad in ("", ".", "..", "a/b", "a b", "ä", "x" * 65, "a\n"):
        assert status_and_code(await user.post("/vfolders", {"name": bad}))[0] == 422, bad
    for good in ("x" * 64, "." + "x" * 63, "-x"):
        await folder(user, good)
    await folder(user, ".cache")
    await user.post("/vfolders/data/trash")
    second = await folder(user)
    taken = await user.post(f"/vfolders/{first['id']}/restore")
    assert status_and_code(taken) == (409, "vfolder.name_taken")
    assert "Rename" in taken.json()["hint"]
    # A name means what is in use; what is done with the trash means what is in it.
    assert (await user.get("/vfolders/data")).json()["id"] == second["id"]
    assert (await user.patch("/vfolders/data", {"name": "new"})).json()["id"] == second["id"]
    assert (await user.post("/vfolders/data/restore")).json()["id"] == first["id"]


async def test_a_repeated_request_makes_one_folder(living: Api):
    user = await living.as_("user")
    key = {"Idempotency-Key": "once"}
    answers = await asyncio.gather(*[user.post("/vfolders", {"name": "data"}, headers=key) for _ in range(5)])
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert status_and_code(await user.post("/vfolders", {"name": "data"})) == (409, "vfolder.name_taken")
    # The key is the person's own.
    other = await (await living.as_("colleague")).post("/vfolders", {"name": "data"}, headers=key)
    assert other.json()["id"] != answers[0].json()["id"]


async def test_who_may_make_and_see_folders_of_projects(living: Api):
    user, lead, head = await living.as_("user"), await project_admin(living), await domain_admin(living)
    project = living.people.project
    assert status_and_code(await user.post("/vfolders", {"name": "ours", "project": project})) == (
        403,
        "policy.forbidden",
    )
    dotted = await lead.post("/vfolders", {"name": ".ours", "project": project})
    assert status_and_code(dotted) == (422, "vfolder.automatic_of_project")
    ours = await folder(lead, "ours", project=project, permission="ro")
    await folder(head, "theirs", project=project)
    seen = (await user.get("/vfolders/ours")).json()
    assert (seen["my_permission"], seen["mine"], seen["project"]["id"], seen["owner"]) == (
        "ro",
        False,
        project,
        None,
    )
    assert (await lead.get("/vfolders/ours")).json()["my_permission"] == "rw-delete"
    for name in ("stranger", "foreigner"):
        assert status_and_code(await (await living.as_(name)).get(f"/vfolders/{ours['id']}")) == (
            404,
            "vfolder.not_found",
        )
    # An administrator of the domain knows of it, and of what people have, and sees nothing of what is in them.
    mine = await folder(user, "mine")
    assert (await head.get(f"/vfolders/{ours['id']}")).json()["my_permission"] is None
    assert (await head.get(f"/vfolders/{mine['id']}")).json()["my_permission"] is None


async def test_members_of_a_project_do_not_administer_its_folders(living: Api):
    user, lead = await living.as_("user"), await project_admin(living)
    await folder(lead, "ours", project=living.people.project, permission="ro")
    for method, path, body in (
        ("PATCH", "/vfolders/ours", {"name": "x"}),
        ("POST", "/vfolders/ours/trash", None),
        ("POST", "/vfolders/ours/hand-over", {"user": "user@example.org"}),
        ("POST", "/vfolders/ours/shares", {"users": ["stranger@example.org"]}),
        ("GET", "/vfolders/ours/shares", None),
        ("GET", "/vfolders/ours/access", None),
        ("DELETE", "/vfolders/ours?name=ours", None),
    ):
        assert status_and_code(await user.ask(method, path, json=body)) == (403, "policy.forbidden"), (
            method,
            path,
        )


async def test_lists_show_what_was_asked_for(living: Api):
    user, lead = await living.as_("user"), await project_admin(living)
    for name in ("alpha", "beta", ".config", "gone"):
        await folder(user, name)
    await folder(lead, "ours", project=living.people.project)
    await folder(lead, "alpha")
    await user.post("/vfolders/gone/trash")

    async def names(**params: object) -> list[str]:
        answer = await user.get("/vfolders", params=params)
        assert answer.status_code == 200, answer.text
        return [row["name"] for row in answer.json()["items"]]

    assert await names() == [".config", "alpha", "beta", "ours"]
    assert await names(of="mine") == [".config", "alpha", "beta"]
    assert await names(of="project") == ["ours"]
    assert await names(of="shared") == []
    assert await names(of="all") == [".config", "alpha", "beta", "ours"]
    assert await names(state="trash") == ["gone"]
    assert await names(automatic=True) == [".config"]
    assert await names(q="ET") == ["beta"]
    assert await names(q="%") == []
    assert await names(project=living.people.project) == ["ours"]
    assert await names(owner="user@example.org", sort="-name") == ["beta", "alpha", ".config"]
    assert await names(host="elsewhere") == []
    assert await names(mountable=True) == [".config", "alpha", "beta", "ours"]
    first = (await user.get("/vfolders", params={"limit": 3})).json()
    rest = (await user.get("/vfolders", params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [row["name"] for row in first["items"] + rest["items"]] == [".config", "alpha", "beta", "ours"]
    assert rest["next_cursor"] is None
    # To everybody else, of everybody's folders, only what they may know of.
    admin = await living.as_("superadmin")
    everything = [row["name"] for row in (await admin.get("/vfolders?of=all")).json()["items"]]
    assert everything == [".config", "alpha", "alpha", "beta", "ours"]
    # The superadmin is a member of the first project.
    assert [row["name"] for row in (await admin.get("/vfolders")).json()["items"]] == ["ours"]
    assert status_and_code(await admin.get("/vfolders/alpha")) == (409, "vfolder.ambiguous")


async def test_domain_filter_narrows_to_a_domain_but_never_widens(living: Api):
    admin, head = await living.as_("superadmin"), await domain_admin(living)
    for name in ("user", "foreigner"):
        await folder(await living.as_(name), f"of-{name}")
    await folder(await project_admin(living), "ours", project=living.people.project)

    async def names(caller: Caller, domain: str) -> list[str]:
        answer = await caller.get("/vfolders", params={"of": "all", "domain": domain})
        assert answer.status_code == 200, answer.text
        return [row["name"] for row in answer.json()["items"]]

    assert await names(admin, "abroad") == ["of-foreigner"]
    assert await names(admin, "default") == ["of-user", "ours"]
    assert await names(head, "default") == ["of-user", "ours"]
    assert await names(head, "abroad") == []


async def test_a_mounted_folder_stays(living: Api):
    user, head = await living.as_("user"), await domain_admin(living)
    made = await folder(user)
    session = await mounted(living, user, made["id"])
    assert (await user.get("/vfolders/data")).json()["mounted"] == 1
    for who in (user, head):
        refused = await who.post(f"/vfolders/{made['id']}/trash")
        assert status_and_code(refused) == (409, "vfolder.mounted")
        assert refused.json()["details"]["sessions"][0]["id"] == session
    assert refused.json()["details"]["sessions"][0]["owner"] == "user@example.org"
    handed = await user.post("/vfolders/data/hand-over", {"user": "colleague@example.org"})
    assert status_and_code(handed) == (409, "vfolder.mounted")
    await unmounted(living, session)
    assert (await user.post("/vfolders/data/trash")).status_code == 200


async def test_of_sessions_that_one_may_not_know_of_only_a_folders_owner_learns_whose_they_are(living: Api):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    made = await folder(user)
    await shared(living, user, "data", "colleague", "ro")
    session = await mounted(living, colleague, made["id"])
    refused = (await user.post("/vfolders/data/trash")).json()
    assert refused["code"] == "vfolder.mounted"
    held = {"id": session, "name": None, "owner": "colleague@example.org"}
    assert refused["details"] == {"sessions": [held], "live": 1}
    assert refused["detail"] == "data is mounted in 1 live session."
    assert refused["hint"] == "Ask colleague@example.org to end it first."
    await unmounted(living, session)
    await mounted(living, user, made["id"])
    (theirs,) = (await colleague.get(f"/vfolders/{made['id']}/mounts")).json()["items"]
    assert (theirs["session_name"], theirs["owner"]) == (None, None)


@pytest.fixture
def housekeeping_is_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Housekeeping, "tick_s", 0.1)


async def test_the_trash_empties_itself_after_the_days_that_the_site_says(
    housekeeping_is_frequent: None, living: Api
):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    old, young = await folder(user, "old"), await folder(user, "young")
    await user.post("/vfolders/young/trash")
    assert (await admin.patch("/site", {"trash_days": 0})).status_code == 200
    await user.post("/vfolders/old/trash")
    await sql(
        living.database,
        "UPDATE vfolders SET trashed_at = now() - interval '9 days' WHERE id = :id",
        id=old["id"],
    )
    assert (await user.get(f"/vfolders/{old['id']}")).json()["expires_at"] is None
    assert (await admin.patch("/site", {"trash_days": 7})).status_code == 200

    async def gone() -> bool:
        return (await user.get(f"/vfolders/{old['id']}")).status_code == 404

    await eventually(gone)
    assert (await user.get(f"/vfolders/{young['id']}")).json()["state"] == "TRASHED"
    assert [row[2].get("reason") for row in await trail(living) if row[0] == "vfolder.remove"] == [
        "It was in the trash for 7 days.",
        None,
    ]


async def test_a_folder_that_its_host_cannot_make_leaves_no_trace(
    living: Api, monkeypatch: pytest.MonkeyPatch
):
    user = await living.as_("user")
    await folder(user, "first")
    storages = living.services.storages
    known = next(iter(storages._known.values()))
    key = {"Idempotency-Key": "again"}

    async def away(*_: object, **__: object) -> None:
        raise Unavailable("storage.unavailable", "The storage host local does not respond.")

    with monkeypatch.context() as broken:
        broken.setattr(type(known), "call", away)
        refused = await user.post("/vfolders", {"name": "data"}, headers=key)
    assert status_and_code(refused) == (503, "storage.unavailable")
    # The name and the key are free at once; what may be there of it is removed.
    assert (await user.post("/vfolders", {"name": "data"}, headers=key)).status_code == 201

    async def tidy() -> bool:
        trash = (await user.get("/vfolders", params={"state": "trash"})).json()["items"]
        return trash == []

    await eventually(tidy)


async def test_what_a_dead_request_began_to_make_is_finished(living: Api):
    user = await living.as_("user")
    made = await folder(user)
    files = await files_of(living, made["id"])
    (files.parent / "stage").rmdir()
    files.rmdir()
    files.parent.rmdir()
    await sql(
        living.database, "UPDATE vfolders SET state = 'CREATING', created_at = now() - interval '1 minute'"
    )
    await in_state(user, made["id"], "READY")
    assert files.is_dir()


async def test_a_project_or_domain_with_folders_stays(living: Api):
    admin = await living.as_("superadmin")
    await admin.post("/projects", {"name": "short", "domain": living.people.domain})
    made = await folder(admin, "ours", project="short")
    assert status_and_code(await admin.delete("/projects/short")) == (409, "project.has_folders")
    await admin.post(f"/vfolders/{made['id']}/trash")
    assert status_and_code(await admin.delete("/projects/short")) == (409, "project.has_folders")
    task = (await admin.delete(f"/vfolders/{made['id']}?name=ours")).json()
    await ended(admin, task["id"])
    assert (await admin.delete("/projects/short")).status_code == 204
