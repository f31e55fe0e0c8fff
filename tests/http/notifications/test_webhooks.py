"""Webhooks of users, projects and domains, delivered to a real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from auth_kit import set_site
from databases import sql
from installation import Api, Caller
from people import eventually
from session_kit import request
from sqlalchemy.ext.asyncio import AsyncSession
from webhook_receiver import Receiver, is_genuine, receiver

from carrel.core.ids import SessionId
from carrel.db.encryption import SecretBox
from carrel.notifications import deliveries, fan_out
from carrel.sessions import updates


@pytest.fixture
async def target() -> AsyncIterator[Receiver]:
    async with receiver() as one:
        yield one


async def add(caller: Caller, target: Receiver, **fields: object) -> dict[str, Any]:
    answer = await caller.post("/webhooks", {"name": "chat", "url": f"{target.url}/hook", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def listed(caller: Caller, webhook: str) -> list[dict[str, Any]]:
    return (await caller.get(f"/webhooks/{webhook}/deliveries")).json()["items"]  # type: ignore[no-any-return]


async def in_state(caller: Caller, webhook: str, state: str) -> dict[str, Any]:
    """Its newest delivery, once it is in this state."""

    async def reached() -> dict[str, Any] | None:
        newest = (await listed(caller, webhook))[0]
        return newest if newest["state"] == state else None

    return await eventually(reached)  # type: ignore[return-value]


async def test_a_session_is_reported_to_its_owner_project_and_domain(living: Api, target: Receiver):
    await set_site(living, webhook_private_addresses=True)
    user, admin = await living.as_("user"), await living.as_("superadmin")
    own = await add(user, target, url=f"{target.url}/own")
    await add(admin, target, url=f"{target.url}/project", project=living.people.project, kinds=["failed"])
    await add(admin, target, url=f"{target.url}/domain", domain=living.people.domain, kinds=["ended"])
    await add(admin, target, url=f"{target.url}/other", project=living.people.other_project)
    failing = await user.post("/sessions", request(kind="batch", command=["sh", "-c", "exit 3"]))
    await living.until(user, failing.json()["id"], "TERMINATED")
    passing = await user.post("/sessions", request(kind="batch", command=["sh", "-c", "exit 0"]))
    await living.until(user, passing.json()["id"], "TERMINATED")

    def all_there() -> bool:
        return len(target.received) == 6

    await eventually(all_there)
    came = sorted((one.path, one.message["type"]) for one in target.received)
    assert came == [
        ("/domain", "session.ended"),
        ("/own", "session.ended"),
        ("/own", "session.failed"),
        ("/own", "session.started"),
        ("/own", "session.started"),
        ("/project", "session.failed"),
    ]
    mine = [one for one in target.received if one.path == "/own"]
    assert all(is_genuine(one.headers, one.body, own["secret"]) for one in mine)
    assert not is_genuine(mine[0].headers, mine[0].body + b" ", own["secret"])
    [failed] = [one.message["data"]["session"] for one in mine if one.message["type"] == "session.failed"]
    assert failed["id"] == failing.json()["id"]
    assert (failed["state"], failed["result"]) == ("TERMINATED", "failure")
    assert failed["owner"] == {"id": living.people.user.user_id, "email": "user@example.org"}
    assert failed["url"].endswith(f"/sessions?state=all&session={failed['id']}")


async def test_a_test_shows_the_response_and_redirects_are_not_followed(living: Api, target: Receiver):
    await set_site(living, webhook_private_addresses=True)
    user = await living.as_("user")
    webhook = (await add(user, target))["id"]
    assert (await user.post(f"/webhooks/{webhook}/test")).status_code == 202
    done = await in_state(user, webhook, "delivered")
    assert (done["attempts"], done["status_code"], done["error"], done["next_at"]) == (1, 204, None, None)
    assert target.received[0].message == {
        "type": "webhook.test",
        "timestamp": target.received[0].message["timestamp"],
        "data": {},
    }
    target.statuses = [302]
    await user.post(f"/webhooks/{webhook}/test")

    async def tried() -> dict[str, Any] | None:
        newest = (await listed(user, webhook))[0]
        return newest if newest["attempts"] else None

    failed = await eventually(tried)
    assert failed
    assert (failed["state"], failed["status_code"]) == ("pending", 302)
    assert failed["error"] == "The receiver responded with 302."
    # Redelivered at once, with the same id and body.
    await user.post(f"/webhooks/{webhook}/deliveries/{failed['id']}/redeliver")
    await in_state(user, webhook, "delivered")
    assert {one.path for one in target.received} == {"/hook"}
    _, first, second = target.received
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    shown = (await user.get(f"/webhooks/{webhook}/deliveries/{failed['id']}")).json()
    assert shown["body"].encode() == second.body


async def test_without_the_setting_nothing_private_is_reached(living: Api, target: Receiver):
    user = await living.as_("user")
    webhook = (await add(user, target))["id"]
    await user.post(f"/webhooks/{webhook}/test")

    async def tried() -> str | None:
        return (await listed(user, webhook))[0]["error"]

    assert await eventually(tried) == "127.0.0.1 is a private address or the installation's own."
    assert target.received == []


async def test_only_its_administrators_see_and_change_it(api: Api, target: Receiver):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    project = (await add(admin, target, project=api.people.project))["id"]
    own = (await add(user, target))["id"]
    for caller, webhook in (
        (user, project),
        (await api.as_("colleague"), own),
        (await api.as_("stranger"), own),
    ):
        for method, path in (
            ("GET", ""),
            ("PATCH", ""),
            ("DELETE", ""),
            ("POST", "/test"),
            ("GET", "/deliveries"),
            ("GET", "/deliveries/x"),
            ("POST", "/deliveries/x/redeliver"),
        ):
            body = {"json": {}} if method == "PATCH" else {}
            answer = await caller.ask(method, f"/webhooks/{webhook}{path}", **body)
            assert answer.json()["code"] == "webhook.not_found", (method, path)
    refused = await user.post("/webhooks", {"name": "x", "url": target.url, "project": api.people.project})
    assert refused.json()["code"] == "policy.forbidden"
    listed = await admin.get("/webhooks", params={"project": api.people.project})
    assert [one["id"] for one in listed.json()["items"]] == [project]
    assert [one["id"] for one in (await user.get("/webhooks")).json()["items"]] == [own]
    assert '"secret"' not in (await user.get("/webhooks")).text
    assert (await admin.delete(f"/webhooks/{project}")).status_code == 204
    audited = await sql(
        api.database,
        "SELECT action, details::text FROM audit WHERE action LIKE 'webhook.%' AND outcome = 'done'",
    )
    assert {action for action, _ in audited} == {"webhook.create", "webhook.remove"}
    assert "whsec_" not in str(audited)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"url": "ftp://example.org"}, "url"),
        ({"url": "http://"}, "url"),
        ({"url": "https://ada:secret@example.org/"}, "url"),
        ({"url": "https://example.org/#part"}, "url"),
        ({"url": "https://example.org:99999/"}, "url"),
        ({"kinds": []}, "kinds"),
        ({"kinds": ["paused"]}, "kinds.0"),
        ({"secret": "whsec_short"}, "secret"),
        ({"project": "default", "domain": "default"}, "domain"),
    ],
)
async def test_what_makes_no_sense_is_refused(api: Api, fields: dict[str, Any], field: str):
    caller = await api.as_("superadmin")
    answer = await caller.post("/webhooks", {"name": "x", "url": "https://example.org/", **fields})
    assert (answer.status_code, answer.json()["field"]) == (422, field), answer.text


class Walk:
    """Steps fan-out and delivery by hand, at a time of its own; may die between attempt and result."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.seal = SecretBox(api.services.settings.key())
        self.now = datetime.now(UTC)
        self.transactions_left: int | None = None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        if self.transactions_left == 0:
            raise KeyboardInterrupt
        if self.transactions_left:
            self.transactions_left -= 1
        async with self._api.database.transaction() as tx:
            yield tx

    async def fan_out(self) -> bool:
        async with self.transaction() as tx:
            return await fan_out.step(tx, self.seal, "https://carrel.example.org", self.now)

    async def deliver(self, *, dies: bool = False) -> timedelta | None:
        self.transactions_left = 1 if dies else None
        try:
            return await deliveries.send_due(self.transaction, self.seal, lambda: self.now)
        except KeyboardInterrupt:
            return None
        finally:
            self.transactions_left = None


