"""Projects and their members through the API."""

import asyncio

from databases import scalar
from installation import Api
from people_kit import domain_admin, officer, project_admin, status_and_code
from session_kit import request

SCHEDULE = {"name": "nightly", "cron": "0 6 * * *", "session": request(kind="batch", command=["true"])}


async def test_a_project_lives_and_goes(api: Api):
    head = await domain_admin(api)
    made = await head.post("/projects", {"name": "vision", "ceilings": {"cpu": 8000}})
    assert made.status_code == 201, made.text
    project = made.json()
    assert (project["domain"]["name"], project["members"], project["had_sessions"]) == ("default", 0, False)
    assert status_and_code(await head.post("/projects", {"name": "vision"})) == (409, "project.name_taken")
    changed = await head.patch("/projects/vision", {"name": "sight", "ceilings": {}})
    assert (changed.json()["name"], changed.json()["ceilings"]) == ("sight", {})
    assert status_and_code(await head.patch("/projects/sight", {"name": "other"})) == (
        409,
        "project.name_taken",
    )
    added = await head.post("/projects/sight/members", {"users": ["user@example.org"]})
    assert added.json()["added"] == 1
    assert (await head.delete("/projects/sight")).status_code == 204
    assert status_and_code(await head.get(f"/projects/{project['id']}")) == (404, "project.not_found")


async def test_who_may_see_projects(api: Api):
    people = api.people
    head, lead = await domain_admin(api), await project_admin(api)
    user, stranger, foreigner = [await api.as_(n) for n in ("user", "stranger", "foreigner")]
    path = f"/projects/{people.project}"
    seen = {
        who.name: [p["name"] for p in (await who.get("/projects")).json()["items"]]
        for who in (head, lead, user, stranger)
    }
    assert seen == {
        "head": ["default", "other"],
        "lead": ["default"],
        "user": ["default"],
        "stranger": ["other"],
    }
    everything = (await (await api.as_("superadmin")).get("/projects")).json()["items"]
    assert [(p["domain"]["name"], p["name"]) for p in everything] == [
        ("default", "default"),
        ("abroad", "default"),
        ("default", "other"),
    ] or sorted(p["name"] for p in everything) == ["default", "default", "other"]
    assert (await user.get(path)).status_code == (await user.get(f"{path}/members")).status_code == 200
    for who in (stranger, foreigner):
        hidden, none = await who.get(path), await who.get("/projects/aaaaaaaaaaaa")
        assert status_and_code(hidden) == status_and_code(none) == (404, "project.not_found")
        assert hidden.json()["detail"].replace(people.project, "X") == none.json()["detail"].replace(
            "aaaaaaaaaaaa", "X"
        )
        assert (await who.get(f"{path}/members")).status_code == 404


async def test_who_may_change_projects(api: Api):
    head, lead = await domain_admin(api), await project_admin(api)
    user, stranger, foreigner = [await api.as_(n) for n in ("user", "stranger", "foreigner")]
    path = f"/projects/{api.people.project}"
    for method, tail, body in (
        ("PATCH", "", {"description": "x"}),
        ("POST", "/archive", {}),
        ("POST", "/restore", None),
        ("DELETE", "", None),
    ):
        for who in (lead, user, stranger, foreigner):
            refused = await who.ask(method, path + tail, json=body)
            assert refused.status_code == 403, (who.name, method, tail)
    abroad = await officer(api, "far-head", "domain_admin", domain=foreigner.actor.domain_id)  # type: ignore[arg-type]
    for method, tail, body in (
        ("PATCH", "", {"description": "x"}),
        ("POST", "/archive", {}),
        ("DELETE", "", None),
        ("POST", "/members", {"users": ["foreigner@example.org"]}),
    ):
        assert status_and_code(await abroad.ask(method, path + tail, json=body)) == (404, "project.not_found")
    assert status_and_code(await head.post("/projects", {"name": "x", "domain": "abroad"})) == (
        404,
        "domain.not_found",
    )
    assert status_and_code(await lead.post("/projects", {"name": "x"})) == (403, "policy.forbidden")


async def test_project_administrators_enrol_people_of_their_domain(api: Api):
    lead = await project_admin(api)
    path = f"/projects/{api.people.project}/members"
    names = ("STRANGER", "user", "foreigner", "nobody")
    answer = await lead.post(path, {"users": [f"{name}@example.org" for name in names]})
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    assert [item["status"] for item in items] == ["added", "already", "failed", "failed"]
    # Somebody of another domain is as unknown as nobody.
    troubles = [item["problem"] for item in items[2:]]
    assert troubles[0]["code"] == "user.not_found"
    assert troubles[0]["detail"].replace("foreigner", "nobody") == troubles[1]["detail"]
    listed = (await lead.get(path)).json()["items"]
    assert [m["email"] for m in listed] == [
        "admin@example.org",
        "colleague@example.org",
        "lead@example.org",
        "stranger@example.org",
        "user@example.org",
    ]


