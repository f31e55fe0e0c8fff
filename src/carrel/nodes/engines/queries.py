"""Reading engines: one statement for all of them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel import plugins
from carrel.core.errors import NotFound
from carrel.core.ids import LOCAL_ENGINE
from carrel.db.encryption import SecretBox
from carrel.nodes.engines.connections import opened
from carrel.nodes.engines.schemas import AppLayerView, EngineList, EngineView
from carrel.permissions.decide import Actor, Target, require
from carrel.plugins import Port
from carrel.tables.engines import AppLayerRow, EngineRow
from carrel.tables.nodes import IS_MACHINE, Allocation, Node


async def page(tx: AsyncSession, seal: SecretBox, actor: Actor) -> EngineList:
    """Every engine, by name. Raises: Forbidden."""
    require(actor, "engine.read", Target())
    rows = (await tx.execute(_rows().order_by(EngineRow.name))).all()
    return EngineList(items=_views(seal, rows))


async def detail(tx: AsyncSession, seal: SecretBox, actor: Actor, ref: str) -> EngineView:
    """One engine. Raises: Forbidden, NotFound."""
    row = await find(tx, actor, ref)
    return _views(seal, (await tx.execute(_rows().where(EngineRow.id == row.id))).all())[0]


async def with_containers(tx: AsyncSession) -> list[tuple[EngineRow, int]]:
    """Every engine with the number of containers that hold slots there, for the operator's commands."""
    return [(row.EngineRow, row.containers) for row in await tx.execute(_rows())]


async def find(tx: AsyncSession, actor: Actor, ref: str, action: str = "engine.read") -> EngineRow:
    """The engine with this id or name, locked for a change. Raises: Forbidden, NotFound."""
    require(actor, action, Target())
    statement = select(EngineRow).where((EngineRow.id == ref) | (EngineRow.name == ref))
    if action != "engine.read":
        statement = statement.with_for_update()
    engine = (await tx.execute(statement.order_by((EngineRow.id == ref).desc()).limit(1))).scalar()
    if engine is None:
        raise NotFound("engine.not_found", f"There is no engine {ref}.", hint="See `carrel engine ls`.")
    return engine


def _rows() -> Select[*tuple[Any, ...]]:
    nodes = (
        select(Node.engine_id, func.count().label("nodes"))
        .where(IS_MACHINE)
        .group_by(Node.engine_id)
        .subquery()
    )
    held = (
        select(Node.engine_id, func.count(Allocation.container_id.distinct()).label("containers"))
        .join(Allocation, Allocation.node_id == Node.id)
        .where(Allocation.released_at.is_(None))
        .group_by(Node.engine_id)
        .subquery()
    )
    return (
        select(
            EngineRow,
            AppLayerRow,
            func.coalesce(nodes.c.nodes, 0).label("nodes"),
            func.coalesce(held.c.containers, 0).label("containers"),
        )
        .outerjoin_from(EngineRow, nodes, nodes.c.engine_id == EngineRow.id)
        .outerjoin(held, held.c.engine_id == EngineRow.id)
        .outerjoin(AppLayerRow, AppLayerRow.engine_id == EngineRow.id)
    )


def _views(seal: SecretBox, rows: Sequence[Row[Any]]) -> list[EngineView]:
    return [
        EngineView(
            **{name: getattr(row.EngineRow, name) for name in _AS_THEY_ARE},
            kind_title=plugins.title(Port.ENGINE, row.EngineRow.kind),
            secrets=sorted(opened(seal, row.EngineRow.id, row.EngineRow.secrets)),
            nodes=row.nodes,
            containers=row.containers,
            local=row.EngineRow.id == LOCAL_ENGINE,
            app_layer=AppLayerView.model_validate(row.AppLayerRow) if row.AppLayerRow else None,
        )
        for row in rows
    ]


_AS_THEY_ARE = ("id", "name", "kind", "settings", "state", "state_since", "last_error", "created_at")
