"""Every setting of the site changes something: a setting without an entry in this walk fails."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from audit_kit import seal
from auth_kit import ADA, login, open_sign_up, post, set_site, sign_in, wind
from databases import sql
from files_kit import folder
from installation import API, Api, Caller
from mail_kit import mail_server
from node_kit import join
from notifications.test_webhooks import Walk, add
from people import PASSWORD
from webhook_receiver import receiver

from carrel.controllers.housekeeping import Housekeeping
from carrel.core.clock import SystemClock
from carrel.core.ids import LOCAL_ENGINE
from carrel.engines.port import NodeInfo
from carrel.image_scans import scan_tasks
from carrel.images.image_updates import due_checks
from carrel.images.node_images import prune
from carrel.nodes.host_load import HostLoad
from carrel.signin.logins import sign_up
from carrel.site import service as site
from carrel.site.schemas import SiteUpdate
from carrel.usage import history

NEW = "Quite another 4ever"
CHECKS: dict[str, Callable[[Api], Awaitable[None]]] = {}


def shows(*names: str) -> Callable[[Callable[[Api], Awaitable[None]]], Callable[[Api], Awaitable[None]]]:
    """Registers what shows the effect of settings."""

    def register(check: Callable[[Api], Awaitable[None]]) -> Callable[[Api], Awaitable[None]]:
        CHECKS.update(dict.fromkeys(names, check))
        return check

    return register


@pytest.mark.parametrize("name", sorted(SiteUpdate.model_fields))
async def test_each_setting_changes_something(api: Api, name: str):
    assert name in CHECKS, f"write down here what the setting {name} changes"
    await CHECKS[name](api)


def test_nothing_is_walked_that_is_no_setting():
    assert set(CHECKS) <= set(SiteUpdate.model_fields)


async def refusals(api: Api, password: str) -> list[str]:
    """Why a new password is refused."""
    answer = await (await sign_in(api, "user")).post("/auth/password", {"current": PASSWORD, "new": password})
    assert answer.status_code == 422, answer.text
    return answer.json()["details"]["broken"]  # type: ignore[no-any-return]


@shows("password_min_length")
async def _min_length(api: Api) -> None:
    assert "password.too_short" not in await refusals(api, "password12")
    await set_site(api, password_min_length=40)
    assert "password.too_short" in await refusals(api, "password12")


@shows("password_classes")
async def _classes(api: Api) -> None:
    assert "password.too_plain" not in await refusals(api, "password12")
    await set_site(api, password_classes=4)
    assert "password.too_plain" in await refusals(api, "password12")


@shows("password_refuse_common")
async def _refuse_common(api: Api) -> None:
    await set_site(api, password_min_length=60)
    assert "password.too_common" in await refusals(api, "password12")
    await set_site(api, password_refuse_common=False)
    assert "password.too_common" not in await refusals(api, "password12")


@shows("password_history")
async def _history(api: Api) -> None:
    assert await refusals(api, PASSWORD) == ["password.former"]
    await set_site(api, password_history=0)
    user = await sign_in(api, "user")
    assert (await user.post("/auth/password", {"current": PASSWORD, "new": NEW})).status_code == 200
    user = await sign_in(api, "user", NEW)
    assert (await user.post("/auth/password", {"current": NEW, "new": PASSWORD})).status_code == 200


@shows("lock_attempts", "lock_minutes")
async def _lock(api: Api) -> None:
    await set_site(api, lock_attempts=3, lock_minutes=60)
    assert [await login(api, "wrong") for _ in range(3)] == [401] * 3
    assert await login(api, PASSWORD) == 429
    wind(api, minutes=30)
    assert await login(api, PASSWORD) == 429
    wind(api, minutes=31)
    assert await login(api, PASSWORD) == 200


@shows("lock_address_attempts")
async def _lock_address(api: Api) -> None:
    await set_site(api, lock_address_attempts=3)
    assert [await login(api, "wrong", f"nobody{n}@example.org") for n in range(3)] == [401] * 3
    assert await login(api, PASSWORD) == 429


@shows("login_idle_minutes")
async def _idle(api: Api) -> None:
    await set_site(api, login_idle_minutes=30)
    user = await sign_in(api, "user")
    wind(api, minutes=31)
    assert (await user.get("/auth/me")).status_code == 401


@shows("login_lifetime_hours")
async def _lifetime(api: Api) -> None:
    await set_site(api, login_lifetime_hours=1)
    user = await sign_in(api, "user")
    wind(api, minutes=40)
    assert (await user.get("/auth/me")).status_code == 200
    wind(api, minutes=40)
    assert (await user.get("/auth/me")).status_code == 401


@shows("second_factor")
async def _second_factor(api: Api) -> None:
    user = await sign_in(api, "user")
    await set_site(api, second_factor="everybody")
    assert (await user.get("/sessions")).json()["code"] == "auth.pending_enrol"


async def signed_up(api: Api, email: str = "ada@example.org") -> int:
    return (await post(api, "/auth/sign-up", {**ADA, "email": email})).status_code


@shows("sign_up", "sign_up_domain", "sign_up_project", "sign_up_verification")
async def _sign_up(api: Api) -> None:
    assert await signed_up(api) == 409
    await open_sign_up(api, sign_up_verification=False)
    assert await signed_up(api) == 202
    await api.services.mailer.close()
    ada = (await (await sign_in(api, "ada", ADA["password"])).get("/auth/me")).json()
    assert [project["id"] for project in ada["projects"]] == [api.people.project]
    assert await sql(api.database, "SELECT domain_id FROM users WHERE email = 'ada@example.org'") == [
        (api.people.domain,)
    ]
    async with mail_server(api):
        await set_site(api, sign_up_verification=True)
        assert await signed_up(api, "eve@example.org") == 202
        await api.services.mailer.close()
        assert await login(api, ADA["password"], "eve@example.org") == 401


@shows("sign_up_email_domains")
async def _email_domains(api: Api) -> None:
    await open_sign_up(api, sign_up_verification=False, sign_up_email_domains=["example.com"])
    assert await signed_up(api) == 409
    assert await signed_up(api, "ada@example.com") == 202


@shows("sign_up_keep_days")
async def _keep_days(api: Api) -> None:
    async with mail_server(api):
        await open_sign_up(api)
        await signed_up(api)
        await api.services.mailer.close()

    async def kept_after(days: int) -> bool:
        async with api.database.transaction() as tx:
            await sign_up.prune(tx, api.services.clock.now() + timedelta(days=days))
        return bool(await sql(api.database, "SELECT 1 FROM users WHERE email = 'ada@example.org'"))

    await set_site(api, sign_up_keep_days=20)
    assert await kept_after(19)
    assert not await kept_after(21)


@shows("mail_host", "mail_port", "mail_tls", "mail_user", "mail_sender", "mail_password")
async def _mail(api: Api) -> None:
    admin = await api.as_("superadmin")

    async def sent(to: str = "ops@example.org") -> str | None:
        return (await admin.post("/site/test-mail", {"to": to})).json()["error"]  # type: ignore[no-any-return]

    assert await sent() == "No mail server is set."
    async with mail_server(api) as letters:
        right = (await admin.get("/site")).json()
        assert await sent() is None
        letter, _ = await letters.newest(1)
        assert letter["From"] == "carrel@example.org"
        for name, wrong in (
            ("mail_host", "127.0.0.9"),
            ("mail_port", 9),
            ("mail_tls", "tls"),
            ("mail_user", "somebody else"),
        ):
            await set_site(api, **{name: wrong})
            assert await sent() is not None, name
            await set_site(api, **{name: right[name]})
            assert await sent() is None, name
        await set_site(api, mail_sender="other@example.org")
        assert await sent() is None
        letter, _ = await letters.newest(len(letters.got))
        assert letter["From"] == "other@example.org"
        await set_site(api, mail_password="wrong")
        assert await sent() is not None


@shows("api_rate_limit")
async def _rate_limit(api: Api) -> None:
    """Of each sign-in, keypair and token, from the next request on; a keypair's own limit goes first."""
    admin, user, pair = (
        await api.as_("superadmin"),
        await api.browser("user"),
        await api.keypair(api.people.user),
    )
    script = Caller("script", None, await api.client(auth=pair))
    made = (await user.post("/tokens", {"name": "t", "scopes": ["*"]})).json()
    token = await api.client(headers={"Authorization": f"Bearer {made['token']}"})
    everyone = {"cookie": user.http, "keypair": script.http, "token": token}
    for limit in (200, 100):
        await set_site(api, api_rate_limit=limit)
        for name, client in everyone.items():
            answer = await client.get(f"{API}/images")
            assert answer.status_code == 200, (name, answer.text)
            assert answer.headers["x-ratelimit-limit"] == str(limit), name
    statuses = [(await script.get("/images")).status_code for _ in range(100)]
    assert statuses.count(429) >= 1
    assert statuses == sorted(statuses)
    assert (await user.get("/images")).status_code == 200
    assert (await admin.patch(f"/keypairs/{pair[0]}", {"rate_limit": 1000})).status_code == 200
    assert (await script.get("/images")).headers["x-ratelimit-limit"] == "1000"


