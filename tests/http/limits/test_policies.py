"""Resource policies through the API: what they say, who may change and give them, and who would be over them."""

import asyncio

from databases import scalar
from installation import Api, Caller
from limit_kit import limit
from people_kit import domain_admin, officer, project_admin, status_and_code
from session_kit import SMALL
from sqlalchemy import text

from carrel.permissions.actions import Role

KEYPAIR = {
    "slots": {"cpu": 4000, "mem": "unlimited"},
    "sessions": 2,
    "pending_sessions": 5,
    "pending_slots": {"*": "unlimited"},
    "containers_per_session": 4,
    "lifetime_s": "unlimited",
    "idle_timeout_s": "unlimited",
    "idle_use": "unlimited",
    "max_priority": 50,
    "max_rights": "plain",
    "default_disk_bytes": 21474836480,
    "max_disk_bytes": "unlimited",
    "storage_hosts": "unlimited",
    "log_bytes": 67108864,
}
USER = {
    "slots": {"*": "unlimited"},
    "sessions": 3,
    "folders": 10,
    "folder_bytes": "unlimited",
    "environment_bytes": 9,
}
PROJECT = {"folders": 10, "folder_bytes": 1 << 40, "environment_bytes": 1 << 30, "max_rights": "plain"}


async def made(admin: Caller, kind: str = "keypair", name: str = "small", **limits: object) -> dict:  # type: ignore[type-arg]
    full = {"keypair": KEYPAIR, "user": USER, "project": PROJECT}[kind]
    answer = await admin.post("/policies", {"kind": kind, "name": name, "limits": {**full, **limits}})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def test_a_policy_is_made_changed_copied_and_removed(api: Api):
    admin = await api.as_("superadmin")
    policy = await made(admin)
    assert (policy["kind"], policy["name"], policy["limits"]) == ("keypair", "small", KEYPAIR)
    assert (policy["default"], set(policy["used_by"].values())) == (False, {0})
    changed = await admin.patch(f"/policies/{policy['id']}", {"limits": {"sessions": "unlimited"}})
    assert changed.status_code == 200, changed.text
    assert changed.json()["limits"] == {**KEYPAIR, "sessions": "unlimited"}, "the others stay"
    copied = await admin.post("/policies/small/copy", {"name": "Copy"})
    assert copied.status_code == 201, copied.text
    assert copied.json()["limits"] == changed.json()["limits"]
    assert (await admin.delete("/policies/copy")).status_code == 204
    assert status_and_code(await admin.get("/policies/copy")) == (404, "policy.not_found")
    async with api.database.transaction() as tx:
        rows = await tx.execute(
            text("SELECT action, object_name FROM audit WHERE object_kind = 'policy' ORDER BY id")
        )
        written = [tuple(row) for row in rows]
        kind_rows = await tx.execute(text("SELECT kind FROM events WHERE object_kind = 'policy' ORDER BY id"))
        kinds = list(kind_rows.scalars())
    assert written == [
        ("policy.create", "small"),
        ("policy.update", "small"),
        ("policy.create", "Copy"),
        ("policy.remove", "Copy"),
    ]
    assert kinds == ["policy.created", "policy.updated", "policy.created", "policy.removed"]


async def test_a_policy_names_storage_hosts_that_there_are(api: Api):
    admin = await api.as_("superadmin")
    misspelt = {**KEYPAIR, "storage_hosts": ["local", "nonesuch"]}
    for refused in (
        await admin.post("/policies", {"kind": "keypair", "name": "x", "limits": misspelt}),
        await admin.patch("/policies/default-keypair", {"limits": {"storage_hosts": ["nonesuch"]}}),
    ):
        assert status_and_code(refused) == (404, "storage_host.not_found")
        assert refused.json()["field"] == "limits.storage_hosts"
        assert "carrel storage-host ls" in refused.json()["hint"]
    policy = await made(admin, storage_hosts=["local"])
    assert policy["limits"]["storage_hosts"] == ["local"]
    # As one that was written before anybody looked.
    await limit(api.database, policy["id"], storage_hosts=["gone"])
    for change in ({"sessions": 7}, {"storage_hosts": ["gone", "local"]}):
        changed = await admin.patch("/policies/small", {"limits": change})
        assert changed.status_code == 200, changed.text
    assert changed.json()["limits"]["storage_hosts"] == ["gone", "local"]


