"""The decision: may this actor do this action to this thing?"""

from dataclasses import dataclass

from carrel.core.errors import Forbidden, NotFound
from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.policy.actions import ACTIONS, Role, Scope


@dataclass(frozen=True)
class Actor:
    """Who asks. role: the installation-wide one; projects: membership, with those administered apart."""

    user_id: UserId
    email: str
    role: Role
    domain_id: DomainId
    projects: frozenset[ProjectId]
    administers: frozenset[ProjectId]
    credential: str
    """How they proved it: "cookie" or "keypair:<access key>"."""
    address: str = ""
    login_id: bytes | None = None
    """The sign-in behind a cookie; what it opened ends with it."""


@dataclass(frozen=True)
class Target:
    """What is acted on: who owns it, and where it lives."""

    owner_id: UserId
    project_id: ProjectId
    domain_id: DomainId


def reach(actor: Actor, action: str) -> Scope:
    """How far the actor may do this, projects that they administer aside."""
    return ACTIONS[action].scope(actor.role)


def allows(actor: Actor, action: str, target: Target) -> bool:
    """True when the actor may do it to the target."""
    scope = reach(actor, action)
    if target.project_id in actor.administers:
        scope = max(scope, ACTIONS[action].scope(Role.PROJECT_ADMIN))
    return (
        scope is Scope.ALL
        or (scope >= Scope.DOMAIN and target.domain_id == actor.domain_id)
        or (scope >= Scope.PROJECT and target.project_id in actor.projects)
        or (scope >= Scope.OWN and target.owner_id == actor.user_id)
    )


def require(actor: Actor, action: str, target: Target, *, read: str, missing: NotFound) -> None:
    """Return when allowed.

    Raises: `missing` when the actor may not even know of the thing (the `read` action), else Forbidden.
    """
    if allows(actor, action, target):
        return
    if not allows(actor, read, target):
        raise missing
    raise Forbidden(
        "policy.forbidden",
        f"You may see this, but not do that to it: {ACTIONS[action].sentence.rstrip('.').lower()}.",
        hint="Ask its owner or an administrator.",
        details={"action": action},
    )
