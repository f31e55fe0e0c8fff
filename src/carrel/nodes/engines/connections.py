"""The engines of this process: each connected when it is first needed, and anew when its row has changed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import orjson
from pydantic import ValidationError
from sqlalchemy import select

from carrel import plugins
from carrel.core.errors import Invalid, NotFound, Unavailable
from carrel.core.ids import LOCAL_ENGINE, EngineId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.engines.context import Closing, Connect, EngineContext
from carrel.engines.port import Engine, EngineUnavailable
from carrel.tables.engines import EngineRow

T = TypeVar("T")
Make = Callable[[EngineRow], Engine]

ANSWER_S = 60.0
"""What takes longer does not answer. Pulling an image is not among it: that takes as long as it takes."""
REMOVAL_S = 240.0
"""The same for the removal of a container, whose processes are asked to stop first."""
_LABEL_LENGTH = 31


async def in_time(call: Awaitable[T], limit_s: float = ANSWER_S) -> T:
    """What the engine answers. Raises: EngineUnavailable when it has not after so long; else what the call raises."""
    try:
        async with asyncio.timeout(limit_s):
            return await call
    except TimeoutError:
        raise EngineUnavailable(f"The engine has not answered for {limit_s:.0f} seconds.") from None


@dataclass(frozen=True)
class Connector:
    """Makes engines from their rows. context: what all of them get, but for the label, which each has of its own."""

    seal: SecretBox
    context: EngineContext

    def __call__(self, row: EngineRow) -> Engine:
        """Raises: Unavailable (no plug-in of the kind, or the secrets do not open)."""
        secrets = opened(self.seal, row.id, row.secrets)
        return self.connect(row.id, row.kind, {**row.settings, **secrets})

    def connect(self, engine: EngineId, kind: str, settings: Mapping[str, Any]) -> Engine:
        """An engine that may have no row yet. Raises: Unavailable; Invalid for settings with which none could work."""
        connect = cast(Connect, plugins.find(plugins.Port.ENGINE, kind).made(**settings))
        context = replace(self.context, installation=_label(self.context.installation, engine))
        if engine != LOCAL_ENGINE:
            # What is in this machine is the local engine's to give away.
            context = replace(context, accelerators=())
        return connect(context)


def _label(installation: str, engine: EngineId) -> str:
    """Two rows may lead to one daemon, or to two on one machine: nothing of theirs may have the same name."""
    return (
        installation
        if engine == LOCAL_ENGINE
        else f"{installation[: _LABEL_LENGTH - len(engine) - 1]}-{engine}"
    )


def purpose(engine: EngineId) -> str:
    """What an engine's secrets are sealed for."""
    return f"engine:{engine}"


def opened(seal: SecretBox, engine: EngineId, secrets: bytes | None) -> dict[str, str]:
    """The secrets among the settings. Raises: Unavailable."""
    return cast("dict[str, str]", orjson.loads(seal.open(secrets, purpose(engine)))) if secrets else {}


_Key = tuple[str, dict[str, Any], bytes | None]


class Engines:
    """One for each process. Have `forget` called when TOPIC is announced."""

    def __init__(self, database: Database, make: Make) -> None:
        self._database = database
        self._make = make
        self._rows: dict[EngineId, EngineRow] | None = None
        self._reads = 0
        self._made: dict[EngineId, tuple[_Key, Engine]] = {}

    def forget(self) -> None:
        """Look at the rows again before the next answer."""
        self._rows = None
        self._reads += 1

    async def ids(self) -> frozenset[EngineId]:
        """All that there are. Raises: Unavailable (the database)."""
        return frozenset(await self._known())

    async def of(self, engine: EngineId) -> Engine:
        """The engine of this id. Raises: NotFound; EngineUnavailable when it cannot be used as it is set up."""
        row = (await self._known()).get(engine)
        if row is None:
            raise NotFound(
                "engine.not_found", f"There is no engine {engine}.", hint="See `carrel engine ls`."
            )
        key = (row.kind, row.settings, row.secrets)
        known = self._made.get(engine)
        if known is not None and known[0] == key:
            return known[1]
        made = self.connected(row)
        self._made[engine] = (key, made)
        if known is not None:
            await _close(known[1])
        return made

    def connected(self, row: EngineRow) -> Engine:
        """An engine as a row says that may not be kept, which the caller closes. Raises: EngineUnavailable."""
        try:
            return self._make(row)
        except (Unavailable, Invalid) as error:
            raise EngineUnavailable(error.message) from error
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
            raise EngineUnavailable(
                f"Its settings are not as the kind {row.kind} wants them: {wrong}."
            ) from None

    async def close(self) -> None:
        """Let go of all of them. Twice: no-op."""
        made, self._made = self._made, {}
        for _, engine in made.values():
            await _close(engine)

    async def _known(self) -> Mapping[EngineId, EngineRow]:
        if self._rows is not None:
            return self._rows
        read = self._reads
        async with self._database.transaction() as tx:
            rows = {row.id: row for row in (await tx.execute(select(EngineRow))).scalars()}
        if read == self._reads:
            self._rows = rows
        for gone in self._made.keys() - rows.keys():
            await _close(self._made.pop(gone)[1])
        return rows


async def _close(engine: Engine) -> None:
    if isinstance(engine, Closing):
        await engine.close()
