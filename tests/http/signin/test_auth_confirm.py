"""Proving once more that it is you, before what somebody at your desk should not do."""

import pytest
from auth_kit import SecurityKey, accept, add_passkey, add_totp, set_site, sign_in, wind
from databases import sql
from installation import API, Api
from people import PASSWORD

DANGEROUS = [
    ("POST", "/keypairs", {}),
    ("POST", "/tokens", {"name": "x", "scopes": ["session.read"]}),
    ("POST", "/factors/totp", None),
    ("POST", "/factors/totp/confirm", {"code": "123456"}),
    ("DELETE", "/factors/totp", None),
    ("POST", "/factors/passkeys/options", None),
    ("POST", "/factors/recovery-codes", None),
    ("DELETE", "/factors/passkeys/AAAA", None),
]
BY_ADMINISTRATORS = [
    ("PATCH", "/site", {"lock_minutes": 21}),
    ("POST", "/users/user@example.org/recover", None),
    ("DELETE", "/users/user@example.org/factors", None),
]


@pytest.mark.parametrize("who", ["user", "admin"])
async def test_a_quarter_of_an_hour_after_signing_in_it_must_be_proved_again(api: Api, who: str):
    dangerous = DANGEROUS + (BY_ADMINISTRATORS if who == "admin" else [])
    caller = await sign_in(api, who)
    wind(api, minutes=14)
    assert (await caller.post("/keypairs")).status_code == 201
    wind(api, minutes=2)
    for method, path, body in dangerous:
        answer = await caller.ask(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "auth.confirm_needed"), path
    # The rest goes on.
    assert (await caller.get("/keypairs")).status_code == 200
    await caller.start()
    before = caller.http.cookies["carrel_session"]
    accept(caller.http, await caller.post("/auth/confirm", {"password": PASSWORD}))
    assert caller.http.cookies["carrel_session"] != before
    for method, path, body in dangerous:
        answer = await caller.ask(method, path, json=body)
        assert "auth.confirm_needed" not in answer.text, path
    stolen = await api.client(cookies={"carrel_session": before})
    assert (await stolen.get(f"{API}/auth/me")).status_code == 401


async def test_keypairs_prove_themselves(api: Api):
    script = await api.as_("superadmin")
    wind(api, hours=2)
    assert (await script.patch("/site", {"lock_minutes": 21})).status_code == 200
    answer = await script.post("/auth/confirm", {"password": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (409, "auth.no_login")


async def test_it_is_proved_by_a_code_or_a_passkey_too(api: Api):
    user, key = await sign_in(api, "user"), SecurityKey()
    app, codes = await add_totp(api, user)
    await add_passkey(user, key)
    for proof in ("code", "recovery_code", "passkey"):
        wind(api, minutes=16)
        assert (await user.post("/keypairs")).json()["code"] == "auth.confirm_needed"
        if proof == "passkey":
            options = (await user.post("/auth/passkey-options")).json()["options"]
            body: dict[str, object] = {"passkey": key.prove(options)}
        else:
            body = {proof: app.at(wind(api)) if proof == "code" else codes[0]}
        accept(user.http, await user.post("/auth/confirm", body))
        assert (await user.post("/keypairs")).status_code == 201
    rows = await sql(
        api.database, "SELECT details->>'by' FROM audit WHERE action = 'auth.confirm' ORDER BY id"
    )
    assert [row[0] for row in rows] == ["totp", "recovery", "passkey"]


async def test_guessing_at_the_desk_locks_the_account(api: Api):
    await set_site(api, lock_attempts=3)
    user = await sign_in(api, "user")
    for _ in range(3):
        answer = await user.post("/auth/confirm", {"password": "wrong"})
        assert (answer.status_code, answer.json()["code"]) == (422, "auth.wrong_password")
    assert (await user.post("/auth/confirm", {"password": PASSWORD})).status_code == 429
    rows = await sql(
        api.database, "SELECT outcome, reason FROM audit WHERE credential = 'confirm' ORDER BY id"
    )
    assert rows == [("refused", "it was not proved")] * 3 + [("refused", "locked")]


async def test_apps_that_are_open_stay_open_when_the_cookie_changes(api: Api):
    user = await sign_in(api, "user")
    await sql(
        api.database,
        """INSERT INTO app_grants (token_hash, ticket, session_id, app, user_id, credential, login_id, expires_at)
           SELECT 'x', false, 's', 'a', user_id, 'cookie', id, now() + interval '1 hour' FROM logins""",
    )
    accept(user.http, await user.post("/auth/confirm", {"password": PASSWORD}))
    assert await sql(api.database, "SELECT 1 FROM app_grants g JOIN logins l ON l.id = g.login_id")
    await user.post("/auth/logout")
    assert not await sql(api.database, "SELECT 1 FROM app_grants")
