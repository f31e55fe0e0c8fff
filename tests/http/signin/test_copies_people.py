"""Signing in, credentials, limits and settings through two copies of the API."""

from dataclasses import replace
from pathlib import Path

import pytest
from auth_kit import SecurityKey, accept, add_passkey, set_site, sign_in
from copies_kit import Copies
from installation import API, Caller
from people import eventually
from sso_kit import me, single_sign_on

from carrel.signin.logins import authenticator


@pytest.fixture(autouse=True)
def _long_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What copies remember of credentials must not lapse by itself during a test."""
    monkeypatch.setattr(authenticator, "_CACHE_S", 3600.0)


async def both(caller: Caller, path: str) -> set[int]:
    """The statuses from both copies."""
    return {(await caller.get(path)).status_code for _ in range(2)}


async def ends(caller: Caller, status: int, path: str = "/auth/me") -> None:
    """Both copies soon refuse the caller."""

    async def refused() -> bool:
        return await both(caller, path) == {status}

    await eventually(refused)


async def test_a_browser_signs_in_here_and_out_there(copies: Copies) -> None:
    user = await sign_in(copies.api, "user")
    assert await both(user, "/auth/me") == {200}
    token = user.http.cookies["carrel_session"]
    assert (await user.post("/auth/logout")).status_code == 204
    user.http.cookies["carrel_session"] = token
    await ends(user, 401)


async def test_a_passkey_is_asked_for_here_and_proved_there(copies: Copies) -> None:
    key = SecurityKey()
    await add_passkey(await sign_in(copies.api, "user"), key)
    caller = Caller("user", None, await copies.api.client())
    options = (await caller.post("/auth/passkey-options")).json()["options"]
    answer = await caller.post("/auth/passkey", {"credential": key.prove(options)})
    assert accept(caller.http, answer)["user"]["email"] == "user@example.org"
    assert await both(caller, "/sessions") == {200}


async def test_single_sign_on_leaves_here_and_comes_back_there(copies: Copies, tmp_path: Path) -> None:
    for services in copies.services:  # both have the address of the load balancer
        services.settings.public_url = copies.api.url
        elsewhere = services.elsewhere
        elsewhere.services = replace(elsewhere.services, public_url=copies.api.url)
    async with single_sign_on(copies.api, tmp_path) as sso:
        browser = await sso.sign_in()
        assert (await me(browser))["user"]["email"] == "ada@corp.example"


async def test_what_is_revoked_ends_in_both_copies(copies: Copies) -> None:
    user, admin = await sign_in(copies.api, "user"), await copies.api.as_("superadmin")
    made = (await user.post("/tokens", {"name": "x", "scopes": ["session.read"]})).json()
    script = Caller("x", None, await copies.api.client(headers={"Authorization": f"Bearer {made['token']}"}))
    pair = (await user.post("/keypairs")).json()
    keyed = Caller("y", None, await copies.api.client(auth=(pair["access_key"], pair["secret_key"])))
    assert await both(script, "/sessions") == await both(keyed, "/sessions") == {200}
    assert (await user.delete(f"/tokens/{made['id']}")).status_code == 204
    await ends(script, 401, "/sessions")
    changed = await admin.patch(f"/keypairs/{pair['access_key']}", {"active": False})
    assert changed.status_code == 200
    await ends(keyed, 401, "/sessions")
    assert await both(user, "/auth/me") == {200}
    assert (await admin.patch("/users/user@example.org", {"state": "inactive"})).status_code == 200
    await ends(user, 401)


async def test_settings_apply_in_both_copies(copies: Copies) -> None:
    user = await copies.api.as_("user")
    assert await both(user, "/images") == {200}

    async def limits() -> set[str]:
        return {(await user.get("/images")).headers["x-ratelimit-limit"] for _ in range(2)}

    await set_site(copies.api, api_rate_limit=5000)

    async def applies() -> bool:
        return await limits() == {"5000"}

    await eventually(applies)


async def test_guesses_are_counted_together(copies: Copies) -> None:
    await set_site(copies.api, lock_attempts=4)
    client = await copies.api.client()
    body = {"email": "user@example.org", "password": "wrong"}
    codes = [(await client.post(f"{API}/auth/login", json=body)).json()["code"] for _ in range(6)]
    assert codes[:4] == [codes[0]] * 4
    assert codes[4:] == ["auth.locked"] * 2


async def test_requests_are_counted_together(copies: Copies) -> None:
    for services in copies.services:
        services.limits._now = lambda: 1_000_000_000.0
    user, admin = await sign_in(copies.api, "user"), await copies.api.as_("superadmin")
    pair = (await user.post("/keypairs")).json()
    assert (await admin.patch(f"/keypairs/{pair['access_key']}", {"rate_limit": 20})).status_code == 200
    script = Caller("x", None, await copies.api.client(auth=(pair["access_key"], pair["secret_key"])))
    statuses: list[int] = []
    while statuses[-4:] != [429] * 4:
        statuses.append((await script.get("/images")).status_code)
        # Each copy does that once a second.
        for services in copies.services:
            if services.limits._unshared:
                await services.limits.share()
    assert 20 <= statuses.count(200) <= 21
