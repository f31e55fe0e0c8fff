"""Fake engines that mount app layers, and a recipe whose builds a test decides about."""

import asyncio
from collections.abc import Callable

from carrel.engines.fake import FakeEngine
from carrel.engines.optional import ImageBuilding
from carrel.engines.port import EngineError, ImageUnusable, PullCredentials

REPOSITORY = "localhost/test/layer"


class LayeredEngine(FakeEngine):
    """prepared: the layers that can be mounted. removed: how often old ones were deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.prepared: set[str] = set()
        self.removed = 0

    async def prepare_layer(self, reference: str) -> None:
        if reference not in self.world.local_images:
            raise ImageUnusable(f"There is no image {reference}.")
        self.prepared.add(reference)

    async def remove_layers(self, repository: str, *, kept: str = "") -> None:
        self.removed += 1
        self.prepared &= {kept}


class PullingEngine(FakeEngine):
    """failure: why containers cannot have the layer. tried: references and credentials, in order."""

    def __init__(self, layer: str) -> None:
        super().__init__()
        self.layer = layer
        self.failure: EngineError | None = None
        self.tried: list[tuple[str, PullCredentials | None]] = []

    async def try_layer(self, reference: str, credentials: PullCredentials | None) -> str:
        self.tried.append((reference, credentials))
        if self.failure:
            raise self.failure
        return "Mounted as an image volume."


class Recipe:
    """failure: what builds raise. going: builds wait for it."""

    def __init__(self, version: str = "1") -> None:
        self.reference = f"{REPOSITORY}:{version}"
        self.failure: EngineError | None = None
        self.going = asyncio.Event()
        self.going.set()
        self.builds = 0

    async def build(self, engine: ImageBuilding, say: Callable[[str], None]) -> None:
        assert isinstance(engine, FakeEngine)
        self.builds += 1
        say("app layer: installing Debian packages (step 1 of 2)")
        await self.going.wait()
        if self.failure:
            raise self.failure
        engine.world.local_images.add(self.reference)
