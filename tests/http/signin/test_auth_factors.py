"""Second factors by code: enrolling, the second step, recovery codes, and what the site and administrators do."""

import pyotp
import pytest
from auth_kit import accept, add_totp, set_site, sign_in, wind
from databases import sql
from installation import API, Api
from people import PASSWORD


async def test_a_device_counts_once_a_code_of_it_was_given(api: Api):
    user = await sign_in(api, "user")
    offer = (await user.post("/factors/totp")).json()
    assert offer["url"].startswith("otpauth://totp/Carrel:user%40example.org?secret=" + offer["secret"])
    assert offer["qr_svg"].startswith("<svg")
    assert (await sign_in(api, "user")).http.headers["X-Carrel-CSRF"]
    assert (await user.get("/factors")).json()["totp_since"] is None
    right = pyotp.TOTP(offer["secret"]).at(wind(api))
    wrong = await user.post("/factors/totp/confirm", {"code": str((int(right) + 1) % 10**6).zfill(6)})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "factor.wrong_code")
    confirmed = accept(user.http, await user.post("/factors/totp/confirm", {"code": right}))
    assert len(set(confirmed["recovery_codes"])) == 10
    shown = (await user.get("/factors")).json()
    assert shown["totp_since"]
    assert shown["recovery_codes_left"] == 10
    assert (await user.post("/factors/totp")).json()["code"] == "factor.totp_exists"
    assert (await user.post("/factors/totp/confirm", {"code": right})).json()["code"] == "factor.totp_exists"


async def test_with_a_device_a_password_alone_opens_nothing(api: Api):
    app, _ = await add_totp(api, await sign_in(api, "user"))
    wind(api, seconds=30)
    half = await sign_in(api, "user")
    assert (await half.get("/auth/me")).json()["pending"] == "factor"
    for method, path in (
        ("GET", "/sessions"),
        ("GET", "/factors"),
        ("POST", "/keypairs"),
        ("GET", "/logins"),
        ("POST", "/auth/password"),
        ("POST", "/auth/confirm"),
        ("POST", "/factors/totp"),
    ):
        body = (
            {"current": PASSWORD, "new": "another fine password 7"}
            if "password" in path
            else {"password": PASSWORD}
        )
        answer = await half.ask(method, path, json=body if method == "POST" else None)
        assert (answer.status_code, answer.json()["code"]) == (403, "auth.pending_factor"), path
    before = half.http.cookies["carrel_session"]
    me = accept(half.http, await half.post("/auth/factor", {"code": app.at(wind(api))}))
    assert me["pending"] is None
    assert half.http.cookies["carrel_session"] != before
    assert (await half.get("/sessions")).status_code == 200
    stolen = await api.client(cookies={"carrel_session": before})
    assert (await stolen.get(f"{API}/auth/me")).status_code == 401
    assert (await half.post("/auth/factor", {"code": "123456"})).json()["code"] == "auth.no_second_step"


async def test_the_second_step_needs_its_csrf_token(api: Api):
    app, _ = await add_totp(api, await sign_in(api, "user"))
    wind(api, seconds=30)
    half = await sign_in(api, "user")
    answer = await half.post("/auth/factor", {"code": app.at(wind(api))}, headers={"X-Carrel-CSRF": "x"})
    assert answer.json()["code"] == "auth.csrf"


async def test_a_code_is_good_once_and_not_much_later(api: Api):
    user = await sign_in(api, "user")
    app, _ = await add_totp(api, user)
    used = app.at(wind(api))
    for code in (
        used,
        app.at(wind(api, seconds=120), counter_offset=-2),
        app.at(wind(api), counter_offset=3),
        "",
        "abcdef",
        "１２３４５６",
    ):
        half = await sign_in(api, "user")
        answer = await half.post("/auth/factor", {"code": code or "0"})
        assert (answer.status_code, answer.json()["code"]) == (422, "auth.wrong_code"), code
    for offset in (-1, 1):
        wind(api, seconds=90)
        half = await sign_in(api, "user")
        assert (
            await half.post("/auth/factor", {"code": app.at(wind(api), counter_offset=offset)})
        ).status_code == 200


async def test_a_recovery_code_is_good_once(api: Api):
    user = await sign_in(api, "user")
    _, codes = await add_totp(api, user)
    half = await sign_in(api, "user")
    assert (
        accept(half.http, await half.post("/auth/factor", {"recovery_code": codes[0].upper()}))["pending"]
        is None
    )
    assert (await half.get("/factors")).json()["recovery_codes_left"] == 9
    again = await sign_in(api, "user")
    assert (await again.post("/auth/factor", {"recovery_code": codes[0]})).json()["code"] == "auth.wrong_code"
    fresh = (await half.post("/factors/recovery-codes")).json()["recovery_codes"]
    assert not {*fresh} & {*codes}
    assert (await again.post("/auth/factor", {"recovery_code": codes[1]})).json()["code"] == "auth.wrong_code"
    assert (
        await again.post("/auth/factor", {"recovery_code": fresh[0].replace("-", " ")})
    ).status_code == 200


