"""Bring the app layer to every engine that can mount it, in the background: build it and keep only the current version,
or, where nodes pull it, try out how containers have it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial

import structlog

from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.loop import Tools, beside, end
from carrel.core.errors import CarrelError, NotFound
from carrel.core.ids import EngineId
from carrel.engines.context import Claimable
from carrel.engines.optional import LayerMounting, LayerPulling
from carrel.engines.port import EngineError, EngineUnavailable, ImageUnusable
from carrel.images.registries import pulls
from carrel.nodes.engines import app_layers
from carrel.tables.engines import LAYER_TOPIC, TOPIC, AppLayerRow, LayerState

log = structlog.get_logger()

AGAIN = timedelta(hours=1)
"""Time until a failed build is tried again."""
_SHOW_EVERY_S = 2.0
_LABEL = "carrel.app-layer"


class AppLayer:
    """One build per engine at a time. A version is READY only once the engine has prepared it, in this process or
    before.
    """

    name = "app-layer"
    topics: Sequence[str] = (TOPIC, LAYER_TOPIC)
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[EngineId]()
        self._tidied: dict[EngineId, LayerMounting] = {}

    async def step(self) -> None:
        """Begin the builds that are due."""
        recipe = self._tools.app_layer
        building, pulling = await self._engines()
        if recipe is None:
            building = {}
        async with self._tools.transaction() as tx:
            await app_layers.keep(tx, {*building, *pulling})
            known = await app_layers.all_layers(tx)
        for one, source in pulling.items():
            if self._is_due(known.get(one), source.layer) or known[one].state == LayerState.READY:
                work = partial(self._try, one, source, known.get(one))
                self._active.begin(one, partial(beside, "try out the app layer", work, engine=one))
        if recipe is None:
            return
        reference = await asyncio.to_thread(lambda: recipe.reference)
        for engine_id, engine in building.items():
            if self._is_due(known.get(engine_id), reference):
                work = partial(self._build, engine_id, engine, reference)
                self._active.begin(
                    engine_id, partial(beside, "build the app layer", work, engine=engine_id), reference
                )
            elif known[engine_id].state == LayerState.READY:
                work = partial(self._tend, engine_id, engine, reference)
                self._active.begin(engine_id, partial(beside, "check the app layer", work, engine=engine_id))

    async def drain(self) -> None:
        """Wait until no build is running."""
        await self._active.drain()

    async def close(self) -> None:
        await self._active.close()

    def _is_due(self, row: AppLayerRow | None, reference: str) -> bool:
        if row is None or row.reference != reference or row.state == LayerState.BUILDING:
            return True
        return row.state == LayerState.FAILED and self._tools.clock.now() - row.state_since >= AGAIN

    async def _engines(self) -> tuple[dict[EngineId, LayerMounting], dict[EngineId, LayerPulling]]:
        """The engines in which it is built, and those whose nodes pull one that an administrator has named."""
        building: dict[EngineId, LayerMounting] = {}
        pulling: dict[EngineId, LayerPulling] = {}
        for engine_id in await self._tools.engines.ids():
            with suppress(EngineUnavailable, NotFound):
                engine = await self._tools.engines.of(engine_id)
                if isinstance(engine, LayerPulling):
                    pulling |= {engine_id: engine} if engine.layer else {}
                elif isinstance(engine, LayerMounting):
                    building[engine_id] = engine
        return building, pulling

    async def _try(self, engine_id: EngineId, engine: LayerPulling, row: AppLayerRow | None) -> None:
        """Find out how containers have it. Until then, and if they cannot have it, sessions start without it."""
        reference = engine.layer
        if row is None or row.reference != reference:
            await self._report(engine_id, reference, LayerState.BUILDING, step="trying it out in the cluster")
        try:
            async with self._tools.transaction() as tx:
                source = await pulls.source(tx, self._tools.seal, reference, project=None)
            how = await engine.try_layer(source.reference, source.credentials)
        except EngineUnavailable as error:
            log.warning("layer.engine_unavailable", engine=engine_id, error=error.message)
        except (EngineError, CarrelError) as error:
            log.warning("layer.not_usable", engine=engine_id, error=error.message)
            await self._report(engine_id, reference, LayerState.FAILED, error=error.message)
        else:
            if row is None or (row.reference, row.state, row.step) != (reference, LayerState.READY, how):
                await self._report(engine_id, reference, LayerState.READY, step=how)

    async def _build(self, engine_id: EngineId, engine: LayerMounting, reference: str) -> None:
        recipe = self._tools.app_layer
        assert recipe
        steps: asyncio.Queue[str] = asyncio.Queue()
        writing = asyncio.Lock()
        await self._report(engine_id, reference, LayerState.BUILDING)
        showing = asyncio.create_task(self._show(engine_id, reference, steps, writing))
        try:
            await recipe.build(engine, steps.put_nowait)
            steps.put_nowait("app layer: copying it to a volume")
            await engine.prepare_layer(reference)
        except EngineUnavailable as error:
            # It is BUILDING as before: the next step tries again.
            log.warning("layer.engine_unavailable", engine=engine_id, error=error.message)
            return
        except (EngineError, CarrelError) as error:
            await end(showing, writing)
            hint = error.hint if isinstance(error, CarrelError) else ""
            log.warning("layer.build_failed", engine=engine_id, error=error.message, hint=hint)
            sentence = " ".join(part for part in (error.message, hint) if part)
            await self._report(engine_id, reference, LayerState.FAILED, error=sentence)
            return
        finally:
            await end(showing, writing)
        await self._report(engine_id, reference, LayerState.READY)
        log.info("layer.ready", engine=engine_id, reference=reference)

    async def _show(
        self, engine_id: EngineId, reference: str, steps: "asyncio.Queue[str]", writing: asyncio.Lock
    ) -> None:
        """Store the latest step, but not too often."""
        while True:
            step = await steps.get()
            while not steps.empty():
                step = steps.get_nowait()
            async with writing:
                title = step.partition(": ")[2] or step
                await self._report(engine_id, reference, LayerState.BUILDING, step=title)
            await asyncio.sleep(_SHOW_EVERY_S)

    async def _report(
        self,
        engine_id: EngineId,
        reference: str,
        state: LayerState,
        *,
        step: str = "",
        error: str | None = None,
    ) -> None:
        async with self._tools.transaction() as tx:
            now = self._tools.clock.now()
            await app_layers.report(tx, engine_id, reference, state, now, step=step, error=error)

    async def _tend(self, engine_id: EngineId, engine: LayerMounting, reference: str) -> None:
        """Make up for what others deleted in the engine; delete former versions once."""
        try:
            await engine.prepare_layer(reference)
            if self._tidied.get(engine_id) is not engine:
                await self._tidy(engine, reference)
                self._tidied[engine_id] = engine
        except ImageUnusable:
            await self._report(engine_id, reference, LayerState.BUILDING)
        except EngineError as error:
            log.warning("layer.not_checked", engine=engine_id, error=error.message)

    async def _tidy(self, engine: LayerMounting, reference: str) -> None:
        """Delete former versions that no container uses, unless other installations are in the engine."""
        if isinstance(engine, Claimable) and await engine.claim.others():
            return
        repository = reference.rpartition(":")[0]
        await engine.remove_layers(repository, kept=reference)
        for image in await engine.images():
            old = [
                name for name in image.references if name.startswith(f"{repository}:") and name != reference
            ]
            # The stage of its build that made it, which is several times as large.
            left = [image.id] if not image.references and image.labels.get(_LABEL) == "build" else []
            for name in [*old, *left]:
                with suppress(EngineError):
                    await engine.remove_image(name)
