"""Assign a resource policy to keypairs, users and projects."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Conflict, Invalid
from carrel.core.ids import PolicyId
from carrel.db.database import notify
from carrel.events import service as events
from carrel.limits import service
from carrel.limits.schemas import PolicyAssign
from carrel.permissions.decide import Actor, Target
from carrel.signin.keypairs import service as keypairs
from carrel.tables.limits import TOPIC, PolicyKind, ResourcePolicy
from carrel.tables.tenancy import User, UserState
from carrel.tenancy import queries as tenancy
from carrel.tenancy.service import require_rank

_TAKES = {
    "keypairs": PolicyKind.KEYPAIR,
    "sign_ins": PolicyKind.KEYPAIR,
    "users": PolicyKind.USER,
    "projects": PolicyKind.PROJECT,
}


async def assign(tx: AsyncSession, actor: Actor, ref: str, request: PolicyAssign) -> PolicyId:
    """Assign the policy to all of these, or to none if one is refused. Twice: no-op.

    Raises: NotFound, Forbidden; Invalid if the policy is of another kind; Conflict for a purged user.
    """
    policy = await service.find(tx, actor, ref, "policy.assign")
    _require_kind(policy, request)
    changed = [
        # In a fixed order, to avoid deadlocks between concurrent calls.
        *[await _to_keypair(tx, actor, policy, key) for key in sorted(request.keypairs)],
        *[await _to_sign_in(tx, actor, policy, user) for user in sorted(request.sign_ins)],
        *[await _to_user(tx, actor, policy, user) for user in sorted(request.users)],
        *[await _to_project(tx, actor, policy, project) for project in sorted(request.projects)],
    ]
    if any(changed):
        await notify(tx, TOPIC)
        await service.publish(tx, "policy.assign", policy)
    return policy.id


def _require_kind(policy: ResourcePolicy, request: PolicyAssign) -> None:
    for field, kind in _TAKES.items():
        if getattr(request, field) and kind != policy.kind:
            raise Invalid(
                "policy.other_kind",
                f"{policy.name} is a policy for {policy.kind}s, but {field} need one for {kind}s.",
                hint=f"See `carrel policy ls --kind {kind}`.",
                field=field,
            )


async def _to_keypair(tx: AsyncSession, actor: Actor, policy: ResourcePolicy, key: str) -> bool:
    keypair, owner, _ = await keypairs.show(tx, actor, key, "policy.assign")
    require_rank(actor, owner)
    before, keypair.policy_id = keypair.policy_id, policy.id
    return _note(tx, actor, policy, before, tenancy.user_target(owner), keypair=key, user=owner.email)


async def _to_sign_in(tx: AsyncSession, actor: Actor, policy: ResourcePolicy, ref: str) -> bool:
    user = await _person(tx, actor, ref)
    before, user.keypair_policy_id = user.keypair_policy_id, policy.id
    return _note(
        tx, actor, policy, before, tenancy.user_target(user), sign_in=user.email
    ) and await _announce(tx, user)


async def _to_user(tx: AsyncSession, actor: Actor, policy: ResourcePolicy, ref: str) -> bool:
    user = await _person(tx, actor, ref)
    before, user.policy_id = user.policy_id, policy.id
    return _note(tx, actor, policy, before, tenancy.user_target(user), user=user.email) and await _announce(
        tx, user
    )


async def _to_project(tx: AsyncSession, actor: Actor, policy: ResourcePolicy, ref: str) -> bool:
    project = await tenancy.project(tx, actor, ref, "policy.assign")
    before, project.policy_id = project.policy_id, policy.id
    target = tenancy.project_target(project)
    if not _note(tx, actor, policy, before, target, project=project.name):
        return False
    data = {"id": project.id, "name": project.name, "archived": project.archived_at is not None}
    await events.record(tx, "project.updated", project.id, target=target, data=data)
    return True


async def _person(tx: AsyncSession, actor: Actor, ref: str) -> User:
    user = await tenancy.user(tx, actor, ref, "policy.assign")
    if user.state == UserState.PURGED:
        raise Conflict("user.purged", "This user was permanently deleted.")
    require_rank(actor, user)
    return user


async def _announce(tx: AsyncSession, user: User) -> bool:
    target, data = tenancy.user_target(user), tenancy.user_data(user)
    await events.record(tx, "user.updated", user.id, target=target, data=data)
    return True


def _note(
    tx: AsyncSession,
    actor: Actor,
    policy: ResourcePolicy,
    before: PolicyId,
    target: Target,
    **holder: str,
) -> bool:
    """Record the new policy of one holder; False if unchanged."""
    if before == policy.id:
        return False
    details = {"before": {"policy": before}, "after": {"policy": policy.id}, **holder}
    audit.record(tx, actor, "policy.assign", policy.id, name=policy.name, target=target, details=details)
    return True
