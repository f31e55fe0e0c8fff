"""Users through the API: making, finding, changing and disabling them."""

import asyncio

from databases import scalar
from installation import Api
from people_kit import GOOD, domain_admin, officer, project_admin, status_and_code
from sqlalchemy import text

from carrel.permissions.actions import Role


async def emails(caller, **params) -> list[str]:  # type: ignore[no-untyped-def]
    answer = await caller.get("/users", params=params)
    assert answer.status_code == 200, answer.text
    return [user["email"].removesuffix("@example.org") for user in answer.json()["items"]]


async def test_a_new_user_signs_in_and_must_change_the_password(api: Api):
    head = await domain_admin(api)
    made = await head.post(
        "/users",
        {
            "email": "Ada@Example.org",
            "name": "Ada L.",
            "projects": ["default"],
            "password": GOOD,
            "description": "Analyst",
            "addresses": ["127.0.0.0/8", "::1"],
        },
    )
    assert made.status_code == 201, made.text
    ada = made.json()
    assert (ada["email"], ada["role"], ada["state"], ada["must_change_password"], ada["password"]) == (
        "Ada@Example.org",
        "user",
        "active",
        True,
        None,
    )
    assert (ada["addresses"], [p["name"] for p in ada["projects"]]) == (
        ["127.0.0.0/8", "::1/128"],
        ["default"],
    )
    client = await api.client()
    answer = await client.post("/api/v1/auth/login", json={"email": "ada@example.org", "password": GOOD})
    assert (answer.status_code, answer.json()["pending"]) == (200, "password")
    async with api.database.transaction() as tx:
        row = await tx.execute(text("SELECT details, domain_id FROM audit WHERE action = 'user.create'"))
        details, domain = row.one()
    assert (domain, details["after"]["projects"]) == (api.people.domain, ["default"])
    assert GOOD not in str(details)
    assert "password" not in details["after"]


async def test_a_generated_password_is_shown_once_and_works(api: Api):
    head = await domain_admin(api)
    made = await head.post("/users", {"email": "b@example.org", "name": "B", "generate_password": True})
    password = made.json()["password"]
    client = await api.client()
    answer = await client.post("/api/v1/auth/login", json={"email": "b@example.org", "password": password})
    assert answer.status_code == 200, answer.text
    assert password not in (await head.get("/users/b@example.org")).text


async def test_a_one_time_link_sets_the_first_password(api: Api):
    head = await domain_admin(api)
    made = await head.post("/users", {"email": "b@example.org", "name": "B", "link": True})
    url = made.json()["link"]["url"]
    assert made.json()["has_password"] is False
    client = await api.client()
    token = url.partition("token=")[2]
    answer = await client.post("/api/v1/auth/reset", json={"token": token, "password": GOOD})
    assert answer.status_code in (200, 204), answer.text
    answer = await client.post("/api/v1/auth/login", json={"email": "b@example.org", "password": GOOD})
    assert (answer.status_code, answer.json()["pending"]) == (200, None)


async def test_what_a_new_user_may_not_be(api: Api):
    head, lead, user = await domain_admin(api), await project_admin(api), await api.as_("user")
    body = {"email": "new@example.org", "name": "New"}
    for who in (lead, user):
        assert status_and_code(await who.post("/users", body)) == (403, "policy.forbidden")
    for extra, refusal in (
        ({"role": "domain_admin"}, (403, "policy.forbidden")),
        ({"role": "project_admin"}, (422, "invalid.request")),
        ({"state": "purged"}, (422, "invalid.request")),
        ({"domain": "abroad"}, (404, "domain.not_found")),
        ({"domain": "nonesuch"}, (404, "domain.not_found")),
        ({"projects": ["nonesuch"]}, (404, "project.not_found")),
        ({"email": "USER@example.org"}, (409, "user.email_taken")),
        ({"email": "no e-mail"}, (422, "invalid.request")),
        ({"email": "a@b\u0000"}, (422, "invalid.request")),
        ({"description": "a\u0000b"}, (422, "invalid.request")),
        ({"projects": ["a\u0000b"]}, (422, "invalid.request")),
        ({"name": "two\nlines"}, (422, "invalid.request")),
        ({"password": "short"}, (422, "password.too_short")),
        ({"password": GOOD, "generate_password": True}, (422, "invalid.password")),
        ({"addresses": ["300.1.1.1"]}, (422, "invalid.request")),
    ):
        assert status_and_code(await head.post("/users", body | extra)) == refusal, extra
    assert await emails(head, q="new@") == []