async def warned(api: Api, session: str, walk: Walk) -> None:
    """A session that runs and is about to be ended."""
    await sql(
        api.database, "UPDATE sessions SET state = 'RUNNING', started_at = now() WHERE id = :id", id=session
    )
    async with api.database.transaction() as tx:
        await updates.expect_idle_end(
            tx,
            SessionId(session),
            walk.now + timedelta(minutes=5),
            now=walk.now,
            cause="idle_warning",
            reason="It looks idle.",
        )


async def test_a_delivery_survives_a_crash_and_keeps_its_id(api: Api, target: Receiver):
    await set_site(api, webhook_private_addresses=True)
    user, walk = await api.as_("user"), Walk(api)
    webhook = (await add(user, target))["id"]
    session = await user.start()
    await warned(api, session["id"], walk)

    # 1. Killed before the commit: the notice stays.
    async def killed() -> None:
        async with walk.transaction() as tx:
            assert await fan_out.step(tx, walk.seal, "", walk.now)
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        await killed()
    assert await listed(user, webhook) == []
    assert await walk.fan_out()
    assert not await walk.fan_out()
    # 2. Killed after the receiver has it and before the result is stored: it comes again, with the same id.
    await walk.deliver(dies=True)
    assert (await listed(user, webhook))[0]["attempts"] == 0
    await walk.deliver()
    assert target.types == ["session.about_to_end"] * 2
    assert len({one.headers["webhook-id"] for one in target.received}) == 1
    assert [one["state"] for one in await listed(user, webhook)] == ["delivered"]
    assert target.received[0].message["data"]["session"]["ends_at"] is not None


