"""Record the images on nodes, apply the clean-up rules, and remove what is to be removed."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import structlog

from carrel.controllers.each_engine import EachEngine
from carrel.controllers.loop import Tools
from carrel.core.ids import EngineId
from carrel.engines.optional import ImageListing, ImageStore, StoredImage
from carrel.engines.port import Engine, EngineError, EngineUnavailable, ImageUnusable
from carrel.images.node_images import prune, service
from carrel.images.node_images.service import ImageUse
from carrel.nodes.engines.connections import in_time
from carrel.site import service as site
from carrel.tables.node_images import TOPIC, NodeImage

log = structlog.get_logger()

_RULES_EVERY = timedelta(minutes=5)
_ALL_EVERY = timedelta(hours=1)
"""As often all nodes are compared with the table, not only those that have changed."""
_FIRST_LOOK = timedelta(days=1)
"""How far a new leader looks back for images that containers have used."""

_Listed = Mapping[str, tuple[Sequence[StoredImage], Sequence[ImageUse]]]


class ImageInventory:
    name = "image_inventory"
    topics = (TOPIC,)
    tick_s = 60.0
    calm_s = 5.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._rules_at: datetime | None = None
        self._looked: dict[EngineId, datetime] = {}
        self._all_at: dict[EngineId, datetime] = {}
        self._before: dict[EngineId, _Listed] = {}
        self._each = EachEngine(tools.engines, self._of_engine)

    async def close(self) -> None:
        await self._each.close()

    async def step(self) -> None:
        """The rules of the installation, then each engine."""
        now = self._tools.clock.now()
        if self._rules_at is None or now - self._rules_at >= _RULES_EVERY:
            self._rules_at = now
            async with self._tools.transaction() as tx:
                await service.forget_pulls(tx, now)
                marked = await prune.apply_rules(tx, await site.settings(tx), now)
            if marked:
                log.info("image_inventory.to_remove", images=marked)
        await self._each.step()

    async def _of_engine(self, engine_id: EngineId) -> None:
        engine = await self._tools.engines.of(engine_id)
        if not isinstance(engine, ImageListing):
            return
        await self._remove(engine_id, engine)
        # 1. List what there is, and what containers use.
        now = self._tools.clock.now()
        listed = await in_time(engine.images_by_node())
        async with self._tools.database.transaction() as tx:
            used = await service.uses(tx, engine_id, self._looked.get(engine_id, now - _FIRST_LOOK))
        there = {node: (tuple(images), tuple(used.get(node, ()))) for node, images in listed.items()}
        # 2. Write the nodes that have changed.
        again = now - self._all_at.get(engine_id, now - _ALL_EVERY) >= _ALL_EVERY
        before = {} if again else self._before.get(engine_id, {})
        changed = {node: one for node, one in there.items() if one != before.get(node)}
        async with self._tools.transaction() as tx:
            images = {node: one[0] for node, one in changed.items()}
            attributed = await service.record(tx, engine_id, images, used, now)
        self._before[engine_id], self._looked[engine_id] = {} if attributed else there, now
        if again:
            self._all_at[engine_id] = now

    async def _remove(self, engine_id: EngineId, engine: Engine) -> None:
        async with self._tools.database.transaction() as tx:
            images = await prune.to_remove(tx, engine_id)
        for image in images:
            if isinstance(engine, ImageStore):
                await self._remove_one(engine, image)

    async def _remove_one(self, engine: ImageStore, image: NodeImage) -> None:
        """Remove an image that is not needed again; the engine refuses if any container uses it."""
        async with self._tools.transaction() as tx:
            if not await prune.still_to_remove(tx, image):
                return
        try:
            for name in image.references or [image.image_id]:
                await self._remove_name(engine, name, image.image_id)
        except EngineUnavailable:
            raise
        except EngineError as error:
            log.warning("image_inventory.not_removed", image=image.image_id, error=error.message)
            async with self._tools.transaction() as tx:
                await prune.not_removed(tx, image, error.message)
            return
        async with self._tools.transaction() as tx:
            await prune.removed(tx, image)
        log.info("image_inventory.removed", node=image.node_id, image=image.image_id, bytes=image.size_bytes)

    async def _remove_name(self, engine: ImageStore, name: str, image_id: str) -> None:
        """Unless it is the name of another image by now. Raises: EngineError."""
        with suppress(ImageUnusable):
            if (await in_time(engine.image(name))).id == image_id:
                await in_time(engine.remove_image(name))
