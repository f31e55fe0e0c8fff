"""Sessions with the app layer, and engines that build it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from installation import Api, running_installation
from layered_engine import LayeredEngine
from people import People, eventually

from carrel.db.database import Database
from carrel.server.bootstrap.layer_recipe import AppLayerRecipe
from carrel.tables.engines import AppLayerRow, LayerState


@pytest.fixture
async def layered(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Api]:
    """An installation whose engine has the image of the layer already."""
    engine = LayeredEngine()
    engine.world.local_images |= {"debian:12", AppLayerRecipe().reference}
    async with running_installation(database, people, tmp_path, engine, controllers=True) as api:
        yield api


async def _ready(api: Api) -> dict[str, object]:
    admin = await api.as_("superadmin")

    async def ready() -> dict[str, object] | None:
        engine = (await admin.get("/engines/local")).json()
        return engine["app_layer"] if (engine["app_layer"] or {}).get("state") == "READY" else None

    return await eventually(ready)  # type: ignore[return-value]


async def test_a_session_of_any_image_has_the_apps_of_the_layer(layered: Api) -> None:
    layer = await _ready(layered)
    assert layer["reference"] == AppLayerRecipe().reference
    user = await layered.as_("user")
    session = await user.start(image="debian:12")
    shown = await layered.until(user, session["id"], "RUNNING")
    assert [app["name"] for app in shown["apps"]] == ["jupyter", "vscode", "files"]
    [container] = layered.engine.world.containers.values()
    assert container.spec.layer == layer["reference"]
    assert {18888, 18889, 18890} <= set(container.spec.ports)


async def test_a_check_of_an_engine_has_a_failed_build_begin_again(layered: Api) -> None:
    await _ready(layered)
    admin = await layered.as_("superadmin")
    async with layered.database.transaction() as tx:
        row = await tx.get_one(AppLayerRow, "local")
        row.state, row.error = LayerState.FAILED, "No registry answers."
    failed = (await admin.get("/engines/local")).json()["app_layer"]
    assert (failed["state"], failed["error"]) == ("FAILED", "No registry answers.")
    assert (await admin.post("/engines/local/check")).status_code == 200
    assert (await _ready(layered))["error"] is None
