"""The app that a person used last starts with their next session of the same image."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from access_kit import World, world
from controller_kit import tools
from databases import sql
from installation import only
from people import eventually
from ports import free_port
from test_apps import notebook, stop_app

from carrel.apps import last_used
from carrel.controllers.last_apps import LastApps
from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId, new_id
from carrel.db.leader import lead

__all__ = ["world"]


@pytest.fixture
async def starting(world: World) -> AsyncIterator[LastApps]:
    """The controller, over the engine of the world."""
    leading = await lead(world.database.url)
    engines = only(world.database, world.engine)
    controller = LastApps(replace(tools(world.database, leading), engines=engines, key=world.settings.key()))
    yield controller
    await controller.close()
    await leading.resign()


async def started(world: World, **values: Any) -> SessionId:
    """A session whose container was started just now."""
    session = await world.session(**{"name": f"desk-{new_id()}", "started_at": SystemClock().now(), **values})
    await sql(world.database, f"UPDATE containers SET launched_at = now() WHERE session_id = '{session}'")
    return session


async def opened(world: World, session: SessionId, app: str = "notebook") -> None:
    async with world.http() as http, http.post(f"/api/v1/sessions/{session}/apps/{app}/open") as answer:
        assert answer.status == 200, await answer.text()


async def state(world: World, session: SessionId, app: str = "notebook") -> str:
    async with world.http() as http, http.get(f"/api/v1/sessions/{session}/apps") as answer:
        [app_now] = [one for one in (await answer.json())["items"] if one["name"] == app]
        return str(app_now["state"])


async def becomes_ready(world: World, session: SessionId) -> None:
    async def ready() -> bool:
        return await state(world, session) == "ready"

    await eventually(ready)


async def run(controller: LastApps) -> None:
    await controller.step()
    await controller.drain()


async def test_it_starts_with_the_next_session_and_only_once(world: World, starting: LastApps) -> None:
    first = await started(world, apps=[notebook(free_port())])
    await run(starting)
    assert await state(world, first) == "stopped"
    await opened(world, first)
    stop_app(world)
    second = await started(world, apps=[notebook(free_port())])
    await run(starting)
    await becomes_ready(world, second)
    stop_app(world)

    async def stopped() -> bool:
        return await state(world, second) != "ready"

    await eventually(stopped)
    await run(starting)
    assert await state(world, second) != "ready"


async def test_it_has_the_options_of_last_time(world: World, starting: LastApps) -> None:
    options = [{"name": "folder", "title": "Folder", "default": "/"}]
    first = await started(world, apps=[notebook(free_port(), options=options)])
    async with world.http() as http:
        path = f"/api/v1/sessions/{first}/apps/notebook/start"
        async with http.post(path, json={"options": {"folder": "/runs"}}) as answer:
            assert answer.status == 200, await answer.text()
    stop_app(world)
    second = await started(world, apps=[notebook(free_port(), options=options)])
    await run(starting)
    async with world.http() as http, http.get(f"/api/v1/sessions/{second}/apps") as answer:
        [app] = [one for one in (await answer.json())["items"] if one["name"] == "notebook"]
    assert app["chosen"] == {"folder": "/runs"}
    stop_app(world)


async def test_only_after_use_in_the_session_before_of_that_image_and_person(world: World) -> None:
    used = await started(world, apps=[notebook(free_port())])
    await opened(world, used)
    stop_app(world)
    await started(world, image="another")
    await started(world, owner=world.people.colleague)
    await started(world, kind="batch")
    await started(world, created_at=SystemClock().now() - timedelta(days=1))
    following = await started(world)
    await started(world)
    async with world.database.transaction() as tx:
        due = await last_used.due(tx, since=SystemClock().now() - timedelta(minutes=1))
        later = await last_used.due(tx, since=SystemClock().now() + timedelta(minutes=1))
    assert [(one.session.id, one.app) for one in due] == [(following, "notebook")]
    assert later == []


async def test_not_again_when_the_container_of_a_session_is_restarted(world: World) -> None:
    now = SystemClock().now()
    first = await started(world, apps=[notebook(free_port())])
    await opened(world, first)
    # Its container was started just now, the session long ago.
    await started(world, apps=[notebook(free_port())], started_at=now - timedelta(hours=1))
    async with world.database.transaction() as tx:
        assert await last_used.due(tx, since=now - timedelta(seconds=30)) == []
