"""What would happen to a request, and what is left: `POST /sessions/check`. Nothing is written."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.core.hosts import architecture
from carrel.core.ids import GroupId, ProjectId, SessionId
from carrel.images import service as images
from carrel.limits.scopes import access_key_of, scopes_of
from carrel.permissions.decide import Actor, Target, require
from carrel.queue import loading
from carrel.queue.service import Answer, explain, least_of
from carrel.scheduling.estimate import Headroom, StartEstimate, estimate_start, headroom
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import DEFAULT_PRIORITY, ScopeView, Waiting
from carrel.sessions import admission, mounting
from carrel.sessions import service as sessions
from carrel.sessions.admission import Place, Wish
from carrel.sessions.schemas import MountRequest
from carrel.tables.groups import ResourceGroup
from carrel.tables.presets import Preset

ASKED = SessionId("asked")
"""Stands for a request that is only asked about."""


@dataclass(frozen=True)
class Checked:
    """refused: the error that creating it would give. answer: None then."""

    refused: CarrelError | None
    answer: Answer | None
    group: ResourceGroup
    project: ProjectId
    scopes: Mapping[str, ScopeView]
    slots: Mapping[str, Headroom]
    groups: Sequence[tuple[ResourceGroup, StartEstimate]]
    presets: Sequence[tuple[Preset, StartEstimate]]


async def check(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    wish: Wish,
    *,
    project: str | None,
    image: str | None,
    mounts: Sequence[MountRequest] = (),
) -> Checked:
    """What would happen if the actor asked for it now. Raises: NotFound, Forbidden, Conflict."""
    home = await sessions.project_of(tx, actor, project)
    require(actor, "session.create", Target(actor.user_id, home, actor.domain_id))
    usable = await admission.usable_groups(tx, actor.user_id, actor.domain_id, home)
    group = admission.chosen(usable, wish.group)
    found = await images.find(tx, image) if image else None
    wish = replace(wish, architecture=architecture(found.architecture if found else None))
    place = await _placed(tx, actor, home, wish, image=image, mounts=mounts)
    refused = place if isinstance(place, CarrelError) else None
    path = (actor.domain_id, home, actor.user_id)
    asked = Waiting(
        id=ASKED, slots=wish.slots, since=clock.now(), group=group.id, path=path,
        scopes=scopes_of(access_key_of(actor), path),
        priority=DEFAULT_PRIORITY if wish.priority is None else wish.priority,
        architecture=wish.architecture,
    )  # fmt: skip
    if isinstance(place, Place):
        lasts = timedelta(seconds=place.time_limit_s) if place.time_limit_s else None
        asked = replace(asked, priority=place.priority, node=place.node, lasts=lasts)
    snapshot = await loading.snapshot(
        tx, clock.now(), [*await loading.waiting(tx, clock.now()), asked], running=True
    )
    least = least_of(found)
    presets = await _presets(tx, group.id)

    def answer() -> Checked:
        planning = Planning(
            replace(snapshot, waiting=tuple(one for one in snapshot.waiting if one.id != ASKED))
        )
        planning.run()
        return Checked(
            refused=refused,
            answer=None if refused else explain(snapshot, asked, [one.id for one in usable], least),
            group=group,
            project=home,
            scopes={scope: snapshot.scopes[scope] for scope in asked.scopes},
            slots=headroom(planning, asked),
            groups=[(one, estimate_start(planning, replace(asked, group=one.id))) for one in usable],
            presets=[(one, with_preset(planning, one)) for one in presets],
        )

    def with_preset(planning: Planning, preset: Preset) -> StartEstimate:
        # A preset says nothing about what it does not name; of CPU and memory there must be some.
        slots = {slot: wish.slots.get(slot, 0) for slot in ("cpu", "mem")} | preset.slots
        if image and (too_few := sessions.too_few_for(found, slots)):
            return StartEstimate(starts=False, never=True, reason=too_few.message)
        return estimate_start(planning, replace(asked, slots=slots))

    return await asyncio.to_thread(answer)


async def _placed(
    tx: AsyncSession,
    actor: Actor,
    project: ProjectId,
    wish: Wish,
    *,
    image: str | None,
    mounts: Sequence[MountRequest],
) -> Place | CarrelError:
    """Where and how it would wait, or the error that asking for it would give."""
    try:
        if image:
            await sessions.image_of(tx, actor, image, wish.slots)
        place = await admission.admit(tx, actor, project, wish)
        await mounting.foresee(tx, actor, mounts)
    except CarrelError as error:
        return error
    return place


async def _presets(tx: AsyncSession, group: GroupId) -> Sequence[Preset]:
    offered = or_(Preset.group_id.is_(None), Preset.group_id == group)
    return (await tx.execute(select(Preset).where(offered).order_by(Preset.name))).scalars().all()
