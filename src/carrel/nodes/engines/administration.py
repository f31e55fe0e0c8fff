"""Use cases of engine administration. Each starts with an authorization check."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from pydantic import SecretStr
from sqlalchemy import delete, func, null, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel import plugins
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, Unavailable
from carrel.core.ids import LOCAL_ENGINE, EngineId, new_id
from carrel.core.units import add
from carrel.db.database import Database, notify
from carrel.db.encryption import SecretBox
from carrel.engines import runtimes
from carrel.engines.context import Closing, Purging
from carrel.engines.optional import FORWARDED, Committing, PortForwarding, SelfTesting
from carrel.engines.port import Engine, EngineError, NodeInfo
from carrel.nodes.engines import app_layers, queries
from carrel.nodes.engines.connections import Engines, in_time, opened, purpose
from carrel.nodes.engines.gaps import SENTENCES, gaps
from carrel.nodes.engines.schemas import (
    CheckedNode,
    EngineCheck,
    EngineCreate,
    EngineGap,
    EngineKind,
    EngineSettings,
    EngineUpdate,
)
from carrel.nodes.engines.service import publish
from carrel.nodes.groups import membership
from carrel.permissions.decide import Actor, Target, require
from carrel.plugins import Port
from carrel.tables.engines import TOPIC, EngineRow
from carrel.tables.environments import Environment, EnvironmentVersion, VersionState
from carrel.tables.groups import ResourceGroup
from carrel.tables.nodes import Allocation, Node, NodeState

log = structlog.get_logger()

_CHANGES = "engine.update"
CHECK_S = 15.0
"""Timeout of a check of an engine."""
SELF_TEST_S = 40.0


@dataclass(frozen=True)
class Registry:
    """Dependencies of these use cases."""

    database: Database
    engines: Engines
    seal: SecretBox
    clock: Clock


def kinds(actor: Actor) -> list[EngineKind]:
    """The kinds of engines that can be added. Raises: Forbidden."""
    require(actor, "engine.read", Target())
    return [
        EngineKind(
            kind=kind,
            title=plugin.title or kind,
            description=(plugin.settings.__doc__ or "").strip(),
            settings=plugin.schema(),
        )
        for kind, plugin in plugins.kinds(Port.ENGINE).items()
    ]


async def create(registry: Registry, actor: Actor, request: EngineCreate) -> EngineId:
    """Add an engine after a successful check; sessions may start on it immediately.

    Raises: Forbidden; Invalid (the kind or the settings); Conflict when the name is taken; Unavailable when it does not
    answer.
    """
    require(actor, _CHANGES, Target())
    plugins.require_kind(Port.ENGINE, request.kind, field="kind")
    row = EngineRow(id=EngineId(new_id()), name=request.name, kind=request.kind)
    row.settings, row.secrets = _kept(registry.seal, row, request.settings)
    # 1. check the name first, so that a conflict leaves nothing in the engine
    async with registry.database.transaction() as tx:
        await _require_free(tx, request.name)
    async with _connection(registry, row) as engine:
        try:
            # 2. check the connection
            await in_time(engine.nodes(), CHECK_S)
            # 3. store it
            async with registry.database.transaction() as tx:
                tx.add(row)
                await _flush(tx, request.name)
                await tx.refresh(row)
                await _record(tx, actor, "engine.created", row, after=_shown(row))
        except BaseException:
            await _purge(engine, row.id)
            raise
    return row.id


async def change(registry: Registry, actor: Actor, ref: str, changes: EngineUpdate) -> EngineId:
    """Update the given fields; new settings are tried first.

    Raises: Forbidden, NotFound, Invalid, Unavailable; Conflict (the name is taken, it is the local engine, or the
    settings lead to an engine without the running containers).
    """
    async with registry.database.transaction() as tx:
        before = await queries.find(tx, actor, ref)
        require(actor, _CHANGES, Target())
        tx.expunge(before)
    after = EngineRow(id=before.id, name=changes.name or before.name, kind=before.kind)
    after.settings, after.secrets = before.settings, before.secrets
    if changes.settings:
        values = _merged(registry.seal, before, changes.settings)
        after.settings, after.secrets = _kept(registry.seal, after, values)
        await _try_out(registry, after)
    async with registry.database.transaction() as tx:
        row = await queries.find(tx, actor, before.id, _CHANGES)
        was = _shown(row)
        row.name = after.name
        if changes.settings:
            row.settings, row.secrets = after.settings, after.secrets
        await _flush(tx, after.name)
        now = _shown(row)
        changed = [field for field in now if now[field] != was[field]]
        details = {"before": {one: was[one] for one in changed}, "after": {one: now[one] for one in changed}}
        await _record(tx, actor, "engine.updated", row, **details)
    return before.id


async def check(registry: Registry, actor: Actor, ref: str) -> EngineCheck:
    """Check now whether a new connection is answered, have the engine test itself, and build its app layer again if
    that failed. Raises: Forbidden, NotFound.
    """
    require(actor, _CHANGES, Target())
    async with registry.database.transaction() as tx:
        row = await queries.find(tx, actor, ref)
        tx.expunge(row)
        layer = await app_layers.note(tx, row.id)
        await app_layers.build_again(tx, row.id)
    checked = await _checked(registry, row)
    tested = await _self_test(registry, row) if checked.ok else ""
    if tested:
        # It may have found capabilities.
        checked = await _checked(registry, row)
        checked.notes.append(tested)
    checked.notes += [layer] if layer else []
    return checked


async def check_settings(registry: Registry, actor: Actor, request: EngineSettings) -> EngineCheck:
    """Check an engine that is not added. Nothing of ours remains in it. Raises: Forbidden; Invalid (the settings)."""
    require(actor, _CHANGES, Target())
    plugins.require_kind(Port.ENGINE, request.kind, field="kind")
    row = EngineRow(id=EngineId(new_id()), name="", kind=request.kind)
    row.settings, row.secrets = _kept(registry.seal, row, request.settings)
    return await _checked(registry, row, _purge)


async def _checked(
    registry: Registry, row: EngineRow, finish: Callable[[Engine, EngineId], Awaitable[None]] | None = None
) -> EngineCheck:
    """finish: called with the same connection, however the check ends."""
    try:
        async with _connection(registry, row) as engine:
            try:
                nodes = sorted(await in_time(engine.nodes(), CHECK_S), key=lambda info: info.name)
                apps = await _apps(engine, nodes)
                missing = gaps(engine, nodes)
            finally:
                if finish:
                    await finish(engine, row.id)
    except Unavailable as error:
        return EngineCheck(
            ok=False,
            sentence=error.message,
            versions=[],
            notes=[],
            nodes=[],
            capacity={},
            runtimes=[],
            gaps=[],
        )
    versions = sorted({info.engine for info in nodes})
    capacity: dict[str, int] = {}
    for info in nodes:
        capacity = capacity if info.closed else add(capacity, info.slots)
    return EngineCheck(
        ok=True,
        sentence=f"It responds: {', '.join(versions) or 'no node'}.",
        versions=versions,
        notes=apps,
        nodes=[
            CheckedNode(
                name=info.name, architecture=info.architecture, slots=dict(info.slots), closed=info.closed
            )
            for info in nodes
        ],
        capacity=capacity,
        runtimes=runtimes.names(set[str]().union(*(info.capabilities for info in nodes))),
        gaps=[EngineGap(code=gap, sentence=SENTENCES[gap]) for gap in missing],
    )


async def remove(registry: Registry, actor: Actor, ref: str) -> None:
    """Remove an engine without containers, with its nodes, and clean up our resources there.

    Raises: Forbidden, NotFound; Conflict when it holds containers or environments, or is the local one.
    """
    async with registry.database.transaction() as tx:
        row = await queries.find(tx, actor, ref, _CHANGES)
        if row.id == LOCAL_ENGINE:
            raise Conflict(
                "engine.local",
                f"{row.name} is the local engine and cannot be removed.",
                hint="Cordon its nodes instead.",
            )
        machines = await _locked_nodes(tx, row.id)
        await _require_empty(tx, row)
        await _forget_versions(tx, row)
        await tx.execute(
            update(Node)
            .where(Node.engine_id == row.id)
            .values(forgotten_at=registry.clock.now(), state=NodeState.DOWN, draining=None)
        )
        await tx.execute(
            update(ResourceGroup)
            .where(ResourceGroup.elastic["engine"].astext == row.id)
            .values(elastic=null())
        )
        await membership.announce(tx, machines, "node.removed")
        await _record(tx, actor, "engine.removed", row, before=_shown(row))
        await tx.delete(row)
        await tx.flush()
        tx.expunge(row)
    await _clear_away(registry, row)


async def _clear_away(registry: Registry, row: EngineRow) -> None:
    """Best effort: an engine that does not respond keeps our resources."""
    try:
        async with _connection(registry, row) as engine:
            await _purge(engine, row.id)
    except Unavailable as error:
        log.warning("engine.not_cleared", engine=row.id, error=error.message)


async def _purge(engine: Engine, engine_id: EngineId) -> None:
    """Remove what is ours in the engine. Best effort."""
    try:
        if isinstance(engine, Committing):
            for key in await in_time(engine.commits(), CHECK_S):
                await in_time(engine.discard_commit(key), CHECK_S)
    except EngineError as error:
        log.warning("engine.images_not_cleared", engine=engine_id, error=error.message)
    try:
        if isinstance(engine, Purging):
            await in_time(engine.purge(), CHECK_S)
    except EngineError as error:
        log.warning("engine.not_cleared", engine=engine_id, error=error.message)


def _merged(seal: SecretBox, row: EngineRow, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings after the change. Raises: Conflict, Invalid."""
    if row.id == LOCAL_ENGINE:
        raise Conflict(
            "engine.local",
            f"{row.name} is the local engine, which is detected at startup.",
            hint="Set CARREL_ENGINE_URL and restart Carrel.",
            field="settings",
        )
    secrets = opened(seal, row.id, row.secrets)
    if secrets.keys() - given.keys() and any(row.settings.get(name) != given[name] for name in given):
        raise Invalid(
            "engine.secrets_again",
            "The secrets belong to the previous settings of the engine.",
            hint="Set them again together with the change: " + ", ".join(sorted(secrets)) + ".",
            field="settings." + min(secrets.keys() - given.keys()),
        )
    merged = {**row.settings, **secrets, **given}
    return {name: value for name, value in merged.items() if value is not None}