async def test_guessing_the_second_step_locks_however_often_the_password_is_right(api: Api):
    await set_site(api, lock_attempts=5)
    app, _ = await add_totp(api, await sign_in(api, "user"))
    wind(api, seconds=30)
    for _ in range(5):
        half = await sign_in(api, "user")
        assert (await half.post("/auth/factor", {"code": "000000"})).status_code == 422
    locked = await half.post("/auth/factor", {"code": app.at(wind(api))})
    assert (locked.status_code, locked.json()["code"]) == (429, "auth.locked")
    client = await api.client()
    body = {"email": "user@example.org", "password": PASSWORD}
    assert (await client.post(f"{API}/auth/login", json=body)).status_code == 429
    wind(api, minutes=21)
    half = await sign_in(api, "user")
    assert (await half.post("/auth/factor", {"code": app.at(wind(api))})).status_code == 200


async def test_the_second_step_does_not_wait_for_ever(api: Api):
    app, _ = await add_totp(api, await sign_in(api, "user"))
    wind(api, seconds=30)
    half = await sign_in(api, "user")
    wind(api, minutes=11)
    assert (await half.post("/auth/factor", {"code": app.at(wind(api))})).json()["code"] == "auth.required"


async def test_exactly_one_proof_is_taken(api: Api):
    await add_totp(api, await sign_in(api, "user"))
    half = await sign_in(api, "user")
    for body in ({}, {"code": "1", "recovery_code": "2"}, {"password": PASSWORD}):
        answer = await half.post("/auth/factor", body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid.request"), body


async def test_without_its_device_an_account_asks_for_no_second_step(api: Api):
    user = await sign_in(api, "user")
    await add_totp(api, user)
    assert (await user.delete("/factors/totp")).status_code == 204
    assert (await user.delete("/factors/totp")).status_code == 204
    assert (await user.get("/factors")).json()["recovery_codes_left"] == 0
    assert (await (await sign_in(api, "user")).get("/auth/me")).json()["pending"] is None
    assert (await user.post("/factors/recovery-codes")).json()["code"] == "factor.none"


@pytest.mark.parametrize(
    ("whom", "who", "pending"),
    [
        ("nobody", "superadmin", None),
        ("administrators", "user", None),
        ("administrators", "superadmin", "enrol"),
        ("everybody", "user", "enrol"),
    ],
)
async def test_the_site_demands_a_second_factor(api: Api, whom: str, who: str, pending: str | None):
    await set_site(api, second_factor=whom)
    caller = await sign_in(api, "admin" if who == "superadmin" else who)
    assert (await caller.get("/auth/me")).json()["pending"] == pending
    refused = await caller.get("/sessions")
    assert refused.status_code == (403 if pending else 200)
    if not pending:
        return
    assert refused.json()["code"] == "auth.pending_enrol"
    assert (await caller.get("/factors")).json()["required"] is True
    before = caller.http.cookies["carrel_session"]
    await add_totp(api, caller)
    assert caller.http.cookies["carrel_session"] != before
    assert (await caller.get("/auth/me")).json()["pending"] is None
    assert (await caller.get("/sessions")).status_code == 200


async def test_those_signed_in_are_asked_to_enrol_when_the_site_begins_to_demand_it(api: Api):
    user = await sign_in(api, "user")
    await set_site(api, second_factor="everybody")
    assert (await user.get("/sessions")).json()["code"] == "auth.pending_enrol"


async def test_administrators_switch_the_factors_of_others_off(api: Api):
    user = await sign_in(api, "user")
    await add_totp(api, user)
    ref = api.people.user.user_id
    assert (await (await api.as_("colleague")).delete(f"/users/{ref}/factors")).status_code == 404
    assert (await (await api.as_("foreigner")).delete(f"/users/{ref}/factors")).status_code == 404
    assert (await (await api.as_("superadmin")).delete(f"/users/{ref}/factors")).status_code == 204
    api.services.authenticator.forget()
    assert (await user.get("/auth/me")).status_code == 401
    assert (await (await sign_in(api, "user")).get("/auth/me")).json()["pending"] is None
    rows = await sql(
        api.database,
        "SELECT actor_email, owner_id FROM audit WHERE action = 'factor.reset' AND outcome = 'done'",
    )
    assert rows == [("admin@example.org", ref)]


async def test_nobody_switches_factors_off_above_them(api: Api):
    await sql(api.database, "UPDATE users SET role = 'domain_admin' WHERE email = 'colleague@example.org'")
    await add_totp(api, await sign_in(api, "admin"))
    admin = await api.as_("colleague")
    above = await admin.delete(f"/users/{api.people.superadmin.user_id}/factors")
    assert (above.status_code, above.json()["code"]) == (403, "user.ranks_higher")
    assert (await admin.delete("/users/user@example.org/factors")).status_code == 204
    assert (await admin.delete(f"/users/{api.people.foreigner.user_id}/factors")).status_code == 404


async def test_every_step_is_in_the_audit_trail(api: Api):
    app, codes = await add_totp(api, await sign_in(api, "user"))
    wind(api, seconds=30)
    half = await sign_in(api, "user")
    await half.post("/auth/factor", {"code": "000000"})
    await half.post("/auth/factor", {"code": app.at(wind(api))})
    other = await sign_in(api, "user")
    await other.post("/auth/factor", {"recovery_code": codes[0]})
    rows = await sql(
        api.database, "SELECT outcome, credential, reason FROM audit WHERE action = 'auth.login' ORDER BY id"
    )
    waiting = ("refused", "password", "the second step is still to come")
    assert rows == [
        ("done", "password", ""),
        waiting,
        ("refused", "second step", "wrong code or passkey"),
        ("done", "password+totp", ""),
        waiting,
        ("done", "password+recovery", ""),
    ]
