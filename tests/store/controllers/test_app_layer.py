"""How the app layer comes into an engine."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import pytest
from controller_kit import tools
from installation import only
from layered_engine import REPOSITORY, LayeredEngine, Recipe
from people import eventually

from carrel.controllers.app_layer import AGAIN, AppLayer
from carrel.controllers.loop import Tools
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.fake import VirtualClock
from carrel.engines.optional import StoredImage
from carrel.engines.port import EngineError
from carrel.nodes.engines import app_layers
from carrel.tables.engines import AppLayerRow, LayerState


@dataclass
class Layering:
    tools: Tools
    engine: LayeredEngine
    clock: VirtualClock
    recipe: Recipe
    controller: AppLayer

    async def step(self) -> AppLayerRow:
        """The state after a step and what it begins."""
        await self.controller.step()
        await self.controller.drain()
        return await self.row()

    async def row(self) -> AppLayerRow:
        async with self.tools.database.transaction() as tx:
            row = (await app_layers.all_layers(tx))[LOCAL_ENGINE]
            tx.expunge(row)
            return row

    async def ready(self) -> str | None:
        async with self.tools.database.transaction() as tx:
            return (await app_layers.ready(tx)).get(LOCAL_ENGINE)

    def another(self, recipe: Recipe | None) -> AppLayer:
        """The controller after a restart."""
        return AppLayer(replace(self.tools, app_layer=recipe))


@pytest.fixture
async def layering(database: Database, people: object) -> AsyncIterator[Layering]:
    leader, clock, engine, recipe = await lead(database.url), VirtualClock(), LayeredEngine(), Recipe()
    shared = replace(tools(database, leader, clock=clock), engines=only(database, engine), app_layer=recipe)
    controller = AppLayer(shared)
    yield Layering(shared, engine, clock, recipe, controller)
    await controller.close()
    await leader.resign()


async def test_a_layer_is_ready_once_it_is_built_and_prepared(layering: Layering) -> None:
    layering.recipe.going.clear()
    await layering.controller.step()

    async def shown() -> bool:
        async with layering.tools.database.transaction() as tx:
            row = (await app_layers.all_layers(tx)).get(LOCAL_ENGINE)
            return row is not None and row.step == "installing Debian packages (step 1 of 2)"

    await eventually(shown)
    assert await layering.ready() is None
    layering.recipe.going.set()
    await layering.controller.drain()
    row = await layering.row()
    assert (row.state, row.step, row.error) == (LayerState.READY, "", None)
    assert await layering.ready() == layering.recipe.reference
    assert layering.engine.prepared == {layering.recipe.reference}
    assert (await layering.step()).state == LayerState.READY
    assert layering.recipe.builds == 1


async def test_a_build_that_fails_says_why_and_is_tried_again_later(layering: Layering) -> None:
    layering.recipe.failure = EngineError("No registry answers.", retriable=False)
    row = await layering.step()
    assert (row.state, row.error) == (LayerState.FAILED, "No registry answers.")
    assert await layering.ready() is None
    layering.recipe.failure = None
    assert (await layering.step()).state == LayerState.FAILED
    await layering.clock.advance(AGAIN.total_seconds())
    assert (await layering.step()).state == LayerState.READY


async def test_a_build_that_failed_begins_again_on_request(layering: Layering) -> None:
    layering.recipe.failure = EngineError("No registry answers.", retriable=False)
    await layering.step()
    layering.recipe.failure = None
    async with layering.tools.database.transaction() as tx:
        await app_layers.build_again(tx, LOCAL_ENGINE)
    assert (await layering.step()).state == LayerState.READY


async def test_an_interrupted_build_goes_on_after_a_restart(layering: Layering) -> None:
    layering.recipe.going.clear()
    await layering.controller.step()
    await eventually(lambda: layering.recipe.builds == 1)
    await layering.controller.close()
    assert (await layering.row()).state == LayerState.BUILDING
    layering.recipe.going.set()
    again = layering.another(layering.recipe)
    await again.step()
    await again.drain()
    assert (await layering.row()).state == LayerState.READY


async def test_a_new_version_replaces_the_former_one(layering: Layering) -> None:
    await layering.step()
    newer = Recipe("2")
    again = layering.another(newer)
    for _ in range(2):
        await again.step()
        await again.drain()
    assert await layering.ready() == newer.reference
    own = {name for name in layering.engine.world.local_images if name.startswith(REPOSITORY)}
    assert own == layering.engine.prepared == {newer.reference}


async def test_a_layer_that_others_deleted_is_made_again(layering: Layering) -> None:
    await layering.step()
    layering.engine.world.local_images.discard(layering.recipe.reference)
    assert (await layering.step()).state == LayerState.BUILDING
    assert (await layering.step()).state == LayerState.READY
    assert layering.recipe.builds == 2


async def test_what_is_left_of_a_build_is_deleted(
    layering: Layering, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[str] = []

    async def images() -> Sequence[StoredImage]:
        labels = {"carrel.app-layer": "build"}
        return [
            StoredImage("stage", (), 1, labels),
            StoredImage("other", (), 1),
            StoredImage("named", ("localhost/own:1",), 1, labels),
        ]

    async def remove_image(reference: str) -> None:
        removed.append(reference)

    monkeypatch.setattr(layering.engine, "images", images)
    monkeypatch.setattr(layering.engine, "remove_image", remove_image)
    await layering.step()
    await layering.step()
    assert removed == ["stage"]


async def test_without_a_recipe_no_session_gets_a_layer(layering: Layering) -> None:
    await layering.step()
    await layering.another(None).step()
    assert await layering.ready() is None
