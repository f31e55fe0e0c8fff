"""Superadmins are told of accelerators by mail and webhook, as they have chosen."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

from auth_kit import set_site
from databases import sql
from installation import Api
from mail_kit import mail_server
from node_kit import join, machine
from notifications.test_webhooks import Walk, add
from webhook_receiver import is_genuine, receiver

from carrel.controllers import device_health
from carrel.controllers.loop import Tools
from carrel.core.ids import NodeId
from carrel.nodes.device_conditions import HealthChange
from carrel.site import outbox

KINDS = ["device_out_of_order", "device_back"]
HOT, FINE = "It is hot.", ""


async def announce(api: Api, walk: Walk, *problems: str) -> None:
    """As the controller does with what it found in the transaction. problems: of npu0, npu1 and so on."""
    [(node,)] = await sql(api.database, "SELECT id FROM nodes")
    tools = cast(Tools, SimpleNamespace(seal=walk.seal, public_url="https://carrel.example.org/"))
    changes = [
        HealthChange(NodeId(node), "local", f"npu{number}", "Accelerator 3", not problem, problem)
        for number, problem in enumerate(problems)
    ]
    async with api.database.transaction() as tx:
        await device_health.announce(tx, tools, changes, walk.now)


async def letters(api: Api) -> int:
    [(number,)] = await sql(api.database, "SELECT count(*) FROM outbox")
    return cast(int, number)


async def test_webhooks_of_superadmins_get_each_device_signed_and_again_after_a_failure(api: Api):
    await set_site(api, webhook_private_addresses=True)
    await join(api.database, machine("local"))
    admin, walk = await api.as_("superadmin"), Walk(api)
    async with receiver() as target:
        own = await add(admin, target, kinds=KINDS)
        target.statuses = [503]
        await announce(api, walk, HOT)
        pause = await walk.deliver()
        assert pause
        walk.now += pause
        await walk.deliver()
        await announce(api, walk, FINE, FINE)
        await walk.deliver()
    first, again, *back = target.received
    assert (first.headers["webhook-id"], first.body) == (again.headers["webhook-id"], again.body)
    assert all(is_genuine(one.headers, one.body, own["secret"]) for one in target.received)
    [(node,)] = await sql(api.database, "SELECT id FROM nodes")
    assert first.message["type"] == "device.out_of_order"
    assert first.message["data"] == {
        "device": {
            "id": "npu0",
            "model": "Accelerator 3",
            "problem": HOT,
            "node": {"id": node, "name": "local"},
            "url": "https://carrel.example.org/resources",
        }
    }
    came = [(one.message["type"], one.message["data"]["device"]["id"]) for one in back]
    assert sorted(came) == [("device.back", "npu0"), ("device.back", "npu1")]


async def test_nobody_else_is_told_and_not_what_was_not_chosen(api: Api):
    await join(api.database, machine("local"))
    admin, walk = await api.as_("superadmin"), Walk(api)
    async with receiver() as target:
        every: dict[str, Any] = {"kinds": KINDS}
        await sql(
            api.database, "UPDATE users SET role = 'domain_admin' WHERE email = 'colleague@example.org'"
        )
        for person in ("user", "colleague"):
            await add(await api.as_(person), target, **every)
        await add(admin, target, project=api.people.project, **every)
        await add(admin, target, domain=api.people.domain, **every)
        # Its kinds are those of sessions.
        assert (await add(admin, target))["kinds"] == ["about_to_end", "ended", "failed", "shared", "started"]
        await announce(api, walk, HOT, FINE)
        assert await sql(api.database, "SELECT 1 FROM webhook_deliveries") == []
        await add(admin, target, **every)
        await admin.patch("/notifications", {"device_back": ["page"]})
        await announce(api, walk, HOT, FINE)
    assert await sql(api.database, "SELECT type FROM webhook_deliveries") == [("device.out_of_order",)]


async def test_mails_are_in_the_language_of_each_and_by_choice(api: Api):
    await join(api.database, machine("local"))
    admin, walk = await api.as_("superadmin"), Walk(api)
    async with mail_server(api) as mail:
        await announce(api, walk, FINE)
        assert await letters(api) == 0
        await announce(api, walk, HOT, HOT)
        assert await letters(api) == 1
        await outbox.send_due(api.database.transaction, walk.seal, walk.now + timedelta(seconds=1))
        letter, text = await mail.newest(1)
        assert letter["Subject"] == "Accelerators out of order"
        assert "local: Accelerator 3 (npu1): It is hot." in " ".join(text.split())
        await admin.patch("/notifications", {"device_out_of_order": ["page"], "device_back": ["mail"]})
        await admin.patch("/auth/me", {"preferences": {"language": "ko"}})
        await announce(api, walk, HOT, FINE)
        await outbox.send_due(api.database.transaction, walk.seal, walk.now + timedelta(seconds=1))
        letter, text = await mail.newest(2)
    assert letter["Subject"] == "가속기 복구"
    assert "local: Accelerator 3 (npu1) " in " ".join(text.split())
