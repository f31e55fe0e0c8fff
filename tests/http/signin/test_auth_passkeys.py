"""Passkeys: made and proved by a software authenticator, alone and as a second step."""

import copy

import pytest
from auth_kit import ORIGIN, SecurityKey, accept, add_passkey, coded, plain, sign_in, wind
from databases import sql
from installation import API, Api, Caller


async def with_key(api: Api, key: SecurityKey, **options) -> Caller:  # type: ignore[no-untyped-def]
    """A browser after an attempt to sign in by the key alone; its last answer is in `answer`."""
    caller = Caller("user", None, await api.client())
    challenge = (await caller.post("/auth/passkey-options")).json()["options"]
    caller.answer = await caller.post("/auth/passkey", {"credential": key.prove(challenge, **options)})  # type: ignore[attr-defined]
    return caller


async def test_somebody_signs_in_by_a_passkey_alone(api: Api):
    key = SecurityKey()
    added = await add_passkey(await sign_in(api, "user"), key, name="blue key")
    assert added["passkey"]["name"] == "blue key"
    assert len(added["recovery_codes"]) == 10
    caller = await with_key(api, key)
    me = accept(caller.http, caller.answer)
    assert (me["user"]["email"], me["pending"]) == ("user@example.org", None)
    assert (await caller.get("/sessions")).status_code == 200
    [mine] = [item for item in (await caller.get("/logins")).json()["items"] if item["current"]]
    assert mine["method"] == "passkey"
    assert (await caller.get("/factors")).json()["passkeys"][0]["last_used_at"]


async def test_a_passkey_is_a_second_step_too(api: Api):
    key = SecurityKey(verifies=False)
    await add_passkey(await sign_in(api, "user"), key)
    half = await sign_in(api, "user")
    assert (await half.get("/auth/me")).json()["pending"] == "factor"
    options = (await half.post("/auth/passkey-options")).json()["options"]
    assert [plain(known["id"]) for known in options["allowCredentials"]] == list(key.keys)
    assert (
        accept(half.http, await half.post("/auth/factor", {"passkey": key.prove(options)}))["pending"] is None
    )


async def test_alone_it_must_have_verified_its_owner(api: Api):
    key = SecurityKey(verifies=False)
    await add_passkey(await sign_in(api, "user"), key)
    answer = (await with_key(api, key)).answer
    assert (answer.status_code, answer.json()["code"]) == (401, "auth.bad_passkey")


async def test_a_challenge_is_good_once_and_for_five_minutes(api: Api):
    key = SecurityKey()
    await add_passkey(await sign_in(api, "user"), key)
    caller = await api.client()
    for late in (False, True):
        options = (await caller.post(f"{API}/auth/passkey-options")).json()["options"]
        proved = {"credential": key.prove(options)}
        if late:
            wind(api, minutes=5, seconds=1)
        first = await caller.post(f"{API}/auth/passkey", json=proved)
        assert first.status_code == (401 if late else 200)
        caller.cookies.clear()
        assert (await caller.post(f"{API}/auth/passkey", json=proved)).status_code == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": "https://carrel.example.com"},
        {"origin": "http://localhost:8701"},
        {"challenge": coded(bytes(32))},
        {"type": "webauthn.create"},
    ],
)
async def test_what_another_site_obtained_proves_nothing(api: Api, changed: dict):  # type: ignore[type-arg]
    key = SecurityKey()
    user = await sign_in(api, "user")
    await add_passkey(user, key)
    assert (await with_key(api, key, **changed)).answer.status_code == 401
    options = (await user.post("/factors/passkeys/options")).json()["options"]
    made = key.make(options, **({"type": "webauthn.get"} if "type" in changed else changed))
    answer = await user.post("/factors/passkeys", {"name": "x", "credential": made})
    assert (answer.status_code, answer.json()["field"]) == (422, "credential")


async def test_a_signature_by_another_key_and_a_cloned_key_are_refused(api: Api):
    key = SecurityKey()
    await add_passkey(await sign_in(api, "user"), key)
    clone = copy.copy(key)
    assert (await with_key(api, key)).answer.status_code == 200
    # The clone's counter stayed behind.
    assert (await with_key(api, clone)).answer.status_code == 401
    [known] = key.keys
    other = SecurityKey(count=100)
    other.make({"user": {"id": ""}, "rp": {"id": "localhost"}, "challenge": ""})
    [(private, _)] = other.keys.values()
    other.keys = {known: (private, key.keys[known][1])}
    assert (await with_key(api, other)).answer.status_code == 401


