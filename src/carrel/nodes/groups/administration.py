"""Use cases of resource groups. Each starts with an authorization check."""

from collections.abc import Mapping, Set
from typing import TypeVar

from sqlalchemy import delete, exists, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid
from carrel.core.ids import DEFAULT_GROUP, GroupId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.nodes.groups import elastic, membership
from carrel.nodes.groups import service as groups
from carrel.nodes.groups.membership import SelectionOutcome
from carrel.nodes.groups.schemas import (
    AccessChange,
    AccessUpdate,
    GroupCreate,
    GroupRef,
    GroupUpdate,
    SelectedNodeView,
    SelectorPreview,
    SelectorPreviewRequest,
    WeightsChange,
    WeightsUpdate,
)
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.groups import FairShareWeight, GroupAccess, ResourceGroup, ScopeKind
from carrel.tables.nodes import IS_KNOWN, TOPIC, Node
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Domain
from carrel.tenancy import queries as tenancy

T = TypeVar("T")
Scope = tuple[ScopeKind, str]
_MOST_SHOWN = 100
_EVENTS = {"group.create": "group.created", "group.update": "group.updated", "group.remove": "group.removed"}


async def create(tx: AsyncSession, clock: Clock, actor: Actor, request: GroupCreate) -> GroupId:
    """Create a group without nodes. Raises: Forbidden; Conflict when the name is taken."""
    require(actor, "group.create", Target())
    await membership.change_selectors(tx)
    after = request.model_dump(mode="json")
    if after["elastic"]:
        after["elastic"] = await elastic.resolve(tx, after["elastic"], request.node_selector)
    group = ResourceGroup(id=GroupId(new_id()), created_at=clock.now(), **after)
    _require_own_placement(group)
    tx.add(group)
    await _flush(tx, request.name)
    await elastic.apply(tx, group, clock.now())
    await _record(tx, actor, "group.create", group, after=after, nodes=await _assign(tx))
    return group.id


async def update_group(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, changes: GroupUpdate
) -> GroupId:
    """Update the given fields, effective at the next scheduling decision.

    Raises: NotFound, Forbidden; Conflict when the name is taken.
    """
    group = await _find(tx, actor, ref, "group.update")
    given = changes.model_dump(mode="json", exclude_unset=True)
    if settings := given.get("elastic", group.elastic):
        selector = given.get("node_selector", group.node_selector)
        given["elastic"] = await elastic.resolve(tx, settings, selector)
    after = {field: value for field, value in given.items() if value != getattr(group, field)}
    if not after:
        return group.id
    before, former_audience = (
        {field: getattr(group, field) for field in after},
        await groups.audience(tx, group.id),
    )
    for field, value in after.items():
        setattr(group, field, value)
    _require_own_placement(group)
    await _flush(tx, changes.name)
    if "name" in after:
        # Domains list their groups by name.
        await tx.execute(
            update(Domain)
            .where(func.array_position(Domain.resource_groups, before["name"]).is_not(None))
            .values(resource_groups=func.array_replace(Domain.resource_groups, before["name"], after["name"]))
        )
    if after.keys() & {"name", "elastic"}:
        await elastic.apply(tx, group, clock.now())
    # Among groups that select the same node, the first by name gets it.
    moved = await _assign(tx) if after.keys() & {"name", "node_selector"} else None
    await _record(
        tx,
        actor,
        "group.update",
        group,
        former_audience=former_audience,
        before=before,
        after=after,
        nodes=moved,
    )
    return group.id


def _require_own_placement(group: ResourceGroup) -> None:
    if group.elastic and group.topology:
        raise Invalid(
            "group.elastic_topology",
            "An elastic group has no topology: its cluster chooses the nodes.",
            field="topology",
        )


async def _assign(tx: AsyncSession) -> dict[str, GroupId] | None:
    """Put the nodes into the groups that select them. The names of those that moved, with their groups; None: none."""
    moved = await membership.announce_moved(tx, await membership.assign(tx))
    return {node.name: node.group_id for node in moved} or None


