"""Which notifications reach a user, and the mails."""

from datetime import timedelta

import pytest
from databases import sql
from installation import Api
from mail_kit import mail_server
from notifications.test_webhooks import Walk, add, warned
from webhook_receiver import receiver

from carrel.core.ids import SessionId
from carrel.sessions import updates
from carrel.site import outbox

DEFAULT = ["page", "webhook"]


async def test_choices_are_stored_per_kind_and_audited(api: Api):
    user = await api.as_("user")
    shown = (await user.get("/notifications")).json()
    of_sessions = dict.fromkeys(("started", "ended", "failed", "about_to_end", "shared"), DEFAULT)
    device_kinds = {"device_out_of_order": ["page", "mail", "webhook"], "device_back": DEFAULT}
    assert shown == of_sessions | device_kinds
    changed = await user.patch("/notifications", {"failed": ["mail", "page", "mail"], "ended": []})
    assert changed.json() == {**shown, "failed": ["page", "mail"], "ended": []}
    await user.patch("/notifications", {"ended": []})
    colleague = await api.as_("colleague")
    assert (await colleague.get("/notifications")).json() == shown
    audited = await sql(api.database, "SELECT details FROM audit WHERE action = 'notification.update'")
    assert audited == [
        (
            {
                "before": {"ended": DEFAULT, "failed": DEFAULT},
                "after": {"ended": [], "failed": ["page", "mail"]},
            },
        )
    ]


@pytest.mark.parametrize("body", [{"paused": []}, {"failed": ["pigeon"]}, {"failed": None}])
async def test_unknown_kinds_and_channels_are_refused(api: Api, body: dict):  # type: ignore[type-arg]
    assert (await (await api.as_("user")).patch("/notifications", body)).status_code == 422


async def test_mail_is_sent_once_and_only_for_what_was_chosen(api: Api):
    user, walk = await api.as_("user"), Walk(api)
    async with mail_server(api) as mail:
        await user.patch("/notifications", {"about_to_end": ["mail"]})
        await user.patch("/auth/me", {"preferences": {"language": "ja"}})
        session = await user.start(name="train")
        await warned(api, session["id"], walk)
        assert await walk.fan_out()
        assert not await walk.fan_out()
        await user.delete(f"/sessions/{session['id']}")
        await walk.fan_out()
        await outbox.send_due(api.database.transaction, walk.seal, walk.now + timedelta(seconds=1))
        letter, text = await mail.newest(1)
    assert letter["To"] == "user@example.org"
    assert letter["Subject"] == "train はまもなく終了します"
    assert f"https://carrel.example.org/sessions?state=all&session={session['id']}" in text


async def test_the_mail_before_a_time_limit_says_so(api: Api):
    user, walk = await api.as_("user"), Walk(api)
    async with mail_server(api) as mail:
        await user.patch("/notifications", {"about_to_end": ["mail"]})
        session = await user.start(name="train")
        await sql(api.database, "UPDATE sessions SET state = 'RUNNING' WHERE id = :id", id=session["id"])
        async with api.database.transaction() as tx:
            for _ in range(2):
                await updates.expect_limit_end(
                    tx,
                    SessionId(session["id"]),
                    walk.now + timedelta(minutes=5),
                    now=walk.now,
                    reason="It reaches its time limit.",
                )
        await walk.fan_out()
        await outbox.send_due(api.database.transaction, walk.seal, walk.now + timedelta(seconds=1))
        letter, text = await mail.newest(1)
    assert letter["Subject"] == "train will reach its time limit soon"
    assert "extend the limit" in " ".join(text.split())


async def test_an_own_webhook_gets_only_what_was_chosen(api: Api):
    user, walk = await api.as_("user"), Walk(api)
    async with receiver() as target:
        await add(user, target)
        await user.patch("/notifications", {"about_to_end": ["page"]})
        session = await user.start()
        await warned(api, session["id"], walk)
        assert await walk.fan_out()
    assert await sql(api.database, "SELECT 1 FROM webhook_deliveries") == []


async def test_nothing_is_written_where_nobody_has_chosen_anything(api: Api):
    user, walk = await api.as_("user"), Walk(api)
    session = await user.start()
    await warned(api, session["id"], walk)
    assert await sql(api.database, "SELECT 1 FROM session_notices") == []