async def test_an_email_is_given_to_one_of_many_who_ask_at_once(api: Api):
    head = await domain_admin(api)
    answers = await asyncio.gather(
        *(head.post("/users", {"email": e, "name": "X"}) for e in ("x@example.org", "X@example.org") * 3)
    )
    assert sorted(a.status_code for a in answers) == [201] + [409] * 5
    assert {a.json()["code"] for a in answers if a.status_code == 409} == {"user.email_taken"}


async def test_who_sees_whom(api: Api):
    head, lead = await domain_admin(api), await project_admin(api)
    home = {"admin", "colleague", "user"}
    assert set(await emails(head)) == home | {"stranger", "head", "lead"}
    assert set(await emails(lead)) == home | {"lead"}
    assert await emails(await api.as_("user")) == ["user"]
    assert set(await emails(await api.as_("superadmin"))) == home | {"stranger", "head", "lead", "foreigner"}
    user, none = api.people.foreigner.user_id, "aaaaaaaaaaaa"
    for who in (head, lead, await api.as_("user")):
        hidden, missing = await who.get(f"/users/{user}"), await who.get(f"/users/{none}")
        assert status_and_code(hidden) == status_and_code(missing) == (404, "user.not_found")
        assert hidden.json()["detail"].replace(user, "") == missing.json()["detail"].replace(none, "")
        assert (await who.get("/users/foreigner@example.org")).status_code == 404
    assert (await lead.get("/users/stranger@example.org")).status_code == 404
    assert (await lead.get("/users/user@example.org")).status_code == 200
    for method, path in (
        ("PATCH", "/users/foreigner@example.org"),
        ("POST", "/users/foreigner@example.org/purge"),
    ):
        body = {"name": "x"} if method == "PATCH" else {"confirm": "foreigner@example.org"}
        answer = await head.ask(method, path, json=body)
        assert answer.status_code == (404 if method == "PATCH" else 403), answer.text


async def test_who_administers_one_project_of_theirs_learns_of_no_other(api: Api):
    head, lead = await domain_admin(api), await project_admin(api)
    await head.patch("/users/user@example.org", {"projects": ["default", "other"]})
    both = ["default", "other"]
    for who, names in ((lead, ["default"]), (head, both), (await api.as_("user"), both)):
        listed = (await who.get("/users", params={"q": "user@"})).json()["items"][0]
        shown = (await who.get("/users/user@example.org")).json()
        assert [p["name"] for p in listed["projects"]] == [p["name"] for p in shown["projects"]] == names
    assert await emails(lead, project=api.people.other_project) == []