async def test_a_passkey_of_somebody_else_is_no_second_step(api: Api):
    mine, theirs = SecurityKey(), SecurityKey()
    await add_passkey(await sign_in(api, "user"), mine)
    await add_passkey(await sign_in(api, "colleague"), theirs)
    half = await sign_in(api, "user")
    options = (await half.post("/auth/passkey-options")).json()["options"]
    proved = theirs.prove({**options, "allowCredentials": []})
    answer = await half.post("/auth/factor", {"passkey": proved})
    assert (answer.status_code, answer.json()["code"]) == (422, "auth.wrong_passkey")


async def test_passkeys_are_renamed_and_removed_by_their_owner_alone(api: Api):
    key, user, other = SecurityKey(), await sign_in(api, "user"), await sign_in(api, "colleague")
    shown = (await add_passkey(user, key))["passkey"]
    path = f"/factors/passkeys/{shown['id']}"
    for method in ("PATCH", "DELETE"):
        answer = await other.ask(method, path, json={"name": "mine"})
        assert (answer.status_code, answer.json()["code"]) == (404, "passkey.not_found")
    assert (await user.delete("/factors/passkeys/nonesuch")).json()["code"] == "passkey.not_found"
    assert (await user.patch(path, {"name": " red "})).json()["name"] == "red"
    assert (await user.delete(path)).status_code == 204
    assert (await user.get("/factors")).json() == {
        "totp_since": None,
        "passkeys": [],
        "recovery_codes_left": 0,
        "required": False,
        "passkeys_possible": True,
    }
    assert (await with_key(api, key)).answer.status_code == 401
    assert (await (await sign_in(api, "user")).get("/auth/me")).json()["pending"] is None
    details = await sql(
        api.database,
        "SELECT details FROM audit WHERE action = 'factor.update' AND outcome = 'done' ORDER BY id",
    )
    assert [row[0] for row in details] == [
        {"added": "passkey", "passkey": "key"},
        {"renamed": "passkey", "passkey": "red"},
        {"removed": "passkey", "passkey": "red"},
    ]


async def test_a_key_that_is_there_already_is_not_made_again(api: Api):
    key, user = SecurityKey(), await sign_in(api, "user")
    await add_passkey(user, key)
    options = (await user.post("/factors/passkeys/options")).json()["options"]
    assert [plain(known["id"]) for known in options["excludeCredentials"]] == list(key.keys)
    assert options["rp"]["id"] == "localhost"
    assert options["authenticatorSelection"]["residentKey"] == "required"


async def test_rubbish_is_no_passkey(api: Api):
    user = await sign_in(api, "user")
    key = SecurityKey()
    good = key.make((await user.post("/factors/passkeys/options")).json()["options"])
    for spoiled in (
        "",
        "AAAA",
        coded(b"{}"),
        coded(b'{"type":1,"challenge":2}'),
        coded(b"\xff" * 200),
        coded(b"[]"),
    ):
        for name in ("clientDataJSON", "attestationObject"):
            options = (await user.post("/factors/passkeys/options")).json()["options"]
            made = key.make(options)
            made["response"][name] = spoiled
            answer = await user.post("/factors/passkeys", {"name": "x", "credential": made})
            assert answer.status_code == 422, (name, spoiled, answer.text)
        for part in ("id", "rawId"):
            answer = await user.post(
                "/factors/passkeys", {"name": "x", "credential": {**good, part: spoiled}}
            )
            assert answer.status_code == 422, (part, spoiled, answer.text)
    await add_passkey(user, key)
    for spoiled in ("", "AAAA", coded(b"{}"), coded(b"\xff" * 200)):
        for name in ("clientDataJSON", "authenticatorData", "signature", "userHandle"):
            caller = await api.client()
            proved = key.prove((await caller.post(f"{API}/auth/passkey-options")).json()["options"])
            proved["response"][name] = spoiled
            answer = await caller.post(f"{API}/auth/passkey", json={"credential": proved})
            assert answer.status_code == 401, (name, spoiled, answer.text)


async def test_somebody_inactive_hears_why_only_after_proving_who_they_are(api: Api):
    key = SecurityKey()
    await add_passkey(await sign_in(api, "user"), key)
    await sql(api.database, "UPDATE users SET state = 'inactive' WHERE email = 'user@example.org'")
    answer = (await with_key(api, key)).answer
    assert (answer.status_code, answer.json()["code"]) == (403, "auth.refused")


async def test_an_address_without_a_name_takes_no_passkeys(api: Api):
    user = await sign_in(api, "user")
    settings = api.services.settings
    for url, possible in (
        ("http://192.0.2.7:8700", False),
        ("http://carrel.example.org", False),
        ("https://carrel.example.org", True),
        (ORIGIN, True),
    ):
        api.replace_services(settings=settings.model_copy(update={"public_url": url}))
        assert (await user.get("/factors")).json()["passkeys_possible"] is possible
        assert (await user.get("/auth/greeting")).json()["passkeys"] is possible
        answer = await user.post("/factors/passkeys/options")
        assert answer.status_code == (200 if possible else 409), answer.text
