"""Many users at once: rows, defaults, dry runs, partial failures; and deleting users for good."""

import asyncio
import json

from databases import sql
from installation import Api
from people_kit import GOOD, domain_admin, officer, project_admin, status_and_code
from sqlalchemy import text

from carrel.permissions.actions import Role


async def test_a_dry_run_says_all_that_is_wrong_and_makes_nobody(api: Api):
    head = await domain_admin(api)
    rows = [
        {"email": "ok@example.org", "name": "Fine"},
        {"email": "user@example.org", "name": "Taken"},
        {"email": "not an e-mail", "name": ""},
        {"email": "OK@example.org", "name": "Twin"},
        {"email": "boss@example.org", "name": "Boss", "role": "superadmin", "projects": ["nonesuch"]},
        {"email": "weak@example.org", "name": "Weak", "password": "123"},
        {"email": "far@example.org", "name": "Far", "domain": "abroad"},
        {"email": "when@example.org", "name": "W", "state": "sleeping"},
        {},
    ]
    answer = await head.post("/users/batch", {"rows": rows}, params={"dry_run": True})
    assert answer.status_code == 200, answer.text
    said_of = [[p["code"] for p in item["problems"]] for item in answer.json()["items"]]
    assert said_of == [
        [],
        ["user.email_taken"],
        ["invalid.request", "invalid.request"],
        ["user.email_twice"],
        ["policy.forbidden", "project.not_found"],
        ["password.too_short"],
        ["domain.not_found"],
        ["invalid.request"],
        ["invalid.request", "invalid.request"],
    ]
    assert [item["status"] for item in answer.json()["items"]] == ["valid"] + ["failed"] * 8
    permitted = "Input should be 'active', 'inactive' or 'unverified'"
    assert permitted in answer.json()["items"][7]["problems"][0]["detail"]
    assert (answer.json()["done"], answer.json()["failed"]) == (1, 8)
    assert (await head.get("/users/ok@example.org")).status_code == 404


async def test_rows_that_can_be_are_made_and_the_others_named(api: Api):
    head = await domain_admin(api)
    body = {
        "rows": [
            {"email": "a@example.org", "name": "A"},
            {"email": "user@example.org", "name": "Taken"},
            {
                "email": "b@example.org",
                "name": "B",
                "password": GOOD,
                "projects": ["other"],
                "must_change_password": False,
            },
        ],
        "defaults": {"generate_password": True, "projects": ["default"], "description": "Autumn course"},
    }
    answer = (await head.post("/users/batch", body)).json()
    assert [item["status"] for item in answer["items"]] == ["created", "failed", "created"]
    a, b = answer["items"][0], answer["items"][2]
    assert (a["password"] is not None, b["password"]) == (True, None)
    shown = [(await head.get(f"/users/{email}@example.org")).json() for email in "ab"]
    assert [[p["name"] for p in each["projects"]] for each in shown] == [["default"], ["other"]]
    assert [each["must_change_password"] for each in shown] == [True, False]
    assert {each["description"] for each in shown} == {"Autumn course"}
    for email, password in (("a", a["password"]), ("b", GOOD)):
        client = await api.client()
        entered = await client.post(
            "/api/v1/auth/login", json={"email": f"{email}@example.org", "password": password}
        )
        assert entered.status_code == 200
    again = (await head.post("/users/batch", body)).json()
    assert [p["code"] for item in again["items"] for p in item["problems"]] == ["user.email_taken"] * 3
    async with api.database.transaction() as tx:
        rows = await tx.execute(
            text("SELECT object_name FROM audit WHERE action = 'user.create' ORDER BY id")
        )
        assert list(rows.scalars()) == ["a@example.org", "b@example.org"]


async def test_two_who_import_the_same_list_make_each_once(api: Api):
    head, admin = await domain_admin(api), await api.as_("superadmin")
    body = {"rows": [{"email": f"s{n}@example.org", "name": f"S {n}"} for n in range(20)]}
    body["defaults"] = {"domain": "default"}  # type: ignore[assignment]
    answers = await asyncio.gather(head.post("/users/batch", body), admin.post("/users/batch", body))
    made = [[item["status"] for item in answer.json()["items"]] for answer in answers]
    assert all(sorted(pair) == ["created", "failed"] for pair in zip(*made, strict=True))


