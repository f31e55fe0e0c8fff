"""Use cases of presets. Each starts with an authorization check."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import GroupId, PresetId, new_id
from carrel.events import service as events
from carrel.nodes.groups import service as groups
from carrel.nodes.presets.schemas import PresetCreate, PresetGroup, PresetUpdate, PresetView
from carrel.permissions.decide import Actor, Target, require
from carrel.slot_kinds import service as slot_kinds
from carrel.tables.groups import ResourceGroup
from carrel.tables.presets import Preset


async def offered(tx: AsyncSession, actor: Actor, group: str | None) -> list[PresetView]:
    """Presets of the groups that the actor may use, and global ones; optionally of one group. Sorted by name. Raises:
    NotFound.
    """
    condition: ColumnElement[bool] = or_(Preset.group_id.is_(None), groups.seen_by(actor))
    if group is not None:
        group_id = (await groups.find(tx, group, seen=groups.seen_by(actor))).id
        condition = or_(Preset.group_id.is_(None), Preset.group_id == group_id)
    rows = await tx.execute(_rows().where(condition).order_by(func.lower(Preset.name), Preset.id))
    return [_view(row) for row in rows]


async def create(tx: AsyncSession, clock: Clock, actor: Actor, request: PresetCreate) -> PresetView:
    """Create a preset. Raises: Forbidden; NotFound of its group; Conflict when the name is taken there."""
    require(actor, "preset.update", Target())
    group = await _group(tx, request.group)
    await _require_possible(tx, request.slots)
    preset = Preset(
        id=PresetId(new_id()), name=request.name, group_id=group, slots=request.slots, created_at=clock.now()
    )
    tx.add(preset)
    await _flush(tx, preset.name)
    return await _recorded(tx, actor, preset, "preset.created", after=request.model_dump())


async def update(tx: AsyncSession, actor: Actor, ref: str, changes: PresetUpdate) -> PresetView:
    """Update the given fields. Raises: NotFound, Forbidden; Conflict when the name is taken in its group."""
    require(actor, "preset.update", Target())
    preset = await _find(tx, ref)
    after: dict[str, Any] = changes.model_dump(exclude_unset=True)
    if "group" in after:
        after["group_id"] = await _group(tx, after.pop("group"))
    await _require_possible(tx, after.get("slots", {}))
    before = {field: getattr(preset, field) for field in after}
    for field, value in after.items():
        setattr(preset, field, value)
    await _flush(tx, preset.name)
    return await _recorded(tx, actor, preset, "preset.updated", before=before, after=after)


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Delete a preset; existing sessions are unaffected. Raises: NotFound, Forbidden."""
    require(actor, "preset.update", Target())
    preset = await _find(tx, ref)
    await _recorded(tx, actor, preset, "preset.removed", removed=True)
    await tx.delete(preset)
    await tx.flush()


async def _require_possible(tx: AsyncSession, slots: Mapping[str, int]) -> None:
    await slot_kinds.require_known(tx, slots, field="slots")
    await slot_kinds.require_possible(tx, slots)


async def _group(tx: AsyncSession, ref: str | None) -> GroupId | None:
    return None if ref is None else (await groups.find(tx, ref)).id


async def _find(tx: AsyncSession, ref: str) -> Preset:
    """The preset with this id, or this name if unique. Raises: NotFound, Conflict."""
    statement = select(Preset).where(or_(Preset.id == ref, func.lower(Preset.name) == ref.lower()))
    matches: Sequence[Preset] = (
        (await tx.execute(statement.limit(10).with_for_update(key_share=True))).scalars().all()
    )
    exact = [each for each in matches if each.id == ref] or matches
    if not exact:
        raise NotFound("preset.not_found", f"There is no preset {ref}.", hint="See `carrel preset ls`.")
    if len(exact) > 1:
        raise Conflict(
            "preset.ambiguous",
            f"Several presets have the name {ref}.",
            hint="Use the id.",
            details={"ids": [each.id for each in exact]},
        )
    return exact[0]


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_presets" not in str(error.orig):
            raise
        raise Conflict(
            "preset.name_taken",
            f"A preset named {name} already exists there.",
            hint="Choose another name.",
            field="name",
        ) from None


async def _recorded(
    tx: AsyncSession, actor: Actor, preset: Preset, event: str, **details: object
) -> PresetView:
    """Write the audit entry and publish an event; returns the preset."""
    audit.record(tx, actor, "preset.update", preset.id, name=preset.name, target=Target(), details=details)
    data = {"id": preset.id, "name": preset.name}
    audience = {events.EVERYBODY}
    if preset.group_id:
        audience = await groups.audience(tx, preset.group_id)
    await events.record(tx, event, preset.id, target=Target(), data=data, audience=audience)
    return _view((await tx.execute(_rows().where(Preset.id == preset.id))).one())


def _rows() -> Select[*tuple[Any, ...]]:
    return select(Preset, ResourceGroup.name.label("group_name")).outerjoin_from(
        Preset, ResourceGroup, ResourceGroup.id == Preset.group_id
    )


def _view(row: Row[Any]) -> PresetView:
    preset: Preset = row.Preset
    group = PresetGroup(id=preset.group_id, name=row.group_name) if preset.group_id else None
    return PresetView(
        id=preset.id, name=preset.name, group=group, slots=preset.slots, created_at=preset.created_at
    )
