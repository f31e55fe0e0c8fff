"""Where people are signed in: lists, ending, lifetimes, addresses; and the lock of addresses."""

from datetime import timedelta

import pytest
from auth_kit import set_site, sign_in, wind
from databases import sql
from installation import API, Api, Caller
from people import PASSWORD, eventually

from carrel.core.errors import Forbidden
from carrel.http.auth import COOKIE
from carrel.signin.logins import authenticator, service
from carrel.signin.logins.service import Client
from carrel.signin.logins.user_agents import browser_of

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.0 Mobile/15E148 Safari/604.1"
)


def test_browsers_are_called_as_people_call_them():
    headless = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML) HeadlessChrome/140.0 Safari/537.36"
    for device, name in (
        (headless, "Chrome"),
        (FIREFOX, "Firefox"),
        (IPHONE, "Safari"),
        ("carrel/1", "carrel"),
    ):
        assert browser_of(device) == name


async def test_what_ends_in_another_process_ends_here_at_once(api: Api, monkeypatch: pytest.MonkeyPatch):
    """Without an announcement it would be remembered for an hour."""
    monkeypatch.setattr(authenticator, "_CACHE_S", 3600.0)
    user, key = await api.browser("user"), await api.as_("colleague")
    for caller, change in (
        (user, "DELETE FROM logins"),
        (key, "UPDATE keypairs SET active = false"),
    ):
        assert (await caller.get("/auth/me")).status_code == 200
        await sql(api.database, change)

        async def out(caller: Caller = caller) -> bool:
            return (await caller.get("/auth/me")).status_code == 401

        await eventually(out)


async def test_a_person_sees_where_they_are_signed_in(api: Api):
    phone = await sign_in(api, "user", headers={"User-Agent": IPHONE, "X-Forwarded-For": "192.0.2.9"})
    here = await sign_in(api, "user", headers={"User-Agent": FIREFOX})
    await sign_in(api, "colleague")
    items = (await here.get("/logins")).json()["items"]
    assert [(i["browser"], i["system"], i["address"], i["current"]) for i in items] == [
        ("Firefox", "Linux", "127.0.0.1", True),
        ("Safari", "iPhone", "192.0.2.9", False),
    ]
    assert {i["user"]["email"] for i in items} == {"user@example.org"}
    first = (await here.get("/logins", params={"limit": 1})).json()
    second = (await here.get("/logins", params={"limit": 1, "cursor": first["next_cursor"]})).json()
    assert [*first["items"], *second["items"]] == items
    assert (await here.delete(f"/logins/{items[1]['id']}")).status_code == 204
    assert (await phone.get("/auth/me")).status_code == 401
    assert (await here.get("/auth/me")).status_code == 200


async def test_everywhere_else_is_ended_at_once(api: Api):
    here, *others = [await sign_in(api, "user") for _ in range(3)]
    colleague = await sign_in(api, "colleague")
    assert (await here.delete("/logins")).json() == {"ended": 2}
    for other in others:
        assert (await other.get("/auth/me")).status_code == 401
    assert (await here.get("/auth/me")).status_code == 200
    assert (await colleague.get("/auth/me")).status_code == 200


async def test_administrators_end_the_sign_ins_of_those_they_reach(api: Api):
    await sql(api.database, "UPDATE users SET role = 'domain_admin' WHERE email = 'colleague@example.org'")
    user, admin = await sign_in(api, "user"), await api.as_("colleague")
    [theirs] = (await admin.get("/logins", params={"user": "user@example.org"})).json()["items"]
    foreign = await sign_in(api, "foreigner")
    [far] = (await foreign.get("/logins")).json()["items"]
    for caller in (admin, await api.as_("stranger")):
        assert (await caller.delete(f"/logins/{far['id']}")).json()["code"] == "login.not_found"
        answer = await caller.get("/logins", params={"user": "foreigner@example.org"})
        assert (answer.status_code, answer.json()["code"]) == (404, "user.not_found")
    above = await sign_in(api, "admin")
    assert (await admin.delete("/logins", params={"user": "admin@example.org"})).json()[
        "code"
    ] == "user.ranks_higher"
    assert (await above.get("/auth/me")).status_code == 200
    assert (await admin.delete(f"/logins/{theirs['id']}")).status_code == 204
    assert (await user.get("/auth/me")).status_code == 401
    again = await sign_in(api, "user")
    assert (await admin.delete("/logins", params={"user": api.people.user.user_id})).json() == {"ended": 1}
    assert (await again.get("/auth/me")).status_code == 401
    rows = await sql(
        api.database,
        "SELECT actor_email, owner_id FROM audit WHERE action = 'login.remove' AND outcome = 'done'",
    )
    assert rows == [("colleague@example.org", api.people.user.user_id)] * 2


