"""Scans of all images and of all registries: progress, cancelling, and what was last done."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from databases import scalar, sql
from fake_scanner import FakeScanner
from installation import Api, Caller, installation
from people import People, eventually
from test_scans_of_images import scanner as scanner

from carrel.db.database import Database

COUNTS = "total", "waiting", "running", "done", "failed", "cancelled"


@pytest.fixture
async def api(
    database: Database, people: People, tmp_path: Path, scanner: FakeScanner, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Api]:
    monkeypatch.setenv("CARREL_IMAGE_SCANNER", " ".join(scanner.command))
    async with installation(database, people, tmp_path, controllers=True) as running:
        for name in ("deb", "sid"):
            await sql(
                database,
                "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps, host,"
                " architectures) VALUES (:name, :name, :reference, '', '', true, '{}', '[]', 'docker.io', '{}')",
                name=name,
                reference=f"{name}:12",
            )
        world = running.engine.world
        world.nodes = [replace(node, images=frozenset({"deb:12", "sid:12"})) for node in world.nodes]
        await eventually(lambda: on_a_node(database))
        yield running


async def on_a_node(database: Database) -> bool:
    """True once the node has the images, and nothing is being scanned."""
    there = "EXISTS (SELECT 1 FROM nodes WHERE jsonb_array_length(images) = 2)"
    idle = "NOT EXISTS (SELECT 1 FROM image_scans WHERE ended_at IS NULL)"
    return bool(await scalar(database, f"SELECT {there} AND {idle}"))


async def rescan(caller: Caller, kind: str) -> dict[str, Any]:
    begun = await caller.post("/rescans", {"kind": kind})
    assert begun.status_code == 202, begun.text
    return begun.json()  # type: ignore[no-any-return]


async def latest(caller: Caller, kind: str) -> dict[str, Any] | None:
    items = (await caller.get("/rescans")).json()["items"]
    return next((one for one in items if one["kind"] == kind), None)


async def ended(caller: Caller, kind: str) -> dict[str, Any]:
    async def over() -> dict[str, Any] | None:
        shown = await latest(caller, kind)
        return shown if shown and shown["ended_at"] else None

    return await eventually(over)  # type: ignore[return-value]


def counts(shown: dict[str, Any]) -> list[int]:
    return [shown[name] for name in COUNTS]


async def test_all_images_are_scanned_with_progress(api: Api, scanner: FakeScanner):
    admin = await api.as_("superadmin")
    assert (await admin.get("/rescans")).json() == {"items": []}
    scanner.hold(held=True)
    begun = await rescan(admin, "images")
    assert (begun["total"], begun["ended_at"], begun["requested_by"]) == (2, None, "admin@example.org")
    # While it goes on, there is no other.
    assert (await rescan(admin, "images"))["requested_at"] == begun["requested_at"]
    scanner.hold(held=False)
    assert counts(await ended(admin, "images")) == [2, 0, 0, 2, 0, 0]
    scanned = {line.split()[0] for line in scanner.seen}
    assert scanned == {"docker.io/library/deb:12", "docker.io/library/sid:12"}


async def test_failures_are_counted_with_a_reason(api: Api, scanner: FakeScanner):
    admin = await api.as_("superadmin")
    scanner.prints("no database")
    await rescan(admin, "images")
    shown = await ended(admin, "images")
    assert (counts(shown), "not JSON" in shown["problem"]) == ([2, 0, 0, 0, 2, 0], True)


async def test_what_is_left_is_cancelled_and_can_begin_again(api: Api, scanner: FakeScanner):
    admin = await api.as_("superadmin")
    scanner.hold(held=True)
    await rescan(admin, "images")
    await eventually(lambda: bool(scanner.seen))
    cancelled = await admin.post("/rescans/images/cancel", {})
    assert (cancelled.status_code, cancelled.json()["cancel"]) == (200, True)
    assert counts(await ended(admin, "images")) == [2, 0, 0, 0, 0, 2]
    again = await admin.post("/rescans/images/cancel", {})
    assert (again.status_code, again.json()["code"]) == (409, "rescan.not_open")
    scanner.hold(held=False)
    await rescan(admin, "images")
    assert counts(await ended(admin, "images")) == [2, 0, 0, 2, 0, 0]


async def test_all_registries_are_scanned(api: Api):
    admin = await api.as_("superadmin")
    await sql(
        api.database,
        "INSERT INTO registries (id, name, kind, url, host) VALUES ('r', 'r', 'generic', :url, 'localhost:1')",
        url="http://localhost:1",
    )
    await rescan(admin, "registries")
    shown = await ended(admin, "registries")
    assert (counts(shown), bool(shown["problem"])) == ([1, 0, 0, 0, 1, 0], True)


async def test_nothing_to_scan_is_done_at_once(api: Api):
    shown = await rescan(await api.as_("superadmin"), "registries")
    assert (shown["total"], shown["ended_at"]) == (0, shown["requested_at"])


async def test_only_superadmins_scan_everything(api: Api):
    user = await api.as_("user")
    assert (await user.get("/rescans")).status_code == 403
    assert (await user.post("/rescans", {"kind": "images"})).status_code == 403
    assert (await user.post("/rescans/images/cancel", {})).status_code == 403
