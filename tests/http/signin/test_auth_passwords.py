"""Changing a password, being made to, and the site's rules."""

import argon2
import pytest
from auth_kit import accept, set_site, sign_in, wind
from databases import sql
from installation import API, Api
from people import PASSWORD

from carrel.identity import passwords

NEW = "another fine password 7"


async def test_a_change_signs_other_browsers_out_and_renews_this_one(api: Api):
    here, there = await sign_in(api, "user"), await sign_in(api, "user")
    before = here.http.cookies["carrel_session"]
    accept(here.http, await here.post("/auth/password", {"current": PASSWORD, "new": NEW}))
    assert here.http.cookies["carrel_session"] != before
    assert (await here.get("/sessions")).status_code == 200
    assert (await there.get("/auth/me")).status_code == 401
    client = await api.client()
    for password, status in ((PASSWORD, 401), (NEW, 200)):
        body = {"email": "user@example.org", "password": password}
        assert (await client.post(f"{API}/auth/login", json=body)).status_code == status
    assert await sql(api.database, "SELECT 1 FROM audit WHERE action = 'password.update' AND details = '{}'")


async def test_the_current_password_is_needed_and_not_to_be_guessed(api: Api):
    await set_site(api, lock_attempts=3)
    user = await sign_in(api, "user")
    for _ in range(3):
        answer = await user.post("/auth/password", {"current": "wrong", "new": NEW})
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
            422,
            "password.wrong",
            "current",
        )
    assert (await user.post("/auth/password", {"current": PASSWORD, "new": NEW})).status_code == 429


@pytest.mark.parametrize(
    ("new", "code"),
    [
        ("short 1", "password.too_short"),
        ("onlysmallletters", "password.too_plain"),
        ("Password123!", "password.too_common"),
        ("user@example.org1", "password.too_common"),
        (PASSWORD, "password.former"),
    ],
)
async def test_the_rules_of_the_site_hold(api: Api, new: str, code: str):
    user = await sign_in(api, "user")
    answer = await user.post("/auth/password", {"current": PASSWORD, "new": new})
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, code, "new")
    assert new not in answer.text
    assert code in answer.json()["details"]["broken"]


async def test_former_passwords_do_not_come_back_before_so_many_others(api: Api):
    await set_site(api, password_history=2)
    user = await sign_in(api, "user")
    current = PASSWORD
    for new, status in (
        ("fine password 1", 200),
        (PASSWORD, 422),
        ("fine password 2", 200),
        (PASSWORD, 422),
        ("fine password 3", 200),
        (PASSWORD, 200),
    ):
        answer = await user.post("/auth/password", {"current": current, "new": new})
        assert answer.status_code == status, (new, answer.text)
        if status == 200:
            accept(user.http, answer)
            current = new
    assert (await sql(api.database, "SELECT count(*) FROM former_passwords"))[0][0] == 2


async def test_who_must_change_it_can_do_nothing_else(api: Api):
    user = await sign_in(api, "user")
    await sql(api.database, "UPDATE users SET must_change_password = true WHERE email = 'user@example.org'")
    wind(api, minutes=20)
    for caller in (user, await sign_in(api, "user")):
        assert (await caller.get("/auth/me")).json()["pending"] == "password"
        for method, path in (
            ("GET", "/sessions"),
            ("POST", "/keypairs"),
            ("GET", "/factors"),
            ("GET", "/logins"),
        ):
            answer = await caller.ask(method, path)
            assert (answer.status_code, answer.json()["code"]) == (403, "auth.pending_password"), path
    answer = await user.post("/auth/password", {"current": PASSWORD, "new": NEW})
    assert accept(user.http, answer)["pending"] is None
    assert (await user.get("/sessions")).status_code == 200
    assert (await user.post("/auth/logout")).status_code == 204


async def test_a_hash_with_other_parameters_is_made_anew_at_the_next_sign_in(api: Api):
    old = argon2.PasswordHasher(time_cost=2, memory_cost=16, parallelism=1).hash(PASSWORD)
    await sql(api.database, "UPDATE users SET password_hash = :h WHERE email = 'user@example.org'", h=old)
    await sign_in(api, "user")
    [(stored,)] = await sql(api.database, "SELECT password_hash FROM users WHERE email = 'user@example.org'")
    assert stored != old
    assert not passwords.needs_rehash(stored)
    await sign_in(api, "user")
    assert (await sql(api.database, "SELECT password_hash FROM users WHERE email = 'user@example.org'")) == [
        (stored,)
    ]


async def test_without_a_password_nobody_signs_in_by_one(api: Api):
    await sql(api.database, "UPDATE users SET password_hash = NULL WHERE email = 'user@example.org'")
    client = await api.client()
    for password in ("", PASSWORD, "None"):
        answer = await client.post(
            f"{API}/auth/login", json={"email": "user@example.org", "password": password}
        )
        assert answer.json()["code"] == "auth.bad_credentials"
