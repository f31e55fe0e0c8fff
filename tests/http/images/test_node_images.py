"""Images on nodes: what they hold, pulls ahead of sessions, and clean-up, over the fake engine."""

from typing import Any

import pytest
from databases import sql
from environment_kit import add_environment
from installation import Api, Caller
from people import eventually
from people_kit import status_and_code

from carrel.core.clock import SystemClock
from carrel.db.database import Database, notify
from carrel.engines.port import EngineError, EngineUnavailable, PullCredentials
from carrel.images.node_images import prune as pruning
from carrel.site.schemas import SiteSettings
from carrel.tables.node_images import PULL_TOPIC, TOPIC

PYTHON = "registry.example.org/lab/python:3"


@pytest.fixture
async def admin(living: Api) -> Caller:
    """A superadmin, once the node is known."""
    caller = await living.as_("superadmin")

    async def known() -> bool:
        return (await caller.get("/nodes/local")).status_code == 200

    await eventually(known)
    return caller


async def look(database: Database, topic: str = TOPIC) -> None:
    """Have the controllers look now."""
    async with database.transaction() as tx:
        await notify(tx, topic)


async def images(caller: Caller, node: str = "local") -> dict[str, Any]:
    """By reference."""
    shown = (await caller.get(f"/nodes/{node}/images")).json()
    return {one["references"][0]: one for one in shown["items"]}


async def until_listed(api: Api, caller: Caller, *references: str) -> dict[str, Any]:
    async def listed() -> dict[str, Any] | None:
        await look(api.database)
        there = await images(caller)
        return there if there.keys() == set(references) else None

    return await eventually(listed, every_s=0.1)


async def pulled(caller: Caller, reference: str, **where: Any) -> dict[str, Any]:
    """The pull once it has ended."""
    made = await caller.post("/image-pulls", {"reference": reference, **(where or {"nodes": ["local"]})})
    assert made.status_code == 202, made.text

    async def ended() -> dict[str, Any] | None:
        shown = (await caller.get(f"/image-pulls/{made.json()['id']}")).json()
        return shown if shown["ended_at"] else None

    return await eventually(ended)


async def unused_for(database: Database, days: int) -> None:
    await sql(
        database,
        f"UPDATE node_images SET used_at = used_at - interval '{days} days',"
        f" pulled_at = pulled_at - interval '{days} days', since = since - interval '{days} days'",
    )


async def test_a_node_shows_what_it_holds_and_what_sessions_use(living: Api, admin: Caller):
    user = await living.as_("user")
    living.engine.world.local_images.add("lab/other:1")
    living.engine.world.image_sizes["lab/other:1"] = 5 << 30
    session = await user.start(image="debian:12")
    await living.until(user, session["id"], "RUNNING")
    there = await until_listed(living, admin, "debian:12", "lab/other:1")

    async def in_use() -> bool:
        await look(living.database)
        return bool((await images(admin))["debian:12"]["in_use"])

    await eventually(in_use, every_s=0.1)
    assert not there["lab/other:1"]["in_use"]
    assert there["lab/other:1"]["used_at"] is None
    shown = (await admin.get("/nodes/local/images")).json()
    assert [one["references"] for one in shown["items"]] == [["lab/other:1"], ["debian:12"]]
    assert (shown["count"], shown["size_bytes"]) == (2, (5 << 30) + (64 << 20))
    assert len((await admin.get("/nodes/local/images", params={"q": "library/deb"})).json()["items"]) == 1
    assert status_and_code(await user.get("/nodes/local/images")) == (403, "node.hidden")
    living.engine.world.local_images.discard("lab/other:1")
    await until_listed(living, admin, "debian:12")