async def test_project_administrators_appoint_others_and_take_members_out(api: Api):
    lead, user = await project_admin(api), await api.as_("user")
    path = f"/projects/{api.people.project}/members"
    assert (await lead.patch(f"{path}/user@example.org", {"admin": True})).json()["admin"] is True
    assert [m["email"] for m in (await lead.get(path, params={"admin": True})).json()["items"]] == [
        "lead@example.org",
        "user@example.org",
    ]
    assert (await user.post(path, {"users": ["stranger@example.org"]})).status_code == 200, (
        "in office at once"
    )
    gone = await lead.delete(f"{path}/user@example.org")
    assert (gone.status_code, gone.json()) == (200, {"still_mounted": []})
    assert status_and_code(await lead.delete(f"{path}/user@example.org")) == (404, "member.not_found")
    assert status_and_code(await user.get(f"/projects/{api.people.project}")) == (404, "project.not_found")
    colleague = await api.as_("colleague")
    assert status_and_code(await colleague.post(path, {"users": ["user@example.org"]})) == (
        403,
        "policy.forbidden",
    )


async def test_the_same_people_added_by_two_at_once_are_in_it_once(api: Api):
    lead, head = await project_admin(api), await domain_admin(api)
    path = f"/projects/{api.people.project}/members"
    body = {"users": ["stranger@example.org", api.people.stranger.user_id]}
    answers = await asyncio.gather(*(who.post(path, body) for who in (lead, head) * 5))
    assert {a.status_code for a in answers} == {200}
    assert sum(a.json()["added"] for a in answers) == 1


async def test_members_are_paged_and_found_by_a_part(api: Api):
    head = await domain_admin(api)
    path = f"/projects/{api.people.project}/members"
    first = (await head.get(path, params={"limit": 2})).json()
    rest = (await head.get(path, params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [m["email"] for m in first["items"] + rest["items"]] == [
        "admin@example.org",
        "colleague@example.org",
        "user@example.org",
    ]
    assert rest["next_cursor"] is None
    assert [m["email"] for m in (await head.get(path, params={"q": "OLLEA"})).json()["items"]] == [
        "colleague@example.org"
    ]


async def test_archiving_names_live_sessions_and_ends_or_keeps_them(living: Api):
    head, user = await domain_admin(living), await living.as_("user")
    first, second = await user.start(name="first-one"), await user.start(name="second-one")
    for session in (first, second):
        await living.until(user, session["id"], "RUNNING")
    path = f"/projects/{living.people.project}"
    refused = await head.post(f"{path}/archive", {})
    assert status_and_code(refused) == (409, "project.has_sessions")
    assert {s["name"] for s in refused.json()["details"]["sessions"]} == {"first-one", "second-one"}
    assert (await head.get(path)).json()["archived_at"] is None
    kept = await head.post(f"{path}/archive", {"sessions": "keep"})
    assert (kept.status_code, kept.json()["live_sessions"]) == (200, 2)
    answer = await user.try_start(project="default")
    assert status_and_code(answer) == (409, "project.archived")
    assert status_and_code(await user.try_start()) == (
        409,
        "project.archived",
    )
    assert (await head.post(f"{path}/archive", {"sessions": "end"})).status_code == 200
    for session in (first, second):
        ended = await living.until(user, session["id"], "TERMINATED")
        assert ended["reason"] == "Its project default was archived."
    assert (await head.get("/projects", params={"archived": True})).json()["items"][0]["name"] == "default"
    assert status_and_code(await head.delete(path)) == (409, "project.has_past")
    assert (await head.post(f"{path}/restore")).json()["archived_at"] is None
    await user.start()


async def test_a_project_with_a_schedule_is_not_removed(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    made = (await user.post("/schedules", SCHEDULE)).json()
    path = f"/projects/{made['project']['id']}"
    assert status_and_code(await admin.delete(path)) == (409, "project.has_schedules")
    assert (await user.delete(f"/schedules/{made['id']}")).status_code == 204
    assert (await admin.delete(path)).status_code == 204


async def test_no_session_slips_into_a_project_that_is_being_archived(api: Api):
    head, user = await domain_admin(api), await api.as_("user")
    path = f"/projects/{api.people.project}"
    for _ in range(5):
        answers = await asyncio.gather(
            *(user.try_start(project=api.people.project) for _ in range(6)),
            head.post(f"{path}/archive", {"sessions": "end"}),
            *(user.try_start(project=api.people.project) for _ in range(6)),
        )
        assert answers[6].status_code == 200
        live = await scalar(
            api.database,
            "SELECT count(*) FROM sessions WHERE ended_at IS NULL AND project_id = :p",
            p=api.people.project,
        )
        assert live == 0
        assert (await head.post(f"{path}/restore")).status_code == 200
