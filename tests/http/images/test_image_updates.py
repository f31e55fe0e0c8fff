"""A watched tag that is pushed again: offered, taken, pulled, and what sessions start from meanwhile."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from databases import scalar, sql
from fake_registry import FakeRegistry
from installation import Api, Caller
from own_registry import PASSWORD, USERNAME, OwnRegistry
from people import eventually
from sqlalchemy import event, update

from carrel.core.ids import ImageId
from carrel.db.database import Database
from carrel.images.schemas import WatchState
from carrel.images.service import DEFAULT_MIN_SLOTS
from carrel.tables.images import Image, ImageSettings, ImageWatch, WatchRule

WHOLE_DAY = {"image_watch_start": "00:00", "image_watch_end": "00:00"}


async def scanned(caller: Caller, registry: OwnRegistry, namespace: str) -> None:
    made = await caller.post(
        "/registries",
        {
            "name": namespace,
            "url": registry.url,
            "ca_pem": registry.ca_pem,
            "namespace": namespace,
            "repositories": ["a"],
            "username": USERNAME,
            "secret": PASSWORD,
        },
    )
    assert made.status_code == 201, made.text
    await scan(caller, made.json()["id"])


async def scan(caller: Caller, registry: str) -> None:
    assert (await caller.post(f"/registries/{registry}/scan")).status_code == 202

    async def over() -> bool:
        latest = (await caller.get(f"/registries/{registry}/scans")).json()["items"][0]
        return latest["ended_at"] is not None

    await eventually(over)


async def changed(caller: Caller, image: str, **settings: object) -> dict[str, Any]:
    answer = await caller.patch(f"/images/{image}", settings)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def until(caller: Caller, image: str, state: str) -> dict[str, Any]:
    """The image once its watch is in this state."""

    async def reached() -> dict[str, Any] | None:
        shown = (await caller.get(f"/images/{image}")).json()
        return shown if shown["update"] and shown["update"]["state"] == state else None

    return await eventually(reached)  # type: ignore[return-value]


async def counted(caller: Caller) -> dict[str, float]:
    """Watched images by state, as Prometheus sees them; states without any are left out."""
    lines = (await caller.get("/metrics")).text.splitlines()
    counts = re.findall(r'^carrel_image_updates\{state="(\w+)"\} (\S+)$', "\n".join(lines), re.MULTILINE)
    assert len(counts) == len(WatchState)
    return {state: float(count) for state, count in counts if float(count)}


async def check(caller: Caller, image: str | None = None) -> int:
    answer = await caller.post("/image-updates/check", {"image": image} if image else {})
    assert answer.status_code == 200, answer.text
    return int(answer.json()["images"])


async def decide(caller: Caller, what: str, image: str, **body: object) -> tuple[int, str]:
    answer = await caller.post(f"/image-updates/{what}", {"image": image, **body})
    read = answer.json()
    return answer.status_code, read["update"]["state"] if answer.status_code == 200 else read["code"]


async def started(api: Api, caller: Caller, image: str) -> tuple[str, dict[str, Any]]:
    """The image of the session and its container, once it runs."""
    answer = await caller.try_start(image=image)
    assert answer.status_code == 201, answer.text
    session = await api.until(caller, answer.json()["id"], "RUNNING")
    return session["image"], session["containers"][0]


async def pulls(caller: Caller) -> list[tuple[str, list[str]]]:
    items = (await caller.get("/image-pulls")).json()["items"]
    return [(one["reference"], [node["node"]["name"] for node in one["nodes"]]) for one in items]


async def test_an_offered_update_is_taken_with_one_request(living: Api, registry: OwnRegistry):
    first = registry.push("offered/a", "1")
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await scanned(admin, registry, "offered")
    image = f"{registry.host}/offered/a:1"
    assert await decide(admin, "take", image) == (409, "image.not_watched")
    assert await counted(admin) == {}
    await changed(admin, image, watch="offer", pull_nodes=["local"])
    await until(admin, image, "current")
    shown, container = await started(living, user, image)
    assert (shown, container["image"]) == (image, f"{image}@{first}")
    assert await decide(admin, "take", image) == (409, "image.no_update")

    second = registry.push("offered/a", "1")
    assert await check(admin, image) == 1
    offered = await until(admin, image, "available")
    assert (offered["digest"], offered["update"]["available"]) == (first, second)
    assert offered["update"]["available_since"]
    assert await counted(admin) == {"available": 1}
    [listed] = (await admin.get("/images", params={"state": "update"})).json()["items"]
    assert listed["update"]["state"] == "available"
    # Users see nothing of it, and start what was taken last.
    assert (await user.get(f"/images/{image}")).json()["update"] is None
    assert (await started(living, user, image))[1]["image"] == f"{image}@{first}"

    assert await decide(admin, "take", image, digest=first) == (409, "image.update_changed")
    assert await decide(admin, "take", image, digest=second) == (200, "taking")
    await until(admin, image, "current")
    taken = (await admin.get(f"/images/{image}")).json()
    assert (taken["digest"], taken["update"]["available"]) == (second, None)
    assert taken["update"]["taken_at"]
    assert await pulls(admin) == [(f"{image}@{second}", ["local"])]
    shown, container = await started(living, user, image)
    assert (shown, container["image"]) == (image, f"{image}@{second}")
    actions = await sql(
        living.database, "SELECT details ->> 'what' FROM audit WHERE action = 'image.update' ORDER BY at, id"
    )
    steps = [what for (what,) in actions if what]
    assert steps == ["check requested", "update available", "update requested", "update taken"]


async def test_an_update_is_taken_by_itself_in_the_daily_hours_and_pulled_to_where_the_image_is(
    living: Api, registry: OwnRegistry
):
    first = registry.push("taken/a", "1")
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await scanned(admin, registry, "taken")
    image = f"{registry.host}/taken/a:1"
    now = datetime.now(UTC)
    later = {
        "image_watch_start": f"{now + timedelta(hours=2):%H:%M}",
        "image_watch_end": f"{now + timedelta(hours=3):%H:%M}",
    }
    assert (await admin.patch("/site", later)).status_code == 200
    await changed(admin, image, watch="take")
    await until(admin, image, "current")
    _, old = await started(living, user, image)

    async def listed() -> bool:
        await sql(living.database, "NOTIFY carrel, 'node_images'")
        held = "SELECT count(*) FROM node_images WHERE :name = ANY(names)"
        return bool(await scalar(living.database, held, name=f"{registry.host}/taken/a@{first}"))

    await eventually(listed, every_s=0.1)
    second = registry.push("taken/a", "1")
    await check(admin)
    # Outside of the hours, it is only offered.
    await until(admin, image, "available")
    assert (await admin.patch("/site", WHOLE_DAY)).status_code == 200
    await check(admin)

    async def taken() -> bool:
        return (await admin.get(f"/images/{image}")).json()["digest"] == second

    await eventually(taken)
    assert (await started(living, user, image))[1]["image"] == f"{image}@{second}"
    assert (await pulls(admin))[-1] == (f"{image}@{second}", ["local"])
    # The session that runs keeps what it has, and so does its node.
    assert old["image"] == f"{image}@{first}"
    kept = await admin.post("/images/prune", {"older_than_days": 0, "dry_run": True})
    assert f"{image}@{first}" not in str(kept.json()["items"])
    held = "SELECT bool_or(in_use) FROM node_images WHERE :name = ANY(names)"
    assert await scalar(living.database, held, name=f"{registry.host}/taken/a@{first}")


async def test_a_skipped_digest_is_not_offered_again_but_the_next_one_is(living: Api, registry: OwnRegistry):
    registry.push("skipped/a", "1")
    admin = await living.as_("superadmin")
    await scanned(admin, registry, "skipped")
    image = f"{registry.host}/skipped/a:1"
    await changed(admin, image, watch="offer")
    await until(admin, image, "current")
    unwanted = registry.push("skipped/a", "1")
    await check(admin, image)
    await until(admin, image, "available")
    assert await decide(admin, "skip", image) == (200, "skipped")
    await check(admin, image)
    assert (await until(admin, image, "skipped"))["update"]["skipped"] == unwanted
    following = registry.push("skipped/a", "1")
    await check(admin, image)
    assert (await until(admin, image, "available"))["update"]["available"] == following


async def test_a_scan_offers_what_is_new_of_watched_images_and_keeps_them_without_their_tag(
    living: Api, registry: OwnRegistry
):
    first = registry.push("kept/a", "1", "2")
    admin = await living.as_("superadmin")
    await scanned(admin, registry, "kept")
    image = f"{registry.host}/kept/a:1"
    await changed(admin, image, watch="offer")
    await until(admin, image, "current")
    second = registry.push("kept/a", "1")
    [known] = (await admin.get("/registries")).json()["items"]
    await scan(admin, known["id"])
    offered = await until(admin, image, "available")
    assert (offered["digest"], offered["update"]["available"]) == (first, second)
    # The allow-list leaves the tag out, as if it was deleted.
    await admin.patch(f"/registries/{known['id']}", {"tags": ["2"]})
    await scan(admin, known["id"])
    assert (await admin.get(f"/images/{image}")).json()["digest"] == first
    # And then the repository.
    await admin.patch(f"/registries/{known['id']}", {"repositories": ["b"]})
    await scan(admin, known["id"])
    assert (await admin.get(f"/images/{image}")).json()["digest"] == first
    # No longer watched, it is an image like others.
    await changed(admin, image, watch="off")
    await scan(admin, known["id"])
    assert (await admin.get(f"/images/{image}")).status_code == 404


async def test_only_superadmins_decide(api: Api):
    user = await api.as_("user")
    for what in ("take", "skip", "check"):
        assert (await decide(user, what, "x"))[0] == 403


async def test_hours_and_time_zone_are_checked(api: Api):
    admin = await api.as_("superadmin")
    for wrong in ({"image_watch_start": "24:00"}, {"image_watch_timezone": "Asia/Nowhere"}):
        assert (await admin.patch("/site", wrong)).status_code == 422
    assert (await admin.patch("/site", {"image_watch_timezone": "Asia/Seoul"})).status_code == 200


async def test_problems_of_the_registry_are_shown_and_lose_nothing(living: Api):
    digest, other = "sha256:" + "a" * 64, "sha256:" + "b" * 64
    admin, user = await living.as_("superadmin"), await living.as_("user")
    async with FakeRegistry() as fake:
        made = await admin.post("/registries", {"name": "fake", "url": fake.url})
        host = fake.url.removeprefix("http://")
        image = f"{host}/a:1"
        await sql(
            living.database,
            "INSERT INTO images (id, name, full_name, reference, host, repository, tag, title, description, present,"
            " min_slots, apps, registry_id, family, digest) VALUES ('i1', 'i1', :ref, :ref, :host, 'a', '1', '', '',"
            " false, '{\"cpu\": 100, \"mem\": 1000}', '[]', :registry, 'a', :digest)",
            ref=image,
            host=host,
            registry=made.json()["id"],
            digest=digest,
        )
        path, seen = "/v2/a/manifests/1", "Docker-Content-Digest"
        fake.answers(path, headers={seen: digest})
        # Refused five times, with a short pause each.
        for _ in range(5):
            fake.answers(path, status=429, headers={"Retry-After": "0"})
        fake.answers(path, status=404)
        fake.answers(path, headers={seen: other})
        await changed(admin, image, watch="offer")
        await until(admin, image, "current")
        await check(admin, image)
        failed = await until(admin, image, "failed")
        assert "rate limit" in failed["update"]["problem"]
        assert await counted(admin) == {"failed": 1}
        await check(admin, image)
        assert (await until(admin, image, "missing"))["digest"] == digest
        assert (await started(living, user, image))[1]["image"] == f"{image}@{digest}"
        await check(admin, image)
        assert (await until(admin, image, "available"))["update"]["problem"] is None
        # It is gone before it can be read, so that the tag is checked again.
        assert await decide(admin, "take", image) == (200, "taking")
        assert "manifests/sha256" in (await until(admin, image, "failed"))["update"]["problem"]
        await check(admin, image)
        await until(admin, image, "available")
        assert {request.method for request in fake.seen if request.path == path} == {"HEAD"}
    await check(admin, image)

    async def unreachable() -> bool:
        shown = (await admin.get(f"/images/{image}")).json()
        return "cannot be reached" in (shown["update"]["problem"] or "") and shown["digest"] == digest

    await eventually(unreachable)
    assert await scalar(living.database, "SELECT offered FROM image_watches") == other


@contextmanager
def taken_meanwhile(database: Database, image: str, digest: str) -> Iterator[None]:
    """An update is committed right after the first statement that reads images."""
    engine = database._engine.sync_engine
    taken: list[str] = []

    def take(_connection, _cursor, statement: str, *_rest) -> None:  # type: ignore[no-untyped-def]
        if taken or "FROM images" not in statement:
            return
        taken.append(statement)
        with psycopg.connect(database.url) as other:
            other.execute("UPDATE images SET digest = %s WHERE reference = %s", (digest, image))
            other.execute("UPDATE image_watches SET offered = NULL, offered_at = NULL, checked_at = now()")

    event.listen(engine, "after_cursor_execute", take)
    yield
    event.remove(engine, "after_cursor_execute", take)
    assert taken


async def test_an_image_and_its_watch_are_of_the_same_moment(api: Api):
    admin = await api.as_("superadmin")
    made = await admin.post("/registries", {"name": "moment", "url": "https://registry.example.org"})
    assert made.status_code == 201, made.text
    image, old, new = "registry.example.org/moment/a:1", "sha256:" + "1" * 64, "sha256:" + "2" * 64
    async with api.database.transaction() as tx:
        values = {"reference": image, "full_name": image, "digest": old, "registry_id": made.json()["id"]}
        no_more = {"title": "", "description": "", "min_slots": DEFAULT_MIN_SLOTS, "apps": []}
        tx.add(Image(id=ImageId("moment"), name="moment", **values, **no_more))
        tx.add(ImageSettings(image=image, watch=WatchRule.OFFER))
        await tx.flush()
        tx.add(ImageWatch(image_id=ImageId("moment"), offered=new, offered_at=datetime.now(UTC)))
    for path in ("/images/moment", "/images?registry=" + made.json()["id"]):
        with taken_meanwhile(api.database, image, new):
            answer = (await admin.get(path)).json()
        [shown] = answer.get("items", [answer])
        assert (shown["digest"], shown["update"]["state"]) == (old, "available")
        async with api.database.transaction() as tx:
            await tx.execute(update(Image).where(Image.id == "moment").values(digest=old))
            await tx.execute(update(ImageWatch).values(offered=new, offered_at=datetime.now(UTC)))