async def test_an_image_is_pulled_ahead_with_the_credentials_of_the_scope(living: Api, admin: Caller):
    for name, scope in (("all", {}), ("theirs", {"project": living.people.project})):
        body = {"name": name, "url": "https://registry.example.org", "username": name, "secret": "s", **scope}
        assert (await admin.post("/registries", body)).status_code == 201
    done = await pulled(admin, PYTHON)
    assert (done["state"], done["done"], done["total"], done["progress"]) == ("done", 1, 1, 1.0)
    assert done["nodes"][0]["node"]["name"] == "local"
    assert done["nodes"][0]["size_bytes"] == 64 << 20
    world = living.engine.world
    assert world.pulled_with[PYTHON] == PullCredentials("registry.example.org", "all", "s")
    await pulled(admin, PYTHON, nodes=["local"], project=living.people.project)
    assert world.pulled_with[PYTHON] == PullCredentials("registry.example.org", "theirs", "s")
    there = await until_listed(living, admin, "debian:12", PYTHON)
    assert there[PYTHON]["pulled"]
    assert not there["debian:12"]["pulled"]
    [second, first] = (await admin.get("/image-pulls")).json()["items"]
    assert first["id"] == done["id"]
    assert second["project"]["id"] == living.people.project
    actions = [one["action"] for one in (await admin.get("/audit")).json()["items"]]
    assert "image.pull" in actions


async def test_a_pull_says_per_node_why_it_failed(living: Api, admin: Caller):
    living.engine.world.unknown_images.add("nobody/none:1")
    failed = await pulled(admin, "nobody/none:1", group="default")
    assert (failed["state"], failed["failed"]) == ("failed", 1)
    assert failed["nodes"][0]["problem"] == "There is no image named nobody/none:1."


async def test_a_pull_is_cancelled_while_it_runs(living: Api, admin: Caller):
    living.engine.world.pull_s = 3600.0
    body = {"reference": PYTHON, "nodes": ["local"]}
    pull = (await admin.post("/image-pulls", body)).json()["id"]

    async def shown(state: str) -> bool:
        return bool((await admin.get(f"/image-pulls/{pull}")).json()["state"] == state)

    await eventually(lambda: shown("running"))
    assert (await admin.delete(f"/image-pulls/{pull}")).json()["cancel"]
    await eventually(lambda: shown("cancelled"))
    assert PYTHON not in living.engine.world.local_images
    assert status_and_code(await admin.delete(f"/image-pulls/{pull}")) == (409, "image_pull.ended")


async def test_a_pull_waits_for_an_engine_that_does_not_respond(
    living: Api, admin: Caller, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("carrel.controllers.image_pulls._PAUSE_S", 0.0)
    world = living.engine.world
    world.fail_next("pull_image", EngineUnavailable("The engine does not respond."), times=3)
    made = (await admin.post("/image-pulls", {"reference": PYTHON, "nodes": ["local"]})).json()

    async def done() -> bool:
        await look(living.database, PULL_TOPIC)
        return bool((await admin.get(f"/image-pulls/{made['id']}")).json()["state"] == "done")

    await eventually(done, every_s=0.1)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"reference": PYTHON}, (422, "image_pull.where")),
        ({"reference": PYTHON, "nodes": ["local"], "group": "default"}, (422, "image_pull.where")),
        ({"reference": PYTHON, "nodes": ["none"]}, (404, "node.not_found")),
        ({"reference": "localhost/carrel/starter:1", "nodes": ["local"]}, (422, "image.local")),
        ({"reference": "a b", "nodes": ["local"]}, (422, "invalid.body")),
    ],
)
async def test_a_pull_that_makes_no_sense_is_refused(
    admin: Caller, body: dict[str, Any], code: tuple[int, str]
):
    refused = await admin.post("/image-pulls", body)
    assert refused.status_code == code[0], refused.text
    if code[1] != "invalid.body":
        assert status_and_code(refused) == code


async def test_only_superadmins_pull_and_prune(living: Api):
    user = await living.as_("user")
    assert (await user.post("/image-pulls", {"reference": PYTHON, "nodes": ["local"]})).status_code == 403
    assert (await user.get("/image-pulls")).status_code == 403
    assert (await user.post("/images/prune", {})).status_code == 403