async def preview(tx: AsyncSession, actor: Actor, request: SelectorPreviewRequest) -> SelectorPreview:
    """What a node selector would do. Raises: Forbidden."""
    require(actor, "group.update", Target())
    nodes = await membership.preview(tx, request.selector, request.name)
    return SelectorPreview(
        count=len(nodes),
        joining=sum(one.outcome is SelectionOutcome.JOINS for one in nodes),
        items=[
            SelectedNodeView(
                id=one.id,
                name=one.name,
                group=GroupRef(id=one.group[0], name=one.group[1]),
                outcome=one.outcome,
                others=list(one.others),
            )
            for one in nodes[:_MOST_SHOWN]
        ],
    )


async def remove(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> None:
    """Delete an empty group. Raises: NotFound, Forbidden; Conflict with what it still holds."""
    group = await _find(tx, actor, ref, "group.remove")
    if group.id == DEFAULT_GROUP:
        raise Conflict(
            "group.default",
            f"{group.name} cannot be deleted: it is the default group for new nodes and sessions.",
            hint="Deactivate it instead.",
        )
    # Locked exclusively, so that nothing moves in meanwhile.
    await tx.execute(select(ResourceGroup.id).where(ResourceGroup.id == group.id).with_for_update())
    await elastic.forget(tx, group.id, clock.now())
    forgotten = update(Node).where(Node.group_id == group.id, ~IS_KNOWN)
    await tx.execute(forgotten.values(group_id=DEFAULT_GROUP, group_fixed=False))
    for kind, holds in (
        ("nodes", exists().where(Node.group_id == group.id)),
        # Including past sessions, which are part of the record.
        (
            "sessions",
            exists().where(
                or_(Session.group_id == group.id, literal(group.id) == func.any(Session.accepted_groups))
            ),
        ),
    ):
        if (await tx.execute(select(holds))).scalar():
            raise Conflict(
                "group.in_use",
                f"{group.name} still holds {kind}.",
                hint="Remove its node selector and move its nodes to another group first."
                if kind == "nodes"
                else "Deactivate it instead: its sessions, including past ones, stay on record.",
                details={"holds": kind},
            )
    former_audience = await groups.audience(tx, group.id)
    await tx.delete(group)
    await tx.flush()
    await _record(tx, actor, "group.remove", group, former_audience=former_audience)


async def open_to(tx: AsyncSession, actor: Actor, ref: str, access: AccessUpdate) -> GroupId:
    """Replace the access list of the group, used while it is not public. Raises: NotFound (of any entry), Forbidden."""
    group = await _find(tx, actor, ref, "group.update")
    named = await _scopes(
        tx, actor, *[dict.fromkeys(refs, True) for refs in (access.domains, access.projects, access.users)]
    )
    return await _open(tx, actor, group, await _access(tx, group), set(named))


async def change_access(tx: AsyncSession, actor: Actor, ref: str, changes: AccessChange) -> GroupId:
    """Add or remove entries of the group's access list.

    Raises: NotFound (of any entry), Forbidden.
    """
    group = await _find(tx, actor, ref, "group.update")
    named = await _scopes(tx, actor, changes.domains, changes.projects, changes.users)
    before = await _access(tx, group)
    after = (before - named.keys()) | {scope for scope, may in named.items() if may}
    return await _open(tx, actor, group, before, after)


async def _access(tx: AsyncSession, group: ResourceGroup) -> set[Scope]:
    rows = (await tx.execute(select(GroupAccess).where(GroupAccess.group_id == group.id))).scalars()
    return {(one.kind, one.scope_id) for one in rows}


async def _open(
    tx: AsyncSession, actor: Actor, group: ResourceGroup, before: set[Scope], after: set[Scope]
) -> GroupId:
    """group: locked before its access list was read, so that no concurrent change is lost."""
    former_audience = await groups.audience(tx, group.id)
    await tx.execute(delete(GroupAccess).where(GroupAccess.group_id == group.id))
    if after:
        values = [{"group_id": group.id, "kind": kind, "scope_id": scope} for kind, scope in after]
        await tx.execute(insert(GroupAccess), values)
    await _record(
        tx,
        actor,
        "group.update",
        group,
        former_audience=former_audience,
        before={"access": sorted(map(":".join, before))},
        after={"access": sorted(map(":".join, after))},
    )
    return group.id


async def weigh(tx: AsyncSession, actor: Actor, ref: str, changes: WeightsUpdate) -> GroupId:
    """Replace the fair-share weights of the group. Raises: NotFound (of any entry), Forbidden."""
    group = await _find(tx, actor, ref, "group.update")
    weights = await _scopes(tx, actor, changes.domains, changes.projects, changes.users)
    return await _weigh(tx, actor, group, await _weights(tx, group), weights)


async def change_weights(tx: AsyncSession, actor: Actor, ref: str, weights: WeightsChange) -> GroupId:
    """Set single weights; the others keep their values.

    Raises: NotFound (of any entry), Forbidden.
    """
    group = await _find(tx, actor, ref, "group.update")
    named = await _scopes(tx, actor, weights.domains, weights.projects, weights.users)
    before = await _weights(tx, group)
    after = {scope: weight for scope, weight in {**before, **named}.items() if weight is not None}
    return await _weigh(tx, actor, group, before, after)


async def _weights(tx: AsyncSession, group: ResourceGroup) -> dict[Scope, float]:
    rows = (await tx.execute(select(FairShareWeight).where(FairShareWeight.group_id == group.id))).scalars()
    return {(one.kind, one.scope_id): one.weight for one in rows}


async def _weigh(
    tx: AsyncSession,
    actor: Actor,
    group: ResourceGroup,
    before: dict[Scope, float],
    after: dict[Scope, float],
) -> GroupId:
    """group: locked before its weights were read, so that no concurrent change is lost."""
    await tx.execute(delete(FairShareWeight).where(FairShareWeight.group_id == group.id))
    if after:
        values = [
            {"group_id": group.id, "kind": kind, "scope_id": scope, "weight": weight}
            for (kind, scope), weight in after.items()
        ]
        await tx.execute(insert(FairShareWeight), values)
    was, now = ({":".join(scope): weight for scope, weight in each.items()} for each in (before, after))
    await _record(tx, actor, "group.update", group, before={"weights": was}, after={"weights": now})
    return group.id


async def _scopes(
    tx: AsyncSession,
    actor: Actor,
    domains: Mapping[str, T],
    projects: Mapping[str, T],
    users: Mapping[str, T],
) -> dict[Scope, T]:
    """The entries by kind and id. Raises: NotFound for an unknown one."""
    scopes: dict[Scope, T] = {}
    for ref, value in domains.items():
        scopes[ScopeKind.DOMAIN, (await tenancy.domain(tx, actor, ref)).id] = value
    for ref, value in projects.items():
        scopes[ScopeKind.PROJECT, (await tenancy.project(tx, actor, ref)).id] = value
    for ref, value in users.items():
        scopes[ScopeKind.USER, (await tenancy.user(tx, actor, ref)).id] = value
    return scopes


async def _find(tx: AsyncSession, actor: Actor, ref: str, action: str) -> ResourceGroup:
    """The group, locked, if the actor may change it."""
    group = await groups.find(tx, ref, seen=groups.seen_by(actor))
    require(actor, action, Target())
    await membership.change_selectors(tx)
    await tx.refresh(group, with_for_update={"key_share": True})
    return group


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_resource_groups_name" not in str(error.orig):
            raise
        raise Conflict(
            "group.name_taken",
            f"A resource group named {name} already exists.",
            hint="Choose another name.",
            field="name",
        ) from None


async def _record(
    tx: AsyncSession,
    actor: Actor,
    action: str,
    group: ResourceGroup,
    *,
    former_audience: Set[str] = frozenset(),
    **details: object,
) -> None:
    """Write the audit entry, publish an event and wake the scheduler. former_audience: the previous audience.

    details: those that are not None.
    """
    given = {name: one for name, one in details.items() if one is not None}
    audit.record(tx, actor, action, group.id, name=group.name, target=Target(), details=given)
    data = {"id": group.id, "name": group.name, "active": group.active}
    audience = former_audience | await groups.audience(tx, group.id)
    await events.record(tx, _EVENTS[action], group.id, target=Target(), data=data, audience=audience)
    await notify(tx, TOPIC)
