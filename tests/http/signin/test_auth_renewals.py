"""The token of a page's sign-in is exchanged when what its person may do changes, and they notice nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import httpx2
import pytest
from auth_kit import sign_in, wind
from databases import sql
from events_kit import following
from installation import API, Api, Caller
from people import eventually

from carrel.events import routes
from carrel.http.auth import COOKIE
from carrel.signin.logins.renewals import OVERLAP, PATIENCE

Change = Callable[[Api], Awaitable[httpx2.Response]]


async def appoint(api: Api, *, admin: bool = True) -> httpx2.Response:
    path = f"/projects/{api.people.project}/members/user@example.org"
    answer = await (await api.as_("superadmin")).patch(path, {"admin": admin})
    assert answer.status_code == 200, answer.text
    return answer


async def dismiss(api: Api) -> httpx2.Response:
    return await appoint(api, admin=False)


async def enrol(api: Api) -> httpx2.Response:
    body = {"users": ["user@example.org"], "admin": True}
    return await (await api.as_("superadmin")).post(f"/projects/{api.people.project}/members", body)


async def expel(api: Api) -> httpx2.Response:
    path = f"/projects/{api.people.project}/members/user@example.org"
    return await (await api.as_("superadmin")).delete(path)


def token_of(caller: Caller) -> str:
    return str(caller.http.cookies[COOKIE])


async def bearing(api: Api, token: str, path: str = "/auth/me") -> httpx2.Response:
    """What a request with this cookie is answered, of which the browser then gets nothing."""
    client = await api.client(headers={"Cookie": f"{COOKIE}={token}"})
    return await client.get(API + path)


@pytest.mark.parametrize(
    ("change", "officer"),
    [
        (appoint, False),
        (enrol, False),
        (dismiss, True),
        (expel, True),
    ],
)
async def test_an_office_exchanges_the_token_and_nothing_else(api: Api, change: Change, officer: bool):
    user, colleague = await sign_in(api, "user"), await sign_in(api, "colleague")
    if officer:
        await sql(api.database, "UPDATE memberships SET admin = true")
        await sql(api.database, "UPDATE logins SET renewal_due = false")
        wind(api)
    before, shown = token_of(user), (await user.get("/logins")).json()["items"]
    others = token_of(colleague)
    assert token_of(user) == before, "without a change it stays"
    assert (await change(api)).status_code == 200
    answer = await user.get("/auth/me")
    assert (answer.status_code, token_of(user) == before) == (200, False)
    [cookie] = answer.headers.get_list("set-cookie")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    after = (await user.get("/logins")).json()["items"]
    assert after == shown, "the same sign-in, in one row"
    # The CSRF token that the page has goes on being good.
    assert (await user.post("/keypairs", {})).status_code == 201
    assert (await user.post("/auth/logout")).status_code == 204
    await colleague.get("/auth/me")
    assert token_of(colleague) == others, "nobody else's"


async def test_one_who_changes_their_own_role_keeps_the_sign_in_with_another_token(api: Api):
    await sql(api.database, "UPDATE users SET role = 'superadmin' WHERE email = 'user@example.org'")
    user = await sign_in(api, "user")
    before = token_of(user)
    changed = await user.patch("/users/user@example.org", {"role": "user"})
    assert changed.status_code == 200, changed.text
    assert (await user.get("/auth/me")).status_code == 200
    assert token_of(user) != before


async def test_the_former_token_ends_soon_after_the_new_one_was_used(api: Api):
    user = await sign_in(api, "user")
    before = token_of(user)
    await appoint(api)
    await user.get("/auth/me")
    wind(api, seconds=OVERLAP.total_seconds() + 1)
    assert (await bearing(api, before)).status_code == 200, "nobody has used the new one yet"
    await user.get("/auth/me")
    late = await bearing(api, before)
    assert (late.status_code, "set-cookie" in late.headers) == (200, False)
    wind(api, seconds=OVERLAP.total_seconds() + 1)
    assert (await bearing(api, before)).json()["code"] == "auth.required"
    assert (await user.get("/auth/me")).status_code == 200


async def test_requests_side_by_side_lead_to_one_sign_in(api: Api):
    user = await sign_in(api, "user")
    before = token_of(user)
    await appoint(api)
    answers = await asyncio.gather(*(bearing(api, before) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    [after] = {answer.cookies[COOKIE] for answer in answers}
    assert after != before
    answers = await asyncio.gather(*(bearing(api, token, "/logins") for token in [before, after] * 4))
    assert [len(answer.json()["items"]) for answer in answers] == [1] * 8
    assert all(answer.json()["items"][0]["current"] for answer in answers)
    assert "set-cookie" not in (await bearing(api, after)).headers


async def test_a_lost_answer_signs_nobody_out(api: Api):
    user = await sign_in(api, "user")
    before = token_of(user)
    await appoint(api)
    lost = (await bearing(api, before)).cookies[COOKIE]
    wind(api, seconds=(PATIENCE - timedelta(minutes=1)).total_seconds())
    assert token_of(user) == before
    assert (await user.get("/auth/me")).status_code == 200
    assert token_of(user) == lost, "it is offered once more"
    assert (await user.get("/auth/me")).status_code == 200


async def test_a_token_that_nobody_comes_to_fetch_ends_the_former_too(api: Api):
    user = await sign_in(api, "user")
    before = token_of(user)
    await appoint(api)
    wind(api, hours=20)
    after = (await bearing(api, before)).cookies[COOKIE]
    wind(api, seconds=PATIENCE.total_seconds() + 1)
    assert (await bearing(api, before)).status_code == 401
    assert (await bearing(api, after)).status_code == 200


async def test_a_second_change_exchanges_it_again_when_the_first_is_through(api: Api):
    user = await sign_in(api, "user")
    first = token_of(user)
    await appoint(api)
    await user.get("/auth/me")
    second = token_of(user)
    await dismiss(api)
    await user.get("/auth/me")
    assert (await bearing(api, first)).status_code == 200, "requests under way"
    assert token_of(user) == second
    wind(api, seconds=OVERLAP.total_seconds() + 1)
    await user.get("/auth/me")
    assert token_of(user) not in (first, second)


async def test_signing_out_with_the_former_token_ends_the_sign_in(api: Api):
    user = await sign_in(api, "user")
    before = token_of(user)
    await appoint(api)
    await user.get("/auth/me")
    client = await api.client(
        headers={"Cookie": f"{COOKIE}={before}", "X-Carrel-CSRF": user.http.headers["X-Carrel-CSRF"]}
    )
    answer = await client.post(f"{API}/auth/logout")
    assert answer.status_code == 204
    assert [cookie.split(";")[0] for cookie in answer.headers.get_list("set-cookie")] == [f'{COOKIE}=""']
    assert (await user.get("/auth/me")).status_code == 401


async def test_a_stream_asks_for_no_token_and_goes_on_after_the_last_event(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    """It can bring none; it ends with the token that it began with, and the browser comes back with the other."""
    monkeypatch.setattr(routes, "PING_S", 0.1)
    user = await sign_in(api, "user")
    async with following(user) as stream:
        await appoint(api)
        last = await stream.until("user.updated")
        going_on = asyncio.create_task(stream.frame())
        await eventually(lambda: stream.pings >= 4)
        assert await sql(api.database, "SELECT renewal_due, offered FROM logins") == [(True, None)]
        for _ in range(2):
            assert (await user.get("/auth/me")).status_code == 200
        wind(api, seconds=OVERLAP.total_seconds() + 1)
        assert await going_on is None
    await dismiss(api)
    async with following(user, headers={"Last-Event-ID": last.id}) as stream:
        assert (await stream.until("user.updated")).data["object"]["id"] == api.people.user.user_id