async def test_a_clean_up_removes_only_what_carrel_pulled_and_nobody_needs(living: Api, admin: Caller):
    user = await living.as_("user")
    database, world = living.database, living.engine.world
    old, recent, used, based, named = (
        f"lab/{name}:1" for name in ("old", "recent", "used", "based", "named")
    )
    for one in (old, used, based, named):
        assert (await pulled(admin, one))["state"] == "done"
    await until_listed(living, admin, "debian:12", old, used, based, named)
    await unused_for(database, 40)
    await pulled(admin, recent)
    await add_environment(database, "e1", living.people.user)
    await sql(database, f"UPDATE environment_versions SET base = '{based}'")
    await sql(
        database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps)"
        f" VALUES ('i', 'named', 'docker.io/{named}', '', '', true, '{{}}', '[]')",
    )
    session = await user.start(image=used)
    await living.until(user, session["id"], "RUNNING")
    await until_listed(living, admin, "debian:12", old, recent, used, based, named)

    preview = (await admin.post("/images/prune", {"dry_run": True})).json()
    assert [one["references"] for one in preview["items"]] == [[old]]
    assert (preview["count"], preview["size_bytes"]) == (1, 64 << 20)
    kept = {one["cause"]: one["count"] for one in preview["kept"]}
    assert kept.pop("foreign") == 1
    assert kept.pop("recent") == 1
    assert kept.pop("registered") == 1
    assert kept.pop("needed", 0) + kept.pop("in_use", 0) == 2
    assert old in world.local_images
    more = (await admin.post("/images/prune", {"dry_run": True, "registered": True})).json()
    assert sorted(one["references"][0] for one in more["items"]) == sorted([old, named])
    assert (await admin.post("/images/prune", {"dry_run": True, "older_than_days": 50})).json()["count"] == 0

    assert (await admin.post("/images/prune", {"nodes": ["local"]})).json()["count"] == 1
    await eventually(lambda: old not in world.local_images)
    await until_listed(living, admin, "debian:12", recent, used, based, named)
    [entry] = [one for one in (await admin.get("/audit")).json()["items"] if one["action"] == "image.prune"]
    assert entry["details"]["images"] == 1


async def test_an_image_that_somebody_else_has_tagged_too_is_theirs(living: Api, admin: Caller):
    await pulled(admin, PYTHON)
    await until_listed(living, admin, "debian:12", PYTHON)
    await unused_for(living.database, 40)
    assert (await admin.post("/images/prune", {"dry_run": True})).json()["count"] == 1
    tagged = (
        """UPDATE node_images SET "references" = array_append("references", 'prod/keep:1')"""
        " WHERE pulled_at IS NOT NULL"
    )

    async def theirs() -> bool:
        await sql(living.database, tagged)
        return (await admin.post("/images/prune", {"dry_run": True})).json()["count"] == 0

    await eventually(theirs)


async def test_a_pull_that_fails_makes_nothing_carrels(living: Api, admin: Caller):
    living.engine.world.fail_next("pull_image", EngineError("The registry is broken.", retriable=False))
    assert (await pulled(admin, PYTHON))["state"] == "failed"
    living.engine.world.local_images.add(PYTHON)  # by hand
    there = await until_listed(living, admin, "debian:12", PYTHON)
    assert not there[PYTHON]["pulled"]


