"""Sessions with the app layer, and engines that build it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from installation import Api, running_installation
from layered_engine import LayeredEngine, PullingEngine
from people import People, eventually

from carrel.db.database import Database
from carrel.engines.port import EngineError, PullCredentials
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


_NAMED = "registry.example.org/carrel/app-layer:1"


@pytest.fixture
async def pulling(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Api]:
    """An installation whose engine has its nodes pull a layer, which they cannot at first."""
    engine = PullingEngine(_NAMED)
    engine.failure = EngineError(
        "Pods cannot have the app layer: no such host.", retriable=True, code="app_layer_missing"
    )
    engine.world.local_images |= {"debian:12"}
    async with running_installation(database, people, tmp_path, engine, controllers=True) as api:
        yield api


async def test_a_layer_that_nodes_pull_is_tried_out_with_the_credentials_of_its_registry(
    pulling: Api,
) -> None:
    admin, user = await pulling.as_("superadmin"), await pulling.as_("user")
    engine = pulling.engine
    assert isinstance(engine, PullingEngine)

    async def failed() -> bool:
        layer = (await admin.get("/engines/local")).json()["app_layer"]
        return bool(layer and layer["state"] == "FAILED" and "no such host" in layer["error"])

    await eventually(failed)
    # 1. Without it, sessions start, and the list of their apps says why.
    session = await user.start(image="debian:12")
    await pulling.until(user, session["id"], "RUNNING")
    apps = (await user.get(f"/sessions/{session['id']}/apps")).json()
    assert "jupyter" not in [app["name"] for app in apps["items"] if app["source"] == "image"]
    assert "no such host" in apps["layer_missing"]
    # 2. A check says so too, and has it tried out again.
    body = {"name": "site", "url": "https://registry.example.org", "username": "robot", "secret": "s"}
    assert (await admin.post("/registries", body)).status_code == 201
    engine.failure = None
    notes = (await admin.post("/engines/local/check")).json()["notes"]
    assert "App layer: Pods cannot have the app layer: no such host." in notes
    layer = await _ready(pulling)
    assert (layer["reference"], layer["step"]) == (_NAMED, "Mounted as an image volume.")
    credentials = PullCredentials("registry.example.org", "robot", "s")
    assert engine.tried[-1] == (_NAMED, credentials)
    # 3. Sessions have it.
    session = await user.start(image="debian:12")
    shown = await pulling.until(user, session["id"], "RUNNING")
    assert [app["name"] for app in shown["apps"]] == ["jupyter", "vscode", "files"]
    specs = [one.spec for one in engine.world.containers.values() if one.spec.layer]
    assert [(spec.layer, spec.layer_pull) for spec in specs] == [(_NAMED, credentials)]
    assert (await user.get(f"/sessions/{session['id']}/apps")).json()["layer_missing"] == ""