async def test_too_many_rows_are_refused_in_words(api: Api):
    head = await domain_admin(api)
    rows = [{"email": f"s{n}@example.org", "name": "S"} for n in range(501)]
    refused = await head.post("/users/batch", {"rows": rows})
    assert status_and_code(refused) == (422, "user.too_many")
    assert refused.json()["details"] == {"most": 500}
    assert (await head.post("/users/batch", {"rows": []})).status_code == 422
    huge = json.dumps({"rows": [{"email": "a@b.c", "name": "x" * 900}] * 2000})
    answer = await head.post("/users/batch", content=huge, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


async def test_who_may_make_many(api: Api):
    body = {"rows": [{"email": "a@example.org", "name": "A"}]}
    for who in (await project_admin(api), await api.as_("user")):
        assert status_and_code(await who.post("/users/batch", body)) == (403, "policy.forbidden")
        assert status_and_code(await who.post("/users/purge", {"users": []})) == (403, "policy.forbidden")
    assert (await (await api.as_("anonymous")).post("/users/batch", body)).status_code == 401


async def inactive(api: Api, name: str = "user") -> None:
    head = await api.as_("superadmin")
    answer = await head.patch(f"/users/{name}@example.org", {"state": "inactive", "sessions": "keep"})
    assert answer.status_code == 200, answer.text


async def test_only_inactive_users_are_purged_by_superadmins_who_type_the_email(api: Api):
    head, admin = await domain_admin(api), await api.as_("superadmin")
    path, confirm = "/users/user@example.org/purge", {"confirm": "user@example.org"}
    assert status_and_code(await admin.post(path, confirm)) == (409, "user.not_inactive")
    await inactive(api)
    assert status_and_code(await head.post(path, confirm)) == (403, "policy.forbidden")
    for wrong in ("", "user", "admin@example.org"):
        assert status_and_code(await admin.post(path, {"confirm": wrong})) == (422, "user.unconfirmed")
    assert (await admin.post(path, confirm)).json()["status"] == "purged"
    assert status_and_code(await admin.post(path, confirm)) == (404, "user.not_found")
    assert status_and_code(await admin.post(f"/users/{api.people.user.user_id}/purge", confirm)) == (
        409,
        "user.purged",
    )
    assert status_and_code(await admin.patch(f"/users/{api.people.user.user_id}", {"state": "active"})) == (
        409,
        "user.purged",
    )


async def test_a_purged_user_leaves_nothing_but_the_id(living: Api):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    session = await user.start(name="old-one")
    await living.until(user, session["id"], "RUNNING")
    await user.patch("/auth/me", {"name": "Ursula Secret", "preferences": {"language": "ko"}})
    await admin.patch("/users/user@example.org", {"description": "Secretive", "addresses": []})
    await living.browser("user")
    await inactive(living)
    path = "/users/user@example.org/purge"
    refused = await admin.post(path, {"confirm": "user@example.org"})
    assert status_and_code(refused) == (409, "user.has_sessions")
    done = await admin.post(path, {"confirm": "user@example.org", "sessions": "end"})
    assert done.json()["ended"] == [session["id"]]
    await living.until(admin, session["id"], "TERMINATED")
    user_id = living.people.user.user_id
    shown = (await admin.get(f"/users/{user_id}")).json()
    assert (shown["state"], shown["email"], shown["name"], shown["keypairs"], shown["projects"]) == (
        "purged",
        f"purged-{user_id}",
        "",
        0,
        [],
    )
    assert (await admin.get(f"/sessions/{session['id']}")).json()["owner"]["id"] == user_id
    assert user_id not in str((await admin.get("/users")).json())
    assert user_id in str((await admin.get("/users", params={"state": "purged"})).json())
    async with living.database.transaction() as tx:
        row = (
            await tx.execute(text("SELECT to_jsonb(u)::text FROM users u WHERE id = :id"), {"id": user_id})
        ).scalar_one()
        tables = await tx.execute(
            text("""SELECT table_name FROM information_schema.columns
                WHERE column_name = 'user_id' AND table_schema = 'public'""")
        )
        for table in tables.scalars().all():
            left = await tx.execute(
                text(f"SELECT count(*) FROM {table} WHERE user_id = :id"), {"id": user_id}
            )
            assert left.scalar_one() == 0, table
    assert not any(word in row for word in ("Ursula", "Secretive", "user@example", "argon2", "ko"))
    again = await admin.post(
        "/users", {"email": "user@example.org", "name": "Another", "projects": ["default"]}
    )
    assert again.status_code == 201, "the e-mail is free again"


async def test_each_of_many_is_purged_or_says_why_not(api: Api):
    admin = await api.as_("superadmin")
    await inactive(api, "user")
    await inactive(api, "colleague")
    answer = await admin.post(
        "/users/purge",
        {
            "users": [
                {"user": "user@example.org", "confirm": "user@example.org"},
                {"user": "colleague@example.org", "confirm": "user@example.org"},
                {"user": "stranger@example.org", "confirm": "stranger@example.org"},
                {"user": "nobody@example.org", "confirm": "nobody@example.org"},
            ]
        },
    )
    items = answer.json()["items"]
    assert [(i["status"], (i["problem"] or {}).get("code")) for i in items] == [
        ("purged", None),
        ("failed", "user.unconfirmed"),
        ("failed", "user.not_inactive"),
        ("failed", "user.not_found"),
    ]
    assert (answer.json()["purged"], answer.json()["failed"]) == (1, 3)


async def test_the_page_must_be_confirmed_anew_before_somebody_is_appointed_or_purged(api: Api):
    await officer(api, "second", Role.SUPERADMIN)
    browser = await api.browser("admin")
    await sql(api.database, "UPDATE logins SET confirmed_at = confirmed_at - interval '1 hour'")
    api.services.authenticator.forget()
    for path, body in (
        ("/users/user@example.org", {"role": "domain_admin"}),
        ("/users/user@example.org/purge", {"confirm": "user@example.org"}),
        ("/users", {"email": "n@example.org", "name": "N", "role": "superadmin"}),
    ):
        method = "POST" if "purge" in path or path == "/users" else "PATCH"
        assert status_and_code(await browser.ask(method, path, json=body)) == (403, "auth.confirm_needed")
    assert (await browser.patch("/users/user@example.org", {"name": "Harmless"})).status_code == 200
    assert (await browser.post("/users", {"email": "n@example.org", "name": "N"})).status_code == 201
