"""Check that the containers of an engine have the same storage as the server: write on one node, read on another."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Conflict
from carrel.core.ids import EngineId, FolderId, StorageHostId
from carrel.db.database import Database
from carrel.engines import volumes
from carrel.engines.port import ContainerSpec, Engine, EngineError
from carrel.folders.hosts import service
from carrel.folders.hosts.schemas import StorageCheck, StorageCheckStep
from carrel.folders.hosts.storages import HostStorage, Storages
from carrel.nodes import ledger
from carrel.nodes.engines import queries as engines
from carrel.nodes.engines.connections import Engines, in_time
from carrel.nodes.engines.probes import LIFETIME, is_current, probe_id
from carrel.permissions.decide import Actor
from carrel.storage.port import WORK_UID, FolderLocation
from carrel.tables.engines import EngineRow
from carrel.tables.images import Image
from carrel.tables.nodes import IS_MACHINE, Node, NodeState
from carrel.tables.storage_hosts import StorageHostLocation

_SCOPE = "check"
_AT = "/home/work/check"
_SLOTS = {"cpu": 100, "mem": 64 << 20}
_NODES = 2
_START_S, _ANSWER_S, _STOP_S = 120.0, 20.0, 60.0
_FOLDER_LIFETIME = (_NODES + 1) * LIFETIME
"""One container after the other, and what the server does."""
_SERVER = "server"


@dataclass(frozen=True)
class Subject:
    """What is checked. location: None: nowhere."""

    host: StorageHostId
    engine: EngineRow
    location: str | None
    nodes: Sequence[str]
    image: str


async def check(
    database: Database,
    storages: Storages,
    connections: Engines,
    clock: Clock,
    actor: Actor,
    ref: str,
    engine: str,
    image: str | None,
) -> StorageCheck:
    """Start a container on one or two nodes of the engine with room for it, which exchange files with the server.

    image: one with a shell; None: one of the catalogue.
    Raises: NotFound, Forbidden; Conflict if there is no node or image to check with; Unavailable for the storage.
    """
    async with database.transaction() as tx:
        subject = await _subject(tx, actor, ref, engine, image)
    storage = await storages.of(subject.host)
    if subject.location is None:
        problem = f"The storage host is nowhere on {subject.engine.name}."
        return StorageCheck(ok=False, steps=[StorageCheckStep(place=subject.engine.name, problem=problem)])
    exchange = _Exchange(storage, volumes.parse(subject.location or str(storage.backend.root)), clock)
    steps: list[StorageCheckStep] = []
    async with exchange.folder():
        await exchange.write()
        for node in subject.nodes:
            problem = await exchange.with_container(connections, subject, node)
            steps.append(StorageCheckStep(place=node, problem=problem))
            if problem:
                break
        else:
            steps.append(StorageCheckStep(place=_SERVER, problem=await exchange.read()))
    return StorageCheck(ok=not any(step.problem for step in steps), steps=steps)


async def _subject(tx: AsyncSession, actor: Actor, ref: str, engine: str, image: str | None) -> Subject:
    host = await service.changing(tx, actor, ref)
    row = await engines.find(tx, actor, engine)
    tx.expunge(row)
    located = await tx.get(StorageHostLocation, (host.id, row.id))
    nodes = await _nodes(tx, row.id)
    if not nodes:
        raise Conflict(
            "storage_host.no_node",
            f"{row.name} has no node that takes containers.",
            hint=f"See `carrel engine check {row.name}`.",
            field="engine",
        )
    return Subject(
        host.id,
        row,
        located.location if located else "",
        [node.name for node in nodes],
        image or await _image(tx, nodes),
    )


async def _nodes(tx: AsyncSession, engine: EngineId) -> Sequence[Node]:
    """Those that take containers and have room; without room anywhere, what the engine says is the result."""
    is_open = (Node.engine_id == engine) & IS_MACHINE & (Node.state == NodeState.READY)
    is_open &= ~Node.cordoned & (Node.closed == "")
    rows = (await tx.execute(select(Node.id, Node.slots).where(is_open).order_by(Node.name))).all()
    held = await ledger.held(tx)
    roomy = [
        row.id
        for row in rows
        if all(
            row.slots.get(slot, 0) - held.get(row.id, {}).get(slot, 0) >= size
            for slot, size in _SLOTS.items()
        )
    ]
    chosen = (roomy or [row.id for row in rows])[:_NODES]
    return (await tx.execute(select(Node).where(Node.id.in_(chosen)).order_by(Node.name))).scalars().all()


async def _image(tx: AsyncSession, nodes: Sequence[Node]) -> str:
    """One that is present on all nodes, if there is any."""
    references = (await tx.execute(select(Image.reference).order_by(Image.size_bytes, Image.name))).scalars()
    known = list(references)
    if not known:
        raise Conflict(
            "storage_host.no_image", "The catalogue has no image.", hint="Name an image.", field="image"
        )
    return next((one for one in known if all(one in node.images for node in nodes)), known[0])


class _Exchange:
    """A folder in which each participant writes a file, and reads those of all before it."""

    def __init__(self, storage: HostStorage, location: volumes.Location, clock: Clock) -> None:
        self._storage = storage
        self._location = location
        self._clock = clock
        self._id = probe_id(clock.now())
        self._place = FolderLocation(_SCOPE, FolderId(self._id))
        self._files = storage.backend.files(self._place)
        self._written: list[str] = []

    @asynccontextmanager
    async def folder(self) -> AsyncIterator[None]:
        """It exists within the block. Those of interrupted checks are removed."""
        backend, call = self._storage.backend, self._storage.call
        for place in await call(backend.places):
            if place.scope == _SCOPE and not is_current(place.folder, self._clock.now(), _FOLDER_LIFETIME):
                await call(backend.remove, place, lambda advance: None, deadline_s=None)
        await call(backend.create, self._place)
        try:
            yield
        finally:
            await call(backend.remove, self._place, lambda advance: None, deadline_s=None)

    async def write(self) -> None:
        """The server's part."""
        await self._storage.call((self._files / _SERVER).touch)
        self._written.append(_SERVER)

    async def read(self) -> str:
        """The problem of the server with what the nodes wrote; "" if there is none."""
        for name in self._written[1:]:
            try:
                owner = (await self._storage.call((self._files / name).stat)).st_uid
            except OSError as error:
                return f"It does not find what {name} wrote: {os.strerror(error.errno or 0)}."
            if owner != WORK_UID:
                return f"What {name} wrote belongs to user {owner} here, instead of {WORK_UID}."
        return ""

    async def with_container(self, connections: Engines, subject: Subject, node: str) -> str:
        """Read and write in a container on the node; the problem, "" if there is none."""
        part = PurePosixPath(self._files.relative_to(self._storage.backend.root))
        mount = self._location.mount(part, _AT, subpath="", read_only=False)
        spec = ContainerSpec(
            probe_id(self._clock.now()), subject.image, _SLOTS, node=node, mounts=(mount,), helper=True
        )
        try:
            engine = await connections.of(subject.engine.id)
            async with _container(engine, spec):
                for name in self._written:
                    if failed := await in_time(_run(engine, spec.id, "cat", f"{_AT}/{name}"), _ANSWER_S):
                        return f"It does not find what {name} wrote: {failed}"
                if failed := await in_time(_run(engine, spec.id, "touch", f"{_AT}/{node}"), _ANSWER_S):
                    return f"It cannot write: {failed}"
        except (EngineError, CarrelError) as error:
            return error.message
        self._written.append(node)
        return ""


@asynccontextmanager
async def _container(engine: Engine, spec: ContainerSpec) -> AsyncIterator[None]:
    """It runs within the block."""
    try:
        await in_time(engine.ensure(spec, lambda progress: None), _START_S)
        yield
    finally:
        with suppress(EngineError):
            await in_time(engine.remove(spec.id, grace_s=0), _STOP_S)


async def _run(engine: Engine, container: str, *command: str) -> str:
    """What a failed command wrote; "" if it succeeded."""
    async with engine.exec(container, command, env={}, terminal=None) as process:
        output = b"".join([chunk async for _, chunk in process.output()])
        code = await process.exit_code()
    return (output.decode(errors="replace").strip() or f"exit code {code}") if code else ""
