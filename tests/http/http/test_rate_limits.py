"""How many requests somebody may make."""

import re

import pytest
from installation import API, Api, Caller, document

from carrel.db.database import Database
from carrel.http.rate_limits import RateLimits, TooManyRequests
from carrel.permissions.actions import ACTIONS
from carrel.site.schemas import SiteSettings


async def test_every_answer_says_what_is_left(api: Api):
    user = await api.as_("user")
    first, second = await user.get("/images"), await user.get("/images")
    assert first.headers["x-ratelimit-limit"] == str(SiteSettings().api_rate_limit)
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in (first, second)]
    assert left[1] == left[0] - 1
    assert 0 < int(first.headers["x-ratelimit-reset"]) <= 900


async def test_a_keypair_with_a_limit_is_stopped_at_it_and_others_are_not(api: Api):
    user, admin = await api.browser("user"), await api.as_("superadmin")
    made = (await user.post("/keypairs")).json()
    await admin.patch(f"/keypairs/{made['access_key']}", {"rate_limit": 3})
    script = Caller("script", None, await api.client(auth=(made["access_key"], made["secret_key"])))
    answers = [await script.get("/images") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[3].json()["code"] == "rate.limited"
    assert 0 < int(answers[3].headers["retry-after"]) <= 900
    assert (await user.get("/images")).status_code == 200


async def test_guessing_keypairs_is_stopped_by_address(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carrel.http.auth.ANONYMOUS_LIMIT", 5)
    guesser = await api.client(auth=("CK000000000000000000", "wrong"))
    statuses = [(await guesser.get(f"{API}/images")).status_code for _ in range(7)]
    assert statuses == [401] * 5 + [429] * 2
    assert (await (await api.as_("user")).get("/images")).status_code == 200


async def test_what_is_for_everybody_is_limited_by_address(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carrel.http.auth.ANONYMOUS_LIMIT", 0)
    passer_by = Caller("anonymous", None, await api.client())
    got = {}
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            action = operation["x-carrel-action"]
            if ACTIONS[action].public and action != "server.health":
                place = re.sub(r"{[^}]*}", "nonesuch", path.removeprefix(API))
                answer = await passer_by.ask(method.upper(), place, json={})
                got[operation["operationId"]] = answer.status_code
    assert got
    assert set(got.values()) == {429}, got


async def test_copies_of_the_api_count_together(database: Database):
    now = 1_000_000_000.0
    here, there = RateLimits(database, lambda: now), RateLimits(database, lambda: now)
    for _ in range(3):
        here.count("somebody", 5)
    there.count("somebody", 5)
    await here.share()
    await there.share()
    there.count("somebody", 5)
    with pytest.raises(TooManyRequests):
        there.count("somebody", 5)


async def test_a_quarter_of_an_hour_later_all_is_there_again(database: Database):
    now = 900.0 * 1_000_000
    counting = RateLimits(database, lambda: now)
    counting.count("somebody", 1)
    with pytest.raises(TooManyRequests) as refused:
        counting.count("somebody", 1)
    now += float(str(refused.value.details["retry_after_s"]))
    assert counting.count("somebody", 1).remaining == 0