async def test_every_limit_is_written_out_and_makes_sense(api: Api):
    admin = await api.as_("superadmin")
    for kind, limits, field in (
        ("keypair", {**KEYPAIR, "sessions": None}, "limits.sessions"),
        ("keypair", {k: v for k, v in KEYPAIR.items() if k != "sessions"}, "limits.sessions"),
        ("keypair", {**KEYPAIR, "sessions": -1}, "limits.sessions"),
        ("keypair", {**KEYPAIR, "sessions": "many"}, "limits.sessions"),
        ("keypair", {**KEYPAIR, "max_priority": "unlimited"}, "limits.max_priority"),
        ("keypair", {**KEYPAIR, "max_priority": 101}, "limits.max_priority"),
        ("keypair", {**KEYPAIR, "lifetime_s": 0}, "limits.lifetime_s"),
        ("keypair", {**KEYPAIR, "folders": 1}, "limits.folders"),
        ("user", KEYPAIR, None),
        ("project", {**PROJECT, "slots": {}}, "limits.slots"),
        ("keypair", {**KEYPAIR, "slots": {"No Slot": 1}}, None),
        # A misspelt slot, or one that is counted otherwise, would limit nothing.
        ("keypair", {**KEYPAIR, "slots": {"cup": 1}}, None),
        ("user", {**USER, "slots": {"sessions": 1}}, None),
    ):
        answer = await admin.post("/policies", {"kind": kind, "name": "odd", "limits": limits})
        assert answer.status_code == 422, (kind, limits, answer.text)
        if field:
            assert answer.json()["field"] == field, answer.text
    wrong = await admin.post(
        "/policies", {"kind": "project", "name": "odd", "limits": {**PROJECT, "slots": {}}}
    )
    assert status_and_code(wrong) == (422, "policy.no_such_limit")
    assert wrong.json()["hint"] == "It has folders, folder_bytes, environment_bytes, max_rights."
    await made(admin, "project", "folders")
    wrong = await admin.patch("/policies/folders", {"limits": {"sessions": 1}})
    assert (status_and_code(wrong), wrong.json()["field"]) == (
        (422, "policy.no_such_limit"),
        "limits.sessions",
    )
    assert (await admin.patch("/policies/folders", {"limits": {"folders": None}})).status_code == 422
    await made(admin, "user", "people")
    assert (await admin.patch("/policies/people", {"limits": {"slots": {"cup": 1}}})).status_code == 422
    assert (await admin.patch("/policies/folders", {"name": None})).status_code == 422


async def test_names_are_unique_for_each_kind_and_then_ids_tell_them_apart(api: Api):
    admin = await api.as_("superadmin")
    body = {"kind": "user", "limits": USER}
    answers = await asyncio.gather(
        *(admin.post("/policies", {**body, "name": n}) for n in ("Lab", "lab", "LAB"))
    )
    assert sorted(a.status_code for a in answers) == [201, 409, 409]
    refused = next(a for a in answers if a.status_code == 409)
    assert (refused.json()["code"], refused.json()["field"]) == ("policy.name_taken", "name")
    other = await made(admin, "project", "lab")
    twice = await admin.get("/policies/lab")
    assert status_and_code(twice) == (409, "policy.ambiguous")
    assert other["id"] in twice.json()["details"]["ids"]
    assert (await admin.get(f"/policies/{other['id']}")).json()["kind"] == "project"


