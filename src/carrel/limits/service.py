"""Use cases of resource policies. Each starts with an authorization check."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import PolicyId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.limits import queries
from carrel.limits.schemas import LimitsChange, PolicyCreate, PolicyUpdate, require_limits_of
from carrel.permissions.decide import Actor, Target, require
from carrel.slot_kinds import service as slot_kinds
from carrel.tables.limits import DEFAULT_POLICIES, TOPIC, PolicyKind, ResourcePolicy
from carrel.tenancy import queries as tenancy

_NOBODYS = Target()


async def create(tx: AsyncSession, clock: Clock, actor: Actor, request: PolicyCreate) -> PolicyId:
    """Create a policy without holders.

    Raises: Forbidden; NotFound for a storage host; Conflict when the name is taken within its kind.
    """
    require(actor, "policy.create", _NOBODYS)
    limits = request.limits.model_dump()
    await _settle_hosts(tx, limits, None)
    await _require_known(tx, limits)
    return await _add(
        tx, clock, actor, kind=request.kind, name=request.name, description=request.description, limits=limits
    )


async def copy(tx: AsyncSession, clock: Clock, actor: Actor, ref: str, name: str) -> PolicyId:
    """Copy a policy under another name, without holders. Raises: NotFound, Forbidden, Conflict."""
    require(actor, "policy.create", _NOBODYS)
    model = await find(tx, actor, ref)
    return await _add(
        tx, clock, actor, kind=model.kind, name=name, description=model.description, limits=model.limits
    )


async def _add(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    *,
    kind: PolicyKind,
    name: str,
    description: str,
    limits: dict[str, Any],
) -> PolicyId:
    policy = ResourcePolicy(
        id=PolicyId(new_id()),
        kind=kind,
        name=name,
        description=description,
        limits=limits,
        created_at=clock.now(),
    )
    tx.add(policy)
    await _flush(tx, policy)
    after = {"kind": kind, "name": name, "description": description, "limits": limits}
    await record(tx, actor, "policy.create", policy, after=after)
    return policy.id


async def update(tx: AsyncSession, actor: Actor, ref: str, changes: PolicyUpdate) -> PolicyId:
    """Update the given fields, effective at the next scheduling decision. No session ends.

    Raises: NotFound, also for a storage host; Forbidden; Invalid for a limit that its kind does not have; Conflict
    when the name is taken.
    """
    policy = await find(tx, actor, ref, "policy.update")
    given = changes.model_dump(exclude_unset=True, exclude={"limits"})
    given["limits"] = changed(policy, changes.limits)
    await _settle_hosts(tx, given["limits"], policy.limits.get("storage_hosts"))
    await _require_known(tx, changes.limits.given())
    after = {field: value for field, value in given.items() if value != getattr(policy, field)}
    if not after:
        return policy.id
    before = {field: getattr(policy, field) for field in after}
    for field, value in after.items():
        setattr(policy, field, value)
    await _flush(tx, policy)
    if "limits" in after:
        await notify(tx, TOPIC)
    await record(tx, actor, "policy.update", policy, before=before, after=after)
    return policy.id


async def _settle_hosts(tx: AsyncSession, limits: dict[str, Any], before: object) -> None:
    """Normalise the names of storage hosts: a misspelt one would lock out all holders of the policy."""
    hosts = limits.get("storage_hosts")
    if isinstance(hosts, list):
        kept = before if isinstance(before, list) else ()
        limits["storage_hosts"] = await tenancy.places(
            tx, hosts, "storage_host", kept=kept, field="limits.storage_hosts"
        )


async def _require_known(tx: AsyncSession, limits: Mapping[str, Any]) -> None:
    for field in ("slots", "pending_slots"):
        await slot_kinds.require_known(tx, limits.get(field) or (), field=f"limits.{field}")


def changed(policy: ResourcePolicy, change: LimitsChange) -> dict[str, Any]:
    """All its limits after the change. Raises: Invalid for a limit that its kind does not have."""
    given = change.given()
    require_limits_of(policy.kind, given)
    return {**policy.limits, **given}


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Delete a policy without holders. Raises: NotFound, Forbidden; Conflict with the number of holders."""
    policy = await find(tx, actor, ref, "policy.remove")
    if policy.id in DEFAULT_POLICIES.values():
        raise Conflict(
            "policy.default",
            f"{policy.name} is the default policy of every {policy.kind}.",
            hint="Change its limits instead.",
        )
    holders = await queries.holders(tx, policy.id)
    used_by = {what: count for what, count in holders.model_dump().items() if count}
    if used_by:
        counted = ", ".join(f"{count} {what.replace('_', '-')}" for what, count in used_by.items())
        raise Conflict(
            "policy.in_use",
            f"{policy.name} is still in use by {counted}.",
            hint="Assign them another policy first.",
            details={"used_by": holders.model_dump()},
        )
    await tx.delete(policy)
    await tx.flush()
    await record(tx, actor, "policy.remove", policy)


