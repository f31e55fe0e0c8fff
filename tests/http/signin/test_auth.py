"""Signing in and out, CSRF, lock-out, keypairs, and secrets that stay secret."""

import asyncio
import base64
import re
from pathlib import Path

import argon2
import pytest
from databases import sql
from installation import API, Api, document
from people import PASSWORD
from session_kit import SMALL
from sqlalchemy import text

from carrel.identity import passwords
from carrel.permissions.actions import ACTIONS
from carrel.site.schemas import SiteSettings

DEFAULTS = SiteSettings()


async def login(api: Api, email: str, password: str):  # type: ignore[no-untyped-def]
    client = await api.client()
    return await client.post(f"{API}/auth/login", json={"email": email, "password": password})


async def test_the_cookie_is_for_the_server_alone(api: Api):
    answer = await login(api, "user@example.org", PASSWORD)
    [cookie] = answer.headers.get_list("set-cookie")
    name, *flags = [part.strip() for part in cookie.split(";")]
    assert name.startswith("carrel_session=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(flags)
    assert "Secure" not in flags
    assert not any(flag.lower().startswith("domain") for flag in flags)
    assert answer.json()["user"]["email"] == "user@example.org"


async def test_behind_https_the_cookie_is_secure(api: Api):
    client = await api.client(headers={"X-Forwarded-Proto": "https"})
    body = {"email": "user@example.org", "password": PASSWORD}
    answer = await client.post(f"{API}/auth/login", json=body)
    assert "; Secure" in answer.headers["set-cookie"]


async def test_the_email_is_found_in_any_case(api: Api):
    assert (await login(api, " User@Example.ORG ", PASSWORD)).status_code == 200


async def test_unknown_user_and_wrong_password_cannot_be_told_apart(api: Api, monkeypatch):
    verified: list[argon2.Parameters] = []
    real = passwords._matches

    def counting(stored: str | None, password: str) -> bool:
        verified.append(argon2.extract_parameters(stored or passwords._UNKNOWN))
        return real(stored, password)

    monkeypatch.setattr(passwords, "_matches", counting)
    answers = [await login(api, email, "wrong") for email in ("user@example.org", "nobody@example.org")]
    assert [answer.status_code for answer in answers] == [401, 401]
    bodies = [{**answer.json(), "request_id": ""} for answer in answers]
    assert bodies[0] == bodies[1]
    assert bodies[0]["code"] == "auth.bad_credentials"
    assert len(verified) == 2


def test_a_hash_of_nobody_costs_what_a_hash_of_somebody_costs():
    shipped = argon2.PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
    assert not shipped.check_needs_rehash(passwords._UNKNOWN)


@pytest.mark.parametrize("email", ["user@example.org", "nobody@example.org"])
async def test_ten_wrong_passwords_lock_an_email_known_or_not(api: Api, email: str):
    for _ in range(DEFAULTS.lock_attempts):
        assert (await login(api, email, "wrong")).status_code == 401
    locked = await login(api, email.upper(), PASSWORD)
    assert (locked.status_code, locked.json()["code"]) == (429, "auth.locked")
    assert 0 < int(locked.headers["retry-after"]) <= DEFAULTS.lock_minutes * 60
    assert (await login(api, "colleague@example.org", PASSWORD)).status_code == 200
    await sql(api.database, "UPDATE login_attempts SET at = at - interval '20 minutes 1 second'")
    expected = 200 if email.startswith("user") else 401
    assert (await login(api, email, PASSWORD)).status_code == expected


async def test_guessing_in_parallel_gets_no_more_guesses(api: Api):
    answers = await asyncio.gather(*(login(api, "user@example.org", "wrong") for _ in range(25)))
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(401) == DEFAULTS.lock_attempts
    assert statuses.count(429) == 25 - DEFAULTS.lock_attempts


async def test_signing_in_forgets_the_failures_before(api: Api):
    for _ in range(3):
        for _ in range(DEFAULTS.lock_attempts - 1):
            assert (await login(api, "user@example.org", "wrong")).status_code == 401
        assert (await login(api, "user@example.org", PASSWORD)).status_code == 200


async def test_someone_inactive_is_not_let_in(api: Api):
    user = await api.browser("user")
    keys = await api.as_("user")
    assert (await keys.get("/auth/me")).status_code == 200
    await sql(api.database, "UPDATE users SET state = 'inactive' WHERE email = 'user@example.org'")
    api.services.authenticator.forget()
    assert (await login(api, "user@example.org", PASSWORD)).json()["code"] == "auth.bad_credentials"
    assert (await user.get("/auth/me")).status_code == 401
    assert (await keys.get("/auth/me")).status_code == 401


async def test_a_sign_in_ends_by_itself(api: Api):
    user = await api.browser("user")
    await sql(api.database, "UPDATE logins SET expires_at = now() - interval '1 second'")
    api.services.authenticator.forget()
    assert (await user.get("/auth/me")).json()["code"] == "auth.required"


async def test_signing_out_holds_at_once_and_for_that_browser_only(api: Api):
    here, there = await api.browser("user"), await api.browser("user")
    token = here.http.cookies["carrel_session"]
    assert (await here.post("/auth/logout")).status_code == 204
    assert "carrel_session" not in here.http.cookies
    stolen = await api.client(cookies={"carrel_session": token})
    assert (await stolen.get(f"{API}/auth/me")).status_code == 401
    assert (await there.get("/auth/me")).status_code == 200


def unsafe() -> list[tuple[str, str]]:
    """Method and path of every operation that changes something and is for people who are signed in."""
    return [
        (method.upper(), re.sub(r"{[^}]*}", "nonesuch", path.removeprefix(API)))
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
        if method not in ("get", "head", "options") and not ACTIONS[operation["x-carrel-action"]].public
    ]


async def test_a_cookie_alone_changes_nothing(api: Api):
    user, other = await api.browser("user"), await api.browser("colleague")
    del user.http.headers["X-Carrel-CSRF"]
    for token in (None, "", "wrong", other.http.headers["X-Carrel-CSRF"], "\xff"):
        headers = {} if token is None else {"X-Carrel-CSRF": token.encode("latin-1")}
        for method, path in unsafe():
            answer = await user.ask(method, path, json={}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "auth.csrf"), (method, path, token)
    assert (await user.get("/auth/me")).status_code == 200
    assert (await user.get("/sessions")).json()["items"] == []


async def test_the_token_of_the_page_opens_the_way(api: Api):
    user = await api.browser("user")
    assert (await user.get("/auth/me")).json()["csrf_token"] == user.http.headers["X-Carrel-CSRF"]
    made = await user.start()
    assert (await user.delete(f"/sessions/{made['id']}")).status_code == 202


async def test_a_keypair_needs_no_csrf_token_and_has_none(api: Api):
    user = await api.as_("user")
    assert (await user.get("/auth/me")).json()["csrf_token"] is None
    await user.start()


async def test_a_keypair_works_until_it_is_removed(api: Api):
    user = await api.as_("user")
    made = (await user.post("/keypairs")).json()
    assert set(made) == {"access_key", "secret_key", "name", "created_at"}
    script = await api.client(auth=(made["access_key"], made["secret_key"]))
    assert (await script.get(f"{API}/auth/me")).status_code == 200
    listed = (await user.get("/keypairs")).json()["items"]
    assert made["access_key"] in [item["access_key"] for item in listed]
    assert all("secret" not in key for item in listed for key in item)
    used = {item["access_key"]: item["last_used_at"] for item in listed}[made["access_key"]]
    assert used
    api.services.authenticator.forget()
    assert (await script.get(f"{API}/auth/me")).status_code == 200
    again = (await user.get("/keypairs")).json()["items"]
    assert used in [item["last_used_at"] for item in again], "told to a minute, without a commit each time"
    assert (await user.delete(f"/keypairs/{made['access_key']}")).status_code == 204
    assert (await script.get(f"{API}/auth/me")).status_code == 401


def basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()


async def test_what_is_no_keypair_is_refused(api: Api):
    key, secret = await api.keypair(api.people.user)
    client = await api.client()
    for header in (
        "",
        "Basic",
        "Basic !!!",
        "Basic " + "A" * 5000,
        f"Bearer {secret}",
        "Basic /w==",
        basic("only-a-key"),
        basic(":"),
        basic("CK000000000000000000:wrong"),
        basic(f"{key}:wrong"),
        basic(f"{key}:"),
        basic("\0:\0"),
        basic(f"{key}:{secret}").replace("Basic", "Digest"),
        basic(f"{key.lower()}:{secret}"),
    ):
        answer = await client.get(f"{API}/auth/me", headers={"Authorization": header})
        assert answer.status_code == 401, (header, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        # An empty header is none at all.
        assert answer.headers["www-authenticate"] == 'Basic realm="carrel"'
    right = await client.get(f"{API}/auth/me", headers={"Authorization": basic(f"{key}:{secret}")})
    assert right.status_code == 200


async def test_a_browser_is_not_made_to_ask_for_a_password(api: Api):
    client = await api.client(headers={"Sec-Fetch-Mode": "cors"})
    answer = await client.get(f"{API}/auth/me")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Cookie")


async def test_the_audit_trail_knows_each_address(api: Api):
    """The same credential from two addresses within the seconds for which it is remembered."""
    key, secret = await api.keypair(api.people.user)
    for address in ("192.0.2.1", "192.0.2.2"):
        script = await api.client(auth=(key, secret), headers={"X-Forwarded-For": address})
        body = {"image": "debian:12", "slots": SMALL}
        assert (await script.post(f"{API}/sessions", json=body)).status_code == 201
    async with api.database.transaction() as tx:
        rows = await tx.execute(text("SELECT address FROM audit WHERE action = 'session.create' ORDER BY id"))
        assert list(rows.scalars()) == ["192.0.2.1", "192.0.2.2"]


async def test_no_secret_is_in_logs_events_or_audit(living: Api, log_file: Path):
    api = living
    await login(api, "user@example.org", "a wrong guess")
    browser = await api.browser("user")
    pair = (await browser.post("/keypairs")).json()
    secrets = [
        PASSWORD,
        "a wrong guess",
        browser.http.cookies["carrel_session"],
        pair["secret_key"],
        "hidden-value",
    ]
    secrets.append(browser.http.headers["X-Carrel-CSRF"])
    made = await browser.start(env={"TOKEN": "hidden-value"})
    await api.until(browser, made["id"], "RUNNING")
    await browser.delete(f"/keypairs/{pair['access_key']}")
    # Something breaks in the middle of a statement that carries a secret.
    async with api.database.transaction() as tx:
        kept = (await tx.execute(text("SELECT coalesce(json_agg(t)::text, '') FROM audit t"))).scalar_one()
        kept += (await tx.execute(text("SELECT coalesce(json_agg(t)::text, '') FROM events t"))).scalar_one()
        await tx.execute(text("ALTER TABLE sessions ADD CONSTRAINT broken CHECK (name <> 'broken')"))
    broken = await browser.try_start(env={"TOKEN": "hidden-value"}, name="broken")
    assert broken.status_code == 500
    written = log_file.read_text()
    assert broken.json()["request_id"] in written
    for secret in secrets:
        for place, content in {"log": written, "audit and events": kept, "answer": broken.text}.items():
            assert secret not in content, f"{secret} is in the {place}"