async def test_lists_are_filtered_sorted_and_paged(api: Api):
    await domain_admin(api)
    await project_admin(api)
    admin = await api.as_("superadmin")
    assert await emails(admin, role="domain_admin") == ["head"]
    assert await emails(admin, role="project_admin") == ["lead"]
    assert await emails(admin, domain="abroad") == ["foreigner"]
    assert set(await emails(admin, project=api.people.other_project)) == {"stranger"}
    assert await emails(admin, q="OREIGN") == ["foreigner"]
    assert await emails(admin, q="x'); DROP TABLE users;--") == []
    assert await emails(admin, q="%") == []
    assert await emails(admin, state="inactive") == []
    everyone = ["admin", "colleague", "foreigner", "head", "lead", "stranger", "user"]
    assert await emails(admin, sort="email") == everyone
    assert await emails(admin, sort="-email") == everyone[::-1]
    for sort in ("email", "-name", "created_at", "-created_at", "last_seen_at", "-last_seen_at"):
        seen: list[str] = []
        cursor = None
        while True:
            params = {"sort": sort, "limit": 2} | ({"cursor": cursor} if cursor else {})
            page = (await admin.get("/users", params=params)).json()
            seen += [user["email"] for user in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert (len(seen), len(set(seen))) == (7, 7), sort
    assert status_and_code(await admin.get("/users", params={"sort": "email", "cursor": "x"})) == (
        422,
        "invalid.cursor",
    )
    assert status_and_code(await admin.get("/users", params={"sort": "password_hash"})) == (
        422,
        "invalid.sort",
    )


async def test_a_list_costs_the_same_statements_whatever_its_length(api: Api):
    admin = await api.as_("superadmin")
    from sqlalchemy import event

    counted: list[str] = []
    engine = api.database._engine.sync_engine

    def count(_c, _cur, statement, *_rest) -> None:  # type: ignore[no-untyped-def]
        if "FROM users" in statement or "memberships" in statement:
            counted.append(statement)

    await admin.get("/users")
    event.listen(engine, "before_cursor_execute", count)

    async def cost(path: str, limit: int) -> int:
        counted.clear()
        assert (await admin.get(path, params={"limit": limit})).status_code == 200
        return len(counted)

    # At any of them, the keypair may have to be looked up again.
    costs = [
        min([await cost(path, limit) for _ in range(3)])
        for path in ("/users", "/projects", "/domains")
        for limit in (1, 50)
    ]
    event.remove(engine, "before_cursor_execute", count)
    assert costs == [1, 1, 1, 1, 1, 1]


async def test_changes_are_kept_and_written_down(api: Api):
    head = await domain_admin(api)
    changed = await head.patch(
        "/users/user@example.org",
        {"name": "U. Ser", "projects": ["other"], "must_change_password": True, "addresses": ["10.0.0.0/8"]},
    )
    assert changed.status_code == 200, changed.text
    shown = changed.json()
    assert (shown["name"], [p["name"] for p in shown["projects"]], shown["addresses"]) == (
        "U. Ser",
        ["other"],
        ["10.0.0.0/8"],
    )
    async with api.database.transaction() as tx:
        details = (
            await tx.execute(text("SELECT details FROM audit WHERE action = 'user.update'"))
        ).scalar_one()
        kinds = (
            await tx.execute(text("SELECT kind, owner_id, data FROM events WHERE object_kind = 'user'"))
        ).all()
    assert details == {
        "before": {"name": "user", "projects": ["default"], "must_change_password": False, "addresses": []},
        "after": {
            "name": "U. Ser",
            "projects": ["other"],
            "must_change_password": True,
            "addresses": ["10.0.0.0/8"],
        },
    }
    assert [(k.kind, k.owner_id, k.data["name"]) for k in kinds] == [
        ("user.updated", api.people.user.user_id, "U. Ser")
    ]
    assert (await head.patch("/users/user@example.org", {"name": "U. Ser"})).status_code == 200
    rows = await scalar(api.database, "SELECT count(*) FROM audit WHERE action = 'user.update'")
    assert rows == 1, "what changes nothing is not written"


async def test_who_stays_in_a_project_stays_its_administrator(api: Api):
    head, _ = await domain_admin(api), await project_admin(api)
    changed = await head.patch("/users/lead@example.org", {"projects": ["default", "other"]})
    assert {p["name"]: p["admin"] for p in changed.json()["projects"]} == {"default": True, "other": False}


async def test_nobody_acts_on_whom_ranks_higher(api: Api):
    head, lead = await domain_admin(api), await project_admin(api)
    assert status_and_code(await head.patch("/users/admin@example.org", {"name": "x"})) == (
        403,
        "user.ranks_higher",
    )
    assert status_and_code(await head.patch("/users/user@example.org", {"role": "domain_admin"})) == (
        403,
        "policy.forbidden",
    )
    assert status_and_code(await head.patch("/users/head@example.org", {"role": "user"})) == (
        403,
        "policy.forbidden",
    )
    assert status_and_code(await lead.patch("/users/user@example.org", {"name": "x"})) == (
        403,
        "policy.forbidden",
    )
    assert status_and_code(await lead.patch("/users/admin@example.org", {"name": "x"})) == (
        403,
        "policy.forbidden",
    )
    admin, browser = await api.as_("superadmin"), await api.browser("user")
    assert (await admin.patch("/users/user@example.org", {"name": "User"})).status_code == 200
    assert (await browser.get("/auth/me")).status_code == 200
    assert (await admin.patch("/users/user@example.org", {"role": "domain_admin"})).status_code == 200
    # A cookie from before is not worth more now.
    assert (await browser.get("/auth/me")).status_code == 401
    assert (
        await (await api.as_("user")).patch("/users/colleague@example.org", {"name": "C"})
    ).status_code == 200


async def test_the_last_superadmin_stays(api: Api):
    admin = await api.as_("superadmin")
    for body in ({"role": "user"}, {"state": "inactive"}):
        assert status_and_code(await admin.patch("/users/admin@example.org", body)) == (
            409,
            "user.last_superadmin",
        )
    second = await officer(api, "second", Role.SUPERADMIN)
    assert status_and_code(await admin.patch("/users/admin@example.org", {"state": "inactive"})) == (
        409,
        "user.self",
    )
    # Each demotes the other at the same time: one of them stays.
    answers = await asyncio.gather(
        admin.patch("/users/second@example.org", {"role": "user"}),
        second.patch("/users/admin@example.org", {"role": "user"}),
    )
    assert sorted(a.status_code for a in answers)[0] == 200
    assert sorted(a.status_code for a in answers)[1] in (403, 409)
    left = await scalar(
        api.database, "SELECT count(*) FROM users WHERE role = 'superadmin' AND state = 'active'"
    )
    assert left == 1


async def test_a_disabled_user_is_out_at_once_and_their_sessions_go_as_chosen(living: Api):
    head = await domain_admin(living)
    browser, keypair = await living.browser("user"), await living.as_("user")
    session = await keypair.start()
    await living.until(keypair, session["id"], "RUNNING")
    refused = await head.patch("/users/user@example.org", {"state": "inactive"})
    assert status_and_code(refused) == (409, "user.has_sessions")
    assert [s["name"] for s in refused.json()["details"]["sessions"]] == [session["name"]]
    assert (await browser.get("/auth/me")).status_code == 200
    kept = await head.patch("/users/user@example.org", {"state": "inactive", "sessions": "keep"})
    assert (kept.status_code, kept.json()["logins"], kept.json()["live_sessions"]) == (200, 0, 1)
    for who in (browser, keypair):
        assert (await who.get("/auth/me")).status_code == 401
    client = await living.client()
    from people import PASSWORD

    answer = await client.post("/api/v1/auth/login", json={"email": "user@example.org", "password": PASSWORD})
    assert answer.status_code == 401
    assert (await head.patch("/users/user@example.org", {"state": "active"})).status_code == 200
    assert (await keypair.get("/auth/me")).status_code == 200
    assert (await browser.get("/auth/me")).status_code == 401
    ended = await head.patch("/users/user@example.org", {"state": "inactive", "sessions": "end"})
    assert ended.status_code == 200
    assert (await living.until(head, session["id"], "TERMINATED"))[
        "reason"
    ] == "user@example.org was disabled."


async def test_no_session_of_somebody_who_is_being_disabled_slips_through(api: Api):
    head, user = await domain_admin(api), await api.as_("user")
    for _ in range(5):
        answers = await asyncio.gather(
            *(user.try_start() for _ in range(6)),
            head.patch("/users/user@example.org", {"state": "inactive", "sessions": "end"}),
            *(user.try_start() for _ in range(6)),
        )
        assert answers[6].status_code == 200, answers[6].text
        live = await scalar(api.database, "SELECT count(*) FROM sessions WHERE ended_at IS NULL")
        assert live == 0
        assert (await head.patch("/users/user@example.org", {"state": "active"})).status_code == 200


async def test_moving_to_another_domain_leaves_projects_and_office_behind(api: Api):
    head, admin = await domain_admin(api), await api.as_("superadmin")
    assert status_and_code(await head.patch("/users/user@example.org", {"domain": "abroad"})) == (
        404,
        "domain.not_found",
    )
    user = await api.as_("user")
    session = await user.start()
    for choice in ({}, {"sessions": "keep"}):
        refused = await admin.patch("/users/user@example.org", {"domain": "abroad"} | choice)
        assert status_and_code(refused) == (409, "user.has_sessions")
    both = {"domain": "abroad", "state": "inactive", "sessions": "keep"}
    assert status_and_code(await admin.patch("/users/user@example.org", both)) == (409, "user.has_sessions")
    moved = await admin.patch("/users/user@example.org", {"domain": "abroad", "sessions": "end"})
    assert moved.status_code == 200, moved.text
    assert (moved.json()["domain"]["name"], moved.json()["projects"]) == ("abroad", [])
    assert (await admin.get(f"/sessions/{session['id']}")).json()["state"] == "CANCELLED"
    moved = await admin.patch("/users/head@example.org", {"domain": "abroad", "projects": ["default"]})
    assert (moved.json()["role"], [p["name"] for p in moved.json()["projects"]]) == ("user", ["default"])
    assert status_and_code(await head.get("/users/foreigner@example.org")) == (404, "user.not_found")


async def test_people_change_their_own_profile_and_nothing_else(api: Api):
    user = await api.as_("user")
    answer = await user.patch("/auth/me", {"name": "Me", "preferences": {"language": "ko", "shell": "zsh"}})
    assert answer.status_code == 200, answer.text
    assert answer.json()["preferences"] == {
        "language": "ko",
        "theme": None,
        "notifications": None,
        "shell": "zsh",
        "timezone": None,
        "locale": None,
    }
    answer = await user.patch(
        "/auth/me", {"preferences": {"language": None, "theme": "dark", "notifications": "all"}}
    )
    assert answer.json()["preferences"] == {
        "language": None,
        "theme": "dark",
        "notifications": "all",
        "shell": "zsh",
        "timezone": None,
        "locale": None,
    }
    me = (await user.get("/auth/me")).json()["user"]
    assert (me["name"], me["preferences"]["theme"]) == ("Me", "dark")
    for body in (
        {"role": "superadmin"},
        {"state": "active"},
        {"name": ""},
        {"preferences": {"shell": "a;b"}},
        {"preferences": {"language": "xx"}},
        {"preferences": {"notifications": "none"}},
        {"name": None},
    ):
        assert (await user.patch("/auth/me", body)).status_code == 422, body