async def rename_host(tx: AsyncSession, old: str, new: str | None) -> None:
    """Rename a storage host in all policies. new None: it was removed."""
    of_keypairs = select(ResourcePolicy).where(ResourcePolicy.kind == PolicyKind.KEYPAIR)
    for policy in (await tx.execute(of_keypairs.with_for_update())).scalars():
        hosts = policy.limits["storage_hosts"]
        if isinstance(hosts, list) and old in hosts:
            kept = [new if host == old else host for host in hosts]
            policy.limits = {**policy.limits, "storage_hosts": [host for host in kept if host]}


async def find(
    tx: AsyncSession, actor: Actor, ref: str, action: str = "policy.read", *, kind: PolicyKind | None = None
) -> ResourcePolicy:
    """The policy with this id or name, locked if it will be changed or assigned.

    kind: of the name; None: any.
    Raises: Forbidden; NotFound; Conflict if several kinds have a policy with this name.
    """
    if action != "policy.assign":
        require(actor, action, _NOBODYS)
    named = func.lower(ResourcePolicy.name) == ref.lower()
    if kind:
        named &= ResourcePolicy.kind == kind
    statement = select(ResourcePolicy).where(or_(ResourcePolicy.id == ref, named))
    if action == "policy.assign":
        statement = statement.with_for_update(read=True, key_share=True)
    elif action != "policy.read":
        statement = statement.with_for_update()
    rows = list((await tx.execute(statement)).scalars())
    matches = [policy for policy in rows if policy.id == ref] or rows
    if not matches:
        raise NotFound("policy.not_found", f"There is no policy {ref}.", hint="See `carrel policy ls`.")
    if len(matches) > 1:
        raise Conflict(
            "policy.ambiguous",
            f"There are several policies named {ref}, of different kinds.",
            hint="Use the id: " + ", ".join(sorted(policy.id for policy in matches)) + ".",
            details={"ids": sorted(policy.id for policy in matches)},
        )
    return matches[0]


async def _flush(tx: AsyncSession, policy: ResourcePolicy) -> None:
    name, kind = policy.name, policy.kind
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_resource_policies_kind_name_lower" not in str(error.orig):
            raise
        raise Conflict(
            "policy.name_taken",
            f"A policy for {kind}s named {name} already exists.",
            hint="Choose another name.",
            field="name",
        ) from None


_KINDS = {
    "policy.create": "policy.created",
    "policy.update": "policy.updated",
    "policy.assign": "policy.updated",
    "policy.remove": "policy.removed",
}


async def record(
    tx: AsyncSession, actor: Actor, action: str, policy: ResourcePolicy, **details: object
) -> None:
    """Write the change to the audit trail and publish an event to those who see all policies."""
    audit.record(tx, actor, action, policy.id, name=policy.name, target=_NOBODYS, details=details)
    await publish(tx, action, policy)


async def publish(tx: AsyncSession, action: str, policy: ResourcePolicy) -> None:
    """Publish an event about a changed policy or its holders to superadmins."""
    data = {"id": policy.id, "kind": policy.kind, "name": policy.name}
    await events.record(tx, _KINDS[action], policy.id, target=_NOBODYS, data=data)