async def test_what_is_not_used_ends_and_so_does_what_is_old(api: Api):
    await set_site(api, login_idle_minutes=30, login_lifetime_hours=1)
    user, idle = await sign_in(api, "user"), await sign_in(api, "user")
    wind(api, minutes=25)
    assert (await user.get("/auth/me")).status_code == 200
    wind(api, minutes=10)
    assert (await user.get("/auth/me")).status_code == 200
    assert (await idle.get("/auth/me")).json()["code"] == "auth.required"
    wind(api, minutes=26)
    assert (await user.get("/auth/me")).json()["code"] == "auth.required"


@pytest.mark.parametrize("setting", ["login_lifetime_hours", "login_idle_minutes"])
async def test_a_shorter_lifetime_holds_for_those_who_are_in(api: Api, setting: str):
    user = await sign_in(api, "user")
    wind(api, minutes=90)
    if setting == "login_lifetime_hours":
        assert (await user.get("/auth/me")).status_code == 200
    await set_site(api, **{setting: 1 if setting == "login_lifetime_hours" else 60})
    assert (await user.get("/auth/me")).json()["code"] == "auth.required"


async def test_it_is_noted_once_a_minute_when_somebody_was_seen(api: Api):
    user = await sign_in(api, "user")
    [(first, _)] = await sql(api.database, "SELECT seen_at, expires_at FROM logins")
    assert (await sql(api.database, "SELECT last_seen_at FROM users WHERE email = 'user@example.org'")) == [
        (first,)
    ]
    wind(api, seconds=50)
    await user.get("/auth/me")
    assert (await sql(api.database, "SELECT seen_at FROM logins")) == [(first,)]
    wind(api, seconds=20)
    await user.get("/auth/me")
    [(seen, expires)] = await sql(api.database, "SELECT seen_at, expires_at FROM logins")
    assert seen - first >= timedelta(seconds=70)
    assert expires - seen == timedelta(days=3)
    [(user_seen,)] = await sql(
        api.database, "SELECT last_seen_at FROM users WHERE email = 'user@example.org'"
    )
    assert user_seen == seen


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("192.0.2.7", True),
        ("192.0.3.7", False),
        ("2001:db8::7", True),
        ("::ffff:192.0.2.7", True),
        ("", False),
    ],
)
async def test_some_come_from_certain_addresses_only(api: Api, address: str, allowed: bool):
    await sql(
        api.database,
        "UPDATE users SET addresses = '{192.0.2.0/24,2001:db8::/32}' WHERE email = 'user@example.org'",
    )
    headers = {"X-Forwarded-For": address} if address else {}
    client = await api.client(headers=headers)
    answer = await client.post(f"{API}/auth/login", json={"email": "user@example.org", "password": PASSWORD})
    assert answer.status_code == (200 if allowed else 401)
    if not allowed:
        assert answer.json()["code"] == "auth.bad_credentials"
        rows = await sql(
            api.database, "SELECT reason FROM audit WHERE action = 'auth.login' AND outcome = 'refused'"
        )
        assert rows == [("the address is not among those allowed",)]
    pair = await api.keypair(api.people.user)
    script = await api.client(auth=pair, headers=headers)
    assert (await script.get(f"{API}/auth/me")).status_code == (200 if allowed else 401)


async def test_an_address_is_locked_whatever_the_account(api: Api):
    await set_site(api, lock_address_attempts=5)
    there = await api.client(headers={"X-Forwarded-For": "192.0.2.66"})

    async def attempt(name: str, password: str) -> int:
        body = {"email": f"{name}@example.org", "password": password}
        return (await there.post(f"{API}/auth/login", json=body)).status_code

    # What succeeds in between counts neither way.
    statuses = [await attempt(f"nobody{n}", "wrong") for n in range(2)] + [await attempt("user", PASSWORD)]
    there.cookies.clear()
    statuses += [await attempt(f"somebody{n}", "wrong") for n in range(3)]
    assert statuses == [401, 401, 200, 401, 401, 401]
    assert await attempt("user", PASSWORD) == 429
    await sign_in(api, "user")
    rows = await sql(
        api.database, "SELECT reason FROM audit WHERE address = '192.0.2.66' ORDER BY id DESC LIMIT 1"
    )
    assert rows == [("locked",)]
    wind(api, minutes=21)
    assert await attempt("user", PASSWORD) == 200


