"""What sessions may write outside their folders: requested, limited by the policy, shown, and notified of."""

from datetime import timedelta
from pathlib import Path

from command_line import command_line
from databases import sql
from installation import Api
from mail_kit import mail_server
from notifications.test_webhooks import Walk, add
from webhook_receiver import receiver

from carrel.core.ids import SessionId
from carrel.sessions import updates
from carrel.site import outbox
from carrel.tables.notifications import NODE_LEAVING

GIB = 1 << 30


async def test_a_session_has_the_disk_that_it_requests_or_the_default_of_its_policy(living: Api) -> None:
    user, admin = await living.as_("user"), await living.as_("superadmin")
    usual = await user.start()
    assert (usual["disk_bytes"], usual["disk_limit_bytes"]) == (None, 20 * GIB)
    large = await user.start(disk_bytes=50 * GIB)
    assert (large["disk_bytes"], large["disk_limit_bytes"]) == (50 * GIB, 50 * GIB)
    runs = await living.until(user, large["id"], "RUNNING")
    assert living.engine.world.containers[runs["containers"][0]["id"]].spec.disk_bytes == 50 * GIB
    limits = {"default_disk_bytes": "unlimited", "max_disk_bytes": 30 * GIB}
    assert (await admin.patch("/policies/default-keypair", {"limits": limits})).status_code == 200
    refused = await user.try_start(disk_bytes=31 * GIB)
    assert (refused.status_code, refused.json()["code"]) == (422, "session.too_much_disk")
    assert (refused.json()["field"], refused.json()["details"]) == ("disk_bytes", {"most": 30 * GIB})
    assert (await user.start())["disk_limit_bytes"] == 30 * GIB
    too_little = await user.try_start(disk_bytes=1 << 20)
    assert (too_little.status_code, too_little.json()["field"]) == (422, "disk_bytes")


async def test_a_check_says_what_the_policy_allows(api: Api) -> None:
    user, admin = await api.as_("user"), await api.as_("superadmin")
    body = {"slots": {"cpu": 100, "mem": 1 << 26}}
    answer = (await user.post("/sessions/check", body)).json()
    assert answer["disk"] == {"default_bytes": 20 * GIB, "most_bytes": None}
    await admin.patch("/policies/default-keypair", {"limits": {"max_disk_bytes": 10 * GIB}})
    answer = (await user.post("/sessions/check", {**body, "disk_bytes": 11 * GIB})).json()
    assert answer["disk"] == {"default_bytes": 10 * GIB, "most_bytes": 10 * GIB}
    assert (answer["verdict"], answer["code"]) == ("never", "session.too_much_disk")


async def test_disk_on_the_command_line(living: Api, tmp_path: Path) -> None:
    user = await command_line(living, "user", tmp_path)
    made = await user.as_json("session", "create", "--image", "debian:12", "--mem", "64m", "--disk", "5GiB")
    assert made["disk_bytes"] == 5 * GIB
    assert "5 GiB" in await user.ok("session", "show", made["id"])
    assert "disk_bytes: 5368709120" in await user.ok("session", "export", made["id"])
    usual = await user.as_json("session", "create", "--image", "debian:12", "--mem", "64m")
    assert "disk_bytes" not in await user.ok("session", "export", usual["id"])
    definition = tmp_path / "job.yaml"
    definition.write_text("image: debian:12\ncpu: 0.1\nmem: 64m\ndisk_bytes: 3g\n")
    assert (await user.as_json("session", "create", "-f", str(definition)))["disk_bytes"] == 3 * GIB


async def nearly_full(api: Api, session: str, walk: Walk) -> None:
    async with api.database.transaction() as tx:
        await updates.warn(
            tx,
            SessionId(session),
            cause="disk_nearly_full",
            reason="It has written 17 GiB outside its folders, of 20 GiB.",
            now=walk.now,
        )


async def test_owners_are_notified_of_a_disk_that_is_nearly_full(api: Api) -> None:
    user, walk = await api.as_("user"), Walk(api)
    await (await api.as_("superadmin")).patch("/site", {"webhook_private_addresses": True})
    async with mail_server(api) as mail, receiver() as target:
        await add(user, target)
        await user.patch("/notifications", {"about_to_end": ["mail", "webhook"]})
        session = await user.start(name="train")
        await nearly_full(api, session["id"], walk)
        await nearly_full(api, session["id"], walk)
        assert await walk.fan_out()
        await walk.deliver()
        await outbox.send_due(api.database.transaction, walk.seal, walk.now + timedelta(seconds=1))
        letter, text = await mail.newest(1)
        assert target.types == ["session.about_to_end"]
        facts = target.received[0].message["data"]["session"]
    assert letter["Subject"] == "train: disk nearly full"
    assert "It has written 17 GiB outside its folders, of 20 GiB." in text
    assert (facts["ends_at"], facts["reason"]) == (
        None,
        "It has written 17 GiB outside its folders, of 20 GiB.",
    )
    assert facts["cause"] == "disk_nearly_full"
    # A warning of another kind is none for them.
    async with api.database.transaction() as tx:
        await updates.warn(tx, SessionId(session["id"]), cause="other", reason="Other.", now=walk.now)
    assert await sql(api.database, "SELECT 1 FROM session_notices") == []


async def test_owners_get_a_letter_about_a_node_that_is_taken_away(api: Api) -> None:
    user, walk = await api.as_("user"), Walk(api)
    reason = "Its node gpu-1 is about to be taken away (karpenter.sh/disrupted)."
    async with mail_server(api) as mail:
        await user.patch("/notifications", {"about_to_end": ["mail"]})
        session = await user.start(name="train")
        async with api.database.transaction() as tx:
            await updates.warn(tx, SessionId(session["id"]), cause=NODE_LEAVING, reason=reason, now=walk.now)
        assert await walk.fan_out()
        await outbox.send_due(api.database.transaction, walk.seal, walk.now + timedelta(seconds=1))
        letter, text = await mail.newest(1)
    assert letter["Subject"] == "train: its node will be taken away"
    assert reason in text