async def test_it_is_retried_for_about_a_day_and_then_given_up(api: Api, target: Receiver):
    await set_site(api, webhook_private_addresses=True)
    user, walk = await api.as_("user"), Walk(api)
    webhook = (await add(user, target))["id"]
    await user.post(f"/webhooks/{webhook}/test")
    target.statuses = [500] * 50
    begin = walk.now
    while (pause := await walk.deliver()) is not None:
        assert pause > timedelta(0)
        walk.now += pause
    assert timedelta(hours=23) < walk.now - begin < timedelta(hours=30)
    [given_up] = await listed(user, webhook)
    assert (given_up["state"], given_up["attempts"], given_up["status_code"]) == ("failed", 11, 500)
    assert (await user.get(f"/webhooks/{webhook}")).json()["failed"] == 1
    assert len({one.headers["webhook-id"] for one in target.received}) == 1
    assert len({one.headers["webhook-timestamp"] for one in target.received}) == 11


async def test_webhooks_of_whom_is_gone_stop(api: Api, target: Receiver):
    await set_site(api, webhook_private_addresses=True)
    user, admin, walk = await api.as_("user"), await api.as_("superadmin"), Walk(api)
    own = (await add(user, target, url=f"{target.url}/own"))["id"]
    project = (await add(admin, target, url=f"{target.url}/project", project=api.people.project))["id"]
    off = (await add(admin, target, url=f"{target.url}/off", domain=api.people.domain))["id"]
    session = await user.start()
    for webhook in (own, project, off):
        await admin.post(f"/webhooks/{webhook}/test") if webhook != own else await user.post(
            f"/webhooks/{webhook}/test"
        )
    assert (await admin.patch(f"/webhooks/{off}", {"active": False})).json()["active"] is False
    assert (await admin.post(f"/webhooks/{off}/test")).json()["code"] == "webhook.inactive"
    await warned(api, session["id"], walk)
    await sql(api.database, "UPDATE users SET state = 'inactive' WHERE email = 'user@example.org'")
    await sql(api.database, "UPDATE projects SET archived_at = now() WHERE id = :id", id=api.people.project)
    await walk.fan_out()
    assert await walk.deliver() is None
    assert target.received == []
    walk.now += timedelta(days=2)
    await walk.deliver()
    states = await sql(api.database, "SELECT state, error FROM webhook_deliveries")
    assert states == [("failed", "The webhook is not in use.")] * 3


