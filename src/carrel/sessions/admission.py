"""Admission: checks a request's resource group and limits, and that it fits the nodes, before it enters the queue."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import CarrelError, Forbidden, Invalid, NotFound, Refused
from carrel.core.host_names import architecture
from carrel.core.ids import DEFAULT_GROUP, DomainId, GroupId, ProjectId, SessionId, UserId
from carrel.core.units import Slots, format_size, format_slot
from carrel.limits.scopes import access_key_of, ceilings, policy_of, scopes_of
from carrel.nodes import ledger
from carrel.nodes import service as nodes
from carrel.nodes.device_snapshots import device_snapshot
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor, Target, allows, refusal
from carrel.scheduling import devices
from carrel.scheduling.node_domains import domains
from carrel.scheduling.placement import Room
from carrel.scheduling.reasons import more_than_ever, too_large
from carrel.scheduling.requirements import DistinctRequirements, SessionRequirements
from carrel.scheduling.snapshot import (
    CONTAINERS,
    DEFAULT_PRIORITY,
    SESSIONS,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
)
from carrel.sessions import allowed_rights, dependencies, topology
from carrel.sessions.dependencies import Dependency
from carrel.sessions.resolution import ImageGroups
from carrel.sessions.spec import MOST_CONTAINERS, SchedulingSpec, SessionSpec
from carrel.slot_kinds import service as slot_kinds
from carrel.tables.groups import ResourceGroup
from carrel.tables.images import Image
from carrel.tables.nodes import IS_MACHINE, Node, is_offered
from carrel.tables.policies import KeypairPolicy
from carrel.tables.session_states import SessionKind, SessionState
from carrel.tables.sessions import Container, Session

_MANY = 1 << 31


@dataclass(frozen=True)
class AdmittedSpec:
    """An admitted spec, with names resolved to ids and limits and defaults applied. group: the preferred one.
    accepted_groups: all of them, if there are several. priority: as requested.
    access_key: the keypair it counts against; None: its owner's sign-ins. after: its dependencies, which the spec no
    longer has. disk_limit_bytes: what each container may write outside its folders; None: no limit.
    """

    spec: SessionSpec
    group: ResourceGroup
    accepted_groups: Sequence[GroupId]
    priority: int
    access_key: str | None
    after: Sequence[Dependency]
    disk_limit_bytes: int | None


async def admit(
    tx: AsyncSession,
    actor: Actor,
    project: ProjectId,
    image: Image | None,
    spec: SessionSpec,
    *,
    only_in: ImageGroups | None = None,
    replaced: SessionId | None = None,
    repeated: bool = False,
) -> AdmittedSpec:
    """Admit a session to the queue. project, image: the rows that the spec names; None: an image reference. only_in:
    the groups to which its images are limited. replaced: the session whose place it takes. repeated: leave out groups
    that the actor cannot use, unless that is all of them.

    Raises: NotFound, Forbidden, Invalid; Refused when it can never start in any of its groups, or a limit on pending
    sessions is reached.
    """
    # 1. resolve the groups and node, check the limits of a single session
    spec = _with_all_containers(spec)
    access_key = access_key_of(actor)
    usable = await usable_groups(tx, actor.user_id, actor.domain_id, project, spec.kind)
    if only_in and spec.group is None:
        usable = [one for one in usable if one.id in only_in.groups] or usable
    group, *others = chosen_groups(usable, with_usable_groups(usable, spec) if repeated else spec)
    _require_image_groups([group, *others], only_in)
    possible = topology.having([group, *others], spec.topology)
    node = await _node(tx, actor, group, spec.node)
    policy = await policy_of(tx, actor)
    priority = _priority(actor, project, spec.priority, policy)
    disk_limit = disk(spec.disk_bytes, policy)
    after = await dependencies.resolve(tx, actor, project, spec, replaced=replaced)
    admitted = replace(
        spec,
        image=image.reference if image else spec.image,
        project=project,
        group=group.id,
        alternative_groups=tuple([other.id for other in others]),
        priority=priority,
        time_limit_s=time_limit(spec.time_limit_s, policy),
        node=node.id if node else None,
        topology=topology.resolve([group, *others], spec.topology),
        after=(),
    )
    # 2. check that it would start on an empty cluster, in one of its groups
    for size in dict.fromkeys(tuple(size.items()) for size in spec.sizes):
        await slot_kinds.require_known(tx, dict(size), field="slots")
        await slot_kinds.require_possible(tx, dict(size))
    await _require_under_ceilings(tx, actor, project, access_key, spec)
    refusals: list[CarrelError] = []
    for each in possible:
        try:
            machines = [node] if node else await machines_of(tx, each)
            machines = await allowed_rights.able(tx, actor, project, each, spec.rights, machines)
            _require_architecture(architecture(image.architecture if image else None), machines)
            _require_fit(admitted, machines, each)
        except CarrelError as refused:
            refusals.append(refused)
    if len(refusals) == len(possible):
        raise refusals[0]
    # 3. check the limits on pending sessions
    await _require_few_waiting(tx, actor, access_key, spec, policy)
    accepted = [group.id, *[other.id for other in others]] if others else []
    return AdmittedSpec(admitted, group, accepted, priority, access_key, after, disk_limit)


def not_before(start_at: datetime) -> str:
    """Why a session with an earliest start is pending."""
    return f"It starts no earlier than {start_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC, as requested."


def _with_all_containers(spec: SessionSpec) -> SessionSpec:
    """The spec with the number of its containers. Raises: Invalid."""
    if not spec.roles:
        return spec
    names, total = [role.name for role in spec.roles], len(spec.sizes)
    if len({*names}) < len(names):
        problem = "Each role of a session has its own name."
    elif spec.roles_in_order[0].count > 1:
        problem = "The role main has one container."
    elif spec.containers not in (1, total):
        problem = (
            f"The roles have {total} containers, with the main one; the request is for {spec.containers}."
        )
    elif total > MOST_CONTAINERS:
        problem = f"A session has at most {MOST_CONTAINERS} containers; these roles have {total}."
    else:
        return replace(spec, containers=total)
    raise Invalid("invalid.roles", problem, field="roles")


def total_of(spec: SchedulingSpec) -> dict[str, int]:
    """The slots of all its containers together."""
    total: dict[str, int] = {}
    for size in spec.sizes:
        for slot, amount in size.items():
            total[slot] = total.get(slot, 0) + amount
    return total


async def usable_groups(
    tx: AsyncSession, user: UserId, domain: DomainId, project: ProjectId, kind: SessionKind
) -> Sequence[ResourceGroup]:
    """The groups in which the user may start a session of this kind in the project, the default one first."""
    return [group for group in await groups.usable(tx, user, domain, project) if kind in group.session_kinds]


def chosen_groups(usable: Sequence[ResourceGroup], spec: SchedulingSpec) -> Sequence[ResourceGroup]:
    """The groups that a request accepts, the preferred first, each once. Raises: NotFound, Forbidden, Invalid."""
    group = chosen(usable, spec.group)
    if spec.alternative_groups and spec.node:
        raise Invalid(
            "session.node_of_one_group",
            "A session that requests a node is in the resource group of this node.",
            hint="Leave out the node, or the other groups.",
            field="alternative_groups",
        )
    others = []
    for ref in spec.alternative_groups:
        try:
            others.append(chosen(usable, ref))
        except CarrelError as error:
            error.field = "alternative_groups"
            raise
    return list({one.id: one for one in (group, *others)}.values())


def with_usable_groups(usable: Sequence[ResourceGroup], spec: SessionSpec) -> SessionSpec:
    """The spec with those of its groups that are usable; unchanged if none is."""
    there = {name for one in usable for name in (one.id, one.name.lower())}
    others = tuple([ref for ref in spec.alternative_groups if ref.lower() in there])
    if spec.group is None or spec.group.lower() in there:
        return replace(spec, alternative_groups=others)
    return replace(spec, group=others[0], alternative_groups=others[1:]) if others else spec


def chosen(usable: Sequence[ResourceGroup], ref: str | None) -> ResourceGroup:
    """The group with this id or name; the first if None. Raises: NotFound, Forbidden."""
    if ref is None:
        if not usable:
            raise Forbidden(
                "group.none",
                "You have access to no resource group.",
                hint="Ask an administrator for access to one.",
            )
        return usable[0]
    for group in usable:
        if ref == group.id or ref.lower() == group.name.lower():
            return group
    raise NotFound(
        "group.not_found",
        f"There is no resource group {ref} that you can use for this.",
        hint="See `carrel group ls`.",
        field="group",
        details={"groups": [group.name for group in usable]},
    )


def _require_image_groups(chosen: Sequence[ResourceGroup], only_in: ImageGroups | None) -> None:
    """Raises: Forbidden for a group in which the images may not be used."""
    refused = next((one for one in chosen if only_in and one.id not in only_in.groups), None)
    if only_in and refused:
        raise Forbidden(
            "image.not_in_group",
            f"{' and '.join(only_in.images)} may not be used in the resource group {refused.name}.",
            hint="Choose another resource group or image, or ask an administrator to permit it there.",
            field="group",
            details={"images": list(only_in.images), "group": refused.name},
        )


async def _node(tx: AsyncSession, actor: Actor, group: ResourceGroup, ref: str | None) -> Node | None:
    if ref is None:
        return None
    if not allows(actor, "session.designate", Target()):
        raise refusal(actor, "session.designate")
    there = nodes.called(ref), Node.group_id == group.id, IS_MACHINE, is_offered()
    rows = await tx.execute(select(Node).where(*there))
    node = nodes.the_one(rows.scalars().all(), ref)
    if node is None:
        raise NotFound(
            "node.not_found",
            f"There is no node {ref} in {group.name}.",
            hint="See `carrel node ls`.",
            field="node",
        )
    return node


def _priority(actor: Actor, project: ProjectId, priority: int | None, policy: KeypairPolicy) -> int:
    most = policy.max_priority
    if priority is None:
        return min(DEFAULT_PRIORITY, most)
    require_priority(actor, Target(None, project, actor.domain_id), priority, most)
    return priority


def require_priority(actor: Actor, target: Target, priority: int, most: int) -> None:
    """Only administrators may exceed the priority that the policy allows. Raises: Forbidden."""
    if priority > most and not allows(actor, "session.prioritise", target):
        raise Forbidden(
            "session.priority_too_high",
            f"Your resource policy limits the priority to {most}.",
            hint="Ask a project administrator to raise the priority.",
            field="priority",
            details={"most": most},
        )


def time_limit(requested_s: int | None, policy: KeypairPolicy) -> int | None:
    """The requested time limit, or that of the policy. Raises: Invalid if it exceeds that of the policy."""
    most = policy.lifetime_s
    if requested_s is None or most is None:
        return requested_s or most
    if requested_s > most:
        raise Invalid(
            "session.lives_too_long",
            f"Your resource policy limits the run time of a session to {most} s.",
            hint="Request a shorter time limit.",
            field="time_limit_s",
            details={"most": most},
        )
    return requested_s


def disk(requested_bytes: int | None, policy: KeypairPolicy) -> int | None:
    """The requested disk of each container, or the default of the policy; None: unlimited. Raises: Invalid if it
    exceeds the most that the policy allows.
    """
    most = policy.max_disk_bytes
    if requested_bytes is None:
        return min((one for one in (policy.default_disk_bytes, most) if one is not None), default=None)
    if most is not None and requested_bytes > most:
        raise Invalid(
            "session.too_much_disk",
            f"Your resource policy limits the disk of a container to {format_size(most)}.",
            hint="Request less disk, or write to folders.",
            field="disk_bytes",
            details={"most": most},
        )
    return requested_bytes


@dataclass(frozen=True)
class DiskRange:
    """Disk of each container of a session. default_bytes: if nothing is requested. None: no limit."""

    default_bytes: int | None
    most_bytes: int | None


async def disk_range(tx: AsyncSession, actor: Actor) -> DiskRange:
    """What the actor's policy allows."""
    policy = await policy_of(tx, actor)
    return DiskRange(disk(None, policy), policy.max_disk_bytes)


