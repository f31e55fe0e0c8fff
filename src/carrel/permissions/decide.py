"""The decision: may this actor do this action to this thing?"""

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.errors import Forbidden, NotFound
from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.permissions.actions import ACTIONS, Role, Scope

ANY_ACTION = "*"


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
    """How they proved it: "cookie", "keypair:<access key>" or "token:<id>"."""
    address: str = ""
    login_id: bytes | None = None
    """The sign-in behind a cookie; what it opened ends with it."""
    scopes: Sequence[str] = (ANY_ACTION,)
    """What this credential may be used for at most: actions, kinds of things ("session.*"), or all ("*")."""
    request_id: str = ""


@dataclass(frozen=True)
class Target:
    """What is acted on: who owns it, and where it lives. None: nobody, nowhere."""

    owner_id: UserId | None = None
    project_id: ProjectId | None = None
    domain_id: DomainId | None = None


@dataclass(frozen=True)
class Sight:
    """Which things an action reaches: everything, or those that fit one of the places."""

    everything: bool = False
    owner_id: UserId | None = None
    domain_id: DomainId | None = None
    project_ids: frozenset[ProjectId] = frozenset()


def within(scopes: Sequence[str], action: str) -> bool:
    """True when a credential with these scopes may be used for the action."""
    return ANY_ACTION in scopes or action in scopes or f"{ACTIONS[action].about}.*" in scopes


def reach(actor: Actor, action: str) -> Scope:
    """How far the actor may do this, projects that they administer aside."""
    return ACTIONS[action].scope(actor.role) if within(actor.scopes, action) else Scope.NONE


def sight(actor: Actor, action: str) -> Sight:
    """The things that the actor may do this to, for a list of them."""
    scope = reach(actor, action)
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
    """True when the actor may do it to the target."""
    seen = sight(actor, action)
    return (
        seen.everything
        or (target.owner_id is not None and target.owner_id == seen.owner_id)
        or (target.domain_id is not None and target.domain_id == seen.domain_id)
        or target.project_id in seen.project_ids
    )


def widest(actor: Actor, action: str) -> Scope:
    """How far the actor may do this where they reach furthest; NONE: nowhere."""
    scope = reach(actor, action)
    if actor.administers and within(actor.scopes, action):
        scope = max(scope, ACTIONS[action].project_admin)
    return scope


def require(
    actor: Actor, action: str, target: Target, *, read: str | None = None, missing: NotFound | None = None
) -> None:
    """Return when allowed.

    Raises: `missing` when the actor may not even know of the thing (the `read` action), else Forbidden.
    """
    if allows(actor, action, target):
        return
    if missing and read and not allows(actor, read, target):
        raise missing
    raise refusal(actor, action)


def refusal(actor: Actor, action: str) -> Forbidden:
    """The error for an action that is not theirs, or not this credential's."""
    sentence = ACTIONS[action].sentence
    if not within(actor.scopes, action):
        return Forbidden(
            "policy.scope",
            f"This credential may not be used for that: {sentence}",
            hint="Use another credential, or one with a wider scope.",
            details={"action": action, "scopes": list(actor.scopes)},
        )
    return Forbidden(
        "policy.forbidden",
        f"You may not do this: {sentence}",
        hint="Ask its owner or an administrator.",
        details={"action": action},
    )
