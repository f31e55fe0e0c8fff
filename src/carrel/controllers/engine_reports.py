"""What engines report about containers that they no longer list, noted in the histories of their sessions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import structlog

from carrel.controllers.loop import Tools
from carrel.core.ids import ContainerId, EngineId, SessionId
from carrel.engines.optional import Reporting
from carrel.engines.port import Engine, EngineError
from carrel.nodes.engines.connections import in_time
from carrel.sessions import updates

log = structlog.get_logger()

_EVERY = timedelta(minutes=1)
"""An engine may report some time later why it does not list a container."""


class EngineReports:
    """The reports of each engine that were read last."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._read: dict[EngineId, tuple[datetime, frozenset[ContainerId], Mapping[str, Sequence[str]]]] = {}

    def of(self, engine: EngineId) -> Mapping[str, Sequence[str]]:
        """By container."""
        return self._read[engine][2] if engine in self._read else {}

    async def renew(
        self, engine_id: EngineId, engine: Engine, unlisted: Mapping[ContainerId, SessionId]
    ) -> bool:
        """Read and note what happened to these containers. False if there are none, or if it was done a moment ago."""
        now = self._tools.clock.now()
        at, known, _ = self._read.get(engine_id, (now - _EVERY, frozenset[ContainerId](), {}))
        if not unlisted:
            self._read.pop(engine_id, None)
        if (
            not isinstance(engine, Reporting)
            or not unlisted
            or (unlisted.keys() <= known and now - at < _EVERY)
        ):
            return False
        try:
            reports = await in_time(engine.reports(unlisted))
        except EngineError as error:
            log.warning("observe.no_reports", engine=engine_id, error=error.message)
            reports = {}
        self._read[engine_id] = now, frozenset(unlisted), reports
        if reports:
            async with self._tools.transaction() as tx:
                for container, session in unlisted.items():
                    for sentence in reports.get(container, ()):
                        await updates.report(tx, session, sentence, now=now)
        return True