async def test_a_password_typed_as_the_email_is_not_kept(api: Api):
    client = await api.client()
    await client.post(f"{API}/auth/login", json={"email": "my secret words", "password": "x"})
    rows = await sql(api.database, "SELECT actor_email, object_id FROM audit WHERE action = 'auth.login'")
    assert rows == [("(no e-mail)", "(no e-mail)")]


async def test_somebody_proved_by_another_is_let_in_by_the_same_rules(api: Api):
    here = Client("192.0.2.1", FIREFOX)
    clock, person = api.services.clock, api.people.user.user_id

    async def pending(token: str) -> str | None:
        client = await api.client(cookies={"carrel_session": token})
        return (await client.get(f"{API}/auth/me")).json()["pending"]  # type: ignore[no-any-return]

    assert (
        await pending(await service.open_for(api.database, clock, person, method="oidc:x", client=here))
        is None
    )
    await set_site(api, second_factor="everybody")
    assert (
        await pending(await service.open_for(api.database, clock, person, method="oidc:x", client=here))
        == "enrol"
    )
    await sql(api.database, "UPDATE users SET must_change_password = true WHERE id = :u", u=person)
    assert (
        await pending(await service.open_for(api.database, clock, person, method="ldap:x", client=here))
        == "enrol"
    )
    await sql(
        api.database, "INSERT INTO totps (user_id, secret, confirmed_at) VALUES (:u, '', now())", u=person
    )
    assert (
        await pending(await service.open_for(api.database, clock, person, method="oidc:x", client=here))
        == "factor"
    )
    await sql(api.database, "UPDATE domains SET active = false")
    with pytest.raises(Forbidden, match="the domain is disabled"):
        await service.open_for(api.database, clock, person, method="oidc:x", client=here)
    rows = await sql(
        api.database,
        "SELECT credential, reason FROM audit WHERE action = 'auth.login' ORDER BY id DESC LIMIT 1",
    )
    assert rows == [("oidc:x", "the domain is disabled")]


async def test_a_browser_is_signed_in_once_however_often_it_signs_in(api: Api):
    user = await sign_in(api, "user")
    [first] = (await user.get("/logins")).json()["items"]
    [(opened,)] = await sql(api.database, "SELECT id FROM logins")
    before = user.http.cookies[COOKIE]
    body = {"email": "user@example.org", "password": PASSWORD}
    assert (await user.post("/auth/login", body)).status_code == 200
    [again] = (await user.get("/logins")).json()["items"]
    assert (again["id"], again["current"]) == (first["id"], True)
    assert again["created_at"] > first["created_at"]
    # Apps that were opened by it hang on this.
    assert await sql(api.database, "SELECT id FROM logins") == [(opened,)]
    former = await api.client(cookies={COOKIE: before})
    assert (await former.get(f"{API}/auth/me")).status_code == 401
    assert (await user.post("/auth/login", {**body, "password": "wrong"})).status_code == 401
    assert (await user.get("/auth/me")).status_code == 200
    # Whoever comes next at the same desk ends it.
    assert (await user.post("/auth/login", {**body, "email": "colleague@example.org"})).status_code == 200
    assert (await user.get("/auth/me")).json()["user"]["email"] == "colleague@example.org"
    shown = await sql(api.database, "SELECT email, public_id FROM logins JOIN users ON users.id = user_id")
    [(email, public_id)] = shown
    assert (email, public_id != first["id"]) == ("colleague@example.org", True)


async def test_what_has_ended_is_deleted(api: Api):
    await sign_in(api, "user")
    now = wind(api, days=4)
    fresh = await sign_in(api, "colleague")
    async with api.database.transaction() as tx:
        await service.prune(tx, now)
    assert (await sql(api.database, "SELECT count(*) FROM logins")) == [(1,)]
    assert (await fresh.get("/auth/me")).status_code == 200