async def machines_of(tx: AsyncSession, group: ResourceGroup) -> Sequence[Node]:
    """The nodes of the group on which the scheduler places."""
    return (await tx.execute(select(Node).where(Node.group_id == group.id, is_offered()))).scalars().all()


def _require_architecture(needed: str, machines: Sequence[Node]) -> None:
    there = {architecture(node.architecture) for node in machines}
    # A group that has no node yet may get one.
    if needed and there and not there & {needed, ""}:
        raise Refused(
            "session.wrong_architecture",
            f"The image needs {needed}; the nodes are {' and '.join(sorted(there))}.",
            hint="Choose another image, or another resource group.",
            field="image",
            details={"asked": needed, "there": sorted(there)},
        )


async def _require_under_ceilings(
    tx: AsyncSession, actor: Actor, project: ProjectId, access_key: str | None, spec: SchedulingSpec
) -> None:
    path = (actor.domain_id, project, actor.user_id)
    scopes = scopes_of(access_key, path)
    limited = await ceilings(tx, {scopes: path}, frozenset(total_of(spec)))
    requested = {CONTAINERS: spec.containers, **total_of(spec), SESSIONS: 1}
    for scope in scopes:
        label, ceiling = limited[scope].label, dict(limited[scope].ceiling)
        if (most := limited[scope].containers) is not None:
            ceiling[CONTAINERS] = most
        for slot, amount in requested.items():
            if amount > ceiling.get(slot, amount):
                raise Refused(
                    "session.over_ceiling",
                    more_than_ever(label, slot, ceiling[slot]),
                    hint="Ask an administrator for more." if slot == SESSIONS else "Request less.",
                    field=_FIELDS.get(slot, f"slots.{slot}"),
                    details={"scope": scope, "slot": slot, "asked": amount, "ceiling": ceiling[slot]},
                )