def _kept(seal: SecretBox, row: EngineRow, values: Mapping[str, Any]) -> tuple[dict[str, Any], bytes | None]:
    """The stored settings and the encrypted secrets. Raises: Invalid, Unavailable."""
    settings = plugins.find(Port.ENGINE, row.kind).checked(values)
    secrets = {
        name: secret.get_secret_value()
        for name in values
        if isinstance(secret := getattr(settings, name), SecretStr)
    }
    plain = settings.model_dump(mode="json", include=set(values) - secrets.keys())
    return plain, seal.close(orjson.dumps(secrets), purpose(row.id)) if secrets else None


@asynccontextmanager
async def _connection(registry: Registry, row: EngineRow) -> AsyncIterator[Engine]:
    """A new connection. Raises: Unavailable when it does not respond, also within the `async with` block."""
    try:
        engine = registry.engines.connected(row)
        try:
            yield engine
        finally:
            await _let_go(engine)
    except EngineError as error:
        raise Unavailable(
            "engine.unreachable",
            error.message,
            hint="Check that the engine runs and that its settings are correct.",
        ) from error


async def _self_test(registry: Registry, row: EngineRow) -> str:
    """The result of its self-test in sentences, or why there is none; empty: it has none."""
    try:
        async with _connection(registry, row) as engine:
            return await in_time(engine.self_test(), SELF_TEST_S) if isinstance(engine, SelfTesting) else ""
    except Unavailable as error:
        return error.message