async def test_one_hanging_receiver_does_not_keep_the_others(
    api: Api, target: Receiver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("carrel.notifications.sending.TIMEOUT_S", 3600.0)
    await set_site(api, webhook_private_addresses=True)
    user, walk = await api.as_("user"), Walk(api)
    async with receiver() as hanging:
        hanging.hangs = True
        slow, fast = (await add(user, hanging))["id"], (await add(user, target))["id"]
        for _ in range(6):
            await user.post(f"/webhooks/{slow}/test")
        await user.post(f"/webhooks/{fast}/test")
        walk.now += timedelta(seconds=1)
        sending = asyncio.create_task(walk.deliver())
        try:
            await eventually(lambda: target.received)
        finally:
            sending.cancel()
            await asyncio.wait([sending])


async def test_a_receiver_that_hangs_is_given_up(api: Api, target: Receiver, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carrel.notifications.sending.TIMEOUT_S", 0.2)
    await set_site(api, webhook_private_addresses=True)
    user, walk = await api.as_("user"), Walk(api)
    target.hangs = True
    hook = (await add(user, target))["id"]
    await user.post(f"/webhooks/{hook}/test")
    walk.now += timedelta(seconds=1)
    await walk.deliver()
    assert [one["error"] for one in await listed(user, hook)] == ["No response within 0 s."]


async def test_both_secrets_sign_during_the_overlap_and_only_the_new_one_after_it(api: Api, target: Receiver):
    await set_site(api, webhook_private_addresses=True)
    user, walk = await api.as_("user"), Walk(api)
    made = await add(user, target)
    place = f"/webhooks/{made['id']}"

    async def signed_by(*secrets: str) -> list[bool]:
        await user.post(f"{place}/test")
        walk.now += timedelta(seconds=2)
        await walk.deliver()
        last = target.received[-1]
        return [is_genuine(last.headers, last.body, secret) for secret in secrets]

    answer = await user.post(f"{place}/rotate", {"overlap_s": 3600})
    rotated = answer.json()
    old, new = made["secret"], rotated["secret"]
    assert old != new
    assert (await user.get(place)).json()["old_secret_until"] == rotated["old_secret_until"] is not None
    assert await signed_by(old, new) == [True, True]
    walk.now += timedelta(hours=1)
    assert await signed_by(old, new) == [False, True]
    async with api.database.transaction() as tx:
        await deliveries.prune(tx, walk.now)
    assert await sql(api.database, "SELECT old_secret, old_secret_until FROM webhooks") == [(None, None)]
    # After a leak, nothing is signed by the secret before; nor by one that was rotated in the overlap.
    newer = (await user.post(f"{place}/rotate", {})).json()["secret"]
    newest = (await user.post(f"{place}/rotate", {"overlap_s": 0})).json()
    assert newest["old_secret_until"] is None
    assert await signed_by(old, new, newer, newest["secret"]) == [False, False, False, True]
    colleague = await api.as_("colleague")
    assert (await colleague.post(f"{place}/rotate", {})).status_code == 404
    assert (await user.post(f"{place}/rotate", {"overlap_s": 604801})).json()["field"] == "overlap_s"
    audited = await sql(
        api.database, "SELECT details::text FROM audit WHERE action = 'webhook.update' AND outcome = 'done'"
    )
    assert len(audited) == 3
    assert "whsec_" not in str(audited)
