"""The engines of an installation: connections for its processes, and for commands without any process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, SecretStr
from sqlalchemy.exc import ProgrammingError

from carrel import plugins
from carrel.accelerators.make import make
from carrel.accelerators.simulated import machine
from carrel.core.errors import Invalid
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.engines.context import Closing, EngineContext
from carrel.engines.port import Engine, EngineError
from carrel.nodes.engines import queries, service
from carrel.nodes.engines.connections import Connector, Engines, in_time, label_of
from carrel.plugins import Port
from carrel.server import claim
from carrel.server.settings import Settings
from carrel.tables.engines import EngineRow

T = TypeVar("T")
_KUBERNETES = "kubernetes"
ANSWER_S = 30.0
"""Timeout of commands for engine requests."""


async def ensure_local(settings: Settings, database: Database) -> None:
    """Set the local engine to that of CARREL_ENGINE_URL. Twice: no-op. Raises: Invalid for settings it cannot have."""
    scheme, _, rest = settings.engine_url.partition(":")
    async with database.transaction() as tx:
        if scheme == _KUBERNETES:
            namespaces, _, query = rest.partition("?")
            sessions, _, own = namespaces.partition("/")
            of_gateway = {"gateway_namespace": own} if own else {}
            chosen = {"namespace": sessions, **of_gateway, **dict(parse_qsl(query))}
            checked = plugins.find(Port.ENGINE, _KUBERNETES).checked(chosen)
            _require_public(checked, chosen)
            await service.ensure_local(tx, _KUBERNETES, checked.model_dump(mode="json", include=set(chosen)))
        else:
            await service.ensure_local(tx, "docker", {"url": settings.engine_url})


def _require_public(settings: BaseModel, chosen: Iterable[str]) -> None:
    """Environment variables are shown in many places. Raises: Invalid if a secret is chosen."""
    for name in chosen:
        if isinstance(getattr(settings, name), SecretStr):
            raise Invalid(
                "plugin.setting_invalid",
                f"The setting {name} cannot be used: CARREL_ENGINE_URL cannot have a secret in it.",
                hint="There, Carrel uses its own service account. Add other clusters with `carrel engine add`.",
                field=f"settings.{name}",
            )


async def connector(settings: Settings, database: Database) -> Connector:
    """Creates engines from their rows, for this installation."""
    accelerators = make(_accelerators(settings))
    label = await claim.label(settings, database)
    return Connector(SecretBox(settings.key()), EngineContext(label, claim.claimant(settings), accelerators))


def _accelerators(settings: Settings) -> Mapping[str, Mapping[str, Any]]:
    """Settings per kind of accelerator, with those of the simulated machine, which is written if it is missing."""
    counts = machine.parse(settings.simulated_accelerators)
    root = machine.write(counts, settings.data_dir.absolute() / "simulated-accelerators") if counts else None
    own, simulated = settings.effective_accelerators, machine.plugin_settings(counts, root) if root else {}
    return {kind: {**own.get(kind, {}), **simulated.get(kind, {})} for kind in own.keys() | simulated.keys()}


@dataclass(frozen=True)
class InstalledEngine:
    """An engine as of the start of a command, usable after the database has stopped.

    label: of the installation's objects there. containers: number of session containers in the database.
    """

    name: str
    is_local: bool
    label: str
    containers: int
    _row: EngineRow = field(repr=False)
    _engines: Engines = field(repr=False)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Engine]:
        """The engine, connected until the block ends. Raises: EngineUnavailable if its settings do not work."""
        engine = self._engines.connected(self._row)
        try:
            yield engine
        finally:
            if isinstance(engine, Closing):
                await engine.close()

    async def ask(self, question: Callable[[Engine], Awaitable[T]], *, within_s: float = ANSWER_S) -> T:
        """The engine's answer. Raises: EngineError; EngineUnavailable after the timeout."""
        async with self.connected() as engine:
            return await in_time(question(engine), within_s)


async def installed(settings: Settings, database: Database) -> list[InstalledEngine]:
    """All engines, the local one first, then by name. Raises: Unavailable (the database)."""
    label = await claim.label(settings, database)
    make_engine = Connector(SecretBox(settings.key()), EngineContext(label, claim.claimant(settings)))
    engines = Engines(database, make_engine)
    all_engines = [
        InstalledEngine(row.name, row.id == LOCAL_ENGINE, label_of(label, row.id), containers, row, engines)
        for row, containers in await _rows(settings, database)
    ]
    return sorted(all_engines, key=lambda engine: (not engine.is_local, engine.name))


async def _rows(settings: Settings, database: Database) -> list[tuple[EngineRow, int]]:
    try:
        async with database.transaction() as tx:
            return await queries.with_containers(tx)
    except ProgrammingError:
        # The program was replaced, and the schema is from a version with a single engine.
        url = {"url": settings.engine_url}
        return [(EngineRow(id=LOCAL_ENGINE, name="local", kind="docker", settings=url), 0)]


async def ask_each(
    engines: Iterable[InstalledEngine],
    question: Callable[[Engine], Awaitable[T]],
    *,
    within_s: float = ANSWER_S,
) -> list[tuple[InstalledEngine, T | EngineError]]:
    """The answer or error of each engine; all are asked concurrently."""

    async def answer(engine: InstalledEngine) -> T | EngineError:
        try:
            return await engine.ask(question, within_s=within_s)
        except EngineError as error:
            return error

    known = list(engines)
    answers = await asyncio.gather(*(answer(engine) for engine in known))
    return list(zip(known, answers, strict=True))