async def _try_out(registry: Registry, row: EngineRow) -> None:
    """Check that the engine responds and has our running containers. Raises: Unavailable, Conflict."""
    async with _connection(registry, row) as engine:
        await in_time(engine.nodes(), CHECK_S)
        seen = {observed.id for observed in await in_time(engine.list(), CHECK_S)}
    async with registry.database.transaction() as tx:
        missing = sorted(set(await _held(tx, row.id)) - seen)
    if missing:
        raise Conflict(
            "engine.other",
            f"{len(missing)} container{'s' * (len(missing) > 1)} of sessions on {row.name} "
            f"cannot be found with these settings: they point to another engine.",
            hint="Add that engine separately, or end these sessions first.",
            details={"containers": missing},
        )


async def _apps(engine: Engine, nodes: Sequence[NodeInfo]) -> list[str]:
    """How apps in its containers are reached, if there are several ways. Raises: EngineError."""
    if not isinstance(engine, PortForwarding):
        return []
    reachable = await in_time(engine.reachable(), CHECK_S)
    if any(FORWARDED in node.capabilities for node in nodes):
        return [_FORWARDED, _FASTER] if reachable else [_FORWARDED]
    return [_UNREACHABLE] if reachable is False else []


_FORWARDED = "The gateway connects to apps through the engine."
_FASTER = "Their addresses can be reached from here, which is faster."
_UNREACHABLE = (
    "The addresses of its containers cannot be reached from here: if the gateway cannot reach them either, set it to"
    " connect to apps through the engine."
)