@shows("nodes_visible")
async def _nodes_visible(api: Api) -> None:
    user = await api.as_("user")
    assert (await user.get("/nodes")).status_code == 403
    await set_site(api, nodes_visible=True)
    assert (await user.get("/nodes")).status_code == 200


@shows("audit_retention_days")
async def _audit_retention(api: Api) -> None:
    await sign_in(api, "user")
    await seal(api.database)
    later = api.services.clock.now() + timedelta(days=40)
    housekeeping = Housekeeping(SimpleNamespace(transaction=api.database.transaction))  # type: ignore[arg-type]

    async def is_cut() -> bool:
        await housekeeping._cut_audit(later)
        return bool(await sql(api.database, "SELECT 1 FROM audit WHERE action = 'audit.prune'"))

    assert not await is_cut()
    await set_site(api, audit_retention_days=50)
    assert not await is_cut()
    await set_site(api, audit_retention_days=30)
    assert await is_cut()


@shows("statistics_retention_days")
async def _statistics_retention(api: Api) -> None:
    session = await (await api.as_("user")).start()
    now = api.services.clock.now()
    for days in (0, 30, 31, 400):
        await sql(
            api.database,
            "INSERT INTO usage_days SELECT :day, owner_id, project_id, group_id, image, 'cpu', domain_id,"
            " '{}', 0, 0, NULL, NULL FROM sessions WHERE id = :session",
            day=(now - timedelta(days=days)).date(),
            session=session["id"],
        )
    housekeeping = Housekeeping(SimpleNamespace(transaction=api.database.transaction))  # type: ignore[arg-type]

    async def kept() -> int:
        await housekeeping._cut_statistics(now)
        return len(await sql(api.database, "SELECT FROM usage_days"))

    assert await kept() == 4
    await set_site(api, statistics_retention_days=30)
    assert await kept() == 2