_FIELDS = {SESSIONS: None, CONTAINERS: "containers"}


def _require_fit(spec: SchedulingSpec, machines: Sequence[Node], group: ResourceGroup) -> None:
    # A group that has no node yet may get one.
    if not machines:
        return
    for size in spec.sizes:
        if not any(how_many_fit(node, size) for node in machines):
            raise _too_large(size, machines)
    if spec.containers == 1:
        return
    room, request = _empty(machines, spec, group)
    if room.could_hold(request):
        return
    if spec.mixed or request.together or request.within:
        what = "No node has" if request.together else "The nodes do not have"
        within = f" within one {request.within}" if request.within else ""
        message, details = f"{what} room for all {spec.containers} containers at once{within}.", {}
    else:
        by_engine: Counter[str] = Counter()
        for node in machines:
            by_engine[node.engine_id or ""] += how_many_fit(node, spec.slots)
        most = max(by_engine.values())
        message = f"The nodes together have room for {most} such containers; this needs {spec.containers}."
        details = {"slot": CONTAINERS, "asked": spec.containers, "largest": most}
    raise Refused("session.too_large", message, hint="Request less.", field="containers", details=details)


def _empty(
    machines: Sequence[Node], spec: SchedulingSpec, group: ResourceGroup
) -> tuple[Room, SessionRequirements]:
    """The empty nodes, and the request, as the scheduler sees them."""
    empty = [
        NodeSnapshot(
            node.id,
            node.name,
            ledger.offered(node),
            devices=tuple(map(device_snapshot, node.devices)),
            network=node.engine_id or "",
            domains=domains({**node.labels, **node.own_labels}, group.topology),
        )
        for node in machines
    ]
    where = topology.where(spec.containers, spec.placement, spec.topology)
    pending = PendingSession(
        SessionId(""),
        spec.slots,
        datetime.min,
        count=spec.containers,
        mode=where.mode,
        within=where.within,
        mixed=spec.mixed,
    )
    there = GroupSnapshot(DEFAULT_GROUP, topology=tuple(group.topology))
    return Room(there, empty), DistinctRequirements(devices.units(empty), [there]).of(pending)


