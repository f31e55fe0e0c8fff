"""What another site's page, or a sibling host, can do with somebody's browser: nothing."""

import pytest
from auth_kit import sign_in
from installation import API, Api


async def test_a_csrf_token_from_a_foreign_origin_is_refused(api: Api):
    user = await sign_in(api, "user")
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{api.port + 1}"):
        answer = await user.post("/keypairs", headers={"Origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (403, "auth.origin"), origin
    public = api.services.settings.effective_public_url
    for origin in (api.url, public):
        assert (await user.post("/keypairs", headers={"Origin": origin})).status_code == 201, origin
    assert (await user.post("/keypairs")).status_code == 201


@pytest.mark.parametrize("planted", [1, 4, 40])
async def test_planted_cookies_do_not_hide_the_right_one(api: Api, planted: int):
    user = await sign_in(api, "user")
    mine = f"carrel_session={user.http.cookies['carrel_session']}"
    hiding = [f"carrel_session=planted{number}" for number in range(planted)]
    for cookies in ([*hiding, mine], [mine, *hiding]):
        client = await api.client(headers={"Cookie": "; ".join(cookies)})
        assert (await client.get(f"{API}/auth/me")).status_code == 200
    client.headers["X-Carrel-CSRF"] = user.http.headers["X-Carrel-CSRF"]
    assert (await client.post(f"{API}/auth/logout")).status_code == 204
    assert (await user.get("/auth/me")).status_code == 401


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/sessions", {"GET", "POST"}),
        ("/keypairs/CK1", {"DELETE", "PATCH"}),
        ("/site", {"GET", "PATCH"}),
    ],
)
async def test_allow_names_every_method_of_the_path(api: Api, path: str, allowed: set[str]):
    answer = await (await api.as_("user")).ask("PUT", path)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == allowed


async def test_metrics_are_where_scrapers_look(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    answer = await admin.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "carrel_sessions{" in answer.text
    assert (await user.http.get("/metrics")).status_code == 403
    assert (await (await api.client()).get("/metrics")).status_code == 401
