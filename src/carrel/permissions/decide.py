"""The authorization decision: may the actor perform the action on the target?"""

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.errors import Forbidden, NotFound
from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.permissions.actions import ACTIONS, Role, Scope

ANY_ACTION = "*"


@dataclass(frozen=True)
class Actor:
    """The authenticated requester. role: installation-wide; projects: memberships, administered ones separately."""

    user_id: UserId
    email: str
    role: Role
    domain_id: DomainId
    projects: frozenset[ProjectId]
    administers: frozenset[ProjectId]
    credential: str
    """The credential: "cookie", "keypair:<access key>" or "token:<id>"."""
    address: str = ""
    login_id: bytes | None = None
    """The sign-in of a cookie; grants opened by it end with it."""
    scopes: Sequence[str] = (ANY_ACTION,)
    """Scopes of the credential: actions, kinds of objects ("session.*"), or all ("*")."""
    request_id: str = ""


@dataclass(frozen=True)
class Target:
    """The target of an action: its owner, project and domain. None: not applicable."""

    owner_id: UserId | None = None
    project_id: ProjectId | None = None
    domain_id: DomainId | None = None


@dataclass(frozen=True)
class Sight:
    """The objects that an action covers: everything, or those that match one of the conditions."""

    everything: bool = False
    owner_id: UserId | None = None
    domain_id: DomainId | None = None
    project_ids: frozenset[ProjectId] = frozenset()


def within(scopes: Sequence[str], action: str) -> bool:
    """True if the scopes of the credential include the action."""
    return ANY_ACTION in scopes or action in scopes or f"{ACTIONS[action].about}.*" in scopes


def scope_of(actor: Actor, action: str) -> Scope:
    """The actor's scope for the action, without administered projects."""
    return ACTIONS[action].scope(actor.role) if within(actor.scopes, action) else Scope.NONE


def sight(actor: Actor, action: str) -> Sight:
    """The objects that the actor may perform the action on, for list queries."""
    scope = scope_of(actor, action)
    if scope is Scope.ALL:
        return Sight(everything=True)
    projects = actor.projects if scope >= Scope.PROJECT else frozenset()
    if within(actor.scopes, action) and ACTIONS[action].project_admin >= Scope.PROJECT:
        projects |= actor.administers
    return Sight(
        owner_id=actor.user_id if scope >= Scope.OWN else None,
        domain_id=actor.domain_id if scope >= Scope.DOMAIN else None,
        project_ids=projects,
    )


def allows(actor: Actor, action: str, target: Target) -> bool:
    """True if the actor may perform the action on the target."""
    seen = sight(actor, action)
    return (
        seen.everything
        or (target.owner_id is not None and target.owner_id == seen.owner_id)
        or (target.domain_id is not None and target.domain_id == seen.domain_id)
        or target.project_id in seen.project_ids
    )


def widest(actor: Actor, action: str) -> Scope:
    """The actor's widest scope for the action; NONE: not permitted."""
    scope = scope_of(actor, action)
    if actor.administers and within(actor.scopes, action):
        scope = max(scope, ACTIONS[action].project_admin)
    return scope


def require(
    actor: Actor, action: str, target: Target, *, read: str | None = None, missing: NotFound | None = None
) -> None:
    """Return when allowed.

    Raises: `missing` if the actor may not see the target (the `read` action), otherwise Forbidden.
    """
    if allows(actor, action, target):
        return
    if missing and read and not allows(actor, read, target):
        raise missing
    raise refusal(actor, action)


def refusal(actor: Actor, action: str) -> Forbidden:
    """The error for an action that the role or the credential does not permit."""
    sentence = ACTIONS[action].sentence
    if not within(actor.scopes, action):
        return Forbidden(
            "policy.scope",
            f"This credential does not allow this: {sentence}",
            hint="Use a credential with more scopes.",
            details={"action": action, "scopes": list(actor.scopes)},
        )
    return Forbidden(
        "policy.forbidden",
        f"You may not do this: {sentence}",
        hint="Ask its owner or an administrator.",
        details={"action": action},
    )