async def test_lists_are_filtered_sorted_and_paged(api: Api):
    admin = await api.as_("superadmin")
    for name in ("beta", "Alpha", "gamma"):
        await made(admin, "user", name)
    shown = (await admin.get("/policies", params={"kind": "user", "sort": "-name"})).json()["items"]
    assert [policy["name"] for policy in shown] == ["gamma", "default", "beta", "Alpha"]
    assert [p["name"] for p in (await admin.get("/policies", params={"q": "ALP"})).json()["items"]] == [
        "Alpha"
    ]
    first = (await admin.get("/policies", params={"kind": "user", "limit": 3})).json()
    second = (
        await admin.get("/policies", params={"kind": "user", "limit": 3, "cursor": first["next_cursor"]})
    ).json()
    assert [p["name"] for p in [*first["items"], *second["items"]]] == ["Alpha", "beta", "default", "gamma"]
    assert second["next_cursor"] is None


async def test_a_policy_that_somebody_has_and_the_default_ones_stay(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    for kind, field, ref in (
        ("keypair", "keypairs", (await user.get("/keypairs")).json()["items"][0]["access_key"]),
        ("keypair", "sign_ins", "user@example.org"),
        ("user", "users", api.people.user.user_id),
        ("project", "projects", api.people.project),
    ):
        policy = await made(admin, kind, field)
        for _ in range(2):
            given = await admin.ask("PUT", f"/policies/{policy['id']}/holders", json={field: [ref]})
            assert given.status_code == 200, given.text
            assert given.json()["used_by"] == {**dict.fromkeys(policy["used_by"], 0), field: 1}
        refused = await admin.delete(f"/policies/{policy['id']}")
        assert (status_and_code(refused), refused.json()["details"]["used_by"][field]) == (
            (409, "policy.in_use"),
            1,
        )
        back = await admin.ask("PUT", f"/policies/default-{kind}/holders", json={field: [ref]})
        assert back.status_code == 200, back.text
        assert (await admin.delete(f"/policies/{policy['id']}")).status_code == 204
        assert status_and_code(await admin.delete(f"/policies/default-{kind}")) == (409, "policy.default")
    written = await scalar(api.database, "SELECT count(*) FROM audit WHERE action = 'policy.assign'")
    assert written == 8, "what changed nothing is not written down"


async def test_a_policy_that_is_given_while_it_is_removed_is_one_or_the_other(api: Api):
    admin = await api.as_("superadmin")
    for number in range(10):
        policy = await made(admin, "user", f"p{number}")
        answers = await asyncio.gather(
            admin.ask("PUT", f"/policies/{policy['id']}/holders", json={"users": ["user@example.org"]}),
            admin.delete(f"/policies/{policy['id']}"),
        )
        assert [a.status_code for a in answers] in ([200, 409], [404, 204]), [a.text for a in answers]


async def test_views_name_the_policies_and_new_keypairs_get_their_users(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    theirs, own, folders = [await made(admin, kind, "lab") for kind in ("keypair", "user", "project")]
    for policy, body in ((theirs, "sign_ins"), (own, "users")):
        answer = await admin.ask(
            "PUT", f"/policies/{policy['id']}/holders", json={body: ["user@example.org"]}
        )
        assert answer.status_code == 200, answer.text
    await admin.ask("PUT", f"/policies/{folders['id']}/holders", json={"projects": [api.people.project]})
    shown = (await admin.get("/users/user@example.org")).json()
    assert shown["policy"] == {"id": own["id"], "name": "lab"}
    assert shown["keypair_policy"] == {"id": theirs["id"], "name": "lab"}
    assert (await admin.get(f"/projects/{api.people.project}")).json()["policy"]["id"] == folders["id"]
    old = (await user.get("/keypairs")).json()["items"][0]
    assert old["policy"] == {"id": "default-keypair", "name": "default"}
    new = (await user.post("/keypairs")).json()["access_key"]
    rows = {row["access_key"]: row for row in (await user.get("/keypairs")).json()["items"]}
    assert rows[new]["policy"]["id"] == theirs["id"]
    mine = (await user.get("/policies/mine")).json()["items"]
    assert {(one["scope"], one["id"], one["policy"]["id"]) for one in mine} == {
        ("user", user.actor.user_id, own["id"]),  # type: ignore[union-attr]
        ("sign_in", user.actor.user_id, theirs["id"]),  # type: ignore[union-attr]
        ("keypair", old["access_key"], "default-keypair"),
        ("keypair", new, theirs["id"]),
        ("project", api.people.project, folders["id"]),
    }
    assert next(one["limits"] for one in mine if one["scope"] == "user") == USER


async def test_who_may_see_and_change_policies(api: Api):
    admin, head, lead, user = [
        await api.as_("superadmin"),
        await domain_admin(api),
        await project_admin(api),
        await api.as_("user"),
    ]
    policy = await made(admin, "user", "lab")
    place = f"/policies/{policy['id']}"
    for method, path, body in (
        ("POST", "/policies", {"kind": "user", "name": "x", "limits": USER}),
        ("PATCH", place, {"limits": {"sessions": 1}}),
        ("POST", f"{place}/copy", {"name": "x"}),
        ("POST", f"{place}/over", {"limits": {}}),
        ("DELETE", place, None),
        ("GET", "/metrics", None),
    ):
        for who in (head, lead, user):
            assert status_and_code(await who.ask(method, path, json=body)) == (403, "policy.forbidden"), (
                method,
                path,
            )
    assert (await head.get(place)).status_code == 200
    for who in (lead, user):
        assert (
            status_and_code(await who.get(place))
            == status_and_code(await who.get("/policies"))
            == (403, "policy.forbidden")
        )
        assert (await who.get("/policies/mine")).status_code == 200


async def test_who_may_give_policies(api: Api):
    admin, head, user = await api.as_("superadmin"), await domain_admin(api), await api.as_("user")
    policy = await made(admin, "user", "lab")
    place = f"/policies/{policy['id']}"
    give = f"{place}/holders"
    assert (await head.ask("PUT", give, json={"users": ["user@example.org"]})).status_code == 200
    assert (await head.get(place)).json()["used_by"]["users"] == 1
    await admin.ask("PUT", give, json={"users": ["foreigner@example.org"]})
    assert (await head.get(place)).json()["used_by"]["users"] == 1, "others' people are not counted for them"
    assert (await admin.get(place)).json()["used_by"]["users"] == 2
    for body, expected in (
        ({"users": ["foreigner@example.org"]}, (404, "user.not_found")),
        ({"users": ["nobody@example.org"]}, (404, "user.not_found")),
        ({"users": ["admin@example.org"]}, (403, "user.ranks_higher")),
        ({"projects": [api.people.project]}, (422, "policy.other_kind")),
    ):
        assert status_and_code(await head.ask("PUT", give, json=body)) == expected, body
    assert status_and_code(await user.ask("PUT", give, json={"users": ["user@example.org"]})) == (
        403,
        "policy.forbidden",
    )


async def test_a_list_that_names_one_whom_there_is_not_changes_nobody(api: Api):
    admin = await api.as_("superadmin")
    policy = await made(admin, "user", "lab")
    body = {"users": ["colleague@example.org", "nobody@example.org", "user@example.org"]}
    assert status_and_code(await admin.ask("PUT", f"/policies/{policy['id']}/holders", json=body)) == (
        404,
        "user.not_found",
    )
    assert (await admin.get("/policies/lab")).json()["used_by"]["users"] == 0


async def test_purged_users_keep_no_policy_in_use(api: Api):
    admin = await api.as_("superadmin")
    policy = await made(admin, "user", "lab")
    gone = await officer(api, "gone", Role.USER)
    await admin.ask("PUT", f"/policies/{policy['id']}/holders", json={"users": ["gone@example.org"]})
    await admin.patch("/users/gone@example.org", {"state": "inactive"})
    purged = await admin.post("/users/gone@example.org/purge", {"confirm": "gone@example.org"})
    assert purged.status_code == 200, purged.text
    assert (await admin.delete("/policies/lab")).status_code == 204
    assert gone.actor
    late = await admin.ask("PUT", "/policies/default-user/holders", json={"users": [gone.actor.user_id]})
    assert status_and_code(late) == (409, "user.purged")


async def over(admin: Caller, path: str, body: object) -> list[tuple[object, ...]]:
    """Who would be over these limits."""
    answer = await admin.post(f"{path}/over", body)
    assert answer.status_code == 200, answer.text
    return [
        (one["scope"], one["id"], one["slot"], one["ceiling"], one["used"], one["waiting"])
        for one in answer.json()["items"]
    ]


async def test_who_would_be_over_is_said_and_nothing_changes(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    running = [await user.start() for _ in range(2)]
    for session in running:
        await living.until(user, session["id"], "RUNNING")
    key = (await user.get("/keypairs")).json()["items"][0]["access_key"]
    cpu, mem = 2 * SMALL["cpu"], 2 * SMALL["mem"]
    me, project = living.people.user.user_id, living.people.project
    tight = {"slots": {"cpu": cpu - 1, "*": "unlimited"}, "sessions": 1}
    assert await over(admin, "/policies/default-user", {"limits": tight}) == [
        ("user", me, "cpu", cpu - 1, cpu, False),
        ("user", me, "sessions", 1, 2, False),
    ]
    assert await over(admin, "/policies/default-keypair", {"limits": tight}) == [
        ("keypair", key, "cpu", cpu - 1, cpu, False),
        ("keypair", key, "sessions", 1, 2, False),
    ]
    # What is not named cannot be used at all.
    assert await over(admin, "/policies/default-user", {"limits": {"slots": {"cpu": cpu}}}) == [
        ("user", me, "mem", 0, mem, False)
    ]
    enough = {"slots": {"cpu": cpu, "mem": mem}, "sessions": 2}
    for kind in ("user", "keypair"):
        assert await over(admin, f"/policies/default-{kind}", {"limits": enough}) == []
    assert await over(admin, "/policies/default-project", {"limits": {"folders": 0}}) == []
    assert await over(admin, "/domains/default", {"ceilings": {"cpu": 1, "mem": mem}}) == [
        ("domain", living.people.domain, "cpu", 1, cpu, False)
    ]
    assert await over(admin, f"/projects/{project}", {"ceilings": {"sessions": 1}}) == [
        ("project", project, "sessions", 1, 2, False)
    ]
    assert await over(admin, "/domains/abroad", {"ceilings": {"cpu": 0}}) == [], "nobody holds anything there"
    assert (await admin.get("/policies/default-user")).json()["limits"]["sessions"] == "unlimited"
    wrong = await admin.post("/policies/default-project/over", {"limits": {"sessions": 1}})
    assert status_and_code(wrong) == (422, "policy.no_such_limit")


async def test_who_waits_for_too_much_would_be_over_too(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    browser = await api.browser("user")
    for who in (user, user, browser):
        await who.start()
    key = (await user.get("/keypairs")).json()["items"][0]["access_key"]
    tight = {"pending_sessions": 1, "pending_slots": {"cpu": SMALL["cpu"], "*": "unlimited"}}
    exceeded = (await admin.post("/policies/default-keypair/over", {"limits": tight})).json()["items"]
    assert [
        (one["scope"], one["id"], one["slot"], one["ceiling"], one["used"], one["waiting"])
        for one in exceeded
    ] == [
        ("keypair", key, "cpu", SMALL["cpu"], 2 * SMALL["cpu"], True),
        ("keypair", key, "sessions", 1, 2, True),
    ]
    none = {"pending_sessions": 0}
    exceeded = (await admin.post("/policies/default-keypair/over", {"limits": none})).json()["items"]
    assert {(one["scope"], one["id"]) for one in exceeded} == {
        ("keypair", key),
        ("sign_in", api.people.user.user_id),
    }


async def test_a_changed_limit_holds_at_once_and_ends_nothing(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    first = await user.start()
    await living.until(user, first["id"], "RUNNING")
    await admin.patch("/policies/default-user", {"limits": {"sessions": 1}})
    second = await user.start()
    waiting = await living.until(user, second["id"], "PENDING")
    assert waiting["id"] == second["id"]
    third = await user.start()
    why = (await user.get(f"/sessions/{third['id']}/why")).json()
    assert why["cause"] == "limit", why
    assert (await user.get(f"/sessions/{first['id']}")).json()["state"] == "RUNNING"
    await admin.patch("/policies/default-user", {"limits": {"sessions": 3}})
    for session in (second, third):
        await living.until(user, session["id"], "RUNNING")