def how_many_fit(node: Node, slots: Slots) -> int:
    """So many containers would fit there if nothing else were on it. slots: of each."""
    offered = ledger.offered(node)
    in_blocks = [device_snapshot(one) for one in node.devices if one.get("blocks")]
    limited = devices.families(in_blocks)

    def times(slot: str, amount: int) -> int:
        most = offered.get(slot, 0) // amount
        return devices.copies(in_blocks, slot, amount, most) if slot in limited else most

    return min((times(slot, amount) for slot, amount in slots.items() if amount), default=_MANY)


def _too_large(slots: Slots, machines: Sequence[Node]) -> Refused:
    offers = [devices.largest(ledger.offered(node), map(device_snapshot, node.devices)) for node in machines]
    slot, message = too_large(slots, offers, elastic=any(node.elastic for node in machines))
    details: dict[str, object] = {"asked": dict(slots)}
    if slot:
        details = {"slot": slot, "asked": slots[slot], "largest": max(offer.get(slot, 0) for offer in offers)}
    return Refused(
        "session.too_large",
        message,
        hint="Request less.",
        field=f"slots.{slot}" if slot else "slots",
        details=details,
    )


async def _require_few_waiting(
    tx: AsyncSession, actor: Actor, access_key: str | None, spec: SchedulingSpec, policy: KeypairPolicy
) -> None:
    most, most_slots = policy.pending_sessions, policy.pending_slots
    if most is None and "*" in most_slots and set(most_slots.values()) == {None}:
        return
    # One after the other, so that two at once do not both take the last place.
    key = access_key or actor.user_id
    await tx.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"pending:{key}"))))
    rows = await tx.execute(
        select(Container.session_id, Container.slots)
        .join(Session, Session.id == Container.session_id)
        .where(
            Session.state == SessionState.PENDING,
            Session.owner_id == actor.user_id,
            Session.access_key == access_key if access_key else Session.access_key.is_(None),
        )
    )
    pending = [(session, slots) for session, slots in rows]
    sessions = len({session for session, _ in pending})
    count = spec.array.count if spec.array else 1
    if most is not None and sessions + count > most:
        more = f", and this requests {count}" if count > 1 else ""
        raise Refused(
            "session.too_many_waiting",
            f"Your resource policy allows {most} pending sessions; you have {sessions}{more}.",
            hint="Wait until one of them starts, or cancel one.",
            details={"most": most, "waiting": sessions},
        )
    for slot, each in total_of(spec).items():
        amount = each * count
        limit = most_slots.get(slot, most_slots.get("*", 0))
        waiting = sum(slots.get(slot, 0) for _, slots in pending)
        if limit is not None and waiting + amount > limit:
            raise Refused(
                "session.too_much_waiting",
                f"Your resource policy allows pending sessions to request {format_slot(slot, limit)} in total;"
                f" yours request {format_slot(slot, waiting)}.",
                hint="Wait until one of them starts, or request less.",
                field=f"slots.{slot}",
                details={"slot": slot, "most": limit, "waiting": waiting, "asked": amount},
            )