async def test_a_pull_without_progress_is_tried_again(
    living: Api, admin: Caller, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("carrel.controllers.image_pulls._PAUSE_S", 0.0)
    monkeypatch.setattr("carrel.controllers.image_transfers._STALL_S", 0.2)
    living.engine.world.pull_s = 3600.0
    made = (await admin.post("/image-pulls", {"reference": PYTHON, "nodes": ["local"]})).json()

    async def hindered() -> bool:
        [node] = (await admin.get(f"/image-pulls/{made['id']}")).json()["nodes"]
        return node["problem"] == "There was no progress for ten minutes."

    await eventually(hindered)
    living.engine.world.pull_s = 0.0

    async def done() -> bool:
        await look(living.database, PULL_TOPIC)
        return bool((await admin.get(f"/image-pulls/{made['id']}")).json()["state"] == "done")

    await eventually(done, every_s=0.1)


async def test_an_image_that_the_engine_does_not_let_go_stays_and_says_why(living: Api, admin: Caller):
    await pulled(admin, PYTHON)
    await until_listed(living, admin, "debian:12", PYTHON)
    problem = EngineError(
        f"The image {PYTHON} is in use by a container.", retriable=True, code="image_in_use"
    )
    living.engine.world.fail_next("remove_image", problem)
    assert (await admin.post("/images/prune", {"older_than_days": 0})).json()["count"] == 1

    async def explained() -> bool:
        one = (await images(admin))[PYTHON]
        return not one["removing"] and one["problem"] == problem.message

    await eventually(explained)


async def test_what_a_session_needs_again_is_not_removed(living: Api, admin: Caller):
    await pulled(admin, PYTHON)
    await until_listed(living, admin, "debian:12", PYTHON)
    await add_environment(living.database, "e1", living.people.user)
    # Marked before it was needed.
    await sql(living.database, "UPDATE node_images SET removing_at = now() WHERE pulled_at IS NOT NULL")
    await sql(living.database, f"UPDATE environment_versions SET base = '{PYTHON}'")
    await look(living.database)

    async def stays() -> bool:
        removing = await sql(living.database, "SELECT 1 FROM node_images WHERE removing_at IS NOT NULL")
        return not removing

    await eventually(stays)
    assert (await images(admin))[PYTHON]["problem"] is None
    assert PYTHON in living.engine.world.local_images


async def test_an_image_that_a_session_pulled_is_known_to_be_pulled_by_carrel(living: Api, admin: Caller):
    user = await living.as_("user")
    there = "mirror.example.org/library/debian:13"
    body = {"name": "hub", "kind": "dockerhub", "mirror": "https://mirror.example.org"}
    assert (await admin.post("/registries", body)).status_code == 201
    session = await user.start(image="debian:13")
    await living.until(user, session["id"], "RUNNING")

    async def known() -> bool:
        one = (await until_listed(living, admin, "debian:12", there))[there]
        return bool(one["pulled"] and one["in_use"])

    await eventually(known)


async def test_rules_remove_what_is_old_or_what_a_full_disk_needs(living: Api, admin: Caller):
    database = living.database
    await pulled(admin, PYTHON)
    await until_listed(living, admin, "debian:12", PYTHON)
    now = SystemClock().now()

    async def applied(**settings: int) -> int:
        async with database.transaction() as tx:
            return await pruning.apply_rules(tx, SiteSettings(**settings), now)

    assert await applied() == 0
    assert await applied(image_cleanup_days=30) == 0
    await unused_for(database, 31)
    await sql(database, "UPDATE node_images SET problem = 'x'")
    assert await applied(image_cleanup_days=30) == 0
    await sql(database, "UPDATE node_images SET problem = NULL")
    assert await applied(image_cleanup_days=30) == 1
    await eventually(lambda: PYTHON not in living.engine.world.local_images)


async def test_a_check_says_what_the_pull_would_cost(living: Api, admin: Caller):
    user = await living.as_("user")
    await until_listed(living, admin, "debian:12")

    async def cost(image: str) -> dict[str, Any] | None:
        body = {"image": image, "slots": {"cpu": 100, "mem": 64 << 20}}
        checked = (await user.post("/sessions/check", body)).json()
        assert checked["verdict"] == "starts", checked
        return checked["image_pull"]  # type: ignore[no-any-return]

    assert await cost("docker.io/library/debian:12") is None
    unknown = await cost(PYTHON)
    assert unknown == {
        "nodes": ["local"],
        "out_of": 1,
        "size_bytes": None,
        "sentence": "The node local would have to pull its image.",
    }
