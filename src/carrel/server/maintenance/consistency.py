"""Compare the ledger and the sessions in the database with each other and with what the engines have. Changes nothing.

Controllers repair differences to an engine by themselves, usually within seconds. Those in the ledger only arise if the
database was changed by hand, or by a defect.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.ids import EngineId, NodeId
from carrel.db.database import Database
from carrel.engines.port import EngineError
from carrel.nodes.accelerator_checks import check_devices
from carrel.nodes.engines.connections import Engines, in_time
from carrel.nodes.engines.probes import is_current
from carrel.nodes.ledger import offered
from carrel.tables.engines import EngineRow
from carrel.tables.nodes import IS_KNOWN, Allocation, Node
from carrel.tables.session_states import ContainerState
from carrel.tables.sessions import IS_LIVE, Container, Session

_ENGINE_S = 30.0
MOST = 1000
"""Differences of one kind that are reported; a broken ledger may have millions."""


class DifferenceKind(StrEnum):
    """ORPHAN: a container on an engine that belongs to no session. MISSING: a running container that its engine does
    not have. HELD: slots held for a container that does not exist. UNHELD: a container on a node that holds nothing.
    OVERFULL: more is held on a node than it offers. DEVICE: more than a whole device is held. MOUNT: an ended session
    still reserves a folder.
    """

    ORPHAN = "orphan"
    MISSING = "missing"
    HELD = "held"
    UNHELD = "unheld"
    OVERFULL = "overfull"
    DEVICE = "device"
    MOUNT = "mount"


@dataclass(frozen=True)
class Difference:
    """where: name of the engine or node, if any. subject: the container, slot, device or folder. detail: a sentence."""

    kind: DifferenceKind
    where: str
    subject: str
    detail: str


@dataclass(frozen=True)
class EngineCompared:
    """containers: how many it has; None if it could not be compared. error: why not, a sentence."""

    name: str
    containers: int | None
    error: str = ""


@dataclass(frozen=True)
class ConsistencyReport:
    """containers: of live sessions, with a node. allocations: slots that they hold, as rows."""

    containers: int
    allocations: int
    engines: list[EngineCompared]
    differences: list[Difference]


async def report(database: Database, engines: Engines, clock: Clock) -> ConsistencyReport:
    """Compare everything. Raises: Unavailable (the database)."""
    async with database.transaction() as tx:
        known = (await tx.execute(select(EngineRow.id, EngineRow.name).order_by(EngineRow.name))).all()
        placed = sum(one.node_id is not None for one in (await _containers(tx)).values())
        held = (await tx.execute(_COUNT_HELD)).scalar_one()
        differences = await of_ledger(tx)
    compared = []
    for id_, name in known:
        try:
            there, differing = await _of_engine(database, engines, clock, id_, name)
        except EngineError as error:
            compared.append(EngineCompared(name, None, error.message))
        else:
            compared.append(EngineCompared(name, there))
            differences.extend(differing)
    return ConsistencyReport(placed, held, compared, differences)


async def of_ledger(tx: AsyncSession) -> list[Difference]:
    """The differences within the database."""
    return [*await _of_rows(tx), *await _of_nodes(tx)]


async def _of_engine(
    database: Database, engines: Engines, clock: Clock, engine: EngineId, name: str
) -> tuple[int, list[Difference]]:
    """The number of its containers; differences that existed before and after it was queried. Raises: EngineError."""
    async with database.transaction() as tx:
        before = await _containers(tx)
        checking = await check_devices.containers(tx)
    listed = {one.id for one in await in_time((await engines.of(engine)).list(), _ENGINE_S)}
    async with database.transaction() as tx:
        after = await _containers(tx)
        checking |= await check_devices.containers(tx)
        names = await tx.execute(select(Node.id, Node.name).where(Node.engine_id == engine, IS_KNOWN))
        own = {id_: node for id_, node in names}
    orphans = listed - before.keys() - after.keys() - checking
    differing = [
        Difference(DifferenceKind.ORPHAN, name, id_, "It belongs to no session.")
        for id_ in sorted(orphans)
        if not is_current(id_, clock.now())
    ]
    differing.extend(
        Difference(
            DifferenceKind.MISSING,
            name,
            id_,
            f"Session {one.session_id} should run in it on {own[one.node_id]}.",
        )
        for id_, one in before.items()
        if one.node_id in own
        and one.state == ContainerState.RUNNING
        and after.get(id_) == one
        and id_ not in listed
    )
    return len(listed), differing[:MOST]


async def _containers(tx: AsyncSession) -> dict[str, Row[Any]]:
    """The containers of live sessions, and those that ended sessions still have on an engine."""
    columns = (Container.id, Container.session_id, Container.state, Container.node_id, Session.restarts)
    # A literal, as in the partial index.
    abandoned = Container.state == text(f"'{ContainerState.ABANDONED}'")
    rows: Iterable[Row[Any]] = await tx.execute(
        select(*columns).join(Session, Session.id == Container.session_id).where(or_(IS_LIVE, abandoned))
    )
    return {row.id: row for row in rows}


_COUNT_HELD = select(func.count()).select_from(Allocation).where(Allocation.released_at.is_(None))
_ROWS = {
    DifferenceKind.HELD: (
        text("""
            SELECT n.name, c.id, c.session_id, string_agg(a.slot || ' ' || a.amount, ', ' ORDER BY a.slot)
            FROM allocations a JOIN containers c ON c.id = a.container_id JOIN nodes n ON n.id = a.node_id
            WHERE a.released_at IS NULL AND c.state IN ('PENDING', 'GONE') GROUP BY 1, 2, 3 ORDER BY 1, 2 LIMIT :most
        """),
        "Session {0} holds {1} for it, but it does not exist.",
    ),
    DifferenceKind.UNHELD: (
        text("""
            SELECT n.name, c.id, c.session_id, c.state
            FROM containers c JOIN sessions s ON s.id = c.session_id JOIN nodes n ON n.id = c.node_id
            WHERE s.ended_at IS NULL AND c.state NOT IN ('PENDING', 'GONE') AND NOT EXISTS (
                SELECT FROM allocations a WHERE a.container_id = c.id AND a.released_at IS NULL)
            ORDER BY 1, 2 LIMIT :most
        """),
        "It is {1} in session {0}, but holds no slots.",
    ),
    DifferenceKind.MOUNT: (
        text("""
            SELECT '', m.folder_name, m.session_id, s.state
            FROM vfolder_mounts m JOIN sessions s ON s.id = m.session_id
            WHERE m.released_at IS NULL AND s.ended_at IS NOT NULL ORDER BY 2, 3 LIMIT :most
        """),
        "Session {0} is {1}, but still reserves the folder.",
    ),
}


async def _of_rows(tx: AsyncSession) -> list[Difference]:
    return [
        Difference(kind, where, subject, sentence.format(*rest))
        for kind, (query, sentence) in _ROWS.items()
        for where, subject, *rest in await tx.execute(query, {"most": MOST})
    ]


async def _of_nodes(tx: AsyncSession) -> list[Difference]:
    """What is held on each node, against what it offers."""
    nodes = {node.id: node for node in (await tx.execute(select(Node).where(IS_KNOWN))).scalars()}
    held: dict[NodeId, dict[str, int]] = {}
    devices: dict[NodeId, dict[str, int]] = {}
    columns = (Allocation.node_id, Allocation.slot, Allocation.amount, Allocation.devices)
    for node, slot, amount, parts in await tx.execute(
        select(*columns).where(Allocation.released_at.is_(None))
    ):
        _add(held.setdefault(node, {}), slot, amount)
        for device, thousandths in (parts or {}).items():
            _add(devices.setdefault(node, {}), device, thousandths)
    return [
        *(one for id_, node in nodes.items() for one in _too_much(node, held.get(id_, {}))),
        *(
            Difference(
                DifferenceKind.DEVICE,
                nodes[id_].name,
                device,
                f"{amount} of 1000 thousandths of it are held.",
            )
            for id_, parts in devices.items()
            if id_ in nodes
            for device, amount in parts.items()
            if amount > 1000
        ),
    ][:MOST]


def _too_much(node: Node, held: dict[str, int]) -> Iterator[Difference]:
    capacity = offered(node)
    for slot, amount in sorted(held.items()):
        if amount > capacity.get(slot, 0):
            yield Difference(
                DifferenceKind.OVERFULL,
                node.name,
                slot,
                f"{amount} is held of {capacity.get(slot, 0)}. Its capacity, reserve or over-commitment may have "
                "been lowered since.",
            )


def _add(sums: dict[str, int], key: str, amount: int) -> None:
    sums[key] = sums.get(key, 0) + amount
