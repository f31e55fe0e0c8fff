"""Dry run of a session request, with remaining capacity: `POST /sessions/check`. Writes nothing."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.cuda import uses_cuda
from carrel.core.errors import CarrelError
from carrel.core.host_names import architecture
from carrel.core.ids import GroupId, NodeId, ProjectId, SessionId
from carrel.engines.references import canonical
from carrel.environments import session_images as environments
from carrel.image_scans import vulnerability_rules
from carrel.image_scans.vulnerability_rules import ScanWarning
from carrel.limits.scopes import access_key_of, scopes_of
from carrel.permissions.decide import Actor, Target, require
from carrel.queue import cuda_requirements, loading
from carrel.queue.pull_costs import pull_cost
from carrel.queue.service import Answer, explain, least_of
from carrel.scheduling.estimate import Headroom, StartEstimate, estimate_start, headroom
from carrel.scheduling.plan import Planning
from carrel.scheduling.snapshot import DEFAULT_PRIORITY, GroupChoice, PendingSession, ScopeSnapshot, Without
from carrel.sessions import admission, allowed_rights, dependencies, mounting, resolution, topology
from carrel.sessions.admission import AdmittedSpec, DiskRange
from carrel.sessions.dependencies import Dependency
from carrel.sessions.mounting import MountPlan
from carrel.sessions.spec import SessionSpec
from carrel.tables.groups import ResourceGroup
from carrel.tables.images import Image
from carrel.tables.presets import Preset
from carrel.tables.session_states import Rights

DRY_RUN = SessionId("asked")
"""Placeholder id of a request that is only checked."""


@dataclass(frozen=True)
class Checked:
    """refused: the error that creating it would raise; answer is None then. group: the preferred one. starts_in: in
    which it would start now.
    """

    refused: CarrelError | None
    answer: Answer | None
    group: ResourceGroup
    starts_in: ResourceGroup | None
    project: ProjectId
    scopes: Mapping[str, ScopeSnapshot]
    slots: Mapping[str, Headroom]
    groups: Sequence[tuple[ResourceGroup, StartEstimate]]
    presets: Sequence[tuple[Preset, StartEstimate]]
    root_refused: CarrelError | None
    disk: DiskRange
    warnings: Sequence[ScanWarning]


async def check(tx: AsyncSession, clock: Clock, actor: Actor, spec: SessionSpec) -> Checked:
    """The result of creating the session now. image "": not chosen yet.

    Raises: NotFound, Forbidden, Conflict.
    """
    project = await resolution.project_of(tx, actor, spec.project)
    require(actor, "session.create", Target(actor.user_id, project, actor.domain_id))
    usable = await admission.usable_groups(tx, actor.user_id, actor.domain_id, project, spec.kind)
    accepted = admission.chosen_groups(usable, spec)
    group = accepted[0]
    image, admitted, mounts = await _admitted(tx, actor, project, spec)
    if isinstance(admitted, AdmittedSpec) and admitted.group is not accepted[0]:
        # The image is not for the group that would be the default.
        accepted = list(dict.fromkeys([admitted.group, *accepted[1:]]))
        group = accepted[0]
    refused = admitted if isinstance(admitted, CarrelError) else None
    # Report remaining capacity also for a refused request, without the node and time limit that caused the refusal.
    possible = (
        admitted.spec if isinstance(admitted, AdmittedSpec) else replace(spec, node=None, time_limit_s=None)
    )
    # As requested: other groups may have another level of that name.
    possible = replace(possible, topology=spec.topology)
    after = admitted.after if isinstance(admitted, AdmittedSpec) else ()
    without_root = (
        {
            one.id: refusal.message
            for one in accepted
            if (refusal := await allowed_rights.root_refused(tx, actor, project, one, machines=()))
        }
        if possible.rights == Rights.ROOT
        else {}
    )
    references = {one.image for one in possible.container_requests}
    without = (*await mounting.without(tx, mounts), *await environments.without(tx, references))
    pending = _pending(actor, project, accepted, without_root, image, possible, after, without, clock.now())
    if pins := await resolution.image_pins(tx, actor.domain_id, project, possible):
        pending = replace(pending, image=canonical(pins.get(possible.image, possible.image)))
    # Without devices, those that a preset adds.
    devices = {one.image for one in possible.container_requests if uses_cuda(one.slots)} or references
    requiring = {(project, image) for image in devices}
    required = await cuda_requirements.of_images(tx, requiring)
    pending = replace(pending, cuda=cuda_requirements.together(required, requiring))
    snapshot = await loading.snapshot(
        tx, clock.now(), [*await loading.waiting(tx, clock.now()), pending], running=True
    )
    least = least_of(image)
    warnings = await vulnerability_rules.warnings(tx, references - {""})
    presets = await _presets(tx, group.id)
    machines = await admission.machines_of(tx, group)
    root_refused = await allowed_rights.root_refused(tx, actor, project, group, machines)
    disk = await admission.disk_range(tx, actor)

    # What fits, whatever it has to wait for besides.
    at_once = replace(pending, aside="", after=frozenset())

    def answer() -> Checked:
        planning = Planning(
            replace(snapshot, waiting=tuple(one for one in snapshot.waiting if one.id != DRY_RUN))
        )
        planning.run()
        answer = None if refused else explain(snapshot, pending, [one.id for one in usable], least, after)
        return Checked(
            refused=refused,
            answer=answer,
            group=group,
            starts_in=next((one for one in accepted if answer and one.id == answer.starts_in), None),
            project=project,
            scopes={scope: snapshot.scopes[scope] for scope in pending.scopes},
            slots=headroom(planning, at_once),
            groups=[(one, estimate_start(planning, replace(at_once, group=one.id))) for one in usable],
            presets=[(one, with_preset(planning, one)) for one in presets],
            root_refused=root_refused,
            disk=disk,
            warnings=warnings,
        )

    def with_preset(planning: Planning, preset: Preset) -> StartEstimate:
        # Presets may omit slots, but CPU and memory are required.
        slots = {slot: spec.slots.get(slot, 0) for slot in ("cpu", "mem")} | preset.slots
        if spec.image and (too_few := resolution.too_few_for(image, slots)):
            return StartEstimate(starts=False, never=True, reason=too_few.message)
        return estimate_start(planning, replace(at_once, slots=slots, mixed=replace(spec, slots=slots).mixed))

    checked = await asyncio.to_thread(answer)
    if checked.answer is None:
        return checked
    cost = await pull_cost(tx, snapshot, pending, checked.answer.starts_on)
    return replace(checked, answer=replace(checked.answer, pull=cost))


async def _admitted(
    tx: AsyncSession, actor: Actor, project: ProjectId, spec: SessionSpec
) -> tuple[Image | None, AdmittedSpec | CarrelError, MountPlan]:
    """The image that it names, the request as it would be queued, or the error that creating it would raise; and its
    mounts.
    """
    image, only_in = None, None
    try:
        if spec.image:
            image = await resolution.named_image(tx, actor, spec.image)
            await resolution.require_usable(tx, actor, project, image, spec.image, spec.slots)
            spec, only_in = await resolution.with_role_images(tx, actor, project, image, spec)
        admitted = await admission.admit(tx, actor, project, image, spec, only_in=only_in)
        return image, admitted, await mounting.foresee(tx, actor, spec.mounts)
    except CarrelError as error:
        return image, error, MountPlan()


def _pending(
    actor: Actor,
    project: ProjectId,
    accepted: Sequence[ResourceGroup],
    without_root: Mapping[GroupId, str],
    image: Image | None,
    spec: SessionSpec,
    after: Sequence[Dependency],
    without: Without,
    now: datetime,
) -> PendingSession:
    """The request as the scheduler would see it. without_root: why it may not start in some of the groups."""
    path = (actor.domain_id, project, actor.user_id)
    never = dependencies.cannot_be_met(after)
    where = topology.where(len(spec.sizes), spec.placement, spec.topology)
    choices = [GroupChoice(group.id, without_root.get(group.id, "")) for group in accepted]
    later = spec.start_at if spec.start_at and spec.start_at > now else None
    return PendingSession(
        id=DRY_RUN,
        slots=spec.slots,
        since=now,
        group=accepted[0].id,
        choices=tuple(choices) if len(accepted) > 1 else (),
        path=path,
        scopes=scopes_of(access_key_of(actor), path),
        priority=DEFAULT_PRIORITY if spec.priority is None else spec.priority,
        count=len(spec.sizes),
        mode=where.mode,
        within=where.within,
        mixed=spec.mixed,
        node=NodeId(spec.node) if spec.node else None,
        architecture=architecture(image.architecture if image else None),
        image=canonical(image.reference if image else spec.image) if spec.image else "",
        root=spec.rights == Rights.ROOT,
        without=without,
        lasts=timedelta(seconds=spec.time_limit_s) if spec.time_limit_s else None,
        aside=admission.not_before(later) if later else dependencies.sentence(after),
        not_before=None if never else later,
        after=frozenset() if never else dependencies.awaited(after),
    )


async def _presets(tx: AsyncSession, group: GroupId) -> Sequence[Preset]:
    offered = or_(Preset.group_id.is_(None), Preset.group_id == group)
    return (await tx.execute(select(Preset).where(offered).order_by(Preset.name))).scalars().all()