@shows("image_cleanup_days", "image_cleanup_free_percent")
async def _image_cleanup(api: Api) -> None:
    """What they remove is in `images/test_node_images.py`."""
    await join(api.database, NodeInfo("machine", "x86_64", {"cpu": 8000, "mem": 16 << 30}, "Fake 1"))
    now = api.services.clock.now().replace(second=0, microsecond=0)
    load = HostLoad(cpu=0, mem=0, received=0, sent=0, read=0, written=0, disk_used=99, disk_size=100)

    async def removes(**settings: int) -> int:
        await sql(api.database, "DELETE FROM node_images")
        await sql(
            api.database,
            'INSERT INTO node_images (node_id, image_id, "references", names, size_bytes, since, pulled_at)'
            " SELECT id, 'sha256:1', '{}', '{}', 50, :old, :old FROM nodes",
            old=now - timedelta(days=2),
        )
        await set_site(api, **{"image_cleanup_days": 0, "image_cleanup_free_percent": 0, **settings})
        async with api.database.transaction() as tx:
            await history.record(tx, now, {(LOCAL_ENGINE, "machine"): load})
            return await prune.apply_rules(tx, await site.settings(tx), now)

    assert await removes() == 0
    assert await removes(image_cleanup_days=3) == 0
    assert await removes(image_cleanup_days=1) == 1
    assert await removes(image_cleanup_free_percent=1) == 0
    assert await removes(image_cleanup_free_percent=10) == 1


@shows("upload_most_bytes")
async def _upload_most(api: Api) -> None:
    data = await folder(api)
    assert (await data.write("a", b"x" * 101)).status_code in (200, 201)
    await set_site(api, upload_most_bytes=100)
    assert (await data.write("b", b"x" * 101)).status_code == 413


@shows("import_sources")
async def _import_sources(api: Api) -> None:
    user, body = await api.as_("user"), {"url": "https://github.com/acme/work"}
    assert (await user.post("/imports/preview", body)).status_code == 200
    await set_site(api, import_sources=["gitlab.com"])
    refused = await user.post("/imports/preview", body)
    assert (refused.status_code, refused.json()["code"]) == (403, "import.source_not_permitted")


@shows(
    "image_scan_rule",
    "image_scan_severity",
    "image_scan_grace_days",
    "image_scan_fixable_only",
    "image_scan_min_epss_percent",
)
async def _image_scan_rule(api: Api) -> None:
    user = await api.as_("user")
    await sql(
        api.database,
        "WITH found AS (INSERT INTO image_reports (digest, scanner, scanned_at, packages, first_found, risks,"
        " report, sbom) VALUES ('d', '', now(), 1, jsonb_build_object('high', jsonb_build_object(current_date, 1)),"
        " jsonb_build_array(jsonb_build_object('severity', 'high', 'since', current_date, 'fixable', false,"
        " 'epss_percent', 10, 'count', 1)), '', '')"
        " RETURNING digest) INSERT INTO image_scans (id, reference, state, requested_at, ended_at, digest)"
        " SELECT 's', 'docker.io/library/debian:12', 'done', now(), now(), digest FROM found",
    )

    async def status() -> int:
        return (await user.try_start(image="debian:12")).status_code

    await set_site(api, image_scan_rule="refuse")
    assert await status() == 201
    await set_site(api, image_scan_severity="high")
    assert await status() == 403
    for setting, value in (("grace_days", 3), ("fixable_only", True), ("min_epss_percent", 20)):
        await set_site(api, **{f"image_scan_{setting}": value})
        assert await status() == 201
        await set_site(api, **{f"image_scan_{setting}": type(value)(0)})
        assert await status() == 403


