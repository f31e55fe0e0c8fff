"""The engine connections of this process, opened on first use and reopened when the row changes."""

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
"""Timeout of engine calls, except for image pulls."""
REMOVAL_S = 240.0
"""Timeout of a container removal, which includes the grace period."""
_LABEL_LENGTH = 31


async def in_time(call: Awaitable[T], limit_s: float = ANSWER_S) -> T:
    """The result of the call. Raises: EngineUnavailable after the timeout; otherwise what the call raises."""
    try:
        async with asyncio.timeout(limit_s):
            return await call
    except TimeoutError:
        raise EngineUnavailable(f"The engine has not responded for {limit_s:.0f} seconds.") from None


@dataclass(frozen=True)
class Connector:
    """Creates engines from rows. context: common to all engines, except for the label."""

    seal: SecretBox
    context: EngineContext

    def __call__(self, row: EngineRow) -> Engine:
        """Raises: Unavailable (no plug-in of the kind, or the secrets cannot be decrypted); Invalid for unusable
        settings.
        """
        secrets = opened(self.seal, row.id, row.secrets)
        connect = cast(
            Connect, plugins.find(plugins.Port.ENGINE, row.kind).made(**{**row.settings, **secrets})
        )
        context = replace(self.context, installation=label_of(self.context.installation, row.id))
        if row.id != LOCAL_ENGINE:
            # Only the local engine may use this machine's accelerators.
            context = replace(context, accelerators=())
        return connect(context)


def label_of(installation: str, engine: EngineId) -> str:
    """A label per engine: two rows may point to one daemon, or to two on one machine, and names must not collide."""
    return (
        installation
        if engine == LOCAL_ENGINE
        else f"{installation[: _LABEL_LENGTH - len(engine) - 1]}-{engine}"
    )


def purpose(engine: EngineId) -> str:
    """Context for encrypting an engine's secrets."""
    return f"engine:{engine}"


def opened(seal: SecretBox, engine: EngineId, secrets: bytes | None) -> dict[str, str]:
    """The decrypted secrets. Raises: Unavailable."""
    return cast("dict[str, str]", orjson.loads(seal.open(secrets, purpose(engine)))) if secrets else {}


_Key = tuple[str, dict[str, Any], bytes | None]


class Engines:
    """One per process. Call `forget` on notifications of TOPIC."""

    def __init__(self, database: Database, make: Make) -> None:
        self._database = database
        self._make = make
        self._rows: dict[EngineId, EngineRow] | None = None
        self._reads = 0
        self._made: dict[EngineId, tuple[_Key, Engine]] = {}

    def forget(self) -> None:
        """Reload the rows before the next lookup."""
        self._rows = None
        self._reads += 1

    async def ids(self) -> frozenset[EngineId]:
        """All engines. Raises: Unavailable (the database)."""
        return frozenset(await self._known())

    async def of(self, engine: EngineId) -> Engine:
        """The engine with this id. Raises: NotFound; EngineUnavailable when its settings are unusable."""
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
        """A new connection for a row; the caller closes it. Raises: EngineUnavailable."""
        try:
            return self._make(row)
        except (Unavailable, Invalid) as error:
            raise EngineUnavailable(error.message) from error
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
            raise EngineUnavailable(f"Its settings are invalid for the kind {row.kind}: {wrong}.") from None

    async def close(self) -> None:
        """Close all connections. Twice: no-op."""
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