async def _let_go(engine: Engine) -> None:
    if isinstance(engine, Closing):
        await engine.close()


async def _locked_nodes(tx: AsyncSession, engine: EngineId) -> list[Node]:
    """The listed nodes of the engine. All are locked, so that nothing is placed on them."""
    rows = await tx.execute(select(Node).where(Node.engine_id == engine).with_for_update())
    return [node for node in rows.scalars() if node.forgotten_at is None]


async def _held(tx: AsyncSession, engine: EngineId) -> list[str]:
    """The containers with allocations on its nodes."""
    held = select(Allocation.container_id.distinct()).join(Node, Node.id == Allocation.node_id)
    rows = await tx.execute(held.where(Node.engine_id == engine, Allocation.released_at.is_(None)))
    return [str(container) for container in rows.scalars()]


async def _require_empty(tx: AsyncSession, row: EngineRow) -> None:
    if held := len(await _held(tx, row.id)):
        raise Conflict(
            "engine.in_use",
            f"{row.name} holds {held} container{'s' * (held > 1)} of sessions.",
            hint="Drain its nodes first: `carrel node drain`.",
            details={"containers": held},
        )
    saved = select(func.count()).where(
        EnvironmentVersion.engine_id == row.id,
        EnvironmentVersion.state.in_((VersionState.WAITING, VersionState.RUNNING, VersionState.READY)),
    )
    if versions := (await tx.execute(saved)).scalar_one():
        raise Conflict(
            "engine.has_environments",
            f"{row.name} has {versions} version{'s' * (versions > 1)} of environments.",
            hint="Delete them first: `carrel environment rm`.",
            details={"versions": versions},
        )


async def _forget_versions(tx: AsyncSession, row: EngineRow) -> None:
    """Delete the rows of versions without images or whose images are no longer needed, and of environments that were
    deleted with the last of these.
    """
    await tx.execute(delete(EnvironmentVersion).where(EnvironmentVersion.engine_id == row.id))
    others = select(EnvironmentVersion.id).where(EnvironmentVersion.environment_id == Environment.id)
    await tx.execute(delete(Environment).where(Environment.removed_at.is_not(None), ~others.exists()))


async def _require_free(tx: AsyncSession, name: str) -> None:
    if (await tx.execute(select(EngineRow.id).where(EngineRow.name == name))).scalar():
        raise _taken(name)


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_engines_name" not in str(error.orig):
            raise
        raise _taken(name) from None


def _taken(name: str) -> Conflict:
    return Conflict(
        "engine.name_taken",
        f"An engine named {name} already exists.",
        hint="Choose another name.",
        field="name",
    )


def _shown(row: EngineRow) -> dict[str, Any]:
    """The audited fields of an engine, without secrets."""
    return {"name": row.name, "kind": row.kind, "settings": row.settings, "secrets": row.secrets is not None}


async def _record(tx: AsyncSession, actor: Actor, event: str, row: EngineRow, **details: object) -> None:
    """Write the audit entry, publish an event and make every process reload the engines."""
    audit.record(tx, actor, _CHANGES, row.id, name=row.name, target=Target(), details=details)
    await publish(tx, row, event)
    await notify(tx, TOPIC)