@shows("image_scan_hours")
async def _image_scan_hours(api: Api) -> None:
    image, now = "docker.io/library/debian:12", SystemClock().now()
    there = {image: LOCAL_ENGINE}

    async def due() -> int:
        async with api.database.transaction() as tx:
            return len(await scan_tasks.due(tx, there, {}, now))

    assert await due() == 1
    ended = "UPDATE image_scans SET state = 'done', ended_at = now() - interval '5 h'"
    await sql(api.database, ended)
    assert await due() == 0
    await set_site(api, image_scan_hours=4)
    assert await due() == 1


@shows("image_watch_start", "image_watch_end", "image_watch_timezone")
async def _image_watch_hours(api: Api) -> None:
    made = await (await api.as_("superadmin")).post(
        "/registries", {"name": "ours", "url": "https://registry.example.org"}
    )
    reference = "registry.example.org/a:1"
    await sql(
        api.database,
        "INSERT INTO images (id, name, full_name, reference, title, description, min_slots, apps, present, registry_id)"
        " VALUES ('i1', 'i1', :ref, :ref, '', '', '{}', '[]', false, :registry)",
        ref=reference,
        registry=made.json()["id"],
    )
    await sql(api.database, "INSERT INTO image_settings (image, watch) VALUES (:ref, 'offer')", ref=reference)

    async def due_hours() -> list[int]:
        midnight = SystemClock().now().replace(hour=0, minute=30)
        async with api.database.transaction() as tx:
            return [hour for hour in range(24) if await due_checks.due(tx, midnight + timedelta(hours=hour))]

    assert await due_hours() == [2, 3, 4]
    await set_site(api, image_watch_start="01:00")
    assert await due_hours() == [1, 2, 3, 4]
    await set_site(api, image_watch_end="02:00")
    assert await due_hours() == [1]
    await set_site(api, image_watch_timezone="Asia/Seoul")
    assert await due_hours() == [16]


@shows("trash_days")
async def _trash_days(api: Api) -> None:
    user = await api.as_("user")
    data = await folder(api)
    await user.post(f"/vfolders/{data.id}/trash")
    shown = [(await user.get(f"/vfolders/{data.id}")).json()["expires_at"]]
    for days in (7, 0):
        await set_site(api, trash_days=days)
        shown.append((await user.get(f"/vfolders/{data.id}")).json()["expires_at"])
    assert shown[0] > shown[1]
    assert shown[2] is None


@shows("announcement")
async def _announcement(api: Api) -> None:
    await set_site(api, announcement="*Tonight*")
    assert (await (await api.client()).get(f"{API}/auth/greeting")).json()["announcement"] == "*Tonight*"


@shows("slot_prices", "currency")
async def _prices(api: Api) -> None:
    user = await api.as_("user")

    async def costs() -> tuple[str, float | None]:
        view = (await user.get("/usage/statistics")).json()
        return view["currency"], view["total"]["cost"]

    assert await costs() == ("", None)
    await set_site(api, slot_prices={"cpu": 0.02})
    assert await costs() == ("EUR", 0)
    await set_site(api, currency="KRW")
    assert await costs() == ("KRW", 0)


@shows("session_metrics")
async def _session_metrics(api: Api) -> None:
    admin = await api.as_("superadmin")
    assert "carrel_session_cpu_millicores" not in (await admin.get("/metrics")).text
    await set_site(api, session_metrics=True)
    assert "carrel_session_cpu_millicores" in (await admin.get("/metrics")).text


@shows("webhook_private_addresses")
async def _webhook_private_addresses(api: Api) -> None:
    user, walk = await api.as_("user"), Walk(api)
    async with receiver() as target:
        webhook = (await add(user, target))["id"]
        for private in (False, True):
            await set_site(api, webhook_private_addresses=private)
            await user.post(f"/webhooks/{webhook}/test")
            walk.now += timedelta(seconds=2)
            await walk.deliver()
            assert len(target.received) == private
