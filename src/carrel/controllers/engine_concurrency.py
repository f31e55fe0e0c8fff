"""How many containers of one engine are started, or removed, at the same time."""

import asyncio

from carrel.core.ids import EngineId
from carrel.engines.optional import SideBySide
from carrel.engines.port import Engine

CONCURRENCY = 16
"""Of an engine on one machine."""


class EngineConcurrency:
    """Per engine, so that a hung one does not use up what others have."""

    def __init__(self) -> None:
        self._limits: dict[EngineId, asyncio.Semaphore] = {}

    def of(self, engine_id: EngineId, engine: Engine) -> asyncio.Semaphore:
        """The limit of this engine."""
        if engine_id not in self._limits:
            count = engine.at_once if isinstance(engine, SideBySide) else CONCURRENCY
            self._limits[engine_id] = asyncio.Semaphore(count)
        return self._limits[engine_id]
