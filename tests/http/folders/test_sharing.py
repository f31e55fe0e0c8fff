"""Folders shared through the API: offered, taken, refused, changed, taken back; who sees what of it."""

import asyncio
import json
from datetime import datetime

from folder_kit import folder, invited, mounted, shared, trail, unmounted
from installation import Api, Caller
from mail_kit import FreePort, Letters
from people import eventually
from people_kit import domain_admin, officer, project_admin, status_and_code

from carrel.core.clock import SystemClock


async def test_a_folder_is_offered_taken_changed_and_taken_back(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    made = await folder(user)
    share = await invited(api, user, "data", "colleague")
    # Offered is not given.
    assert (await colleague.get(f"/vfolders/{made['id']}")).status_code == 404
    offer = (await colleague.get("/invitations")).json()["items"]
    assert [
        (each["id"], each["folder_name"], each["permission"], each["owner"]["email"]) for each in offer
    ] == [(share, "data", "ro", "user@example.org")]
    for _ in range(2):
        assert (await colleague.post(f"/invitations/{share}/accept")).status_code == 204
    assert (await colleague.get("/invitations")).json()["items"] == []
    got = (await colleague.get("/vfolders/data")).json()
    assert (got["my_permission"], got["mine"], got["shared"]) == ("ro", False, 1)
    assert [row["id"] for row in (await colleague.get("/vfolders?of=shared")).json()["items"]] == [made["id"]]
    changed = await user.patch("/vfolders/data/shares/COLLEAGUE@example.org", {"permission": "rw"})
    assert changed.json()["share"]["permission"] == "rw"
    assert (await colleague.get("/vfolders/data")).json()["my_permission"] == "rw"
    gone = await user.delete(f"/vfolders/data/shares/{share}")
    assert gone.json() == {"share": None, "still_mounted": []}
    assert (await colleague.get("/vfolders/data")).status_code == 404
    assert status_and_code(await user.delete(f"/vfolders/data/shares/{share}")) == (404, "share.not_found")
    wrote = [(action, details.get("before"), details.get("after")) for action, _, details in await trail(api)]
    assert wrote[1:] == [
        ("vfolder.share", None, {"permission": "ro", "state": "invited"}),
        ("vfolder.join", None, None),
        ("vfolder.share", {"permission": "ro"}, {"permission": "rw"}),
        ("vfolder.share", {"permission": "rw", "state": "accepted"}, None),
    ]


async def test_what_others_may_do_with_the_files_is_no_right_over_the_folder(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    await folder(user)
    share = await invited(api, user, "data", "colleague")
    await colleague.post(f"/invitations/{share}/accept")
    await user.patch("/vfolders/data/shares/colleague@example.org", {"permission": "rw"})
    for method, path, body in (
        ("PATCH", "/vfolders/data", {"name": "x"}),
        ("POST", "/vfolders/data/trash", None),
        ("POST", "/vfolders/data/shares", {"users": ["stranger@example.org"]}),
        ("GET", "/vfolders/data/shares", None),
        ("GET", "/vfolders/data/access", None),
    ):
        refused = await colleague.ask(method, path, json=body)
        assert status_and_code(refused) == (403, "policy.forbidden"), (method, path)


async def test_offers_are_declined_and_folders_left(api: Api):
    user, colleague, stranger = [await api.as_(name) for name in ("user", "colleague", "stranger")]
    await folder(user)
    share = await invited(api, user, "data", "colleague")
    # Somebody else's offer is not there.
    for verb in ("accept", "decline"):
        assert status_and_code(await stranger.post(f"/invitations/{share}/{verb}")) == (
            404,
            "invitation.not_found",
        )
    assert (await colleague.post(f"/invitations/{share}/decline")).status_code == 204
    assert status_and_code(await colleague.post(f"/invitations/{share}/accept")) == (
        404,
        "invitation.not_found",
    )
    assert (await user.get("/vfolders/data/shares")).json()["items"] == []
    share = await shared(api, user, "data", "colleague")
    assert status_and_code(await colleague.post(f"/invitations/{share}/decline")) == (409, "share.accepted")
    held = await mounted(api, colleague, (await user.get("/vfolders/data")).json()["id"])
    left = await colleague.post("/vfolders/data/leave")
    assert [each["session_id"] for each in left.json()["still_mounted"]] == [held]
    await unmounted(api, held)
    assert (await colleague.get("/vfolders/data")).status_code == 404
    assert status_and_code(await user.post("/vfolders/data/leave")) == (409, "share.not_yours")
    # An offer of a folder in the trash cannot be taken, and is there again when the folder is.
    share = await invited(api, user, "data", "colleague")
    await user.post("/vfolders/data/trash")
    assert (await colleague.get("/invitations")).json()["items"] == []
    assert status_and_code(await colleague.post(f"/invitations/{share}/accept")) == (
        404,
        "invitation.not_found",
    )
    await user.post("/vfolders/data/restore")
    assert (await colleague.post(f"/invitations/{share}/accept")).status_code == 204


async def test_whom_a_folder_cannot_be_given_is_said_without_saying_who_is_where(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await folder(user)
    await admin.patch("/users/stranger@example.org", {"state": "inactive"})
    nobody = ["nobody@example.org", "stranger@example.org", "foreigner@example.org"]
    body = {
        "users": [*nobody, "user@example.org", "Colleague@example.org", "colleague@example.org"],
        "projects": ["nonesuch", api.people.project, "other"],
    }
    answer = (await user.post("/vfolders/data/shares", body)).json()
    assert [item["user"]["email"] if item["user"] else item["project"]["id"] for item in answer["items"]] == [
        "colleague@example.org",
        api.people.project,
    ]
    codes = {refused["who"]: refused["code"] for refused in answer["refused"]}
    assert codes == {
        **dict.fromkeys(nobody, "vfolder.no_such_person"),
        "user@example.org": "share.own",
        "colleague@example.org": "share.exists",
        "nonesuch": "project.not_found",
        "other": "project.not_found",
    }
    said_of = {r["message"].replace(r["who"], "") for r in answer["refused"] if r["who"] in nobody}
    assert len(said_of) == 1
    await folder(user, ".mine")
    dotted = await user.post("/vfolders/.mine/shares", {"users": ["colleague@example.org"]})
    assert status_and_code(dotted) == (422, "vfolder.automatic")
    assert status_and_code(await user.patch("/vfolders/data", {"name": ".data"})) == (409, "vfolder.shared")


async def test_a_project_has_what_is_shared_with_it_at_once_and_no_more_than_its_people(api: Api):
    user, colleague, stranger = [await api.as_(name) for name in ("user", "colleague", "stranger")]
    made = await folder(user)
    project = api.people.project
    given = await user.post("/vfolders/data/shares", {"projects": [project], "permission": "rw"})
    assert given.json()["items"][0]["state"] == "accepted"
    assert (await colleague.get("/vfolders/data")).json()["my_permission"] == "rw"
    assert (await stranger.get(f"/vfolders/{made['id']}")).status_code == 404
    # The most of what one's ways to a folder give holds.
    await shared(api, user, "data", "colleague", "rw-delete")
    assert (await colleague.get("/vfolders/data")).json()["my_permission"] == "rw-delete"
    await user.delete("/vfolders/data/shares/colleague@example.org")
    assert (await colleague.get("/vfolders/data")).json()["my_permission"] == "rw"
    assert status_and_code(await colleague.post("/vfolders/data/leave")) == (409, "share.not_yours")
    assert (await user.delete(f"/vfolders/data/shares/{project}")).status_code == 200
    assert (await colleague.get("/vfolders/data")).status_code == 404


async def test_who_can_reach_a_folder_is_one_list(api: Api):
    user, lead = await api.as_("user"), await project_admin(api)
    made = await folder(user)
    await shared(api, user, "data", "stranger", "rw")
    await invited(api, user, "data", "colleague")
    await user.post("/vfolders/data/shares", {"projects": [api.people.project]})
    head = await domain_admin(api)
    for who in (user, head):
        entries = (await who.get(f"/vfolders/{made['id']}/access")).json()["items"]
        assert [(each["user"]["email"], each["permission"], each["via"]) for each in entries] == [
            ("admin@example.org", "ro", "shared_project"),
            ("colleague@example.org", "ro", "shared_project"),
            ("lead@example.org", "ro", "shared_project"),
            ("stranger@example.org", "rw", "share"),
            ("user@example.org", "rw-delete", "owner"),
            ("user@example.org", "ro", "shared_project"),
        ]
        assert all(each["since"] for each in entries)
    ours = await folder(lead, "ours", project=api.people.project)
    entries = (await lead.get(f"/vfolders/{ours['id']}/access")).json()["items"]
    assert {(each["user"]["email"], each["permission"], each["via"]) for each in entries} == {
        ("admin@example.org", "rw", "project"),
        ("colleague@example.org", "rw", "project"),
        ("lead@example.org", "rw-delete", "project"),
        ("user@example.org", "rw", "project"),
    }


async def test_nobody_reaches_a_folder_since_before_they_could(api: Api):
    user, lead = await api.as_("user"), await project_admin(api)
    await folder(user)
    await user.post("/vfolders/data/shares", {"projects": [api.people.project]})
    await folder(lead, "ours", project=api.people.project)
    members = f"/projects/{api.people.project}/members"
    began = SystemClock().now()
    assert (await lead.delete(f"{members}/colleague@example.org")).status_code == 200
    assert (await lead.post(members, {"users": ["colleague@example.org"]})).status_code == 200

    async def since(caller: Caller, ref: str, via: str) -> dict[str, bool]:
        """Of everybody, whether they reach it since it began."""
        entries = (await caller.get(f"/vfolders/{ref}/access")).json()["items"]
        return {
            each["user"]["email"]: datetime.fromisoformat(each["since"]) >= began
            for each in entries
            if each["via"] == via
        }

    others = {"admin@example.org": False, "lead@example.org": False, "user@example.org": False}
    assert await since(user, "data", "shared_project") == {**others, "colleague@example.org": True}
    assert await since(lead, "ours", "project") == {**others, "colleague@example.org": True}
    assert await since(user, "data", "owner") == {"user@example.org": False}
    handed = await user.post("/vfolders/data/hand-over", {"user": "colleague@example.org"})
    assert handed.status_code == 200, handed.text
    assert await since(await api.as_("colleague"), "data", "owner") == {"colleague@example.org": True}


async def test_sessions_that_keep_what_was_taken_back_are_named(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    made = await folder(user)
    await shared(api, user, "data", "colleague", "rw")
    writes = await mounted(api, colleague, made["id"])
    reads = await mounted(api, colleague, made["id"], read_only=True)
    await mounted(api, user, made["id"])
    less = (await user.patch("/vfolders/data/shares/colleague@example.org", {"permission": "ro"})).json()
    assert [each["session_id"] for each in less["still_mounted"]] == [writes]
    assert less["still_mounted"][0]["session_name"] is None
    assert less["still_mounted"][0]["owner"]["email"] == "colleague@example.org"
    none = (await user.delete("/vfolders/data/shares/colleague@example.org")).json()
    assert {each["session_id"] for each in none["still_mounted"]} == {writes, reads}
    lead = await project_admin(api)
    ours = await folder(lead, "ours", project=api.people.project)
    keeps = await mounted(api, colleague, ours["id"])
    await unmounted(api, writes)
    await unmounted(api, reads)
    out = await lead.delete(f"/projects/{api.people.project}/members/colleague@example.org")
    (kept,) = out.json()["still_mounted"]
    assert (kept["session_id"], kept["owner"]["email"]) == (keeps, "colleague@example.org")


async def test_two_folders_of_one_name_are_told_apart_by_their_ids(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    theirs = await folder(user)
    await shared(api, user, "data", "stranger")
    other = await folder(colleague)
    await shared(api, colleague, "data", "stranger")
    stranger = await api.as_("stranger")
    refused = await stranger.get("/vfolders/data")
    assert status_and_code(refused) == (409, "vfolder.ambiguous")
    assert set(refused.json()["details"]["ids"]) == {theirs["id"], other["id"]}
    # One's own comes before what others share.
    mine = await folder(stranger)
    assert (await stranger.get("/vfolders/data")).json()["id"] == mine["id"]
    assert (await stranger.get(f"/vfolders/{other['id']}")).json()["id"] == other["id"]


async def test_whoever_has_a_folder_is_told_of_what_happens_to_it(api: Api):
    user, colleague, stranger = [await api.as_(name) for name in ("user", "colleague", "stranger")]
    await folder(user)
    received: dict[str, list[str]] = {"colleague": [], "stranger": []}

    async def listen(caller: Caller) -> None:
        async with caller.http.stream("GET", "/api/v1/events?follow=true", timeout=60) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: ") and line != "data: {}":
                    event = json.loads(line[6:])
                    if event.get("kind", "").startswith(("vfolder", "invitation")):
                        received[caller.name].append(event["kind"])
                elif line.startswith("event: hello"):
                    ready.release()

    ready = asyncio.Semaphore(0)
    listeners = [asyncio.create_task(listen(each)) for each in (colleague, stranger)]
    for _ in listeners:
        await ready.acquire()
    share = await invited(api, user, "data", "colleague")
    await colleague.post(f"/invitations/{share}/accept")
    await user.patch("/vfolders/data", {"name": "new"})
    await user.delete(f"/vfolders/new/shares/{share}")

    async def all_told() -> bool:
        return len(received["colleague"]) >= 5

    await eventually(all_told)
    for listener in listeners:
        listener.cancel()
    assert received == {
        "colleague": [
            "invitation.created",
            "vfolder.updated",
            "invitation.removed",
            "vfolder.updated",
            "vfolder.updated",
        ],
        "stranger": [],
    }


async def test_an_invitation_is_mailed_in_the_language_of_who_gets_it(living: Api):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    await folder(user)
    letters = Letters()
    mailbox = FreePort(letters, hostname="127.0.0.1", port=0)
    mailbox.start()
    try:
        mail = {"mail_host": "127.0.0.1", "mail_port": mailbox.port, "mail_tls": "none"}
        assert (await admin.patch("/site", {**mail, "mail_sender": "c@example.org"})).status_code == 200
        await (await living.as_("colleague")).patch("/auth/me", {"preferences": {"language": "ko"}})
        await invited(living, user, "data", "colleague")
        letter, body = await letters.newest(1)
    finally:
        mailbox.stop()
    assert letter["To"] == "colleague@example.org"
    assert letter["Subject"] == "user@example.org 님이 폴더를 공유했습니다"
    assert "Carrel의 data 폴더" in body


async def test_a_credential_for_less_does_not_share_or_take(api: Api):
    user = await api.as_("user")
    await folder(user)
    token = await user.post("/tokens", {"name": "reads", "scopes": ["vfolder.read"], "days": 1})
    assert token.status_code == 201, token.text
    reader = Caller(
        "reader", user.actor, await api.client(headers={"Authorization": f"Bearer {token.json()['token']}"})
    )
    assert (await reader.get("/vfolders/data")).status_code == 200
    for method, path, body in (
        ("POST", "/vfolders/data/shares", {"users": ["colleague@example.org"]}),
        ("POST", "/vfolders/data/trash", None),
        ("GET", "/invitations", None),
        ("POST", "/vfolders/data/leave", None),
    ):
        assert status_and_code(await reader.ask(method, path, json=body)) == (403, "policy.scope"), (
            method,
            path,
        )


async def test_whose_account_goes_leaves_their_folders_to_somebody(living: Api):
    admin, user, colleague = [await living.as_(name) for name in ("superadmin", "user", "colleague")]
    gone = await officer(living, "gone", project=living.people.project)
    kept = await folder(gone, "data")
    await folder(gone, ".cache")
    thrown = await folder(gone, "thrown")
    await gone.post("/vfolders/thrown/trash")
    await shared(living, gone, "data", "colleague")
    await folder(user, "data")
    theirs = await folder(user, "theirs")
    await shared(living, user, "theirs", "colleague")
    share = await user.post("/vfolders/theirs/shares", {"users": ["gone@example.org"]})
    await gone.post(f"/invitations/{share.json()['items'][0]['id']}/accept")
    await admin.patch("/users/gone@example.org", {"state": "inactive"})
    path, confirm = "/users/gone@example.org/purge", {"confirm": "gone@example.org"}
    unsaid = await admin.post(path, confirm)
    assert status_and_code(unsaid) == (409, "user.has_folders")
    assert unsaid.json()["details"]["count"] == 3
    both = await admin.post(path, {**confirm, "folders_to": "user@example.org", "delete_folders": True})
    assert status_and_code(both) == (422, "user.folders")
    away = await admin.post(path, {**confirm, "folders_to": "foreigner@example.org"})
    assert status_and_code(away) == (404, "vfolder.no_such_person")
    purged = await admin.post(path, {**confirm, "folders_to": "user@example.org"})
    assert (purged.status_code, purged.json()["folders"]) == (200, 3), purged.text

    async def arrived() -> bool:
        rows = (await user.get("/vfolders?of=mine")).json()["items"]
        return [(row["name"], row["state"]) for row in rows] == [
            ("cache", "READY"),
            ("data", "READY"),
            ("data-2", "READY"),
            ("theirs", "READY"),
        ]

    await eventually(arrived)
    assert (await user.get("/vfolders/data-2")).json()["id"] == kept["id"]
    # Who had it by a share keeps it; what was shared with who is gone is not any more.
    assert (await colleague.get(f"/vfolders/{kept['id']}")).json()["my_permission"] == "ro"
    assert len((await user.get(f"/vfolders/{theirs['id']}/shares")).json()["items"]) == 1

    async def emptied() -> bool:
        return (await admin.get(f"/vfolders/{thrown['id']}")).status_code == 404

    await eventually(emptied)


async def test_folders_go_along_to_another_domain_and_nobody_keeps_them_across(living: Api):
    admin, user, colleague = [await living.as_(name) for name in ("superadmin", "user", "colleague")]
    mine = await folder(user)
    await shared(living, user, "data", "colleague")
    theirs = await folder(colleague, "theirs")
    await shared(living, colleague, "theirs", "user")
    moved = await admin.patch("/users/user@example.org", {"domain": "abroad"})
    assert moved.status_code == 200, moved.text
    assert (await user.get("/vfolders/data")).json()["shared"] == 0
    for who, ref in ((colleague, mine["id"]), (user, theirs["id"])):
        assert (await who.get(f"/vfolders/{ref}")).status_code == 404
    head = await domain_admin(living)
    assert (await head.get(f"/vfolders/{mine['id']}")).status_code == 404
    assert (await head.get(f"/vfolders/{theirs['id']}")).status_code == 200
